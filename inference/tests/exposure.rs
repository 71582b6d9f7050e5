//! Opportunity: pairs on memory that nobody could have interfered with get no lock, nor do those that the program's locks guarantee.

mod support;

use inference::Config;
use model::pair::Atomicity;
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

/// How many locks a program gets with these facts added.
#[track_caller]
fn check_in(program: &str, facts: &str, locks: usize) {
    let case = parse(&format!("{program}{facts}"));
    let inferred = inference::infer(&case.program, &case.evidence, "test", &Config::default());
    assert_eq!(inferred.plan.locks.len(), locks, "{facts}");
}

#[track_caller]
fn check(facts: &str, locks: usize) {
    check_in(PROGRAM, facts, locks);
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

const OBJECTS: &str = "
    fn user
      1: read T.0 -> 2
      2: write T.0 -> 3
      3: return
    fn other
      1: write T.0 -> 2
      2: return
    pair user 1 2 X
";

#[track_caller]
fn check_objects(facts: &str, locks: usize) {
    check_in(OBJECTS, facts, locks);
}

#[test]
fn a_pair_on_objects_that_only_other_code_shares_is_not_protected() {
    check_objects("", 1);
    check_objects("ordered user 1", 1);
    check_objects("ordered user 1\nordered user 2", 0);
}

#[test]
fn of_a_global_all_accesses_count_together() {
    check("ordered user 1\nordered user 2", 1);
}

const LOCKED: &str = "
    fn user
      1: read T.0 -> 2
      2: write T.0 -> 3
      3: return
    fn other
      1: write T.0 -> 2
      2: return
    fn maker
      1: write T.0 -> 2
      2: return
    pair user 1 2 X locks m
    held user 1 m
    held user 2 m
    held other 1 m
    held maker 1 freelist
";

#[track_caller]
fn check_locked(facts: &str, locks: usize) {
    check_in(LOCKED, facts, locks);
}

#[test]
fn whoever_never_met_a_pair_in_many_runs_need_not_hold_its_lock() {
    check_locked("", 1);
    check_locked("ran maker 1 1000", 0);
    check_locked("ran maker 1 1000\nmet maker 1 user 2 unordered", 1);
    check_locked("ran maker 1 1000\nmet maker 1 user 2 locked", 1);
}

#[test]
fn what_came_before_the_memory_was_shared_counts_where_it_could_have_come_later() {
    let first = LOCKED.replace("T.0", "x").replace("held maker 1 freelist", "unshared maker 1");
    check_in(&first, "", 0);
    check_in(&first, "met maker 1 user 2 unordered", 1);
    // A new object, published without a lock.
    check_locked("unshared maker 1\nmet maker 1 user 2 unordered", 0);
}

#[test]
fn locks_of_one_class_guarantee_nothing_where_no_instance_was_in_common() {
    check_locked("ran maker 1 1000\nmet other 1 user 2 locked", 0);
    check_locked("ran maker 1 1000\nmet other 1 user 2 unordered", 1);
}

const CHAIN: &str = "
    fn f
      1: write x -> 2
      2: read x -> 3
      3: write x -> 4
      4: return
    fn reader
      1: read x -> 2
      2: return
    pair f 2 3 X
";

#[test]
fn what_a_region_has_written_nobody_reads_before_its_end() {
    let kept = |facts: &str| -> Vec<Atomicity> {
        let case = parse(&format!("{CHAIN}{facts}"));
        let inferred = inference::infer(&case.program, &case.evidence, "test", &Config::default());
        inferred.plan.locks.iter().flat_map(|lock| &lock.pairs).map(|pair| pair.atomicity).collect()
    };
    assert_eq!(kept(""), [Atomicity::Read]);
    assert_eq!(kept("pair f 1 2 X"), [Atomicity::Exclusive, Atomicity::Exclusive]);
    // Others were seen to read it there.
    assert_eq!(kept("pair f 1 2 R"), [Atomicity::Read, Atomicity::Read]);
}
