//! Which accesses count as coming before any thread is started, and get no lock.

mod support;

use inference::{Config, infer};
use model::program::{Call, Callee, Gap, NodeKind, Program, Uncovered};
use support::{operations, parse};

/// Infers for a program of which these functions have their address taken; gives the functions and nodes that acquire.
#[track_caller]
fn check(text: &str, taken: &[&str], expected: &[&str]) {
    check_changed(text, taken, |_| {}, expected);
}

/// The same, with something changed that the text does not say.
#[track_caller]
fn check_changed(text: &str, taken: &[&str], change: impl Fn(&mut Program), expected: &[&str]) {
    let mut case = parse(text);
    case.program.taken = taken.iter().map(|&name| name.to_owned()).collect();
    change(&mut case.program);
    let inferred = infer(&case.program, &case.evidence, "test", &Config::default());
    assert!(inferred.certificate.checked, "{:?}", inferred.certificate.wrong);
    let all = operations(&case, &inferred.plan);
    let acquires: Vec<&str> = all.iter().filter(|line| line.contains("acquire")).filter_map(|line| line.split(':').next()).collect();
    assert_eq!(acquires, expected, "{text}");
}

/// What the threads do.
const WORK: &str = "
    fn work
      1: read x -> 2
      2: write x -> 3
      3: return
    pair work 1 2 X
    ";

#[test]
fn what_comes_before_the_first_thread_needs_no_lock() {
    let main = "
        fn main
          1: write x -> 2
          2: call setup -> 3
          3: call pthread_create -> 4
          4: write x -> 5
          5: return
        fn setup
          1: write x -> 2
          2: call calloc -> 3
          3: write x -> 4
          4: return";
    check(&format!("{main}{WORK}"), &["work"], &["main before 4", "work before 1"]);
}

#[test]
fn any_call_that_may_start_a_thread_ends_it() {
    for start in [
        "call pthread_create",
        "call thrd_create",
        "call pthread_once",
        "call _ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE",
        "call begin_to_serve",
        "icall t",
        "call starter",
    ] {
        let main = format!(
            "fn main
               1: write x -> 2
               2: {start} -> 3
               3: write x -> 4
               4: return
             fn starter
               1: call outer -> 2
               2: return
             fn outer
               1: call pthread_create -> 2
               2: return"
        );
        check(&format!("{main}{WORK}"), &["work"], &["main before 3", "work before 1"]);
    }
}

#[test]
fn what_follows_a_start_on_some_path_is_late() {
    // The loop comes back to the write; the branch around the start does not help what is behind it.
    let main = "
        fn main
          1: write x -> 2 4
          2: call pthread_create -> 3
          3: - -> 1 4
          4: write x -> 5
          5: return";
    check(&format!("{main}{WORK}"), &["work"], &["main before 1", "main before 4", "work before 1"]);
}

#[test]
fn functions_that_others_may_call_are_late() {
    let main = "
        fn main
          1: call setup -> 2
          2: call pthread_create -> 3
          3: return
        fn setup
          1: call deeper -> 2
          2: return
        fn deeper
          1: write x -> 2
          2: return
        ";
    check(&format!("{main}{WORK}"), &["work"], &["work before 1"]);
    check(&format!("{main}{WORK}"), &["work", "deeper"], &["deeper before 1", "work before 1"]);
    check(&format!("{main}{WORK}"), &["work", "setup"], &["deeper before 1", "work before 1"]);
    let called_by_a_thread = "fn other\n 1: call setup -> 2\n 2: return";
    check(&format!("{main}{called_by_a_thread}{WORK}"), &["work", "other"], &["deeper before 1", "work before 1"]);
    let uncalled = "fn exported\n 1: call deeper -> 2\n 2: return";
    check(&format!("{main}{uncalled}{WORK}"), &["work"], &["deeper before 1", "work before 1"]);
}

#[test]
fn nothing_is_early_where_threads_may_be_there_before_main() {
    let main = "
        fn main
          1: write x -> 2
          2: call pthread_create -> 3
          3: return
        ";
    let starter = "fn init\n 1: call pthread_create -> 2\n 2: return";
    let constructor = |program: &mut Program| program.constructors.extend(["init".to_owned()]);
    check(&format!("{main}{starter}{WORK}"), &["work"], &["work before 1"]);
    check(&format!("{main}{starter}{WORK}"), &["work", "init"], &["work before 1"]);
    check_changed(&format!("{main}{starter}{WORK}"), &["work"], constructor, &["main before 1", "work before 1"]);
    // One that no unit defines.
    check_changed(&format!("{main}{WORK}"), &["work"], constructor, &["main before 1", "work before 1"]);
    for (gap, expected) in
        [(Gap::Code, &["main before 1", "work before 1"][..]), (Gap::Library, &["work before 1"]), (Gap::Function, &["work before 1"])]
    {
        let uncovered = |program: &mut Program| program.uncovered.push(Uncovered { what: "a".to_owned(), why: "b".to_owned(), gap });
        check_changed(&format!("{main}{WORK}"), &["work"], uncovered, expected);
    }
    let again = "fn again\n 1: call main -> 2\n 2: return";
    check(&format!("{main}{again}{WORK}"), &["work"], &["main before 1", "work before 1"]);
    check(&format!("{main}{WORK}"), &["work", "main"], &["main before 1", "work before 1"]);
}

#[test]
fn pairs_and_writes_that_come_before_all_threads_endanger_nobody() {
    let main = |write: &str, then: &str| {
        format!(
            "fn main
               1: read x -> 2
               {write} -> 3
               3: call pthread_create -> 4
               {then} -> 5
               5: return
             fn work
               1: read x -> 2
               2: read x -> 3
               3: return
             pair work 1 2 X
             pair main 1 2 X
             "
        )
    };
    check(&format!("{} unrun main 2", main("2: write x", "4: -")), &["work"], &[]);
    check(&format!("{} unrun main 4", main("2: -", "4: write x")), &["work"], &["main before 4", "work before 1"]);
}

#[test]
fn constructors_come_before_all_threads_too() {
    let text = "
        fn main
          1: call pthread_create -> 2
          2: return
        fn init
          1: write x -> 2
          2: call deeper -> 3
          3: return
        fn deeper
          1: write x -> 2
          2: return
        ";
    let constructor = |program: &mut Program| program.constructors.extend(["init".to_owned()]);
    check_changed(&format!("{text}{WORK}"), &["work"], constructor, &["work before 1"]);
    check_changed(&format!("{text}{WORK}"), &["work", "init"], constructor, &["init before 1", "deeper before 1", "work before 1"]);
    check(&format!("{text}{WORK}"), &["work"], &["init before 1", "deeper before 1", "work before 1"]);
}

#[test]
fn a_pointer_of_which_all_is_known_starts_what_its_functions_start() {
    let text = format!(
        "fn main
               1: icall t -> 2
               2: write x -> 3
               3: return
             fn harmless
               1: call calloc -> 2
               2: return
             fn starter
               1: call pthread_create -> 2
               2: return
             {WORK}"
    );
    for (names, expected) in [
        (&["harmless"][..], &["work before 1"][..]),
        (&["harmless", "starter"], &["main before 2", "work before 1"]),
        (&[], &["main before 2", "work before 1"]),
    ] {
        let known = |program: &mut Program| {
            let main = program.functions.iter_mut().find(|function| function.name == "main").expect("a main");
            let NodeKind::Call(Call { callee, .. }) = &mut main.nodes[1].kind else { panic!("a call") };
            *callee = Callee::OneOf(names.iter().map(|&name| name.to_owned()).collect());
        };
        check_changed(&text, &["work", "harmless", "starter"], known, expected);
    }
}

#[test]
fn a_handler_of_signals_that_starts_threads_ends_it() {
    let text = "
        fn main
          1: call sigaction -> 2
          2: write x -> 3
          3: return
        fn handler
          1: call pthread_create -> 2
          2: return
        ";
    let of_type = |signature: &'static str| {
        move |program: &mut Program| {
            let handler = program.functions.iter_mut().find(|function| function.name == "handler").expect("a handler");
            handler.signature = signature.to_owned();
        }
    };
    for (signature, taken, expected) in [
        ("void (i32)", &["work", "handler"][..], &["main before 2", "work before 1"][..]),
        ("void (i32, ptr, ptr)", &["work", "handler"], &["main before 2", "work before 1"]),
        ("void (i32)", &["work"], &["work before 1"]),
        ("void (ptr)", &["work", "handler"], &["work before 1"]),
    ] {
        check_changed(&format!("{text}{WORK}"), taken, of_type(signature), expected);
    }
}

#[test]
fn functions_with_the_name_of_a_library_function_are_late() {
    let text = |name: &str| {
        format!(
            "fn main
               1: call {name} -> 2
               2: call pthread_create -> 3
               3: return
             fn {name}
               1: write x -> 2
               2: return
             {WORK}"
        )
    };
    check(&text("malloc"), &["work"], &["malloc before 1", "work before 1"]);
    check(&text("_Znwm"), &["work"], &["_Znwm before 1", "work before 1"]);
    check(&text("allot"), &["work"], &["work before 1"]);
}
