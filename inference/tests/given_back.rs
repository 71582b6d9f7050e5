//! Objects that are given back: the end of one is a write to all of it, where somebody could be using it.

mod support;

use inference::Config;
use support::{Case, operations, parse, place};

/// A pair of reads on objects that another function gives back; what it gives back was seen to be theirs.
const SEEN: &str = "
    fn user
      1: read T.0 -> 2
      2: read T.0 -> 3
      3: return
    fn closer
      1: free *p -> 2
      2: return
    pair user 1 2 R
    together closer 1 user 2
";

const MET: &str = "met closer 1 user 2 unordered";

fn infer(case: &Case) -> inference::Inferred {
    let inferred = inference::infer(&case.program, &case.evidence, "test", &Config::default());
    assert!(inferred.certificate.checked, "{:?}", inferred.certificate.wrong);
    inferred
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let case = parse(text);
    assert_eq!(operations(&case, &infer(&case).plan), expected, "{text}");
}

#[test]
fn the_end_of_an_object_is_kept_out_of_pairs_that_it_met() {
    check(
        &format!("{SEEN}{MET}"),
        &[
            "user before 1: T::+0 acquire R",
            "user 2->3: T::+0 release 1",
            "closer before 1: T::+0 acquire X",
            "closer 1->2: T::+0 release 1",
        ],
    );
}

#[test]
fn whoever_gives_an_object_back_that_had_one_user_has_come_to_it_too() {
    // The end is an object's last access, so in runs that pass it comes after each pair, however many they are. Other accesses that
    // always come later are those of whoever is handed the object.
    let other = SEEN.replace("free *p", "read T.0");
    for (text, locked) in
        [(format!("{SEEN}{MET}"), true), (format!("{SEEN}together closer 1 user 2"), false), (format!("{other}{MET}"), false)]
    {
        let case = parse(&text.replace("2 R\n", "2 R seen 500 private\n"));
        assert_eq!(!operations(&case, &infer(&case).plan).is_empty(), locked, "{text}");
    }
}

#[test]
fn an_end_that_met_nobody_asks_for_no_lock() {
    check(SEEN, &[]);
    check(&format!("{SEEN}ordered closer 1"), &[]);
    // Nor one that never ran: most are on the way out of errors.
    check(&format!("{SEEN}unrun closer 1\nsame *p T.0"), &[]);
}

#[test]
fn an_end_that_met_nobody_takes_the_locks_that_there_are() {
    let writer = "fn writer
                    1: write T.0 -> 2
                    2: return\n";
    let ends = |inferred: &inference::Inferred, case: &Case| operations(case, &inferred.plan).iter().any(|line| line.starts_with("closer"));
    for facts in ["", "unrun closer 1\nsame *p T.0"] {
        let case = parse(&format!("{writer}{SEEN}{facts}"));
        assert!(ends(&infer(&case), &case), "{facts}");
    }
}

#[test]
fn all_fields_of_an_object_end_and_stay_variables_of_their_own() {
    let case = parse(
        "fn user
           1: read T.0 -> 2
           2: read T.0 -> 3
           3: read T.8 -> 4
           4: read T.8 -> 5
           5: read *q -> 6
           6: read *q -> 7
           7: return
         fn closer
           1: free *p -> 2
           2: return
         pair user 1 2 R
         pair user 3 4 R
         pair user 5 6 R
         together closer 1 user 2
         together closer 1 user 4
         together closer 1 user 6
         met closer 1 user 2 unordered
         met closer 1 user 4 unordered
         met closer 1 user 6 unordered",
    );
    let inferred = infer(&case);
    let names: Vec<&str> = inferred.plan.locks.iter().map(|lock| lock.variable.as_str()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(names.iter().all(|name| !name.contains("more")), "{names:?}");
    let of_end = operations(&case, &inferred.plan).into_iter().filter(|line| line.starts_with("closer before 1")).count();
    assert_eq!(of_end, 3);
}

#[test]
fn an_end_asks_for_locks_only_on_what_it_met() {
    // The other field was written, and read, under the very lock that took the object out of reach.
    let case = parse(&format!(
        "{SEEN}{MET}
         fn other
           1: read T.8 -> 2
           2: read T.8 -> 3
           3: return
         together closer 1 other 2
         pair other 1 2 R"
    ));
    let names: Vec<String> = infer(&case).plan.locks.iter().map(|lock| lock.variable.clone()).collect();
    assert_eq!(names, ["T::+0"]);
}

#[test]
fn nobody_gives_a_global_back() {
    let case = parse(
        "fn user
           1: read x -> 2
           2: write x -> 3
           3: return
         fn closer
           1: free *p -> 2
           2: return
         same *p x
         unrun closer 1
         pair user 1 2 X",
    );
    let inferred = infer(&case);
    assert_eq!(inferred.variables(&place("*p")).count(), 0);
    assert_eq!(operations(&case, &inferred.plan), ["user before 1: x acquire X", "user 2->3: x release 1"]);
}

/// The same under a lock of the program, that the end does without.
const LOCKED: &str = "
    fn user
      1: read T.0 -> 2
      2: write T.0 -> 3
      3: return
    fn closer
      1: free *p -> 2
      2: return
    pair user 1 2 X locks m
    held user 1 m
    held user 2 m
    together closer 1 user 2
";

#[test]
fn an_object_that_is_out_of_reach_ends_without_the_lock_of_its_users() {
    let locks = |facts: &str| infer(&parse(&format!("{LOCKED}{facts}"))).plan.locks.len();
    assert_eq!(locks("ran closer 1 3"), 0);
    assert_eq!(locks("ran closer 1 3\nmet closer 1 user 2 unordered"), 1);
    assert_eq!(locks("held closer 1 m\nmet closer 1 user 2 locked"), 0);
}

#[test]
fn a_loop_that_gives_objects_back_waits_all_the_same() {
    let case = parse(
        "fn user
           1: read T.0 -> 2
           2: free *p -> 1 3
           3: return
         fn writer
           1: write T.0 -> 2
           2: return
         together user 2 user 1
         pair user 1 1 R",
    );
    let inferred = infer(&case);
    assert_eq!((inferred.plan.locks.len(), inferred.plan.refused.len()), (0, 1), "{:?}", inferred.plan);
}

#[test]
fn the_checker_asks_for_the_lock_around_an_end() {
    let case = parse(&format!("{SEEN}{MET}"));
    let inferred = infer(&case);
    let mut plan = inferred.plan.clone();
    let closer = support::key_of("closer");
    plan.locks[0].operations.retain(|operation| operation.function != closer);
    let certificate = inference::check_plan(&case.program, &case.evidence, &plan);
    assert!(!certificate.checked && certificate.wrong.iter().any(|finding| finding.text.contains("closer")), "{:?}", certificate.wrong);
}
