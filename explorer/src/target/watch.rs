//! Watches a target until it ends: asks it to stop when its time is over, and ends executions in which nothing moves.

use std::io;
use std::process::ExitStatus;
use std::string::String;
use std::time::{Duration, Instant};
use std::vec::Vec;

use model::event::Range;
use model::report::Estimate;

use super::found::{Found, Unable};
use super::page::{EarlyEnd, Phase, Word};
use super::process::{Orders, Program, Target, interrupt, kill, rest_beside, start};
use super::setup::{Setup, parked};
use crate::strategy::Counts;

/// How long to wait.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// For the whole exploration; `None`: until it is done.
    pub whole: Option<Duration>,
    /// For a step to be taken, before the execution counts as hung.
    pub step: Duration,
    /// Whether it is to end now, as the user wants.
    pub stop: fn() -> bool,
}

/// How the target ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// In good order.
    Ended,
    /// Before the engine began: the program does not start, or has no gate.
    NeverBegan(ExitStatus),
    /// It died while it explored.
    Died(ExitStatus),
    /// Nothing moved, and the execution alone could not be ended: it was killed.
    Stuck,
    /// The engine found itself to be wrong.
    Broken(String),
    /// The engine cannot go on, which is the program's or the machine's doing.
    Unable(Unable),
}

/// What came of an exploration.
#[derive(Clone, Debug, PartialEq)]
pub struct Explored {
    /// How it ended.
    pub ending: Ending,
    /// Executions.
    pub counts: Counts,
    /// Steps, over all executions begun.
    pub steps: u64,
    /// Executions begun, those of passes that began anew included.
    pub executions: u64,
    /// How often the exploration began anew because more memory was found shared.
    pub restarts: u64,
    /// Most threads of one execution.
    pub threads: u64,
    /// Bits of `page::Note`.
    pub notes: u64,
    /// As in `Word::Habits`.
    pub habits: u64,
    /// Injected locks revoked.
    pub revocations: u64,
    /// Holds of injected locks that ended before their regions.
    pub early_ends: Vec<EarlyEnd>,
    /// How much there is, as far as can be told.
    pub estimate: Option<Estimate>,
    /// Wall time of the exploration itself.
    pub time: Duration,
    /// Of its schedules: those that an interrupted exploration had come to before that time.
    pub earlier: u64,
    /// Whether it was stopped because its time was over, or the user wanted it.
    pub timed_out: bool,
    /// What was found.
    pub found: Found,
}

/// A look at a running exploration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Schedules so far.
    pub schedules: u64,
    /// Of these: failed.
    pub failed: u64,
    /// How much there is, as far as can be told.
    pub estimate: Option<Estimate>,
}

/// How often the target is looked at, at most.
const SLOWEST: Duration = Duration::from_millis(50);
/// How long a target, or an execution's own process, may take to stop once asked, on a machine that may be busy.
const GRACE: Duration = Duration::from_secs(2);

/// Runs a program under the engine. `show` is called now and then.
pub fn run(program: &Program, setup: &Setup, limits: Limits, show: &mut dyn FnMut(Progress)) -> io::Result<Explored> {
    let mut watched = Watched::start(program, Orders::Only(setup), limits)?;
    let mut pause = Pause::default();
    loop {
        if let Some(explored) = watched.look()? {
            return Ok(explored);
        }
        show(watched.progress());
        pause.rest([&watched]);
    }
}

/// How long to rest between looks: shortly at first, as much is over soon. When a target ends or is done with a part, no longer.
#[derive(Clone, Copy, Debug)]
pub struct Pause(Duration);

impl Default for Pause {
    fn default() -> Self {
        Self(Duration::from_micros(200))
    }
}

impl Pause {
    /// Rests beside these targets, the next time longer.
    pub fn rest<'a>(&mut self, watched: impl IntoIterator<Item = &'a Watched>) {
        rest_beside(watched.into_iter().map(|watched| &watched.target), self.0);
        self.0 = (self.0 * 2).min(SLOWEST);
    }
}

/// A target that is being watched. It does not outlive this.
#[derive(Debug)]
pub struct Watched {
    target: Target,
    limits: Limits,
    begin: Instant,
    /// How much had been done at the last look that saw something move, and when that was.
    moved: (u64, Instant),
    /// When the execution was asked to end, and how much had been done then.
    asked: Option<(u64, Instant)>,
    timed_out: bool,
    /// When it was first asked to stop.
    stopped: Option<Instant>,
    killed: bool,
    /// What it was told or has learnt; `None` before its first part.
    knows: Option<Knowledge>,
}

/// What shows in the memory of a process: which memory it takes for shared, and how many threads it has parked.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Knowledge {
    shared: Vec<Range>,
    parked: u64,
}

impl Knowledge {
    fn of(setup: &Setup) -> Self {
        Self { shared: setup.shared.clone(), parked: parked(setup.threads) }
    }

    /// After a part.
    fn learn(&mut self, explored: &Explored) {
        self.shared.clone_from(&explored.found.shared);
        self.parked = self.parked.max(parked(explored.threads));
    }
}

impl Watched {
    /// Starts a program under the engine.
    pub fn start(program: &Program, orders: Orders<'_>, limits: Limits) -> io::Result<Self> {
        let (target, begin) = (start(program, orders)?, Instant::now());
        let knows = match orders {
            Orders::Only(setup) | Orders::First(setup) => Some(Knowledge::of(setup)),
            Orders::Wait => None,
        };
        Ok(Self { target, limits, begin, moved: (0, begin), asked: None, timed_out: false, stopped: None, killed: false, knows })
    }

    /// Whether it waits for a part.
    #[must_use]
    pub fn waits(&self) -> bool {
        self.target.waits()
    }

    /// A target that waits, with a part of the same exploration to do. `None` when it knows something else than the part is to be told,
    /// has not come so far, or has died meanwhile.
    #[must_use]
    pub fn with(mut self, setup: &Setup, limits: Limits) -> Option<Self> {
        let told = Knowledge::of(setup);
        if self.knows.as_ref().is_some_and(|knows| *knows != told) || !self.waits() || self.target.give(setup).is_err() {
            return None;
        }
        self.knows = Some(told);
        let begin = Instant::now();
        (self.limits, self.begin, self.moved) = (limits, begin, (0, begin));
        (self.asked, self.timed_out, self.stopped, self.killed) = (None, false, None, false);
        Some(self)
    }

    /// What is done so far.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let (schedules, failed) = (self.target.word(Word::Schedules), self.target.word(Word::Failed));
        Progress { schedules, failed, estimate: estimate(&self.target) }
    }

    /// Sees to it that it moves, and ends in time. What came of it, when it has ended or is done with its part.
    pub fn look(&mut self) -> io::Result<Option<Explored>> {
        if self.waits() {
            let explored = conclude(&self.target, Ending::Ended, self.begin.elapsed(), self.timed_out)?;
            self.knows.iter_mut().for_each(|knows| knows.learn(&explored));
            return Ok(Some(explored));
        }
        if let Some(status) = self.target.child.try_wait()? {
            let mut explored = conclude(&self.target, ending(&self.target, status)?, self.begin.elapsed(), self.timed_out)?;
            if self.killed && matches!(explored.ending, Ending::Died(_)) {
                explored.ending = Ending::Stuck;
            }
            return Ok(Some(explored));
        }
        let target = &mut self.target;
        let moved = target.word(Word::Steps).wrapping_add(target.word(Word::Executions));
        if moved != self.moved.0 {
            self.moved = (moved, Instant::now());
        } else if self.moved.1.elapsed() > self.limits.step {
            match self.asked.filter(|&(at, _)| at == moved) {
                None => {
                    ask_to_end(target)?;
                    self.asked = Some((moved, Instant::now()));
                }
                Some((_, when)) if end_execution(target, when.elapsed(), self.limits.step)? => {
                    self.killed = child(target).is_none();
                    self.asked = None;
                    self.moved.1 = Instant::now();
                }
                Some(_) => {}
            }
        }
        if self.limits.whole.is_some_and(|whole| self.begin.elapsed() > whole) || (self.limits.stop)() {
            self.timed_out = true;
            self.stopped.get_or_insert_with(Instant::now);
            target.set_word(Word::Stop, 1)?;
        }
        if self.stopped.is_some_and(|stopped| stopped.elapsed() > GRACE) {
            kill(u32::try_from(target.word(Word::Child)).unwrap_or(0));
            target.child.kill()?;
        }
        Ok(None)
    }
}

/// Ends targets. They go beside each other.
pub fn end_all(watched: impl IntoIterator<Item = Watched>) {
    let mut watched: Vec<Watched> = watched.into_iter().collect();
    for one in &mut watched {
        one.kill();
    }
}

impl Watched {
    fn kill(&mut self) {
        kill(u32::try_from(self.target.word(Word::Child)).unwrap_or(0));
        // Nothing can be done about a child that cannot be killed.
        let _ = self.target.child.kill();
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if matches!(self.target.child.try_wait(), Ok(None)) {
            self.kill();
            let _ = self.target.child.wait();
        }
    }
}

/// Asks the engine to end the execution that hangs, in the execution's own child if it has one. A child that is killed in the middle of a
/// hook would leave what it shares with the target half done.
fn ask_to_end(target: &mut Target) -> io::Result<()> {
    match child(target) {
        Some(child) => {
            target.set_word(Word::Asleep, u64::from(is_asleep(child)))?;
            interrupt(child);
        }
        None => interrupt(target.child.id()),
    }
    Ok(())
}

/// Ends the execution that hangs, and was asked so long ago to end, when it is time to: its child soon, but a target without one, with which
/// the whole exploration ends, only after another whole limit of a step. Whether it was.
fn end_execution(target: &mut Target, asked: Duration, step: Duration) -> io::Result<bool> {
    match child(target) {
        Some(child) if asked > GRACE => {
            target.set_word(Word::Killed, target.word(Word::Executions))?;
            kill(child);
            Ok(true)
        }
        None if asked > GRACE.max(step) => target.child.kill().map(|()| true),
        _ => Ok(false),
    }
}

/// The process of the execution, if it has one of its own.
fn child(target: &Target) -> Option<u32> {
    u32::try_from(target.word(Word::Child)).ok().filter(|&child| child > 0)
}

/// Whether a process sleeps in the kernel, as far as that can be told.
fn is_asleep(process: u32) -> bool {
    let stat = std::fs::read_to_string(std::format!("/proc/{process}/stat")).unwrap_or_default();
    // The state follows the name, which is in parentheses and may contain anything.
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with(['S', 'D']))
}

fn estimate(target: &Target) -> Option<Estimate> {
    match (target.word(Word::Estimated), target.word(Word::Unseen)) {
        (0, 0) => None,
        (0, unseen) => Some(Estimate::Unseen(f64::from_bits(unseen) - 1.0)),
        (schedules, _) => Some(Estimate::Schedules(schedules)),
    }
}

/// How a target ended whose process has.
fn ending(target: &Target, status: ExitStatus) -> io::Result<Ending> {
    Ok(match Phase::from_number(target.word(Word::Phase)) {
        Some(Phase::Ended | Phase::Waiting) => Ending::Ended,
        Some(Phase::Before) | None => Ending::NeverBegan(status),
        Some(Phase::Exploring) => Ending::Died(status),
        Some(Phase::Broken) => {
            let found = Found::from_text(&target.found()?);
            found.unable.map_or_else(|| Ending::Broken(found.broken.unwrap_or_default()), Ending::Unable)
        }
    })
}

fn conclude(target: &Target, ending: Ending, elapsed: Duration, timed_out: bool) -> io::Result<Explored> {
    let found = Found::from_text(&target.found()?);
    let measured = Duration::from_nanos(target.word(Word::Nanoseconds));
    Ok(Explored {
        ending,
        counts: Counts {
            schedules: target.word(Word::Schedules),
            failed: target.word(Word::Failed),
            cut: target.word(Word::Cut),
            abandoned: target.word(Word::Abandoned),
            diverged: target.word(Word::Diverged),
        },
        steps: target.word(Word::Steps),
        executions: target.word(Word::Executions),
        restarts: target.word(Word::Restarts),
        threads: target.word(Word::Threads),
        notes: target.word(Word::Notes),
        habits: target.word(Word::Habits),
        revocations: target.word(Word::Revocations),
        early_ends: target.early_ends(),
        estimate: estimate(target),
        time: if measured.is_zero() { elapsed } else { measured },
        earlier: 0,
        timed_out,
        found,
    })
}
