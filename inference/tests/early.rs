//! Which accesses count as coming before any thread is started, and get no lock.

mod support;

use inference::{Config, infer};
use support::{operations, parse};

/// Infers for a program of which these functions have their address taken; gives the functions and nodes that acquire.
#[track_caller]
fn check(text: &str, taken: &[&str], expected: &[&str]) {
    let mut case = parse(text);
    case.program.taken = taken.iter().map(|&name| name.to_owned()).collect();
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
    let constructor = "fn init\n 1: call pthread_create -> 2\n 2: return";
    check(&format!("{main}{constructor}{WORK}"), &["work"], &["work before 1"]);
    check(&format!("{main}{constructor}{WORK}"), &["work", "init"], &["main before 1", "work before 1"]);
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
