//! Any strategy, with an end after a number of executions.

use alloc::boxed::Box;
use alloc::vec::Vec;

use model::ids::ThreadId;
use model::pair::Mode;
use model::report::{Coverage, Estimate};

use super::replay::Divergence;
use super::subtree::Subtree;
use super::{Choice, Counts, Ending, Pick, Point, Step, Strategy};

/// A strategy that stops after a number of executions, abandoned ones included.
pub struct Budget {
    inner: Box<dyn Strategy>,
    executions: u64,
}

impl Budget {
    /// `inner`, for at most this many executions.
    #[must_use]
    pub fn new(inner: Box<dyn Strategy>, executions: u64) -> Self {
        Self { inner, executions }
    }
}

impl Strategy for Budget {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn begin(&mut self) -> bool {
        // The inner strategy is asked last: its `begin` may be what finds that nothing is left.
        self.inner.counts().executions() < self.executions && self.inner.begin()
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        self.inner.choose(point)
    }

    fn pick(&mut self, pick: &Pick<'_>) -> u32 {
        self.inner.pick(pick)
    }

    fn executed(&mut self, step: &Step) {
        self.inner.executed(step);
    }

    fn overwrote(&mut self, before: u64) {
        self.inner.overwrote(before);
    }

    fn released(&mut self, thread: ThreadId, lock: u64, left: Option<Mode>) {
        self.inner.released(thread, lock, left);
    }

    fn end(&mut self, ending: &Ending<'_>) {
        self.inner.end(ending);
    }

    fn left(&self) -> Vec<Subtree> {
        self.inner.left()
    }

    fn estimate(&self) -> Option<Estimate> {
        self.inner.estimate()
    }

    fn is_limited(&self) -> bool {
        self.inner.is_limited()
    }

    fn counts(&self) -> Counts {
        self.inner.counts()
    }

    fn coverage(&self) -> Coverage {
        self.inner.coverage()
    }

    fn divergence(&self) -> Option<Divergence> {
        self.inner.divergence()
    }
}
