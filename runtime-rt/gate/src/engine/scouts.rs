//! Scouts: executions that count for nothing, and only look for shared memory.
//!
//! A systematic search that finds more shared memory late has to begin anew. It goes from one schedule to the next with few differences; samples
//! are all over the place, and mostly find at once what the search would come upon after long. So now and then some are taken beside it: after 256
//! executions, after twice as many, and so on, one for 32 executions. Who is over before has none.
//!
//! What a scout sees counts for nothing, failures included: the search is to say what its own schedules show, and no more. Memory that
//! scouts find shared is: it was touched so in a real execution. A complete search comes to the same set, and so to the same schedules, without them.

use alloc::boxed::Box;
use alloc::vec::Vec;

use explorer::strategy::Strategy;
use explorer::strategy::config::{Config, Name};
use explorer::strategy::coverage::Coverage;
use explorer::strategy::iterative::Preemptions;
use explorer::strategy::pairs::Pairs;
use explorer::strategy::pct::Pct;
use explorer::strategy::pos::Pos;
use explorer::target::setup::{End, Setup};

/// After how many executions the first are sent.
const FIRST: u64 = 256;
/// One is sent for so many executions.
const SHARE: u64 = 32;

/// Scouts, and when they are sent.
pub(crate) struct Scouts {
    /// After how many executions, those of passes that began anew included; `None`: never.
    due: Option<u64>,
    /// What is good at bringing two places together, at switching anywhere, at what no execution has shown, and at keeping a thread waiting for long.
    strategies: Vec<Box<dyn Strategy>>,
}

impl Scouts {
    /// For an exploration of which nothing is done. Not where a sampler goes on with more shared memory as well; nor within a bound, where all that is
    /// looked at is to follow from the schedules within it; nor in parts that are told what is shared.
    pub(crate) fn new(setup: &Setup) -> Self {
        let Config { name, preemptions, .. } = setup.strategy;
        let systematic =
            matches!(name, Name::DepthFirst | Name::Delays | Name::SleepSets | Name::Unpruned | Name::Dpor | Name::ExitBlock(_));
        let wanted = (systematic || setup.part.is_some())
            && preemptions == Preemptions::Unlimited
            && setup.end == End::Strategy
            && setup.shared.is_empty()
            && setup.replay.is_none();
        if !wanted {
            return Self { due: None, strategies: Vec::new() };
        }
        let strategies: [Box<dyn Strategy>; 4] =
            [Box::new(Pairs::new()), Box::new(Pos::new(1)), Box::new(Coverage::new(2)), Box::new(Pct::new(3, 3))];
        Self { due: Some(FIRST), strategies: strategies.into() }
    }

    /// How many are to be sent after so many executions.
    pub(crate) fn take(&mut self, executions: u64) -> u64 {
        let Some(due) = self.due.filter(|due| *due <= executions) else { return 0 };
        self.due = due.checked_mul(2);
        due / SHARE
    }

    /// The strategy of each scout of so many.
    pub(crate) fn turns(&self, count: u64) -> impl Iterator<Item = usize> + use<> {
        (0..self.strategies.len()).cycle().zip(0..count).map(|(at, _)| at)
    }

    /// One of them.
    pub(crate) fn strategy(&mut self, at: usize) -> &mut dyn Strategy {
        &mut *self.strategies[at]
    }

    /// More memory was found shared.
    pub(crate) fn learn(&mut self) {
        for strategy in &mut self.strategies {
            strategy.learnt();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_sent_and_none_soon() {
        let mut scouts = Scouts { due: Some(FIRST), strategies: Vec::new() };
        let mut sent = 0;
        for executions in 0..1_000_000 {
            sent += scouts.take(executions);
            assert!(sent * 16 <= executions, "{sent} of {executions}");
        }
        assert!(sent > 1000, "{sent}");
        let mut none = Scouts { due: None, strategies: Vec::new() };
        assert_eq!(none.take(u64::MAX), 0);
    }
}
