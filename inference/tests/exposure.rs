//! Opportunity: pairs on memory that nobody could have interfered with get no lock.

mod support;

use inference::Config;
use support::parse;

const PROGRAM: &str = "
    fn user
      1: read x -> 2
      2: read x -> 3
      3: return
    fn maker
      1: write x -> 2
      2: return
    pair user 1 2 R
";

/// How many locks the program gets with these facts added.
#[track_caller]
fn check(facts: &str, locks: usize) {
    let case = parse(&format!("{PROGRAM}{facts}"));
    let inferred = inference::infer(&case.program, &case.evidence, "test", &Config::default());
    assert_eq!(inferred.plan.locks.len(), locks, "{facts}");
}

#[test]
fn memory_in_use_by_several_threads_at_once_is_protected() {
    check("", 1);
}

#[test]
fn memory_that_is_handed_over_is_not() {
    check("ordered user 1\nordered user 2\nordered maker 1", 0);
}

#[test]
fn memory_written_only_before_its_readers_begin_is_not() {
    check("ordered maker 1", 0);
}

#[test]
fn a_write_that_never_ran_may_come_at_any_time() {
    check("unrun maker 1", 1);
}
