//! Follows the beginning of a schedule and goes on at random: what may still happen from there.
//!
//! The beginning is followed as far as it can be: where its thread is not enabled, the execution is abandoned, since it says
//! nothing of that beginning.

use alloc::vec::Vec;

use model::report::Coverage;

use super::replay::Expected;
use super::{Choice, Counts, Ending, Pick, Point, Step, Strategy};
use crate::random::Random;

/// A beginning with random ends, so many times.
#[derive(Debug)]
pub struct Prefix {
    steps: Vec<Expected>,
    random: Random,
    at: usize,
    picked: usize,
    left: u32,
    counts: Counts,
}

impl Prefix {
    /// These steps, with so many random ends of this seed.
    #[must_use]
    pub fn new(steps: Vec<Expected>, ends: u32, seed: u64) -> Self {
        Self { steps, random: Random::new(seed), at: 0, picked: 0, left: ends, counts: Counts::default() }
    }
}

impl Strategy for Prefix {
    fn name(&self) -> &'static str {
        "prefix"
    }

    fn begin(&mut self) -> bool {
        self.at = 0;
        let wanted = self.left > 0;
        self.left = self.left.saturating_sub(1);
        wanted
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        self.picked = 0;
        let Some(expected) = self.steps.get(self.at) else {
            let rank = self.random.below(point.enabled.len());
            return point.enabled.nth(rank).map_or(Choice::Abandon, Choice::Run);
        };
        self.at += 1;
        if point.enabled.contains(expected.thread) { Choice::Run(expected.thread) } else { Choice::Abandon }
    }

    fn pick(&mut self, pick: &Pick<'_>) -> u32 {
        let step = self.at.checked_sub(1).and_then(|at| self.steps.get(at));
        let known = step.and_then(|step| step.picks.get(self.picked)).copied();
        self.picked += 1;
        match known {
            Some(taken) => taken.min(pick.options().saturating_sub(1)),
            None => self.random.below(pick.options()),
        }
    }

    fn executed(&mut self, _step: &Step) {}

    fn end(&mut self, ending: &Ending<'_>) {
        self.counts.add(ending.outcome);
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn coverage(&self) -> Coverage {
        Coverage::Sampled(self.counts.schedules)
    }
}

/// The first step after which a schedule's failure is certain, as far as `fails` can tell: the least number of steps that all ends
/// fail after. `fails` is asked for a number of steps whether every end after so many fails; if it does for some, it does for more.
/// `None` when not even all steps make it certain.
pub fn critical(length: usize, mut fails: impl FnMut(usize) -> bool) -> Option<usize> {
    let (mut low, mut high) = (0, length);
    if !fails(high) {
        return None;
    }
    while low < high {
        let middle = low.midpoint(high);
        if fails(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::explore::{explore, trace};
    use crate::fake::machine::Outcome;
    use crate::fake::program::parse;
    use crate::strategy::random::RandomWalk;

    #[test]
    fn the_critical_step_of_a_lost_update_is_the_second_read() {
        let program = parse(
            "main: create a, create b, join a, join b, read x r, assert r == 2
             a: read x r, write x r+1
             b: read x r, write x r+1",
        );
        let fails = |outcome: &Outcome| matches!(outcome, Outcome::Failed(..));
        let mut walk = RandomWalk::new(1);
        let failing = (0..100).map(|_| trace(&program, &mut walk)).find(|(outcome, _)| outcome.as_ref().is_some_and(fails));
        let (_, traced) = failing.expect("a failing schedule");
        let steps: Vec<Expected> = traced.into_iter().map(|traced| traced.step).collect();
        let critical = critical(steps.len(), |length| {
            let mut ends = Prefix::new(steps[..length].to_vec(), 40, 7);
            explore(&program, &mut ends).outcomes.keys().all(fails)
        });
        let reads = steps.iter().enumerate().filter(|(_, step)| step.what.is_some_and(|what| what.kind.word() == "read"));
        let second_read = reads.map(|(at, _)| at + 1).nth(1);
        assert_eq!(critical, second_read);
    }

    #[test]
    fn what_never_becomes_certain_has_no_critical_step() {
        assert_eq!(critical(5, |_| false), None);
        assert_eq!(critical(5, |_| true), Some(0));
        assert_eq!(critical(5, |length| length == 5), Some(5));
    }
}
