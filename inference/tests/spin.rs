//! Loops that may wait for a variable keep their pairs from getting a lock; loops that end by counting do not.

mod support;

use std::collections::BTreeSet;

use inference::{Config, infer};
use support::{operations, parse, place};

const CLOSES: &str = "it would be held around a loop that only reads the variable, or only retries an atomic update, and may wait for it";
const AROUND: &str = "its lock would be held around a loop that only reads the variable and may wait for it";

/// The nodes that acquire, and why pairs were refused.
#[track_caller]
fn check(text: &str, acquires: &[&str], refused: &[&str]) {
    let case = parse(text);
    let inferred = infer(&case.program, &case.evidence, "test", &Config::default());
    assert!(inferred.certificate.checked, "{:?}", inferred.certificate.wrong);
    let all = operations(&case, &inferred.plan);
    let found: Vec<&str> = all.iter().filter(|line| line.contains("acquire")).filter_map(|line| line.split(':').next()).collect();
    let why: Vec<&str> = inferred.plan.refused.iter().map(|refused| refused.why.as_str()).collect();
    assert_eq!((found, why), (acquires.to_vec(), refused.to_vec()), "{text}");
}

/// A loop that reads x in each turn, from node 1 to node 4, and may leave it at 3.
const READS: &str = "
    fn f
      1: - -> 2
      2: read x -> 3
      3: - -> 4 6
      4: - -> 1
      6: return
    fn g
      1: write x -> 2
      2: return
    pair f 2 2 X
    ";

#[test]
fn a_loop_that_only_reads_may_wait_unless_it_counts() {
    check(READS, &[], &[CLOSES]);
    // The lock is held all the time anyway, so it is taken before the loop.
    check(&format!("{READS} counts f 1 4 3 6"), &["f before 0", "g before 1"], &[]);
    // The counter moves on another edge, is not what the turn begins with, is compared elsewhere, or does not leave.
    for not_this in ["counts f 1 2 3 6", "counts f 6 4 3 6", "counts f 1 4 6 6", "counts f 1 4 3 4"] {
        check(&format!("{READS} {not_this}"), &[], &[CLOSES]);
    }
}

#[test]
fn a_turn_that_may_leave_the_test_out_does_not_count() {
    let with_a_way_around = READS.replace("2: read x -> 3", "2: read x -> 3 4");
    check(&format!("{with_a_way_around} counts f 1 4 3 6"), &[], &[CLOSES]);
}

#[test]
fn tests_without_a_step_between_them_do_not_count() {
    let with_an_inner_loop = READS.replace("3: - -> 4 6", "3: - -> 2 4 6");
    check(&format!("{with_an_inner_loop} counts f 1 4 3 6"), &[], &[CLOSES]);
}

#[test]
fn a_loop_within_one_that_counts_may_still_wait() {
    let inner = |node: &str| {
        format!(
            "fn f
               1: - -> 2
               2: read x -> 3
               3: {node} -> 3 4
               4: - -> 5 6
               5: - -> 1
               6: return
             fn g
               1: write x -> 2
               2: return
             pair f 2 2 X
             counts f 1 5 4 6"
        )
    };
    check(&inner("-"), &["f before 0", "g before 1"], &[]);
    check(&inner("call reader").replace("pair", "fn reader\n 1: read x -> 2\n 2: return\n pair"), &[], &[CLOSES]);
}

#[test]
fn a_loop_that_counts_for_long_is_no_region() {
    let counts = format!("{READS} counts f 1 4 3 6\n");
    check(
        &format!("{} ran f 2 1000000", counts.replace("pair f 2 2 X", "pair f 2 2 X seen 999990")),
        &[],
        &["it would be held around a loop of 100000 turns on average"],
    );
    let others = "fn h\n 1: read y -> 2\n 2: return\n ran h 1 100000000";
    check(
        &format!("{}\n{others}\n ran f 2 1000000", counts.replace("pair f 2 2 X", "pair f 2 2 X seen 999000")),
        &["f before 0", "g before 1"],
        &[],
    );
}

#[test]
fn no_lock_is_held_around_a_loop_that_may_wait_between_the_ends_of_a_pair() {
    let text = |node: &str| {
        format!(
            "fn f
               1: read T.0 -> 2
               2: {node} -> 2 3
               3: read T.0 -> 4
               4: return
             fn g
               1: write T.0 -> 2
               2: return
             fn reader
               1: read T.0 -> 2
               2: return
             fn writer
               1: write T.0 -> 2
               2: return
             pair f 1 3 X"
        )
    };
    check(&text("read T.0"), &[], &[AROUND]);
    check(&text("call reader"), &[], &[AROUND]);
    check(&text("read T.8"), &["f before 1", "g before 1", "writer before 1"], &[]);
    check(&text("call writer"), &["f before 1", "g before 1", "reader before 1", "writer before 1"], &[]);
    check(&format!("{}\n counts f 2 2 2 3", text("read T.0")), &["f before 1", "g before 1", "writer before 1"], &[]);
}

#[test]
fn the_checker_finds_loops_that_may_wait_by_itself() {
    for (text, counts, protected) in [
        (READS.to_owned(), "counts f 1 4 3 6", "x"),
        (
            "fn f\n 1: read T.0 -> 2\n 2: call reader -> 2 3\n 3: read T.0 -> 4\n 4: return\n fn g\n 1: write T.0 -> 2\n 2: return\n\
             fn reader\n 1: read T.0 -> 2\n 2: return\n pair f 1 3 X\n"
                .to_owned(),
            "counts f 2 2 2 3",
            "T.0",
        ),
    ] {
        let counting = parse(&format!("{text} {counts}"));
        let plan = infer(&counting.program, &counting.evidence, "test", &Config::default()).plan;
        assert_eq!(plan.locks.len(), 1, "{text}");
        let check = |program| inference::check::check(program, &plan, &[BTreeSet::from([place(protected)])]);
        assert!(check(&counting.program).checked);
        let wrong = check(&parse(&text).program).wrong;
        assert!(wrong.len() == 1 && wrong[0].text.contains("held around a loop at"), "{wrong:?}");
    }
}
