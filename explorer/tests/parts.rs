//! Explorations in parts, over programs as data: the same result whoever does which part when, interrupted or not, on one machine
//! or several.

use std::collections::BTreeMap;

use explorer::fake::explore::explore;
use explorer::fake::generate::{Flavor, program};
use explorer::fake::machine::Outcome as End;
use explorer::fake::oracle::{self, Within};
use explorer::fake::program::{Program, parse};
use explorer::parts::campaign::{Campaign, Shard, Subject, WHOLE};
use explorer::parts::file::{self, Unusable};
use explorer::parts::id::PartId;
use explorer::parts::total::nothing;
use explorer::random::Random;
use explorer::strategy::Strategy;
use explorer::strategy::budget::Budget;
use explorer::strategy::config::{Config, Name};
use explorer::strategy::iterative::Preemptions;
use explorer::target::setup::Setup;
use explorer::target::watch::Explored;
use model::event::Range;
use model::report::{Coverage, Estimate, Outcome};

fn subject(name: Name, preemptions: Preemptions, executions: Option<u64>) -> Subject {
    let strategy = Config { name, preemptions, executions, seed: 5 };
    Subject { build: "b".into(), arguments: vec!["-n".into()], setup: Setup::exploring(strategy) }
}

/// Does one part, as a target would.
fn perform(program: &Program, setup: &Setup) -> Explored {
    let mut strategy: Box<dyn Strategy> = match (&setup.part, setup.strategy.executions) {
        (Some(part), Some(executions)) => Box::new(Budget::new(part.build(), executions)),
        (Some(part), None) => part.build(),
        (None, _) => setup.strategy.build(),
    };
    let seen = explore(program, &mut *strategy);
    let mut explored = Explored { counts: strategy.counts(), executions: strategy.counts().executions(), ..nothing() };
    explored.found.coverage = Some(strategy.coverage());
    explored.found.limited = strategy.is_limited();
    explored.found.left = strategy.left();
    explored.found.asked = strategy.asked();
    explored.found.classes = strategy.sketch();
    let outcome = |(end, count): (End, u64)| {
        let text = format!("{end:?}");
        Outcome { identity: model::ids::fnv1a(text.as_bytes()), count, text }
    };
    explored.found.shared.clone_from(&setup.shared);
    grow(setup, &mut explored);
    explored.found.outcomes = seen.outcomes.into_iter().map(outcome).collect();
    explored
}

/// A few parts find memory to be shared; more, with the points that it needs.
fn grow(setup: &Setup, explored: &mut Explored) {
    let mut text = String::new();
    if let Some(part) = &setup.part {
        part.write(&mut text);
    }
    let range = |address| Range { address, length: 4 };
    let (one, two) = (range(0x10), range(0x20));
    let known = |range| setup.shared.contains(&range);
    let grown = match Random::new(model::ids::fnv1a(text.as_bytes())).below(4) {
        0 if !known(one) => one,
        1 if known(one) && !known(two) => two,
        _ => return,
    };
    explored.found.shared.push(grown);
    explored.found.shared.sort_unstable();
}

/// Does all parts with so many at a time, which end in an order by chance; after each, with `save`, goes on from a file.
fn run(program: &Program, mut campaign: Campaign, workers: usize, chance: u64, save: Option<usize>) -> Campaign {
    let mut random = Random::new(chance);
    let mut running: Vec<(PartId, Setup)> = Vec::new();
    let mut parts = 0;
    loop {
        while running.len() < workers
            && let Some(next) = campaign.take()
        {
            running.push(next);
        }
        if running.is_empty() {
            return campaign;
        }
        let at = random.below(u32::try_from(running.len()).expect("few")) as usize;
        let (id, setup) = running.swap_remove(at);
        if campaign.is_wanted(&id) {
            campaign.finish(&id, perform(program, &setup));
        }
        parts += 1;
        if save.is_some_and(|every| parts % every == 0) {
            campaign = file::from_bytes(&file::to_bytes(&campaign)).expect("what was written reads back");
            running.clear();
        }
    }
}

fn outcomes(explored: &Explored) -> BTreeMap<String, u64> {
    explored.found.outcomes.iter().map(|outcome| (outcome.text.clone(), outcome.count)).collect()
}

/// Long enough that searches are divided.
fn large() -> Program {
    let (a, b) = ("load i r, load j r, store i r+1, ".repeat(4), "load j r, load i r, store j r+1, ".repeat(3));
    parse(&format!("main: create a, create b, load i r, load j r\n a: {a}\n b: {b}"))
}

/// The same, where few schedules show that a step near the root has a rival: a part asks for it.
fn large_with_rare_conflicts() -> Program {
    let a = "load i r, load j r, store i r+1, ".repeat(5);
    let b = "load j r, load i r, store j r+1, ".repeat(4);
    parse(&format!(
        "main: create a, create b, create c, load i r\n a: {a} load i r, skip 1 unless r == 3, store k 1\n b: {b} load j r, skip 1 unless r == 1, store k 2\n c: store k 3"
    ))
}

fn check_independent(program: &Program, name: Name, preemptions: Preemptions, executions: Option<u64>) -> Explored {
    let subject = subject(name, preemptions, executions);
    let one = run(program, Campaign::new(subject.clone(), WHOLE), 1, 0, None);
    let expected = one.total();
    let text = String::from_utf8_lossy(&file::to_bytes(&one)).into_owned();
    let parts = text.matches("\ndone ").count();
    // One of few executions may end in the first part.
    assert!(parts > 3 || executions.is_some_and(|most| most < 100), "{name} was not divided: {parts} parts");
    assert!(executions.is_some() || text.contains("\nshared 10+4\n"), "{name}: {text}");
    for (workers, chance, save) in [(2, 1, None), (7, 2, Some(3))] {
        let campaign = run(program, Campaign::new(subject.clone(), WHOLE), workers, chance, save);
        assert_eq!(campaign.total(), expected, "{name}, {workers} workers");
    }
    let shards = |of: u32| (1..=of).map(move |index| Shard { index, of });
    if executions.is_none() || name == Name::Pos {
        let done = shards(3).map(|shard| run(program, Campaign::new(subject.clone(), shard), 2, 3, None));
        // Shards that found other memory are explored anew with all of it.
        let merged = file::merge(done.collect()).expect("they belong together");
        let merged = run(program, merged, 1, 0, None);
        assert_eq!(merged.total(), expected, "{name}, 3 shards");
    }
    expected
}

#[test]
fn results_do_not_depend_on_how_many_explore() {
    let program = large();
    let none = Preemptions::Unlimited;
    let whole = check_independent(&program, Name::SleepSets, none, None);
    assert_eq!(whole.found.coverage, Some(Coverage::All));
    let plain = |name, preemptions| {
        let mut strategy = Config { name, preemptions, executions: None, seed: 0 }.build();
        let seen = explore(&program, &mut *strategy);
        (seen.outcomes.into_iter().map(|(end, count)| (format!("{end:?}"), count)).collect::<BTreeMap<_, _>>(), strategy.counts())
    };
    assert_eq!((outcomes(&whole), whole.counts), plain(Name::SleepSets, none), "sleep sets");

    let reduced = check_independent(&program, Name::Dpor, none, None);
    let (expected, counts) = plain(Name::Dpor, none);
    assert_eq!((outcomes(&reduced), reduced.counts.schedules), (expected, counts.schedules), "partial order reduction");
    for most in [1, 10, reduced.counts.executions() - 1] {
        let limited = check_independent(&program, Name::Dpor, none, Some(most));
        assert_eq!(limited.counts.executions(), most);
        assert_eq!(limited.found.coverage, Some(Coverage::Partial(limited.counts.schedules)));
    }

    let together = check_independent(&program, Name::Portfolio, none, None);
    assert_eq!(together.found.coverage, Some(Coverage::All));
    assert!(outcomes(&together).keys().eq(outcomes(&reduced).keys()), "the portfolio finds what partial order reduction finds");
    assert!(together.counts.schedules > reduced.counts.schedules + 3000, "and samples too: {:?}", together.counts);
    let bounded = check_independent(&program, Name::Portfolio, Preemptions::AtMost(2), None);
    assert_eq!(bounded.found.coverage, Some(Coverage::Preemptions(2)));
    check_independent(&program, Name::Portfolio, none, Some(2500));
    assert_eq!(reduced.found.coverage, Some(Coverage::All));

    let bounded = check_independent(&program, Name::DepthFirst, Preemptions::AtMost(3), None);
    assert_eq!(bounded.found.coverage, Some(Coverage::Preemptions(3)));
    let limited = check_independent(&program, Name::SleepSets, none, Some(2345));
    assert_eq!(limited.counts.executions(), 2345);
    assert_eq!(limited.found.coverage, Some(Coverage::Partial(limited.counts.schedules)));
    let sampled = check_independent(&program, Name::Pos, none, Some(3500));
    assert_eq!((sampled.counts.schedules, sampled.found.coverage), (3500, Some(Coverage::Sampled(3500))));
    assert!(matches!(sampled.estimate, Some(Estimate::Unseen(unseen)) if unseen > 0.1), "{:?}", sampled.estimate);
}

#[test]
fn what_parts_ask_for_does_not_depend_on_how_many_explore() {
    let program = large_with_rare_conflicts();
    let reduced = check_independent(&program, Name::Dpor, Preemptions::Unlimited, None);
    let mut whole = Config { name: Name::Dpor, preemptions: Preemptions::Unlimited, executions: None, seed: 0 }.build();
    let seen: BTreeMap<_, _> =
        explore(&program, &mut *whole).outcomes.into_iter().map(|(end, count)| (format!("{end:?}"), count)).collect();
    assert_eq!((outcomes(&reduced), reduced.counts.schedules), (seen, whole.counts().schedules));
    assert!(reduced.counts.abandoned * 100 < reduced.counts.schedules, "{:?}", reduced.counts);
}

#[test]
fn small_programs_are_explored_as_without_parts() {
    for seed in 0..20 {
        let program = program(seed, Flavor::Everything);
        let (expected, _) = oracle::outcomes(&program, Within::Everything);
        for name in [Name::DepthFirst, Name::Dpor, Name::SleepSets, Name::Delays] {
            let campaign = run(&program, Campaign::new(subject(name, Preemptions::Unlimited, None), WHOLE), 3, seed, Some(2));
            let total = campaign.total();
            assert_eq!(total.found.coverage, Some(Coverage::All), "{name}, seed {seed}");
            let seen: Vec<String> = outcomes(&total).into_keys().collect();
            let mut expected: Vec<String> = expected.iter().map(|end| format!("{end:?}")).collect();
            expected.sort();
            assert_eq!(seen, expected, "{name}, seed {seed}");
        }
    }
}

#[test]
fn files_that_do_not_belong_together_are_refused() {
    let program = program(3, Flavor::Accesses);
    let dpor = subject(Name::Dpor, Preemptions::Unlimited, None);
    let shard = |index, of| run(&program, Campaign::new(dpor.clone(), Shard { index, of }), 1, 0, None);
    let mut other = dpor.clone();
    other.build = "c".into();
    assert_eq!(file::check(&shard(1, 1), &other, WHOLE), Err(Unusable::OtherBuild));
    other = subject(Name::SleepSets, Preemptions::Unlimited, None);
    let options = Unusable::OtherOptions { how: "`strategy dpor`, not `strategy sleep`".into() };
    assert_eq!(file::check(&shard(1, 1), &other, WHOLE), Err(options));
    assert_eq!(file::check(&shard(1, 2), &dpor, WHOLE), Err(Unusable::OtherShard(Shard { index: 1, of: 2 })));
    let (one, two) = (Shard { index: 1, of: 2 }, Shard { index: 2, of: 2 });
    assert_eq!(file::merge(vec![shard(1, 2), shard(1, 2)]), Err((1, Unusable::SameShard(one))));
    assert_eq!(file::merge(vec![shard(1, 2)]), Err((0, Unusable::MissingShard(two))));
    assert_eq!(file::merge(vec![shard(1, 2), Campaign::new(dpor.clone(), two)]), Err((1, Unusable::Unfinished)));
}

#[test]
fn a_damaged_file_is_refused_whatever_is_damaged() {
    let program = program(3, Flavor::Accesses);
    let campaign = run(&program, Campaign::new(subject(Name::SleepSets, Preemptions::Unlimited, None), WHOLE), 1, 0, None);
    let bytes = file::to_bytes(&campaign);
    for at in 0..bytes.len() {
        assert!(file::from_bytes(&bytes[..at]).is_err(), "cut at {at}");
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        assert!(file::from_bytes(&damaged).is_err(), "flipped at {at}");
    }
    // Sound frames around what is not an exploration.
    for body in ["", "build x", "build x\nshard 3 2\nparts\n", "build x\nshard 1 1\nstrategy dfs\nparts\ntodo x - whole\n"] {
        assert!(
            matches!(file::from_bytes(&model::wire::frame(file::EXPLORATION, body.as_bytes())), Err(Unusable::Unreadable { .. })),
            "{body}"
        );
    }
}
