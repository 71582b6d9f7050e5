//! The optimizations of placed locks: what each leaves out, when a loop's acquisitions are moved out of it, and when not.

mod support;

use inference::Optimization;
use support::{infer_without, operations, parse};

/// The operations on x in f.
fn on_x(text: &str, off: &[Optimization]) -> Vec<String> {
    let case = parse(text);
    let inferred = infer_without(&case, off);
    assert!(inferred.certificate.checked, "{:?}", inferred.certificate.wrong);
    let all = operations(&case, &inferred.plan);
    assert!(!all.is_empty(), "refused: {:?}", inferred.plan.refused);
    all.into_iter().filter(|line| line.starts_with("f ") && line.contains(": x ")).collect()
}

/// A loop from 3 to 5 and on to 2, with x kept from 3 to 5 in each iteration but not around. It ran a thousand times and was entered ten times.
fn counting(between: &str, more: &str) -> String {
    format!(
        "fn f
           1: write z -> 2
           2: - -> 3 9
           3: read x -> 4
           4: {between} -> 5
           5: write x -> 2
           9: return
         {more}
         ran f 3 1000
         ran f 5 1000
         pair f 3 5 X seen 1000
         pair f 5 3 N seen 990"
    )
}

const IN_THE_LOOP: &[&str] = &["f before 3: x acquire X", "f 5->2: x release 3"];
const AROUND_IT: &[&str] = &["f before 1: x acquire X", "f 2->9: x release 1"];

#[test]
fn a_loop_that_does_little_else_is_held_around_as_a_whole() {
    assert_eq!(on_x(&counting("-", ""), &[]), AROUND_IT);
    for off in [Optimization::Loops, Optimization::Acquisitions] {
        assert_eq!(on_x(&counting("-", ""), &[off]), IN_THE_LOOP, "without {off}");
    }
}

#[test]
fn what_lifting_saves_is_counted() {
    let inferred = infer_without(&parse(&counting("-", "")), &[]);
    let loops = &inferred.certificate.savings[2];
    assert_eq!((loops.optimization.as_str(), loops.operations, loops.executions), ("loops", 0, 990));
    assert!(inferred.certificate.to_string().contains("loops: 0 operations, which would run 990 times a run"));
}

#[test]
fn a_loop_that_another_thread_may_have_to_end_is_not_held_around() {
    // What is read besides may be a flag, unless its writes all come before.
    let flag = "fn g\n 1: write y -> 2\n 2: return\n";
    assert_eq!(on_x(&counting("read y", flag), &[]), IN_THE_LOOP);
    assert_eq!(on_x(&counting("read y", &format!("{flag} ordered g 1")), &[]), AROUND_IT);
    assert_eq!(on_x(&counting("atomic y", ""), &[]), IN_THE_LOOP);
    // A callee may read anything.
    assert_eq!(on_x(&counting("call g", "fn g\n 1: - -> 2\n 2: return"), &[]), IN_THE_LOOP);
}

#[test]
fn a_loop_of_which_little_is_covered_is_not_held_around() {
    let one_of_two = "fn f
           1: write z -> 2
           2: - -> 3 9
           3: update x -> 4
           4: read w -> 2
           9: return
         fn g
           1: read x -> 2
           2: read x -> 3
           3: return
         ran f 3 1000
         pair g 1 2 X";
    assert_eq!(on_x(one_of_two, &[]), ["f before 3: x acquire X", "f 3->4: x release 3"]);
}

#[test]
fn a_loop_that_was_entered_as_often_as_it_ran_is_not_held_around() {
    assert_eq!(on_x(&counting("-", "ran f 1 2000"), &[]), IN_THE_LOOP);
}

#[test]
fn a_loop_that_runs_very_long_is_held_around_only_if_it_was_already() {
    let long = counting("-", "ran f 1 1").replace("1000", "3000");
    assert_eq!(on_x(&long, &[]), IN_THE_LOOP);
    let around = long.replace("pair f 5 3 N", "pair f 5 3 X");
    assert_eq!(on_x(&around, &[]), AROUND_IT);
    assert_eq!(on_x(&around, &[Optimization::Loops]), ["f before 3: x acquire X", "f 2->9: x release 3"]);
}

#[test]
fn a_loop_whose_entry_takes_a_lock_or_leads_elsewhere_is_not_held_around() {
    let entry = |kind: &str, to: &str| counting("-", "").replace("1: write z -> 2", &format!("0: write z -> 1\n 1: {kind} -> {to}"));
    assert_eq!(on_x(&entry("-", "2"), &[]), AROUND_IT);
    assert_eq!(on_x(&entry("lock m", "2"), &[]), IN_THE_LOOP);
    assert_eq!(on_x(&entry("sleep", "2"), &[]), IN_THE_LOOP);
    assert_eq!(on_x(&entry("-", "2 9"), &[]), IN_THE_LOOP);
}

#[test]
fn lifting_that_would_close_a_cycle_of_waits_is_taken_back() {
    // Around the loop, x would be held while y is taken; g takes x while it holds y.
    let text = |order: &str| {
        format!(
            "fn f
               1: - -> 2
               2: - -> 3 9
               3: read x -> 4
               4: - -> 5
               5: write x -> 6
               6: read x -> 7
               7: write x -> 8
               8: write y -> 2
               9: return
             fn g
               1: read y -> 2
               2: write x -> 3
               3: write y -> 4
               4: return
             ordered g 2
             ran f 3 1000
             ran f 5 1000
             ran f 6 1000
             ran f 7 1000
             ran f 8 1000
             pair f 3 5 X seen 1000
             pair f 5 6 X seen 1000
             pair f 6 7 X seen 1000
             pair f 7 3 N seen 990
             {order}"
        )
    };
    assert_eq!(on_x(&text("pair g 2 2 X"), &[]), ["f before 1: x acquire X", "f 2->9: x release 1"]);
    assert_eq!(on_x(&text("pair g 1 3 X"), &[]), ["f before 3: x acquire X", "f 7->8: x release 3"]);
}

/// x is written at 1 and then at 3, three hundred times; something in between.
fn in_sequence(between: &str, after: &str) -> String {
    format!(
        "fn f
           1: write x -> 2
           2: {between}
           3: write x -> 4
           4: {after}
           5: return
         fn g
           1: read x -> 2
           2: read x -> 3
           3: return
         ran f 1 300
         ran f 3 300
         pair g 1 2 X"
    )
}

const HELD_ON: &[&str] = &["f before 1: x acquire X", "f 3->4: x release 1"];
const ONE_BY_ONE: &[&str] = &["f before 1: x acquire X", "f before 3: x acquire X", "f 1->2: x release 1", "f 3->4: x release 3"];

#[test]
fn regions_that_follow_each_other_at_once_become_one() {
    assert_eq!(on_x(&in_sequence("read z -> 3", "- -> 5"), &[]), HELD_ON);
    for off in [Optimization::Sequences, Optimization::Acquisitions] {
        assert_eq!(on_x(&in_sequence("read z -> 3", "- -> 5"), &[off]), ONE_BY_ONE, "without {off}");
    }
}

#[test]
fn what_holding_on_saves_is_counted() {
    let inferred = infer_without(&parse(&in_sequence("- -> 3", "- -> 5")), &[]);
    let sequences = inferred.certificate.savings.last().expect("four optimizations");
    assert_eq!((sequences.optimization.as_str(), sequences.operations, sequences.executions), ("sequences", 2, 300));
}

#[test]
fn what_may_take_long_or_leads_elsewhere_or_around_is_not_held_over() {
    let ways =
        [("call h -> 3", "- -> 5"), ("lock m -> 3", "- -> 5"), ("sleep -> 3", "- -> 5"), ("- -> 3 5", "- -> 5"), ("- -> 3", "- -> 1 5")];
    for (between, after) in ways {
        assert_eq!(on_x(&in_sequence(between, after), &[]), ONE_BY_ONE, "{between}, {after}");
    }
}

#[test]
fn a_region_that_runs_seldom_or_is_reached_otherwise_or_weaker_begins_by_itself() {
    let text = in_sequence("- -> 3", "- -> 5");
    assert_eq!(on_x(&text.replace("300", "200"), &[]), ONE_BY_ONE);
    let reached = on_x(&text.replace("1: write x -> 2\n           2", "0: - -> 1 3\n           1: write x -> 2\n           2"), &[]);
    assert_eq!(reached, ONE_BY_ONE);
    assert_eq!(
        on_x(&text.replace("3: write x", "3: read x"), &[]),
        ONE_BY_ONE.iter().map(|line| line.replace("before 3: x acquire X", "before 3: x acquire R")).collect::<Vec<_>>()
    );
}
