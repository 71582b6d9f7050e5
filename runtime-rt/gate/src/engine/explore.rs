//! All executions of an exploration, or the one of a replay: begins anew whenever more memory is found shared, until a
//! whole exploration finds no more.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;

use explorer::strategy::replay::{Discipline, Expected, Replay, What};
use explorer::strategy::{Ending, Outcome, Strategy};
use explorer::target::found::TakenStep;
use explorer::target::page::{Phase, Word};
use explorer::target::setup::{Driver, Setup};
use model::ids::ThreadId;

use super::execution::Ended;
use super::failure::Classes;
use super::fiber::Engine;
use super::{arena, control, fork, lenders};

/// Parked threads to begin with.
const LENDERS_FIRST: usize = 8;

/// Explores or replays, and ends the process.
pub(crate) fn explore(engine: &Engine, setup: &Setup) -> ! {
    control::set(Word::Phase, Phase::Exploring as u64);
    lenders::ensure(&mut engine.lenders.borrow_mut(), LENDERS_FIRST);
    choose_driver(setup.driver);
    let begin = now();
    let mut classes = Classes::default();
    let strategy = loop {
        let mut strategy = build(engine, setup);
        if explore_once(engine, setup, &mut *strategy, &mut classes) {
            break strategy;
        }
        control::add(Word::Restarts, 1);
    };
    control::set(Word::Nanoseconds, now().saturating_sub(begin));
    conclude(&*strategy, &classes);
    control::set(Word::Phase, Phase::Ended as u64);
    crate::sys::call::exit_process(0)
}

fn choose_driver(wish: Driver) {
    control::set(Word::Driver, 1);
    let why = match wish {
        Driver::Fork => "asked for",
        Driver::Auto | Driver::Restore => "the only one built in",
    };
    remark(&alloc::format!("driver fork: {why}"));
}

fn build(engine: &Engine, setup: &Setup) -> Box<dyn Strategy> {
    match &setup.replay {
        Some(steps) => {
            engine.recorder.borrow_mut().points = Some(points(steps));
            Box::new(Replay::new(steps.iter().map(expected).collect(), Discipline::Strict))
        }
        None => setup.strategy.build(),
    }
}

fn expected(step: &TakenStep) -> Expected {
    Expected { thread: step.thread, what: Some(What { kind: step.kind, site: step.site }), picks: step.picks.clone() }
}

/// By thread, which of its accesses are steps of a schedule.
fn points(steps: &[TakenStep]) -> Vec<Vec<u64>> {
    let mut points: Vec<Vec<u64>> = Vec::new();
    for (ThreadId(thread), ordinal) in steps.iter().filter_map(|step| Some((step.thread, step.ordinal?))) {
        let thread = thread as usize;
        if points.len() <= thread {
            points.resize(thread + 1, Vec::new());
        }
        points[thread].push(ordinal);
    }
    points
}

/// One pass over the schedules; `false` when it found more shared memory and must begin anew.
fn explore_once(engine: &Engine, setup: &Setup, strategy: &mut dyn Strategy, classes: &mut Classes) -> bool {
    while strategy.begin() {
        let mut ended = Ended::NeedLenders;
        while ended == Ended::NeedLenders {
            control::add(Word::Executions, 1);
            ended = fork::execute(engine, strategy, setup.steps);
            if ended == Ended::NeedLenders {
                if !lend_more(engine) {
                    control::broken("the system allows no more threads");
                }
                // The strategy has seen part of an execution; it repeats that part.
                strategy.end(&Ending { outcome: Outcome::Abandoned, pending: &[] });
                return false;
            }
        }
        let outcome = match &ended {
            Ended::Passed => Outcome::Passed,
            Ended::Failed(_) => Outcome::Failed,
            Ended::Cut(_) => Outcome::Cut,
            Ended::Abandoned => Outcome::Abandoned,
            Ended::Diverged | Ended::NeedLenders => Outcome::Diverged,
        };
        if let Ended::Failed(failed) | Ended::Cut(failed) = &ended {
            classes.add(failed, || engine.recorder.borrow().taken());
        }
        strategy.end(&Ending { outcome, pending: &engine.model.borrow().pending });
        publish(strategy);
        if setup.replay.is_none() && engine.shadow.borrow().has_grown() {
            return false;
        }
    }
    true
}

fn lend_more(engine: &Engine) -> bool {
    let mut lenders = engine.lenders.borrow_mut();
    let before = lenders.len();
    lenders::ensure(&mut lenders, before * 2) > before
}

fn publish(strategy: &dyn Strategy) {
    let counts = strategy.counts();
    control::set(Word::Schedules, counts.schedules);
    control::set(Word::Failed, counts.failed);
    control::set(Word::Cut, counts.cut);
    control::set(Word::Abandoned, counts.abandoned);
    control::set(Word::Diverged, counts.diverged);
    control::set(Word::EngineBytes, arena::used() as u64);
}

fn conclude(strategy: &dyn Strategy, classes: &Classes) {
    publish(strategy);
    let mut text = String::new();
    for (index, class) in classes.list.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "count {index} {}", class.count);
    }
    let _ = writeln!(text, "coverage {}", strategy.coverage());
    if let Some(divergence) = strategy.divergence() {
        let what = |what: Option<What>| {
            what.map_or_else(
                || "nothing".to_string(),
                |what| {
                    let site = what.site.map_or_else(String::new, |site| alloc::format!(" at {site}"));
                    alloc::format!("{}{site}", what.kind)
                },
            )
        };
        let blocked = if divergence.enabled { "" } else { ", and is blocked" };
        let _ = writeln!(
            text,
            "divergence step {}: {} was to do {}, and is about to do {}{blocked}",
            divergence.step + 1,
            divergence.thread,
            what(divergence.expected),
            what(divergence.found)
        );
    }
    control::report(&text);
}

pub(crate) fn remark(text: &str) {
    let mut line = String::new();
    let _ = writeln!(line, "remark {}", explorer::target::found::escape(text));
    control::report(&line);
}

fn now() -> u64 {
    crate::sys::call::monotonic_time()
}
