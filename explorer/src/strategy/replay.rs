//! Follows a given schedule.
//!
//! *Strict* replay compares each step with what the schedule says and stops at the first that differs, with both told
//! apart ([`Divergence`]). *Tolerant* replay takes the schedule as advice: where its thread cannot run, the default one
//! goes on; the minimizer tries candidates so. After its last step, both go on with the default thread: the last step of a
//! failing schedule is often the one that never ended.

use alloc::vec::Vec;

use model::event::{Event, KindCode};
use model::ids::{SiteKey, ThreadId};
use model::report::Coverage;

use super::{Choice, Counts, Ending, Outcome, Pick, Point, Step, Strategy};

/// One step of a schedule to follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Who performs it.
    pub thread: ThreadId,
    /// What it does, where that is known.
    pub what: Option<What>,
    /// The options taken in it, in order.
    pub picks: Vec<u32>,
}

/// What identifies an event across executions and builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct What {
    /// What it does.
    pub kind: KindCode,
    /// Where in the code.
    pub site: Option<SiteKey>,
}

impl What {
    /// Of a pending event.
    #[must_use]
    pub fn of(event: &Event) -> Self {
        Self { kind: event.kind.code(), site: event.site }
    }
}

/// The first difference between an execution and the one that it was to repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// How many steps went as expected.
    pub step: u64,
    /// Who was to go on.
    pub thread: ThreadId,
    /// What it was to do, where that is known.
    pub expected: Option<What>,
    /// What it is about to do instead; `None` when it has ended, or is not there yet.
    pub found: Option<What>,
    /// Whether it could do so: `false` says that it is blocked.
    pub enabled: bool,
}

impl Divergence {
    /// That `thread`, which was to do `expected`, cannot at this point.
    #[must_use]
    pub fn at(step: u64, thread: ThreadId, expected: Option<What>, point: &Point<'_>) -> Self {
        Self { step, thread, expected, found: point.event(thread).map(What::of), enabled: point.enabled.contains(thread) }
    }
}

/// What to do where the schedule cannot be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// Stop, and say where.
    Strict,
    /// Go on with the default thread.
    Tolerant,
}

/// Follows a schedule, once.
#[derive(Debug)]
pub struct Replay {
    steps: Vec<Expected>,
    discipline: Discipline,
    at: usize,
    picked: usize,
    begun: bool,
    divergence: Option<Divergence>,
    counts: Counts,
}

impl Replay {
    /// A replay of these steps.
    #[must_use]
    pub fn new(steps: Vec<Expected>, discipline: Discipline) -> Self {
        Self { steps, discipline, at: 0, picked: 0, begun: false, divergence: None, counts: Counts::default() }
    }

    /// Starts over: the next `begin` runs these steps. For drivers that replay many candidates in one process.
    pub fn reset(&mut self, steps: Vec<Expected>) {
        self.steps = steps;
        self.begun = false;
    }
}

impl Strategy for Replay {
    fn name(&self) -> &'static str {
        "replay"
    }

    fn begin(&mut self) -> bool {
        // Whether this says that there is nothing more: then what came of it stays.
        if core::mem::replace(&mut self.begun, true) {
            return false;
        }
        self.at = 0;
        self.divergence = None;
        true
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        let default = point.default_thread().map_or(Choice::Abandon, Choice::Run);
        let Some(expected) = self.steps.get(self.at) else { return default };
        let fits = point.enabled.contains(expected.thread)
            && expected.what.is_none_or(|what| point.event(expected.thread).map(What::of) == Some(what));
        let choice = match self.discipline {
            _ if fits => Choice::Run(expected.thread),
            Discipline::Strict => {
                self.divergence = Some(Divergence::at(self.at as u64, expected.thread, expected.what, point));
                return Choice::Diverged;
            }
            Discipline::Tolerant if point.enabled.contains(expected.thread) => Choice::Run(expected.thread),
            Discipline::Tolerant => default,
        };
        self.at += 1;
        self.picked = 0;
        choice
    }

    fn pick(&mut self, pick: &Pick<'_>) -> u32 {
        let taken = self.at.checked_sub(1).and_then(|at| self.steps.get(at)).and_then(|step| step.picks.get(self.picked));
        self.picked += 1;
        taken.copied().unwrap_or(0).min(pick.options().saturating_sub(1))
    }

    fn executed(&mut self, _step: &Step) {}

    fn end(&mut self, ending: &Ending<'_>) {
        self.counts.add(if self.divergence.is_some() { Outcome::Diverged } else { ending.outcome });
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn coverage(&self) -> Coverage {
        Coverage::Sampled(self.counts.schedules)
    }

    fn divergence(&self) -> Option<Divergence> {
        self.divergence
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::explore::explore;
    use crate::fake::program::parse;

    #[test]
    fn where_it_differed_is_known_when_all_is_over() {
        let program = parse("main: read x r");
        let expected = Expected {
            thread: ThreadId(0),
            what: Some(What { kind: KindCode::from_number(0).expect("a kind"), site: None }),
            picks: Vec::new(),
        };
        let start = Expected { what: None, ..expected.clone() };
        let mut replay = Replay::new([start, expected.clone(), expected].to_vec(), Discipline::Strict);
        explore(&program, &mut replay);
        assert!(!replay.begin());
        let divergence = replay.divergence().expect("it differs");
        assert_eq!((divergence.step, divergence.enabled, replay.counts().diverged), (1, true, 1));
    }
}
