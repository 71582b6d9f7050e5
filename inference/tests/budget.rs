//! What locks may cost: variables in hot code stay unprotected, and are named.

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
