//! The default systematic search: passes of depth-first search with a rising bound on preemptions (or delays), then one
//! without a bound.
//!
//! Most failures need few preemptions, so bounded passes find them first and with the simplest schedules. They prune
//! nothing. The last pass has no bound and prunes by sleep sets; it is the only one that may say that all is covered. When
//! a bound has kept nothing out, or the search has no limit and a bounded pass has become long, the next pass is the last one. Passes repeat the schedules of lower bounds; counts are of
//! executions.

use model::ids::ThreadId;
use model::pair::Mode;
use model::report::{Coverage, Estimate};

use super::depth_first::{DepthFirst, Extent};
use super::replay::Divergence;
use super::{Choice, Counts, Ending, Pick, Point, Step, Strategy, Supply};

/// Up to which number of preemptions (or delays) schedules are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preemptions {
    /// At most this many.
    AtMost(u32),
    /// Any number.
    Unlimited,
}

/// Without a limit, the bounds that come before the last pass.
const BOUNDS_FIRST: u32 = 2;

/// Without a limit, after how many executions a bounded pass is broken off: pruned, the whole may be far smaller than the part
/// within a bound.
const PATIENCE: u64 = 20_000;

/// Depth-first search by rising bound.
#[derive(Debug)]
pub struct Iterative {
    most: Preemptions,
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
        Self::starting(preemptions, Extent::Preemptions(0))
    }

    /// A search up to as many delays instead.
    #[must_use]
    pub fn by_delays(delays: Preemptions) -> Self {
        Self::starting(delays, Extent::Delays(0))
    }

    fn starting(most: Preemptions, extent: Extent) -> Self {
        Self { most, pass: DepthFirst::new(extent), extent, before: Counts::default(), covered: None }
    }

    fn is_broken_off(&self) -> bool {
        let bounded = matches!(self.extent, Extent::Preemptions(_) | Extent::Delays(_));
        bounded && self.most == Preemptions::Unlimited && self.pass.counts().executions() >= PATIENCE
    }

    /// The extent of the pass after the current one.
    fn following(&self) -> Option<Extent> {
        let (bound, next) = match self.extent {
            Extent::Preemptions(bound) => (bound, Extent::Preemptions(bound + 1)),
            Extent::Delays(bound) => (bound, Extent::Delays(bound + 1)),
            Extent::Unpruned | Extent::SleepSets => return None,
        };
        match self.most {
            Preemptions::AtMost(most) => (bound < most && self.pass.is_limited()).then_some(next),
            Preemptions::Unlimited if bound < BOUNDS_FIRST && self.pass.is_limited() && self.pass.is_exhausted() => Some(next),
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
            if !self.is_broken_off() && self.pass.begin() {
                return true;
            }
            if !matches!(self.pass.coverage(), Coverage::Partial(_)) {
                self.covered = Some(self.pass.coverage());
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

    fn supplied(&mut self, thread: ThreadId, supply: Supply) {
        self.pass.supplied(thread, supply);
    }

    fn overwrote(&mut self, before: u64) {
        self.pass.overwrote(before);
    }

    fn released(&mut self, thread: ThreadId, lock: u64, left: Option<Mode>) {
        self.pass.released(thread, lock, left);
    }

    fn end(&mut self, ending: &Ending<'_>) {
        self.pass.end(ending);
    }

    fn estimate(&self) -> Option<Estimate> {
        match self.pass.estimate()? {
            Estimate::Schedules(pass) => Some(Estimate::Schedules(pass.saturating_add(self.before.schedules))),
            other => Some(other),
        }
    }

    fn counts(&self) -> Counts {
        self.before.plus(self.pass.counts())
    }

    fn coverage(&self) -> Coverage {
        // When a finished pass below the limit kept nothing out, more preemptions are not possible.
        let most = match self.most {
            Preemptions::AtMost(most) if !self.pass.is_limited() => Some(most),
            _ => None,
        };
        match self.pass.coverage() {
            Coverage::Partial(_) => self.covered.unwrap_or(Coverage::Partial(self.counts().schedules)),
            Coverage::Preemptions(bound) => Coverage::Preemptions(most.unwrap_or(bound)),
            Coverage::Delays(bound) => Coverage::Delays(most.unwrap_or(bound)),
            coverage => coverage,
        }
    }

    fn is_limited(&self) -> bool {
        self.pass.is_limited()
    }

    fn divergence(&self) -> Option<Divergence> {
        self.pass.divergence()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::explore::explore;
    use crate::fake::program::parse;
    use alloc::format;
    use alloc::string::String;

    #[test]
    fn a_long_bounded_pass_is_broken_off_only_when_there_is_no_limit() {
        // Independent threads: as many orders without a preemption as there are permutations, one class of schedules.
        let independent = |count: usize| {
            let bodies: String = (0..count).map(|at| format!("t{at}: write x{at} 1\n")).collect();
            let create: String = (0..count).map(|at| format!("create t{at}, ")).collect();
            parse(&format!("main: {create}\n{bodies}"))
        };
        let mut unlimited = Iterative::new(Preemptions::Unlimited);
        explore(&independent(8), &mut unlimited);
        assert_eq!(unlimited.coverage(), Coverage::All);
        assert_eq!(unlimited.counts().schedules, PATIENCE + 1);

        let mut limited = Iterative::new(Preemptions::AtMost(0));
        explore(&independent(7), &mut limited);
        assert_eq!(limited.coverage(), Coverage::Preemptions(0));
        assert_eq!(limited.counts().schedules, 5040);
    }
}
