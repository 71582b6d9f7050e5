//! Watches a target until it ends: asks it to stop when its time is over, and ends executions in which nothing moves.

use std::io;
use std::process::ExitStatus;
use std::string::String;
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::vec::Vec;

use super::found::Found;
use super::page::{EarlyEnd, Phase, Word};
use super::process::{Program, Target, interrupt, kill, start};
use super::setup::Setup;
use crate::strategy::Counts;

/// How long to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// For the whole exploration; `None`: until it is done.
    pub whole: Option<Duration>,
    /// For a step to be taken, before the execution counts as hung.
    pub step: Duration,
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
    /// The engine found itself to be wrong.
    Broken(String),
}

/// What came of an exploration.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// Injected locks revoked.
    pub revocations: u64,
    /// Holds of injected locks that ended before their regions.
    pub early_ends: Vec<EarlyEnd>,
    /// Pages put back before each execution.
    pub restored_pages: u64,
    /// Wall time of the exploration itself.
    pub time: Duration,
    /// Whether it was stopped because its time was over.
    pub timed_out: bool,
    /// What was found.
    pub found: Found,
}

/// A look at a running exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Schedules so far.
    pub schedules: u64,
    /// Of these: failed.
    pub failed: u64,
}

/// How often the target is looked at, at most.
const SLOWEST: Duration = Duration::from_millis(50);
/// How long a target may take to stop once asked.
const GRACE: Duration = Duration::from_secs(2);

/// Runs a program under the engine. `show` is called now and then.
pub fn run(program: &Program, setup: &Setup, limits: Limits, show: &mut dyn FnMut(Progress)) -> io::Result<Explored> {
    let mut target = start(program, setup)?;
    let begin = Instant::now();
    let mut pause = Duration::from_micros(200);
    let mut last = (0, Instant::now());
    let mut timed_out = false;
    let (mut hangs, mut hung_at) = (0, 0);
    let status = loop {
        if let Some(status) = target.child.try_wait()? {
            break status;
        }
        sleep(pause);
        pause = (pause * 2).min(SLOWEST);
        show(Progress { schedules: target.word(Word::Schedules), failed: target.word(Word::Failed) });
        let moved = target.word(Word::Steps).wrapping_add(target.word(Word::Executions));
        if moved != last.0 {
            last = (moved, Instant::now());
        } else if last.1.elapsed() > limits.step {
            hangs = if hung_at == moved { hangs + 1 } else { 1 };
            hung_at = moved;
            end_execution(&mut target, hangs)?;
            last.1 = Instant::now();
        }
        if limits.whole.is_some_and(|whole| begin.elapsed() > whole) {
            timed_out = true;
            target.set_word(Word::Stop, 1)?;
        }
        if limits.whole.is_some_and(|whole| begin.elapsed() > whole + GRACE) {
            kill(u32::try_from(target.word(Word::Child)).unwrap_or(0));
            target.child.kill()?;
        }
    };
    conclude(&target, status, begin.elapsed(), timed_out)
}

/// Ends the execution that hangs: kills its child, or, where there is none, asks the engine to, and kills the target when
/// that does not help.
fn end_execution(target: &mut Target, hangs: u32) -> io::Result<()> {
    match u32::try_from(target.word(Word::Child)) {
        Ok(child) if child > 0 => {
            target.set_word(Word::Asleep, u64::from(is_asleep(child)))?;
            target.set_word(Word::Killed, target.word(Word::Executions))?;
            kill(child);
            Ok(())
        }
        _ if hangs == 1 => {
            interrupt(target.child.id());
            Ok(())
        }
        _ => target.child.kill(),
    }
}

/// Whether a process sleeps in the kernel, as far as that can be told.
fn is_asleep(process: u32) -> bool {
    let stat = std::fs::read_to_string(std::format!("/proc/{process}/stat")).unwrap_or_default();
    // The state follows the name, which is in parentheses and may contain anything.
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with(['S', 'D']))
}

fn conclude(target: &Target, status: ExitStatus, elapsed: Duration, timed_out: bool) -> io::Result<Explored> {
    let found = Found::from_text(&target.found()?);
    let ending = match Phase::from_number(target.word(Word::Phase)) {
        Some(Phase::Ended) => Ending::Ended,
        Some(Phase::Before) | None => Ending::NeverBegan(status),
        Some(Phase::Exploring) => Ending::Died(status),
        Some(Phase::Broken) => Ending::Broken(found.broken.clone().unwrap_or_default()),
    };
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
        revocations: target.word(Word::Revocations),
        early_ends: target.early_ends(),
        restored_pages: target.word(Word::RestoredPages),
        time: if measured.is_zero() { elapsed } else { measured },
        timed_out,
        found,
    })
}
