//! Makes a failing schedule simple: fewest preemptions first, then fewest steps.
//!
//! Candidates are made from the best schedule so far by cutting its end off (the default thread then goes on), by letting
//! a preempted thread go on to the end of its next block, by letting the preempting block come first, and by leaving a
//! block out. Each is replayed tolerantly; what counts is the execution that came of it, and that it fails in the same
//! way. The search is greedy, so the result is a local minimum, within a number of replays.

use alloc::vec::Vec;

use crate::strategy::replay::Expected;

/// A step of an execution, as it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traced {
    /// The step.
    pub step: Expected,
    /// Whether it was a preemption, by the strategies' definition.
    pub preempts: bool,
}

/// A schedule made simple.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minimized {
    /// The execution.
    pub steps: Vec<Traced>,
    /// How many replays it took.
    pub replays: u32,
}

/// Simplifies `steps`, with at most `budget` replays. `replay` follows a candidate tolerantly; it gives the execution when
/// that fails in the same way, and `None` otherwise.
pub fn minimize(steps: Vec<Traced>, budget: u32, mut replay: impl FnMut(&[Expected]) -> Option<Vec<Traced>>) -> Minimized {
    let mut best = Minimized { steps, replays: 0 };
    while let Some(better) = improve(&mut best, budget, &mut replay) {
        best.steps = better;
    }
    best
}

/// What is made small: preemptions, then steps, then switches.
fn cost(steps: &[Traced]) -> (usize, usize, usize) {
    let switches = steps.windows(2).filter(|pair| pair[0].step.thread != pair[1].step.thread).count();
    (preemptions(steps), steps.len(), switches)
}

/// How many preemptions an execution has.
#[must_use]
pub fn preemptions(steps: &[Traced]) -> usize {
    steps.iter().filter(|step| step.preempts).count()
}

fn improve(best: &mut Minimized, budget: u32, replay: &mut impl FnMut(&[Expected]) -> Option<Vec<Traced>>) -> Option<Vec<Traced>> {
    let blocks = blocks(&best.steps);
    for candidate in candidates(&blocks, &best.steps) {
        if best.replays == budget {
            return None;
        }
        best.replays += 1;
        if let Some(steps) = replay(&candidate)
            && cost(&steps) < cost(&best.steps)
        {
            return Some(steps);
        }
    }
    None
}

/// Steps of one thread in a row.
struct Block<'a> {
    steps: &'a [Traced],
}

fn blocks(steps: &[Traced]) -> Vec<Block<'_>> {
    steps.chunk_by(|a, b| a.step.thread == b.step.thread).map(|steps| Block { steps }).collect()
}

fn join<'a>(blocks: impl Iterator<Item = &'a Block<'a>>) -> Vec<Expected> {
    blocks.flat_map(|block| block.steps).map(|traced| traced.step.clone()).collect()
}

/// Simpler schedules to try, the most promising first.
fn candidates<'a>(blocks: &'a [Block<'a>], steps: &'a [Traced]) -> impl Iterator<Item = Vec<Expected>> {
    let preempting = || (1..blocks.len()).filter(|&at| blocks[at].steps[0].preempts);
    let thread = |at: usize| blocks[at].steps[0].step.thread;
    let without_end = (0..blocks.len()).map(move |at| join(blocks[..at].iter()));
    let going_on = preempting().filter_map(move |at| {
        let next = (at..blocks.len()).find(|&later| thread(later) == thread(at - 1))?;
        let (moved, between, rest) = (&blocks[next..=next], &blocks[at..next], &blocks[next + 1..]);
        Some(join(blocks[..at].iter().chain(moved).chain(between).chain(rest)))
    });
    let coming_first = preempting().map(move |at| {
        let (before, preempted, preempter, rest) = (&blocks[..at - 1], &blocks[at - 1..at], &blocks[at..=at], &blocks[at + 1..]);
        join(before.iter().chain(preempter).chain(preempted).chain(rest))
    });
    let left_out = (0..blocks.len()).map(move |at| join(blocks[..at].iter().chain(&blocks[at + 1..])));
    let shorter = (1..steps.len()).map(move |cut| steps[..cut].iter().map(|traced| traced.step.clone()).collect());
    without_end.chain(going_on).chain(coming_first).chain(left_out).chain(shorter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::explore::trace;
    use crate::fake::machine::Outcome;
    use crate::fake::program::{Program, parse};
    use crate::strategy::random::RandomWalk;
    use crate::strategy::replay::{Discipline, Replay};

    fn check(program: &str, failure: fn(&Outcome) -> bool, expected_preemptions: usize) {
        let program: Program = parse(program);
        for seed in 0..20 {
            let mut walk = RandomWalk::new(seed);
            let failing = (0..2000).map(|_| trace(&program, &mut walk)).find(|(outcome, _)| outcome.as_ref().is_some_and(failure));
            let (outcome, steps) = failing.expect("a failing schedule");
            let before = cost(&steps);
            let minimized = minimize(steps, 500, |candidate| {
                let (found, steps) = trace(&program, &mut Replay::new(candidate.to_vec(), Discipline::Tolerant));
                (found == outcome).then_some(steps)
            });
            assert!(cost(&minimized.steps) <= before, "seed {seed}");
            assert_eq!(preemptions(&minimized.steps), expected_preemptions, "seed {seed}: {:?}", minimized.steps);
            assert!(minimized.replays <= 500);

            let steps: Vec<Expected> = minimized.steps.iter().map(|traced| traced.step.clone()).collect();
            let (again, _) = trace(&program, &mut Replay::new(steps, Discipline::Strict));
            assert_eq!(again, outcome, "seed {seed}: a minimized schedule replays strictly");
        }
    }

    #[test]
    fn a_lost_update_needs_one_preemption() {
        check(
            "main: create a, create b, join a, join b, read x r, assert r == 2
             a: read x r, write x r+1
             b: read x r, write x r+1",
            |outcome| matches!(outcome, Outcome::Failed(..)),
            1,
        );
    }

    #[test]
    fn a_lock_cycle_needs_one_preemption() {
        check(
            "main: create a, create b, join a, join b
             a: lock m, lock n, unlock n, unlock m
             b: lock n, lock m, unlock m, unlock n",
            |outcome| matches!(outcome, Outcome::Deadlock(..)),
            1,
        );
    }

    #[test]
    fn a_failure_in_every_schedule_needs_none() {
        check(
            "main: create a, join a, read x r, assert r == 2\n a: write x 1, yield, add y 1, add y 1",
            |outcome| matches!(outcome, Outcome::Failed(..)),
            0,
        );
    }
}
