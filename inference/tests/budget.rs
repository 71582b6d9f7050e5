//! What locks may cost: variables in hot code stay unprotected, and are named. How much must be known of a pair before it gets one.

mod support;

use inference::{Budget, Config};
use support::parse;

const PROGRAM: &str = "
    fn hot
      1: read x -> 2
      2: write x -> 3
      3: return
    fn cold
      1: read y -> 2
      2: write y -> 3
      3: return
    fn idle
      1: read z -> 2
      2: return
    pair hot 1 2 X seen 100
    pair cold 1 2 X seen 1
";

/// The variables that get locks under a budget, and how many lines say that one gets none.
#[track_caller]
fn check(budget: Budget, protected: &[&str], lines: usize) {
    let case = parse(PROGRAM);
    let inferred = inference::infer(&case.program, &case.evidence, "test", &Config { budget, ..Config::default() });
    let names: Vec<&str> = inferred.plan.locks.iter().map(|lock| lock.variable.as_str()).collect();
    assert_eq!(names, protected);
    assert_eq!(inferred.findings.iter().filter(|line| line.contains("stays unprotected")).count(), lines);
}

// Every site of a case ran 10 times: 50 accesses in all. x costs 100 + 20 operations, y 1 + 20.

#[test]
fn short_runs_tell_little_so_they_are_free() {
    check(Budget::default(), &["x", "y"], 0);
}

#[test]
fn a_lock_over_its_share_is_left_out_and_named() {
    check(Budget { per_mille: 500, free: 0 }, &["y"], 1);
    check(Budget { per_mille: 10, free: 0 }, &[], 2);
}

#[test]
fn what_is_free_is_not_counted_against_the_share() {
    check(Budget { per_mille: 10, free: 21 }, &["y"], 1);
}

/// The pairs that are left, with how sure a pair must be and how often it must have been seen, and why the others are refused.
#[track_caller]
fn check_evidence(confidence: u64, support: u64, kept: usize, refused: &[&str]) {
    let case = parse(
        "
    fn f
      1: read x -> 2
      2: write x -> 3
      3: read y -> 4
      4: write y -> 5
      5: return
    pair f 1 2 X seen 100 near 0
    pair f 3 4 X seen 10 near 8
    ",
    );
    let config = Config { confidence, support, ..Config::default() };
    let inferred = inference::infer(&case.program, &case.evidence, "test", &config);
    assert_eq!(inferred.plan.locks.iter().map(|lock| lock.pairs.len()).sum::<usize>(), kept);
    let reasons: Vec<&str> = inferred.plan.refused.iter().map(|refused| refused.why.as_str()).collect();
    assert_eq!(reasons, refused);
}

#[test]
fn pairs_of_which_too_little_is_known_are_refused() {
    check_evidence(0, 1, 2, &[]);
    check_evidence(50, 10, 2, &[]);
    check_evidence(51, 1, 1, &["it is less than 51 % sure"]);
    check_evidence(91, 1, 0, &["it is less than 91 % sure"; 2]);
    check_evidence(0, 11, 1, &["seen fewer than 11 times"]);
}
