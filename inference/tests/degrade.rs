//! Holds that are exclusive for a write and let readers in until the next one.

mod support;

use support::{operations, parse};

/// The operations in f.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let case = parse(text);
    let inferred = support::infer_without(&case, &[]);
    assert!(inferred.certificate.checked, "{:?}", inferred.certificate.wrong);
    let found: Vec<String> = operations(&case, &inferred.plan).into_iter().filter(|line| line.starts_with("f ")).collect();
    assert_eq!(found, expected, "{text}\nrefused: {:?}", inferred.plan.refused);
}

const READERS: &str = "fn g\n 1: read x -> 2\n 2: read x -> 3\n 3: return\n pair g 1 2 R";

#[test]
fn between_two_writes_of_a_read_pair_readers_get_in() {
    check(
        &format!("fn f\n 1: write x -> 2\n 2: write x -> 3\n 3: return\n pair f 1 2 R\n {READERS}"),
        &["f before 1: x acquire X", "f before 2: x acquire X", "f 1->2: x degrade U 1", "f 2->3: x release 2"],
    );
    check(
        &format!(
            "fn f\n 1: write x -> 2\n 2: call h -> 3\n 3: write x -> 4\n 4: return\n fn h\n 1: - -> 2\n 2: return\n pair f 1 3 R\n {READERS}"
        ),
        &["f before 1: x acquire X", "f before 3: x acquire X", "f 1->2: x degrade U 1", "f 3->4: x release 3"],
    );
}

#[test]
fn a_write_that_a_read_comes_before_is_made_in_one_step_with_it() {
    check(
        &format!("fn f\n 1: read x -> 2\n 2: write x -> 3\n 3: return\n pair f 1 2 R\n {READERS}"),
        &["f before 1: x acquire X", "f 2->3: x release 1"],
    );
}

#[test]
fn behind_the_last_write_a_hold_is_degraded_to_r() {
    check(
        &format!(
            "fn f\n 1: write x -> 2\n 2: write x -> 3\n 3: - -> 4\n 4: read x -> 5\n 5: return\n pair f 1 2 R\n pair f 2 4 R\n {READERS}"
        ),
        &["f before 1: x acquire X", "f before 2: x acquire X", "f 1->2: x degrade U 1", "f 2->3: x degrade 2", "f 4->5: x release 2"],
    );
}

#[test]
fn an_exclusive_pair_lets_nobody_in() {
    check(
        &format!("fn f\n 1: write x -> 2\n 2: write x -> 3\n 3: return\n pair f 1 2 X\n {READERS}"),
        &["f before 1: x acquire X", "f 2->3: x release 1"],
    );
}
