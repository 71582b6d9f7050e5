//! Compares searches with brute force on many random programs: `agree [FIRST_SEED] [PROGRAMS] [FLAVOR]`.
//!
//! Prints, for each flavor of program, how many executions each search took; stops at the first disagreement.
#![expect(clippy::print_stdout, reason = "it is a program for people")]

use std::collections::BTreeSet;

use explorer::fake::explore::explore;
use explorer::fake::generate::{FLAVORS, Flavor, program};
use explorer::fake::machine::Outcome;
use explorer::fake::oracle::{self, Within};
use explorer::fake::program::Program;
use explorer::strategy::Strategy;
use explorer::strategy::depth_first::{DepthFirst, Extent};
use explorer::strategy::dpor::{Bounded, Dpor};

const MOST_SCHEDULES: u64 = 300_000;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |otherwise| arguments.next().map_or(otherwise, |argument| argument.parse().expect("a number"));
    let (first, programs) = (number(0), number(1000));
    let only = arguments.next();
    for flavor in FLAVORS.into_iter().filter(|flavor| only.as_ref().is_none_or(|only| *only == format!("{flavor:?}"))) {
        let (mut tried, mut schedules, mut sleeping, mut reduced, mut bounded) = (0, 0, [0; 2], [0; 2], [0; 2]);
        for seed in first..first + programs {
            let program = program(seed, flavor);
            let (expected, count) = oracle::outcomes(&program, Within::Everything);
            if count > MOST_SCHEDULES {
                continue;
            }
            tried += 1;
            schedules += count;
            let sleep = compare(&program, &mut DepthFirst::new(Extent::SleepSets), &expected, (flavor, seed));
            let dpor = compare(&program, &mut Dpor::new(), &expected, (flavor, seed));
            for bound in 0..3 {
                let (expected, count) = oracle::outcomes(&program, Within::Preemptions(bound));
                let [run, _] = compare(&program, &mut Bounded::new(bound), &expected, (flavor, seed));
                bounded[0] += count;
                bounded[1] += run;
            }
            for at in 0..2 {
                sleeping[at] += sleep[at];
                reduced[at] += dpor[at];
            }
        }
        println!("{flavor:?}: {tried} programs, {schedules} schedules; executed, abandoned: sleep sets {sleeping:?}, dpor {reduced:?}");
        println!("  within 0, 1, 2 preemptions: {} schedules; executed {}", bounded[0], bounded[1]);
    }
}

fn compare(program: &Program, strategy: &mut dyn Strategy, expected: &BTreeSet<Outcome>, which: (Flavor, u64)) -> [u64; 2] {
    let found: BTreeSet<Outcome> = explore(program, strategy).outcomes.into_keys().collect();
    if found != *expected {
        println!("{}: {which:?}: {program:?}", strategy.name());
        println!("missing: {:?}", expected.difference(&found).collect::<Vec<_>>());
        println!("extra: {:?}", found.difference(expected).collect::<Vec<_>>());
        std::process::exit(1);
    }
    [strategy.counts().schedules, strategy.counts().abandoned]
}
