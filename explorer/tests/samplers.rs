//! Samplers: the same seed gives the same executions, every outcome is found sooner or later, none that cannot be.

use explorer::fake::explore::explore;
use explorer::fake::generate::{Flavor, program};
use explorer::fake::oracle::{self, Within};
use explorer::fake::program::parse;
use explorer::strategy::config::{Config, Name};
use explorer::strategy::iterative::Preemptions;
use model::report::Coverage;

const SAMPLERS: [Name; 5] = [Name::Random, Name::Pct { depth: 3 }, Name::Pos, Name::Weighted, Name::Coverage];

fn config(name: Name, executions: u64, seed: u64) -> Config {
    Config { name, preemptions: Preemptions::Unlimited, executions: Some(executions), seed }
}

#[test]
fn samplers_repeat_themselves_and_stop_at_their_budget() {
    let program = program(7, Flavor::Everything);
    for name in SAMPLERS {
        let mut first = config(name, 200, 42).build();
        let seen = explore(&program, &mut *first);
        assert_eq!(first.counts().executions(), 200, "{name}");
        assert_eq!(seen.outcomes.values().sum::<u64>(), 200, "{name}");
        assert_eq!(explore(&program, &mut *config(name, 200, 42).build()), seen, "{name}");
    }
}

#[test]
fn samplers_find_only_outcomes_that_exist() {
    for seed in 0..40 {
        let program = program(seed, Flavor::Everything);
        let (expected, _) = oracle::outcomes(&program, Within::Everything);
        for name in SAMPLERS {
            for outcome in explore(&program, &mut *config(name, 100, seed).build()).outcomes.keys() {
                assert!(expected.contains(outcome), "{name}, seed {seed}: {outcome:?}");
            }
        }
    }
}

#[test]
fn samplers_find_the_lost_update_and_both_orders_without_it() {
    let program = parse(
        "main: create a, create b, join a, join b, read x r, assert r == 2
         a: read x r, write x r+1
         b: read x r, write x r+1",
    );
    for name in SAMPLERS {
        let seen = explore(&program, &mut *config(name, 500, 1).build());
        assert_eq!(seen.outcomes.len(), 3, "{name}: {:?}", seen.outcomes);
    }
}

#[test]
fn a_spinning_thread_starves_nobody() {
    // Twenty turns of a spin loop: a strategy that let the yielding thread go on would always see the flag unset.
    let spin = "load x r, skip 1 unless r == 0, yield, ".repeat(20);
    let program = parse(&format!("main: create a, create b, join a, join b\n a: {spin} assert r == 1\n b: store x 1"));
    for name in SAMPLERS {
        let seen = explore(&program, &mut *config(name, 300, 3).build());
        let passed: u64 = seen
            .outcomes
            .iter()
            .filter(|(outcome, _)| matches!(outcome, explorer::fake::machine::Outcome::Ended(..)))
            .map(|(_, n)| n)
            .sum();
        assert!(passed > 250, "{name}: {passed} of 300");
    }
}

#[test]
fn the_weighted_walk_draws_schedules_evenly() {
    // Two threads of very different length: the short one's only access falls anywhere in the long one.
    let long = vec!["load x r"; 20].join(", ");
    let program = parse(&format!("main: create a, create b\n a: {long}, read z r\n b: load x s, write z 1"));
    let late = |name| {
        let seen = explore(&program, &mut *config(name, 2000, 5).build());
        let sees_it = |outcome: &explorer::fake::machine::Outcome| match outcome {
            explorer::fake::machine::Outcome::Ended(_, registers, _) => registers[1].is_some_and(|registers| registers[0] == 0),
            _ => false,
        };
        seen.outcomes.iter().filter(|(outcome, _)| sees_it(outcome)).map(|(_, count)| count).sum::<u64>()
    };
    let (weighted, plain) = (late(Name::Weighted), late(Name::Random));
    assert!(weighted > 4 * plain.max(1), "the short thread ends last in {weighted} of 2000, by the plain walk in {plain}");
}

#[test]
fn the_portfolio_repeats_itself_and_ends_when_all_is_covered() {
    for seed in 0..30 {
        let program = program(seed, Flavor::Everything);
        let (expected, _) = oracle::outcomes(&program, Within::Everything);
        let explore = || {
            let mut strategy = config(Name::Portfolio, 5000, seed).build();
            let seen = explore(&program, &mut *strategy);
            (seen, strategy.counts(), strategy.coverage())
        };
        let (seen, counts, coverage) = explore();
        if coverage == Coverage::All {
            assert!(seen.outcomes.keys().eq(expected.iter()), "seed {seed}");
        }
        assert!(counts.executions() < 5000, "seed {seed}: {counts:?}, {coverage}");
        assert_eq!(explore(), (seen, counts, coverage), "seed {seed}");
    }
}
