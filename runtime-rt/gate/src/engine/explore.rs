//! All executions of an exploration, of parts of one, or the one of a replay. When more memory is found shared, strategies that can go on with more points do, and
//! others begin anew, until a whole exploration finds no more.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;

use explorer::minimize::minimize;
use explorer::races::Races;
use explorer::strategy::budget::Budget;
use explorer::strategy::prefix::{Prefix, critical};
use explorer::strategy::random::RandomWalk;
use explorer::strategy::reads_from::ReadsFrom;
use explorer::strategy::replay::{Discipline, Expected, Replay, What};
use explorer::strategy::{Ending, Outcome, Strategy};
use explorer::target::found::{ENDS, FoundFailure, Interleaved, TakenStep, class_text, minimized_text, most_steps_text, range_text};
use explorer::target::page::{Phase, Word};
use explorer::target::setup::{End, Sequel, Setup, parked};
use explorer::violation::{Pairs, Violation, violations};
use model::report::{Estimate, FailureKind};

use super::driver::{self, InUse};
use super::execution::Ended;
use super::failure::{Classes, Failed};
use super::fiber::Engine;
use super::limit::{self, Limit};
use super::line::{Begun, Line};
use super::output::Endings;
use super::recorder::Points;
use super::rounds::Ignored;
use super::scouts::Scouts;
use super::{arena, control, lenders, output};
use crate::gate::model::Spurious;

/// Explores or replays, then does the further parts that there are, and ends the process.
pub(crate) fn explore(engine: &Engine, line: Option<Line>, mut setup: Setup) -> ! {
    control::set(Word::Phase, Phase::Exploring as u64);
    let driver = begin_driver(engine, &setup);
    // What was said of the driver holds for all parts.
    control::set(Word::Remarks, 0);
    let begun = Begun::now();
    while explore_part(engine, &setup, driver) {
        match line.as_ref().and_then(|line| line.next(engine, &begun)) {
            Some(next) => setup = next,
            None => break,
        }
    }
    control::set(Word::Phase, Phase::Ended as u64);
    crate::sys::call::exit_process(0)
}

/// All executions of a setup. Whether the process may do another part: it has learnt nothing but what `atomfix` sees in what was found, which is
/// memory that is shared and how many threads there are.
fn explore_part(engine: &Engine, setup: &Setup, begun: InUse) -> bool {
    let mut driver = begun;
    let begin = now();
    let mut classes = Classes::default();
    let mut endings = Endings::default();
    let mut interleaved = BTreeSet::new();
    *engine.races.borrow_mut() = setup.races.then(Races::default);
    engine.looks_for_races.set(setup.races);
    engine.tells_all.set(setup.reads_from);
    engine.model.borrow_mut().spurious = if setup.spurious { Spurious::Possible } else { Spurious::Never };
    engine.shadow.borrow_mut().share(&setup.shared);
    engine.habits.know(&setup.shared);
    engine.habits.adopt(setup.habits);
    control::set(Word::Habits, engine.habits.all());
    let (mut scouts, mut limit) = (Scouts::new(setup), Limit::new(setup.steps));
    let strategy = loop {
        let mut strategy = build(engine, setup);
        let found = (&mut classes, &mut endings, &mut interleaved);
        if explore_once(engine, setup, &mut driver, (&mut scouts, &mut limit), &mut *strategy, found) {
            break strategy;
        }
        control::add(Word::Restarts, 1);
        classes.begin_again();
        endings = Endings::default();
    };
    control::set(Word::Nanoseconds, now().saturating_sub(begin));
    conclude(&*strategy, &classes);
    endings.report();
    report_interleaved(&interleaved);
    if setup.part.is_some() || setup.sequel == Sequel::Nothing {
        report_rest(engine, &*strategy, limit);
    }
    if setup.sequel == Sequel::Simplify {
        simplify(engine, limit.steps(), driver, &classes);
    }
    // What was remarked once is not remarked again.
    driver == begun && control::get(Word::Remarks) == 0
}

fn begin_driver(engine: &Engine, setup: &Setup) -> InUse {
    let Some(debug) = setup.debug else {
        output::keep();
        lenders::ensure(&mut engine.lenders.borrow_mut(), lenders_for(setup.threads));
        return driver::begin(engine, setup.driver);
    };
    // What is printed goes to the user. Nothing can be begun anew, so all that an execution needs is there from the beginning.
    engine.habits.adopt(debug.habits);
    engine.stop_at.set(Some(debug.stop));
    lenders::ensure(&mut engine.lenders.borrow_mut(), lenders_for(debug.threads));
    driver::begin_debugged(engine)
}

fn lenders_for(threads: u64) -> usize {
    usize::try_from(parked(threads)).unwrap_or(usize::MAX)
}

fn build(engine: &Engine, setup: &Setup) -> Box<dyn Strategy> {
    let strategy = plain(engine, setup);
    if setup.reads_from { Box::new(ReadsFrom::new(strategy)) } else { strategy }
}

fn plain(engine: &Engine, setup: &Setup) -> Box<dyn Strategy> {
    match &setup.replay {
        Some(steps) => {
            engine.recorder.borrow_mut().points = (setup.sequel == Sequel::Nothing).then(|| points(steps));
            Box::new(Replay::new(steps.iter().map(expected).collect(), Discipline::Strict))
        }
        None => match (&setup.part, setup.strategy.executions) {
            (Some(part), Some(executions)) => Box::new(Budget::new(part.build(), executions)),
            (Some(part), None) => part.build(),
            (None, _) => setup.strategy.build(),
        },
    }
}

pub(crate) fn expected(step: &TakenStep) -> Expected {
    Expected { thread: step.thread, what: Some(What { kind: step.kind, site: step.site }), picks: step.picks.clone() }
}

/// What a schedule says of each thread.
fn points(steps: &[TakenStep]) -> Vec<Points> {
    let mut points: Vec<Points> = Vec::new();
    for step in steps {
        if points.len() <= step.thread.index() {
            points.resize(step.thread.index() + 1, Points::default());
        }
        let own = &mut points[step.thread.index()];
        own.steps += 1;
        own.accesses.extend(step.ordinal);
    }
    // Those of a handler come before the one that the thread was about to make.
    points.iter_mut().for_each(|own| own.accesses.sort_unstable());
    points
}

/// One pass over the schedules; `false` when it found more shared memory, or that it needs more parked threads or another
/// driver, and must begin anew.
fn explore_once(
    engine: &Engine,
    setup: &Setup,
    driver: &mut InUse,
    (scouts, limit): (&mut Scouts, &mut Limit),
    strategy: &mut dyn Strategy,
    (classes, endings, interleaved): (&mut Classes, &mut Endings, &mut BTreeSet<Interleaved>),
) -> bool {
    while control::get(Word::Stop) == 0 && strategy.begin() {
        engine.printed.clear();
        control::add(Word::Executions, 1);
        let ended = driver::execute(engine, *driver, strategy, limit.steps());
        if must_begin_anew(engine, driver, &ended) {
            return false;
        }
        let outcome = outcome(&ended);
        if outcome == Outcome::Cut && limit.is_to_be_measured() && strategy.counts().executions() < limit::SOON {
            measure(engine, driver, limit);
            return false;
        }
        if let Ended::Failed(failed) | Ended::Cut(failed) = &ended {
            classes.add(failed, || output::tail(engine), || engine.recorder.borrow().taken());
        }
        // What an abandoned execution shows, others show too.
        if outcome != Outcome::Abandoned {
            report_races(engine, classes);
            if !setup.kept.is_empty() {
                interleaved.extend(broken(&engine.recorder.borrow().taken(), &setup.kept));
            }
        }
        if matches!(ended, Ended::Passed) && setup.outcomes {
            endings.add(&engine.printed);
        }
        control::add(Word::Revocations, engine.model.borrow().revoked);
        strategy.end(&Ending { outcome, pending: &engine.model.borrow().pending });
        publish(strategy);
        if strategy.counts().executions().is_multiple_of(ESTIMATED) {
            publish_estimate(strategy);
        }
        if outcome == Outcome::Failed && setup.end == End::FirstFailure {
            return true;
        }
        if setup.replay.is_none() && engine.shadow.borrow().has_grown() {
            limit.more_points();
            if !may_go_on(setup) || !strategy.learnt() {
                return false;
            }
            classes.expect_more_points();
        }
        let count = scouts.take(control::get(Word::Executions));
        if count > 0 && send(engine, driver, scouts, count, limit.steps()) {
            limit.more_points();
            return false;
        }
    }
    true
}

/// Sends scouts; whether everything must begin anew, as they found more shared memory, or showed what else calls for it.
fn send(engine: &Engine, driver: &mut InUse, scouts: &mut Scouts, count: u64, limit: u64) -> bool {
    let mut grown = false;
    for at in scouts.turns(count) {
        if control::get(Word::Stop) != 0 {
            break;
        }
        let strategy = scouts.strategy(at);
        if !strategy.begin() {
            continue;
        }
        engine.printed.clear();
        let ended = driver::execute(engine, *driver, strategy, limit);
        strategy.end(&Ending { outcome: outcome(&ended), pending: &engine.model.borrow().pending });
        if must_begin_anew(engine, driver, &ended) {
            return true;
        }
        if engine.shadow.borrow().has_grown() {
            grown = true;
            scouts.learn();
        }
    }
    // The search is to repeat nothing of a scout's.
    engine.recorder.borrow_mut().keep(0);
    grown
}

/// Measures how long executions are, as one was cut. What that one was, and what these are, is not kept: everything is to begin anew.
fn measure(engine: &Engine, driver: &mut InUse, limit: &mut Limit) {
    for seed in 1..=limit::TRIES {
        let mut strategy = Box::new(RandomWalk::new(seed));
        if control::get(Word::Stop) != 0 || !strategy.begin() {
            return;
        }
        engine.printed.clear();
        let ended = driver::execute(engine, *driver, &mut *strategy, limit::LONGEST);
        if must_begin_anew(engine, driver, &ended) {
            return;
        }
        match ended {
            Ended::Passed => return limit.saw(engine.recorder.borrow().steps.len() as u64),
            Ended::Cut(_) => break,
            _ => {}
        }
    }
    limit.give_up();
}

fn outcome(ended: &Ended) -> Outcome {
    match ended {
        Ended::Passed => Outcome::Passed,
        Ended::Failed(_) => Outcome::Failed,
        Ended::Cut(_) => Outcome::Cut,
        Ended::LeftOut => Outcome::LeftOut,
        Ended::Abandoned => Outcome::Abandoned,
        Ended::Diverged | Ended::NeedLenders | Ended::Learnt | Ended::NeedFork(_) => Outcome::Diverged,
    }
}

/// Whether what was explored with fewer points is worth as much. Not what parts of an exploration do, which is to follow from what is shared in the
/// end; nor classes by reads-from, which are of executions with the same points. Who looks for one failure needs no counts.
fn may_go_on(setup: &Setup) -> bool {
    setup.end == End::FirstFailure || (setup.sequel == Sequel::Simplify && !setup.reads_from)
}

/// Whether an execution ended because everything must begin anew, which is then prepared.
fn must_begin_anew(engine: &Engine, driver: &mut InUse, ended: &Ended) -> bool {
    match ended {
        Ended::NeedLenders => {
            if !driver::lend_more(engine, *driver) {
                control::unable(
                    "the system allows no more threads",
                    "see its limits (`ulimit -u`, cgroups), or have the program make fewer",
                );
            }
        }
        Ended::Learnt => {}
        Ended::NeedFork(why) => *driver = driver::fall_back(engine, why),
        _ => return false,
    }
    true
}

/// The pairs to be kept that a schedule interleaves.
fn broken(steps: &[TakenStep], kept: &Pairs) -> Vec<Interleaved> {
    let site = |at: usize| steps[at].site;
    let named =
        |found: Violation| Some(Interleaved { first: site(found.first)?, remote: site(found.remote)?, second: site(found.second)? });
    violations(steps, kept).into_iter().filter_map(named).collect()
}

fn report_interleaved(all: &BTreeSet<Interleaved>) {
    let mut text = String::new();
    for Interleaved { first, remote, second } in all {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "interleaved {first} {remote} {second}");
    }
    control::report(&text);
}

/// Races do not end an execution: each is a class of its own, seen once an execution.
fn report_races(engine: &Engine, classes: &mut Classes) {
    let races = core::mem::take(&mut *engine.found_races.borrow_mut());
    let mut seen: Vec<Failed> = Vec::new();
    for race in &races {
        let failed = Failed::race(race);
        if !seen.iter().any(|other| other.message == failed.message) {
            classes.add(&failed, Vec::new, || engine.recorder.borrow().taken());
            seen.push(failed);
        }
    }
}

/// A failure that does not end the execution, or ends it only because it is long, is not looked for in shorter ones.
fn can_be_simplified(kind: FailureKind) -> bool {
    !matches!(kind, FailureKind::StepLimit | FailureKind::DataRace)
}

/// Makes the schedules of failures simple, those of the first classes.
fn simplify(engine: &Engine, limit: u64, driver: InUse, classes: &Classes) {
    const CLASSES: usize = 10;
    const REPLAYS: u32 = 200;
    // All replays together. Where a schedule is long, fewer must do.
    const STEPS: usize = 2_000_000;
    // Of longer ones it is not asked from where on failure is certain: that takes hundreds of executions.
    const LONG: usize = 40_000;
    for (index, class) in classes.list.iter().enumerate().take(CLASSES).filter(|(_, class)| can_be_simplified(class.kind)) {
        let mut taken = Vec::new();
        let mut replay = |candidate: &[Expected]| {
            // In a box: fresh processes find it in the engine's memory.
            let mut strategy = Box::new(Replay::new(candidate.to_vec(), Discipline::Tolerant));
            if control::get(Word::Stop) != 0 || !strategy.begin() {
                return None;
            }
            control::add(Word::Executions, 1);
            match driver::execute(engine, driver, &mut *strategy, limit) {
                Ended::Failed(failed) if failed.same_class(class) => {
                    let recorder = engine.recorder.borrow();
                    taken.push((recorder.traced(), recorder.taken()));
                    Some(recorder.traced())
                }
                _ => None,
            }
        };
        // The first replay is of the whole schedule: what it does not reach again is not to be made simpler.
        let whole: Vec<Expected> = class.steps.iter().map(expected).collect();
        let Some(steps) = replay(&whole) else { continue };
        let replays = u32::try_from(STEPS / steps.len().max(1)).map_or(REPLAYS, |replays| replays.min(REPLAYS));
        let minimized = minimize(steps, replays, replay);
        if let Some((_, steps)) = taken.iter().find(|(traced, _)| *traced == minimized.steps) {
            control::report(&minimized_text(index, steps));
            if steps.len() > LONG {
                continue;
            }
            let steps: Vec<Expected> = steps.iter().map(expected).collect();
            match critical(steps.len(), |length| always_fails(engine, limit, driver, class, &steps[..length])) {
                Some(critical) => control::report(&alloc::format!("critical {index} {critical}\n")),
                // Not even its whole schedule leads there for good, unless there was no time to find out.
                None if control::get(Word::Stop) == 0 => control::report(&alloc::format!("out {index}\n")),
                None => {}
            }
        }
    }
}

/// How many steps a random end may take that goes round, to find a way out.
const WAY_OUT: u64 = 2_000;

/// Whether random ends of a beginning all fail in this way. Going round is a failure as soon as a state comes again, so ends have time to leave
/// the round then; and rounds that are the library's are always left.
fn always_fails(engine: &Engine, limit: u64, driver: InUse, class: &FoundFailure, beginning: &[Expected]) -> bool {
    let goes_round = class.kind == FailureKind::Livelock;
    let limit = if goes_round { limit.min(beginning.len() as u64 + WAY_OUT) } else { limit };
    engine.rounds.ignore(if goes_round { Ignored::All } else { Ignored::Library });
    let always = ends_all(engine, driver, limit, beginning, |failed| {
        failed.same_class(class) || (goes_round && matches!(failed.kind, FailureKind::StepLimit | FailureKind::Livelock))
    });
    engine.rounds.ignore(Ignored::None);
    always
}

/// Whether random ends of a beginning all come out as asked for.
fn ends_all(engine: &Engine, driver: InUse, limit: u64, beginning: &[Expected], fails: impl Fn(&Failed) -> bool) -> bool {
    let mut ends = Box::new(Prefix::new(beginning.to_vec(), ENDS, 1));
    while control::get(Word::Stop) == 0 && ends.begin() {
        control::add(Word::Executions, 1);
        match driver::execute(engine, driver, &mut *ends, limit) {
            Ended::Failed(failed) if fails(&failed) => {}
            _ => return false,
        }
    }
    control::get(Word::Stop) == 0
}

/// After how many executions an estimate is made.
const ESTIMATED: u64 = 1024;

fn publish_estimate(strategy: &dyn Strategy) {
    let (schedules, unseen) = match strategy.estimate() {
        Some(Estimate::Schedules(schedules)) => (schedules, 0),
        Some(Estimate::Unseen(unseen)) => (0, (1.0 + unseen).to_bits()),
        None => (0, 0),
    };
    control::set(Word::Estimated, schedules);
    control::set(Word::Unseen, unseen);
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
    publish_estimate(strategy);
    let mut text = String::new();
    for (index, class) in classes.list.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "count {index} {}", class.count);
    }
    let _ = writeln!(text, "coverage {}", strategy.coverage());
    if let Some(classes) = strategy.reads_from() {
        let _ = writeln!(text, "reads-from {classes}");
    }
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

/// What others need to go on: the memory found shared, and what the strategy leaves.
fn report_rest(engine: &Engine, strategy: &dyn Strategy, limit: Limit) {
    let mut text = String::new();
    for range in engine.shadow.borrow().shared() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "shared {}", range_text(range));
    }
    if let Some(steps) = limit.measured() {
        text.push_str(&most_steps_text(steps));
    }
    if strategy.is_limited() {
        text.push_str("limited yes\n");
    }
    for class in strategy.sketch() {
        text.push_str(&class_text(class));
    }
    for subtree in strategy.left() {
        text.push_str("left\n");
        subtree.write(&mut text);
        text.push_str("end\n");
    }
    for asked in strategy.asked() {
        asked.write(&mut text);
    }
    control::report(&text);
}

pub(crate) fn remark(text: &str) {
    control::add(Word::Remarks, 1);
    let mut line = String::new();
    let _ = writeln!(line, "remark {}", explorer::target::found::escape(text));
    control::report(&line);
}

fn now() -> u64 {
    crate::sys::call::monotonic_time()
}
