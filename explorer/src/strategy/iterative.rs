//! The default systematic search: passes of depth-first search with a rising preemption bound, then one without a bound.
//!
//! Most failures need few preemptions, so bounded passes find them first and with the simplest schedules. They prune
//! nothing. The last pass has no bound and prunes by sleep sets; it is the only one that may say that all is covered. When
//! a bound has kept nothing out, the next pass is the last one. Passes repeat the schedules of lower bounds; counts are of
//! executions.

use model::ids::ThreadId;
use model::report::Coverage;

use super::depth_first::{DepthFirst, Extent};
use super::replay::Divergence;
use super::{Choice, Counts, Ending, Pick, Point, Step, Strategy};

/// Up to which number of preemptions schedules are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preemptions {
    /// At most this many.
    AtMost(u32),
    /// Any number.
    Unlimited,
}

/// Without a limit, the bounds that come before the last pass.
const BOUNDS_FIRST: u32 = 2;

/// Depth-first search by rising preemption bound.
#[derive(Debug)]
pub struct Iterative {
    preemptions: Preemptions,
    pass: DepthFirst,
    extent: Extent,
    /// Of the passes before.
    before: Counts,
    /// What the passes before cover.
    covered: Option<Coverage>,
}

impl Iterative {
    /// A search up to this number of preemptions.
    #[must_use]
    pub fn new(preemptions: Preemptions) -> Self {
        let extent = Extent::Bounded(0);
        Self { preemptions, pass: DepthFirst::new(extent), extent, before: Counts::default(), covered: None }
    }

    /// The extent of the pass after the current one.
    fn following(&self) -> Option<Extent> {
        let Extent::Bounded(bound) = self.extent else { return None };
        match self.preemptions {
            Preemptions::AtMost(most) => (bound < most && self.pass.is_limited()).then_some(Extent::Bounded(bound + 1)),
            Preemptions::Unlimited if bound < BOUNDS_FIRST && self.pass.is_limited() => Some(Extent::Bounded(bound + 1)),
            Preemptions::Unlimited => Some(Extent::SleepSets),
        }
    }
}

impl Strategy for Iterative {
    fn name(&self) -> &'static str {
        "dfs"
    }

    fn begin(&mut self) -> bool {
        loop {
            if self.pass.begin() {
                return true;
            }
            if let coverage @ (Coverage::Preemptions(_) | Coverage::All) = self.pass.coverage() {
                self.covered = Some(coverage);
            }
            let Some(extent) = self.following() else { return false };
            self.before = self.counts();
            self.extent = extent;
            self.pass = DepthFirst::new(extent);
        }
    }

    #[inline]
    fn choose(&mut self, point: &Point<'_>) -> Choice {
        self.pass.choose(point)
    }

    fn pick(&mut self, pick: &Pick<'_>) -> u32 {
        self.pass.pick(pick)
    }

    #[inline]
    fn executed(&mut self, step: &Step) {
        self.pass.executed(step);
    }

    fn released(&mut self, thread: ThreadId, lock: u64) {
        self.pass.released(thread, lock);
    }

    fn end(&mut self, ending: &Ending<'_>) {
        self.pass.end(ending);
    }

    fn counts(&self) -> Counts {
        self.before.plus(self.pass.counts())
    }

    fn coverage(&self) -> Coverage {
        match self.pass.coverage() {
            Coverage::Partial(_) => self.covered.unwrap_or(Coverage::Partial(self.counts().schedules)),
            // Below the limit, and nothing was kept out: more preemptions are not possible.
            Coverage::Preemptions(_) if !self.pass.is_limited() => match self.preemptions {
                Preemptions::AtMost(most) => Coverage::Preemptions(most),
                Preemptions::Unlimited => self.covered.unwrap_or(self.pass.coverage()),
            },
            coverage => coverage,
        }
    }

    fn divergence(&self) -> Option<Divergence> {
        self.pass.divergence()
    }
}
