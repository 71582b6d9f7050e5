//! After how many steps executions are cut.
//!
//! Who names no number has 20,000. An execution that is cut there may never end, or be of a program that has more to do; so it is measured how long
//! executions are. One whose steps are anybody's, at random, goes on to its end: nobody tries for ever in it while others could help. Where it takes
//! more than a quarter of 20,000 steps, executions are cut after four times as many. Exploration begins anew then, and nothing else comes of measuring:
//! it follows from the program and from what memory is found shared, so all parts of an exploration come to the same.
//!
//! Not handled: programs of which a random execution has more than 400,000 steps. They need a number from their user.

use explorer::target::setup::MostSteps;

/// It is measured when one of so many first executions is cut: what comes later is rare, and all of it would be done again.
pub(super) const SOON: u64 = 100;
/// Where nothing longer was seen.
const LEAST: u64 = 20_000;
/// So many times what was seen is enough: other schedules take longer.
const ROOM: u64 = 4;
/// After so many steps measuring gives up.
pub(super) const LONGEST: u64 = 400_000;
/// So many executions are measured at most: one that fails says little, as it did not come to its end.
pub(super) const TRIES: u64 = 3;

/// After how many steps executions are cut, and whether that has been measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limit {
    steps: u64,
    measured: Measured,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measured {
    /// Not with the scheduling points that there are now.
    No,
    /// With these.
    Yes,
    /// It does not come to an end, or the number is the user's.
    ForGood,
}

impl Limit {
    pub(super) fn new(asked: MostSteps) -> Self {
        match asked {
            MostSteps::Number(steps) => Self { steps, measured: Measured::ForGood },
            MostSteps::AsMeasured => Self { steps: LEAST, measured: Measured::No },
        }
    }

    /// After how many.
    pub(super) fn steps(self) -> u64 {
        self.steps
    }

    /// Whether an execution that was cut calls for measuring.
    pub(super) fn is_to_be_measured(self) -> bool {
        self.measured == Measured::No
    }

    /// What there is to say to others that explore the same.
    pub(super) fn measured(self) -> Option<u64> {
        (self.measured != Measured::No).then_some(self.steps)
    }

    /// An execution came to its end after so many steps.
    pub(super) fn saw(&mut self, steps: u64) {
        self.steps = self.steps.max(steps.saturating_mul(ROOM));
        self.measured = Measured::Yes;
    }

    /// Measuring led to no end: after so many steps, or as all executions failed.
    pub(super) fn give_up(&mut self) {
        self.measured = Measured::ForGood;
    }

    /// Executions have more steps now.
    pub(super) fn more_points(&mut self) {
        if self.measured == Measured::Yes {
            self.measured = Measured::No;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_executions_change_nothing_and_long_ones_make_room() {
        let check = |seen: u64, expected: u64| {
            let mut limit = Limit::new(MostSteps::AsMeasured);
            assert!(limit.is_to_be_measured() && limit.measured().is_none());
            limit.saw(seen);
            assert_eq!((limit.steps(), limit.measured(), limit.is_to_be_measured()), (expected, Some(expected), false), "{seen}");
        };
        check(7, 20_000);
        check(5_000, 20_000);
        check(5_001, 20_004);
        check(98_000, 392_000);
    }

    #[test]
    fn it_is_measured_again_with_more_points_unless_there_is_no_end() {
        let mut limit = Limit::new(MostSteps::AsMeasured);
        limit.saw(10_000);
        limit.more_points();
        assert!(limit.is_to_be_measured());
        assert_eq!(limit.steps(), 40_000);
        limit.saw(100);
        assert_eq!(limit.steps(), 40_000);
        limit.give_up();
        limit.more_points();
        assert!(!limit.is_to_be_measured());
        let mut number = Limit::new(MostSteps::Number(5));
        number.more_points();
        assert!(!number.is_to_be_measured());
        assert_eq!(number.steps(), 5);
    }
}
