//! What is kept of the current execution, from which a schedule is made if it fails.
//!
//! Until an execution has taken a step of its own, the one before is still here: its first steps may be taken again (`repeat`).

use alloc::vec::Vec;

use explorer::minimize::Traced;
use explorer::strategy::Step;
use explorer::target::found::TakenStep;
use model::ids::ThreadId;

/// A step as it is kept for a schedule.
#[derive(Clone, Copy)]
pub(crate) struct Recorded {
    pub(super) step: Step,
    /// Its number among the thread's accesses, if it is one that is counted.
    pub(super) ordinal: Option<u64>,
    pub(super) preempts: bool,
}

impl Recorded {
    /// Whether it is an access of the code's. Others are to words of the engine's own.
    fn is_of_code(&self) -> bool {
        self.step.event.kind.access().is_some() && self.step.event.site.is_some()
    }
}

/// What is kept of an execution.
#[derive(Default)]
pub(crate) struct Recorder {
    /// Its steps.
    pub(crate) steps: Vec<Recorded>,
    /// Options taken: the number of the step, and the option.
    picks: Vec<(usize, u32)>,
    /// For a replay: by thread, which of its accesses are scheduling points. `None`: those to shared memory.
    pub(crate) points: Option<Vec<Points>>,
}

/// What a replayed schedule says of one thread.
#[derive(Clone, Default)]
pub(crate) struct Points {
    /// Which of its accesses are steps, in ascending order.
    pub(crate) accesses: Vec<u64>,
    /// How many steps it has, of all kinds.
    pub(crate) steps: usize,
    /// How many of them it has taken.
    pub(crate) taken: usize,
}

impl Recorder {
    /// An execution begins that takes the first steps of the one before again, as many as are said. Until then no step of it is asked for.
    pub(super) fn begin(&mut self) {
        for points in self.points.iter_mut().flatten() {
            points.taken = 0;
        }
    }

    /// The steps of the execution before that may be taken again: up to the first with a choice in it.
    pub(super) fn repeatable(&self) -> usize {
        self.picks.first().map_or(self.steps.len(), |&(step, _)| step.min(self.steps.len()))
    }

    /// So many steps were taken again.
    pub(super) fn keep(&mut self, steps: usize) {
        self.steps.truncate(steps);
        self.picks.retain(|&(step, _)| step < steps);
    }

    pub(super) fn pick(&mut self, step: usize, option: u32) {
        self.picks.push((step, option));
    }

    pub(super) fn push(&mut self, recorded: Recorded) {
        if let Some(points) = self.points.as_mut().and_then(|points| points.get_mut(recorded.step.thread.index())) {
            points.taken += 1;
        }
        self.steps.push(recorded);
    }

    /// The steps in the form of a schedule.
    pub(crate) fn taken(&self) -> Vec<TakenStep> {
        let picks = |at| self.picks.iter().filter(|(step, _)| *step == at).map(|&(_, option)| option).collect();
        let taken = |(at, recorded): (usize, &Recorded)| {
            let Step { thread, event } = recorded.step;
            let of_code = recorded.is_of_code();
            TakenStep {
                thread,
                kind: event.kind.code(),
                site: event.site,
                ordinal: recorded.ordinal.filter(|_| event.kind.access().is_some()),
                range: event.range.filter(|_| of_code),
                picks: picks(at),
            }
        };
        self.steps.iter().enumerate().map(taken).collect()
    }

    /// The steps as the minimizer wants them.
    pub(crate) fn traced(&self) -> Vec<Traced> {
        let preempts = self.steps.iter().map(|step| step.preempts);
        self.taken().iter().zip(preempts).map(|(step, preempts)| Traced { step: super::explore::expected(step), preempts }).collect()
    }

    /// Whether the `ordinal`-th access of the thread is a scheduling point in a replay: when the schedule has it as a step;
    /// and any access after the last of the thread's steps, which is where the thread was left standing. `None` when this is
    /// no replay.
    pub(crate) fn wants(&self, thread: ThreadId, ordinal: u64) -> Option<bool> {
        let points = self.points.as_ref()?;
        Some(
            points.get(thread.index()).is_none_or(|points| points.taken >= points.steps || points.accesses.binary_search(&ordinal).is_ok()),
        )
    }
}
