//! The seam between the engine that runs a program and whoever chooses its schedule; one strategy a file.
//!
//! # The protocol
//!
//! ```text
//! while strategy.begin() {
//!     at will: the first repeats() steps as in the execution before, then repeated(how many)
//!     loop {
//!         while an enabled thread exists: choose(point) -> Run(thread), Abandon or Diverged
//!             the engine performs the thread's pending event, asking pick(..) where the event itself has a choice
//!             executed(step), then overwrote(..) if it writes, supplied(..) if it is a system call, and released(..) for each injected lock that the step gave up on its way
//!     }
//!     end(ending)
//! }
//! ```
//!
//! One call of `choose` is one scheduling point: the thread it names performs its pending event and runs on to its next
//! one. `end` may come at any time after `begin` (the program died in the middle of a step, the engine's step limit was
//! reached), also without `executed` for the last choice. Strategies are deterministic: the same program and the same
//! construction give the same schedules.
//!
//! # What a preemption is
//!
//! One definition for all strategies ([`Point::preempts`]): a step is a preemption when the thread of the previous step
//! is still enabled, its pending event is neither a yield nor a time-out nor the end of the process, and another thread is chosen. The passing of a
//! time-out (or a spurious wake-up) counts as a preemption when an event of another kind was enabled: otherwise loops of
//! timed waits would be unbounded within a bound. Picks are free. So there is always a step that is not a preemption.

pub mod around;
pub mod budget;
mod classes;
pub mod config;
pub mod coverage;
pub mod depth_first;
pub mod dpor;
pub mod exit_block;
pub mod frontier;
pub mod iterative;
pub mod pairs;
pub mod part;
mod path;
pub mod pct;
pub mod portfolio;
pub mod pos;
pub mod prefix;
pub mod random;
pub mod reads_from;
pub mod replay;
pub mod sampler;
pub mod selective;
pub mod sketch;
pub mod subtree;
pub mod weighted;

use alloc::vec::Vec;

use model::event::{Event, EventKind};
use model::ids::{ObjectId, ThreadId};
use model::pair::Mode;
use model::report::{Coverage, Estimate};

use self::dpor::Asked;
use self::replay::Divergence;
use self::sketch::Class;
use self::subtree::Subtree;
use crate::threads::ThreadSet;

/// A scheduling point.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a> {
    /// The thread of the previous step; `None` at the first point of an execution. It may have ended, or be disabled.
    pub current: Option<ThreadId>,
    /// The threads whose pending event can be performed. Never empty.
    pub enabled: &'a ThreadSet,
    /// Indexed by thread: what each is about to do, enabled or not; `None` when it has ended. Threads beyond the end have
    /// not been created.
    pub pending: &'a [Option<Event>],
}

/// What a strategy wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// This enabled thread performs its pending event.
    Run(ThreadId),
    /// Every way on from here is covered by other executions: end this one. It counts apart.
    Abandon,
    /// The execution does not repeat the one whose prefix it was to follow: the program is not deterministic.
    Diverged,
}

/// A choice inside a step, which is not about who runs.
#[derive(Clone, Copy, Debug)]
pub enum Pick<'a> {
    /// Which waiter a signal wakes.
    Waiter {
        /// The condition.
        condition: Option<ObjectId>,
        /// Those who wait, in order of arrival. Never empty.
        waiters: &'a [ThreadId],
    },
    /// One of several results, by number.
    Value {
        /// How many there are. Never 0.
        options: u32,
    },
}

impl Pick<'_> {
    /// How many options there are.
    #[must_use]
    pub fn options(&self) -> u32 {
        match self {
            Self::Waiter { waiters, .. } => u32::try_from(waiters.len()).unwrap_or(u32::MAX),
            Self::Value { options } => *options,
        }
    }
}

/// Of something that system calls wait for, such as a descriptor, which has a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supply {
    /// It was ready, and the call has left it so that it is not.
    Emptied(u32),
    /// It is not ready, and the thread is about to wait for it, perhaps among others.
    Lacked(u32),
}

/// A step that was performed.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Who.
    pub thread: ThreadId,
    /// What, as it happened: a compare-and-swap that failed is a read.
    pub event: Event,
}

/// How an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It ran to its end and nothing was wrong.
    Passed,
    /// It failed: died, deadlocked, gave a wrong result.
    Failed,
    /// It was cut at the engine's step limit: what would have followed is not known.
    Cut,
    /// The engine left it out: threads had come back to a state in which they were, so whatever could follow is covered by others.
    LeftOut,
    /// The strategy abandoned it.
    Abandoned,
    /// The strategy found that it diverged.
    Diverged,
}

/// The end of an execution.
#[derive(Clone, Copy, Debug)]
pub struct Ending<'a> {
    /// How it ended.
    pub outcome: Outcome,
    /// As in [`Point::pending`]: what the threads that had not ended were about to do. Blocked ones, after a deadlock.
    pub pending: &'a [Option<Event>],
}

/// How many executions a strategy has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Executions that ran to an end of their own: passed, failed or cut.
    pub schedules: u64,
    /// Of these: failed.
    pub failed: u64,
    /// Of these: cut at the step limit.
    pub cut: u64,
    /// Abandoned executions (blocked by sleep sets, or left out), not among `schedules`.
    pub abandoned: u64,
    /// Diverged executions, not among `schedules`. Any makes every claim of completeness void.
    pub diverged: u64,
}

impl Counts {
    /// Counts one more execution.
    pub fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Passed => self.schedules += 1,
            Outcome::Failed => {
                self.schedules += 1;
                self.failed += 1;
            }
            Outcome::Cut => {
                self.schedules += 1;
                self.cut += 1;
            }
            Outcome::LeftOut | Outcome::Abandoned => self.abandoned += 1,
            Outcome::Diverged => self.diverged += 1,
        }
    }

    /// The sum of two.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            schedules: self.schedules + other.schedules,
            failed: self.failed + other.failed,
            cut: self.cut + other.cut,
            abandoned: self.abandoned + other.abandoned,
            diverged: self.diverged + other.diverged,
        }
    }

    /// All executions that were begun and ended.
    #[must_use]
    pub fn executions(&self) -> u64 {
        self.schedules + self.abandoned + self.diverged
    }
}

/// Whoever chooses the schedules of an exploration.
pub trait Strategy {
    /// Its name and parameters, as options name it: `dfs`, `pct:3`.
    fn name(&self) -> &'static str;

    /// Whether another execution is wanted; it starts then. `false` is final.
    fn begin(&mut self) -> bool;

    /// After `begin`: how many steps the execution begins with that are, with all options taken in them, those of the execution before. An
    /// engine may take them without asking for them and telling of them; if so, it says how many it took before it asks for others.
    fn repeats(&self) -> usize {
        0
    }

    /// So many steps were taken as in the execution before, without a word.
    fn repeated(&mut self, _steps: usize) {}

    /// Who goes on from this point.
    fn choose(&mut self, point: &Point<'_>) -> Choice;

    /// Which option is taken, below `pick.options()`. Comes between the `choose` and the `executed` of one step.
    fn pick(&mut self, pick: &Pick<'_>) -> u32;

    /// The step was performed.
    fn executed(&mut self, step: &Step);

    /// Within the step that was just performed, the thread also gave up, or weakened, the injected lock at this address:
    /// an engine may do so without a step of its own, as nobody can tell. `left` is how strongly the thread still holds it.
    /// Comes after `executed`, before what follows.
    fn released(&mut self, _thread: ThreadId, _lock: u64, _left: Option<Mode>) {}

    /// The step that was just performed is a write of at most 8 bytes to memory that held this, in its low bytes. Comes after `executed`;
    /// an engine that does not know need not say so.
    fn overwrote(&mut self, _before: u64) {}

    /// What the thread's system call, in the step that was just performed, has done to what others wait for; or what it is about to wait for, as
    /// that is not there now. Comes after `executed`; numbers stand for the same only within an execution.
    fn supplied(&mut self, _thread: ThreadId, _supply: Supply) {}

    /// The execution is over.
    fn end(&mut self, ending: &Ending<'_>);

    /// More memory was found shared, so from the next execution on there are more points. Whether the strategy can go on all the same; if
    /// not, a new one begins.
    fn learnt(&mut self) -> bool {
        false
    }

    /// The executions so far.
    fn counts(&self) -> Counts;

    /// What the executions so far cover.
    fn coverage(&self) -> Coverage;

    /// What a search that is broken off now leaves to others; of a search for parts, what it found. Nothing when it cannot say.
    fn left(&self) -> Vec<Subtree> {
        Vec::new()
    }

    /// What a part of a search asks others for.
    fn asked(&self) -> Vec<Asked> {
        Vec::new()
    }

    /// How much there is, as far as can be told.
    fn estimate(&self) -> Option<Estimate> {
        None
    }

    /// Of a sampler: some of the classes of schedules that it has seen.
    fn sketch(&self) -> Vec<Class> {
        Vec::new()
    }

    /// How many classes of executions it has seen that differ in what reads read from, when it was to count them.
    fn reads_from(&self) -> Option<u64> {
        None
    }

    /// Whether a bound has kept anything out so far.
    fn is_limited(&self) -> bool {
        false
    }

    /// Where the last execution left the path that it was to repeat, if it did.
    fn divergence(&self) -> Option<Divergence> {
        None
    }
}

impl Point<'_> {
    /// Whether running `thread` now is a preemption, by the definition above.
    #[must_use]
    #[inline]
    pub fn preempts(&self, thread: ThreadId) -> bool {
        let leaves = self.current.is_some_and(|current| current != thread && self.enabled.contains(current) && self.is_eager(current));
        leaves || (self.is_timeout(thread) && self.enabled.iter().any(|other| !self.is_timeout(other)))
    }

    /// What the thread is about to do.
    #[must_use]
    #[inline]
    pub fn event(&self, thread: ThreadId) -> Option<&Event> {
        self.pending.get(thread.index())?.as_ref()
    }

    /// The thread that goes on when nobody asks for a switch: the current one while it is enabled, does not yield and
    /// does not time out, nor end the process, which would hide what others do; else the lowest enabled one after it in the order of ids, cyclically, so that yielding threads
    /// take turns, and those about to time out last. `None` only when none is enabled. Never a preemption.
    #[must_use]
    #[inline]
    pub fn default_thread(&self) -> Option<ThreadId> {
        if let Some(current) = self.current.filter(|&current| self.enabled.contains(current) && self.is_eager(current)) {
            return Some(current);
        }
        let start = self.current.map_or(0, |current| current.0 + 1);
        let ring = || self.enabled.iter().filter(move |t| t.0 >= start).chain(self.enabled.iter().filter(move |t| t.0 < start));
        ring().find(|&thread| self.is_eager(thread)).or_else(|| ring().find(|&thread| !self.is_timeout(thread))).or_else(|| ring().next())
    }

    /// How many enabled threads the default schedule passes over until it comes to `thread`.
    #[must_use]
    pub fn delays(&self, thread: ThreadId) -> u32 {
        let Some(default) = self.default_thread() else { return 0 };
        let passed =
            |other: ThreadId| if default <= thread { other >= default && other < thread } else { other >= default || other < thread };
        let passed = self.enabled.iter().filter(|&other| passed(other)).count();
        u32::try_from(passed).unwrap_or(u32::MAX)
    }

    #[inline]
    fn is_timeout(&self, thread: ThreadId) -> bool {
        self.event(thread).is_some_and(|event| event.kind.is_timeout())
    }

    /// Neither yields, nor times out, nor ends all threads.
    #[inline]
    fn is_eager(&self, thread: ThreadId) -> bool {
        let gives_way = |kind: EventKind| kind.is_timeout() || kind.is_yield() || matches!(kind, EventKind::ExitProcess);
        !self.event(thread).is_some_and(|event| gives_way(event.kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: EventKind) -> Option<Event> {
        Some(Event { kind, range: None, object: None, site: None })
    }

    fn check(current: Option<u32>, pending: &[Option<Event>], enabled: &[u32], preempting: &[u32], default: u32) {
        let enabled: ThreadSet = enabled.iter().copied().map(ThreadId).collect();
        let point = Point { current: current.map(ThreadId), enabled: &enabled, pending };
        for thread in enabled.iter() {
            assert_eq!(point.preempts(thread), preempting.contains(&thread.0), "{thread} at {point:?}");
        }
        assert_eq!(point.default_thread(), Some(ThreadId(default)), "{point:?}");
    }

    #[test]
    fn leaving_an_enabled_thread_is_a_preemption() {
        let lock = event(EventKind::Lock);
        check(None, &[lock, lock], &[0, 1], &[], 0);
        check(Some(1), &[lock, lock], &[0, 1], &[0], 1);
        check(Some(1), &[lock, lock], &[0], &[], 0);
        check(Some(1), &[lock, None, lock], &[0, 2], &[], 2);
    }

    #[test]
    fn leaving_a_thread_that_yields_is_free_and_the_default() {
        check(Some(0), &[event(EventKind::Yield), event(EventKind::Lock)], &[0, 1], &[], 1);
        check(Some(0), &[event(EventKind::Yield), event(EventKind::Yield)], &[0, 1], &[], 1);
        check(Some(1), &[event(EventKind::Yield), event(EventKind::Sleep)], &[0, 1], &[], 0);
    }

    #[test]
    fn leaving_a_thread_that_ends_the_process_is_free_and_the_default() {
        check(Some(0), &[event(EventKind::ExitProcess), event(EventKind::Lock)], &[0, 1], &[], 1);
        check(Some(0), &[event(EventKind::ExitProcess), event(EventKind::Yield)], &[0, 1], &[], 1);
        check(Some(1), &[event(EventKind::ExitProcess), event(EventKind::Yield)], &[0, 1], &[], 0);
        check(Some(0), &[event(EventKind::ExitProcess), event(EventKind::WaitTimeout { by: None })], &[0, 1], &[1], 0);
    }

    #[test]
    fn a_time_out_costs_when_something_else_could_happen_and_comes_last_by_default() {
        let timeout = event(EventKind::WaitTimeout { by: None });
        check(Some(0), &[timeout, event(EventKind::Lock)], &[0, 1], &[0], 1);
        check(Some(0), &[timeout, timeout], &[0, 1], &[], 1);
        check(Some(1), &[timeout, event(EventKind::Lock)], &[0, 1], &[0], 1);
        check(Some(0), &[timeout, event(EventKind::Lock)], &[0], &[], 0);
    }
}
