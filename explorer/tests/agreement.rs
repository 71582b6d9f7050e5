//! Strategies agree with brute force: the same outcomes, within the same bounds.

use std::collections::BTreeSet;

use explorer::fake::explore::explore;
use explorer::fake::generate::{Flavor, program};
use explorer::fake::machine::Outcome;
use explorer::fake::oracle::{self, Within};
use explorer::fake::program::{Program, parse};
use explorer::strategy::Strategy;
use explorer::strategy::depth_first::{DepthFirst, Extent};
use explorer::strategy::dpor::{Bounded, Dpor};
use explorer::strategy::iterative::{Iterative, Preemptions};
use model::report::Coverage;

/// Above this many schedules a program is left out: plain search would take too long for a test.
const MOST_SCHEDULES: u64 = 6_000;

/// How many programs of a flavor a test takes.
const PROGRAMS: usize = 30;

fn programs(flavor: Flavor, first_seed: u64) -> impl Iterator<Item = (u64, Program, BTreeSet<Outcome>, u64)> {
    let small = (first_seed..).filter_map(move |seed| {
        let program = program(seed, flavor);
        let (outcomes, schedules) = oracle::outcomes(&program, Within::Everything);
        (schedules <= MOST_SCHEDULES).then_some((seed, program, outcomes, schedules))
    });
    small.take(PROGRAMS)
}

fn outcomes(program: &Program, strategy: &mut dyn Strategy) -> BTreeSet<Outcome> {
    explore(program, strategy).outcomes.into_keys().collect()
}

fn check_unbounded(flavor: Flavor, first_seed: u64) {
    for (seed, program, expected, schedules) in programs(flavor, first_seed) {
        let mut plain = DepthFirst::new(Extent::Unpruned);
        assert_eq!(outcomes(&program, &mut plain), expected, "plain search, {flavor:?}, seed {seed}: {program:#?}");
        assert_eq!(plain.counts().schedules, schedules, "plain search, {flavor:?}, seed {seed}: {program:#?}");
        assert_eq!(plain.coverage(), Coverage::All);

        let mut sleeping = DepthFirst::new(Extent::SleepSets);
        assert_eq!(outcomes(&program, &mut sleeping), expected, "sleep sets, {flavor:?}, seed {seed}: {program:#?}");
        assert!(sleeping.counts().schedules <= schedules, "sleep sets, {flavor:?}, seed {seed}");
        assert_eq!(sleeping.coverage(), Coverage::All);

        let mut dpor = Dpor::new();
        assert_eq!(outcomes(&program, &mut dpor), expected, "dpor, {flavor:?}, seed {seed}: {program:#?}");
        assert!(dpor.counts().schedules <= sleeping.counts().schedules, "dpor, {flavor:?}, seed {seed}: {program:#?}");
        assert_eq!(dpor.coverage(), Coverage::All);

        let mut iterative = Iterative::new(Preemptions::Unlimited);
        assert_eq!(outcomes(&program, &mut iterative), expected, "iterative, {flavor:?}, seed {seed}");
        assert_eq!(iterative.coverage(), Coverage::All);
    }
}

#[test]
fn unbounded_searches_find_every_outcome_of_accesses() {
    check_unbounded(Flavor::Accesses, 0);
}

#[test]
fn unbounded_searches_find_every_outcome_of_locks() {
    check_unbounded(Flavor::Locks, 1000);
}

#[test]
fn nothing_is_lost_where_all_variables_are_written_at_once() {
    check_unbounded(Flavor::Records, 3000);
}

#[test]
fn unbounded_searches_find_every_outcome_of_everything() {
    check_unbounded(Flavor::Everything, 2000);
}

#[test]
fn unbounded_searches_find_every_outcome_of_four_threads() {
    check_unbounded(Flavor::FourThreads, 4000);
}

#[test]
fn unbounded_searches_find_every_outcome_of_waits() {
    check_unbounded(Flavor::Waits, 5000);
}

#[test]
fn unbounded_searches_find_every_outcome_of_signals() {
    check_unbounded(Flavor::Signals, 6000);
    check_unbounded(Flavor::Calls, 6000);
}

#[test]
fn unbounded_searches_find_every_outcome_of_pipes() {
    check_unbounded(Flavor::Pipes, 4000);
}

#[test]
fn bounded_searches_find_exactly_the_outcomes_within_the_bound() {
    for flavor in [Flavor::Accesses, Flavor::Locks, Flavor::Everything, Flavor::Waits, Flavor::Signals, Flavor::Calls, Flavor::Pipes] {
        for (seed, program, _, _) in programs(flavor, 3000) {
            for bound in 0..3 {
                let bounds = [
                    (Within::Preemptions(bound), Extent::Preemptions(bound), Coverage::Preemptions(bound)),
                    (Within::Delays(bound), Extent::Delays(bound), Coverage::Delays(bound)),
                ];
                for (within, extent, coverage) in bounds {
                    let (expected, schedules) = oracle::outcomes(&program, within);
                    let mut search = DepthFirst::new(extent);
                    assert_eq!(outcomes(&program, &mut search), expected, "{extent:?}, {flavor:?}, seed {seed}: {program:#?}");
                    assert_eq!(search.counts().schedules, schedules, "{extent:?}, {flavor:?}, seed {seed}");
                    assert_eq!(search.coverage(), coverage);
                }
                let (expected, schedules) = oracle::outcomes(&program, Within::Preemptions(bound));
                let mut reduced = Bounded::new(bound);
                assert_eq!(outcomes(&program, &mut reduced), expected, "reduced, {bound}, {flavor:?}, seed {seed}: {program:#?}");
                assert!(reduced.counts().schedules <= schedules, "reduced, {bound}, {flavor:?}, seed {seed}");
                if reduced.coverage() != Coverage::All {
                    assert_eq!(reduced.coverage(), Coverage::Preemptions(bound));
                }
            }
        }
    }
}

#[test]
fn nothing_is_lost_behind_failures_and_semaphores() {
    // In each of these, a search lost outcomes or classes: by repeating a step that ends the execution before the one that it was to try, and
    // by leaving what is independent of threads that had been planned alone to each other.
    // And by trying others only at the last step of what `exit` runs, when the process had begun to end before.
    for text in [
        "main: create a, create b
         a: exit, read x r, read y r
         b: yield, write x 1, write y 1",
        "main: create a, create b, write x 2, exit, read x r, add y 1
         a: write x 1, read y r
         b: read x r, assert r == 2, exit, add x 5",
        "main: create a, create b, create c, create d
         a: add z 1, post n
         b: load z s, post n
         c: store y 1
         d: load y r, assert r == 0",
        "main: create a, create b, create c, create d
         a: store y 1
         b: store y 2, post n
         c: add z 1, post n
         d: store y 1, take n",
    ] {
        let program = parse(text);
        let (mut sleeping, mut dpor) = (DepthFirst::new(Extent::SleepSets), Dpor::new());
        assert_eq!(outcomes(&program, &mut dpor), outcomes(&program, &mut sleeping), "{text}");
        let (run, classes) = (dpor.counts(), sleeping.counts());
        assert!(run.failed > 0 || run.schedules == classes.schedules, "{text}: {run:?}, {classes:?}");
        for bound in 0..3 {
            let (expected, _) = oracle::outcomes(&program, Within::Preemptions(bound));
            assert_eq!(outcomes(&program, &mut Bounded::new(bound)), expected, "{text} within {bound}");
        }
    }
}

#[test]
fn who_sleeps_before_a_time_out_wakes_when_a_signal_takes_that_away() {
    let text = "main: create a, create b, create c
         a: lock m, timedwait c m r, unlock m
         b: write x 1, signal c, write x 2
         c: read x s";
    let program = parse(text);
    let (expected, _) = oracle::outcomes(&program, Within::Everything);
    assert_eq!(expected.len(), 6);
    assert_eq!(outcomes(&program, &mut DepthFirst::new(Extent::SleepSets)), expected);
    assert_eq!(outcomes(&program, &mut Dpor::new()), expected);
}

#[test]
fn who_is_interrupted_in_a_wait_could_have_come_before_those_it_waited_for() {
    // The signal comes after what the wait lost to, so no race of the interruption tells of that.
    check_all("main: create a, take n, kill a\n a: post n, take n, kill main");
}

#[test]
fn a_time_out_between_two_threads_costs_no_more_than_the_preemption_between_them() {
    check_all("main: create a, create b, timedtake n s\n a: store y 1, futex y 1 r timed\n b: add y 1, add y 1, post n");
}

/// `dpor` finds what brute force finds: of all schedules, and of those within each bound.
fn check_all(text: &str) {
    let program = parse(text);
    let (expected, _) = oracle::outcomes(&program, Within::Everything);
    let mut dpor = Dpor::new();
    assert_eq!(outcomes(&program, &mut dpor), expected, "{text}");
    assert_eq!(dpor.coverage(), Coverage::All);
    for bound in 0..3 {
        let (expected, _) = oracle::outcomes(&program, Within::Preemptions(bound));
        assert_eq!(outcomes(&program, &mut Bounded::new(bound)), expected, "{text} within {bound}");
    }
}

#[test]
fn a_call_that_has_to_wait_is_tried_before_the_one_that_makes_it_wait() {
    // No two steps tell of it: a third one comes between them, or none comes after the first. In the first of these, whoever comes second waits
    // for ever; in the second, a thread is stopped; in the third, it comes late; in the fourth, it could have gone on by either pipe; in the last two, one call leaves nothing of two things.
    for text in [
        "main: create a, create b
         a: put p 1
         b: put p 2",
        "main: create a, create b, create c
         a: put p 1
         b: put p 2
         c: put p 3, get p r",
        "main: create a, create b
         a: put p 1, get p r, add x 1
         b: load x r, put p 2, get p s",
        "main: create a, create b
         a: put q 1, get q r, put p 2, get p s
         b: await p q r",
        "main: create a, create b
         a: put p 1, move p q r
         b: get p s",
        "main: create a, create b
         a: put p 1, move p q r
         b: put q 3",
    ] {
        check_all(text);
    }
}

#[test]
fn a_race_asks_for_more_where_what_comes_later_is_something_else() {
    // The writes of c and d to x race in many executions that begin alike. Whether b writes there too comes out later, by the order of what is
    // done to y, and decides whether an exploration that begins with another step holds the other order of the two.
    for y in ["load y s", "add y 4", "lock m, load y s, unlock m"] {
        let program = parse(&format!(
            "main: create a, create b, create c, create d
             a: store y 1
             b: store y 2, load y r, skip 1 unless r == 2, store x 8
             c: {y}, store x 5
             d: add x 1"
        ));
        let (mut sleeping, mut dpor) = (DepthFirst::new(Extent::SleepSets), Dpor::new());
        let (expected, _) = oracle::outcomes(&program, Within::Everything);
        assert_eq!(outcomes(&program, &mut sleeping), expected, "{y}");
        assert_eq!(outcomes(&program, &mut dpor), expected, "{y}");
        assert_eq!((dpor.counts().schedules, dpor.counts().abandoned), (sleeping.counts().schedules, 0), "{y}");
    }
}
