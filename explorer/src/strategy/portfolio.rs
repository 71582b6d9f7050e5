//! Several strategies by turns: what one is bad at, another is good at, and nobody knows beforehand.
//!
//! First each conflicting pair of places in a schedule of its own, which shows failures that need one thread to be stopped at
//! one place; and, in every other execution, partial order sampling, which shows those that need many switches anywhere. Then,
//! by turns in fixed shares: the rest of the pairs, schedules with up to three preemptions, partial order sampling, PCT, the
//! weighted and the selective walk, and the complete search (up to the bound on preemptions, if one was asked for), which on a small
//! program comes to its end and so ends everything. When all that has gone on for long without covering everything, what is left to be
//! found needs many switches: then half of the turns are partial order sampling and the random walk.
//!
//! A complete search that had executions cut says little of what comes after the cut, so that samples go on behind it, but not for ever.
//!
//! Turns follow from counts alone, so a portfolio repeats itself as its members do.

use alloc::boxed::Box;
use alloc::vec::Vec;

use model::ids::ThreadId;
use model::pair::Mode;
use model::report::{Coverage, Estimate};

use super::dpor::{Bounded, Dpor};
use super::iterative::{Iterative, Preemptions};
use super::pairs::Pairs;
use super::pct::Pct;
use super::pos::Pos;
use super::random::RandomWalk;
use super::replay::Divergence;
use super::selective::Selective;
use super::weighted::Weighted;
use super::{Choice, Counts, Ending, Outcome, Pick, Point, Step, Strategy, Supply};

/// How many executions the search by pairs has before any member but sampling, which has as many.
const OPENING: u64 = 500;

/// After how many turns, in all, what needs few switches is taken to have been found. On programs with SCTBench's failures the members find
/// what they are good at within hundreds of their turns; SafeStack, which needs eight preemptions, is met by either of the wide
/// samplers once in about 600,000.
const LONG: u64 = 20_000;

/// How many executions may be cut where the complete search has come to its end, and each takes as long as one can.
const CUT: u64 = 100;

/// Up to how many preemptions schedules are run depth first.
const FEW: u32 = 3;

/// The members that open, by number.
const PAIRS: usize = 0;
const SAMPLING: usize = 1;

/// The members that begin anew when there are more points.
const SYSTEMATIC: usize = 2;
const COMPLETE: usize = 6;

/// Several strategies by turns.
pub struct Portfolio {
    members: Vec<Member>,
    /// Whose turn it is.
    current: usize,
    stage: Stage,
    /// Executions of the current exploration.
    counts: Counts,
    /// Up to how many preemptions schedules are wanted.
    most: Preemptions,
    /// What a member has covered that has covered all that is wanted.
    covered: Option<Coverage>,
}

struct Member {
    strategy: Box<dyn Strategy>,
    share: Share,
    /// In the current stage; those of the opening come on top.
    turns: u64,
    done: bool,
}

/// How many turns a member has where others have as many as their share is; 0 is none.
#[derive(Clone, Copy, Debug)]
struct Share {
    soon: u64,
    late: u64,
}

/// How far a portfolio has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Up to [`LONG`] turns.
    Soon,
    /// From then on.
    Late,
}

impl Share {
    fn at(self, stage: Stage) -> u64 {
        match stage {
            Stage::Soon => self.soon,
            Stage::Late => self.late,
        }
    }
}

/// What a member's turns begin with when a stage begins: the opening does not count.
fn opening(at: usize) -> u64 {
    if at == PAIRS || at == SAMPLING { OPENING } else { 0 }
}

impl Portfolio {
    /// The usual members, of which the systematic ones go up to so many preemptions; samplers get seeds that follow from this one.
    #[must_use]
    pub fn new(seed: u64, most: Preemptions) -> Self {
        let [few, complete] = systematic(most);
        let member = |strategy: Box<dyn Strategy>, soon, late| Member { strategy, share: Share { soon, late }, turns: 0, done: false };
        let members = alloc::vec![
            member(Box::new(Pairs::new()), 2, 1),
            member(Box::new(Pos::new(seed)), 2, 3),
            member(few, 2, 1),
            member(Box::new(Pct::new(seed.wrapping_add(1), 3)), 2, 1),
            member(Box::new(Weighted::new(seed.wrapping_add(2))), 1, 1),
            member(Box::new(Selective::new(seed.wrapping_add(3))), 2, 1),
            member(complete, 3, 3),
            member(Box::new(RandomWalk::new(seed.wrapping_add(4))), 0, 3),
        ];
        Self { members, current: 0, stage: Stage::Soon, counts: Counts::default(), most, covered: None }
    }

    /// In the opening the two that open, in turn; then the member with the fewest turns for its share.
    fn next(&self) -> Option<usize> {
        let [pairs, sampling] = [&self.members[PAIRS], &self.members[SAMPLING]];
        if !pairs.done && pairs.turns < OPENING {
            return Some(if sampling.turns < pairs.turns { SAMPLING } else { PAIRS });
        }
        let waiting = self.members.iter().enumerate().filter(|(_, member)| !member.done && member.share.at(self.stage) > 0);
        let turns = |at: usize, member: &Member| member.turns.saturating_sub(opening(at));
        waiting.min_by_key(|&(at, member)| turns(at, member) * 6 / member.share.at(self.stage)).map(|(at, _)| at)
    }

    /// Whether samples have said enough of a program that the complete search could not cover, as executions were cut.
    fn is_over(&self) -> bool {
        let complete = &self.members[COMPLETE];
        let Counts { cut, diverged, .. } = complete.strategy.counts();
        complete.done && cut > 0 && diverged == 0 && (self.counts.cut >= CUT || self.stage == Stage::Late)
    }

    /// Goes over to the shares of long explorations when it is one.
    fn look_at_length(&mut self) {
        if self.stage == Stage::Soon && self.members.iter().map(|member| member.turns).sum::<u64>() >= LONG {
            self.stage = Stage::Late;
            for (at, member) in self.members.iter_mut().enumerate() {
                member.turns = opening(at);
            }
        }
    }
}

/// The members that are systematic, up to so many preemptions: [`SYSTEMATIC`] and [`COMPLETE`].
fn systematic(most: Preemptions) -> [Box<dyn Strategy>; 2] {
    let (few, complete): (_, Box<dyn Strategy>) = match most {
        Preemptions::AtMost(bound) => (bound.min(FEW), Box::new(Bounded::new(bound))),
        Preemptions::Unlimited => (FEW, Box::new(Dpor::new())),
    };
    [Box::new(Iterative::new(Preemptions::AtMost(few))), complete]
}

/// What a member that has come to its end covers, if that is all that is wanted.
fn covers(member: &dyn Strategy, most: Preemptions) -> Option<Coverage> {
    match (member.coverage(), most) {
        // A bound that kept nothing out is none.
        (Coverage::Preemptions(_), _) if !member.is_limited() => Some(Coverage::All),
        (Coverage::Preemptions(bound), Preemptions::AtMost(most)) if bound >= most => Some(Coverage::Preemptions(most)),
        (Coverage::All, _) => Some(Coverage::All),
        _ => None,
    }
}

impl Strategy for Portfolio {
    fn name(&self) -> &'static str {
        "portfolio"
    }

    fn begin(&mut self) -> bool {
        self.look_at_length();
        while self.covered.is_none() && !self.is_over() {
            let Some(at) = self.next() else { return false };
            let member = &mut self.members[at];
            if member.strategy.begin() {
                member.turns += 1;
                self.current = at;
                return true;
            }
            member.done = true;
            self.covered = covers(&*member.strategy, self.most);
        }
        false
    }

    #[inline]
    fn choose(&mut self, point: &Point<'_>) -> Choice {
        self.members[self.current].strategy.choose(point)
    }

    fn pick(&mut self, pick: &Pick<'_>) -> u32 {
        self.members[self.current].strategy.pick(pick)
    }

    #[inline]
    fn executed(&mut self, step: &Step) {
        self.members[self.current].strategy.executed(step);
    }

    fn supplied(&mut self, thread: ThreadId, supply: Supply) {
        self.members[self.current].strategy.supplied(thread, supply);
    }

    fn overwrote(&mut self, before: u64) {
        self.members[self.current].strategy.overwrote(before);
    }

    fn released(&mut self, thread: ThreadId, lock: u64, left: Option<Mode>) {
        self.members[self.current].strategy.released(thread, lock, left);
    }

    fn end(&mut self, ending: &Ending<'_>) {
        let strategy = &mut self.members[self.current].strategy;
        strategy.end(ending);
        self.counts.add(if strategy.divergence().is_some() { Outcome::Diverged } else { ending.outcome });
    }

    fn learnt(&mut self) -> bool {
        // Trees and plans are of executions with the points of before; what was sampled is none the worse.
        let [few, complete] = systematic(self.most);
        self.members[SYSTEMATIC].strategy = few;
        self.members[COMPLETE].strategy = complete;
        for member in &mut self.members {
            member.done = false;
            member.strategy.learnt();
        }
        self.covered = None;
        true
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn coverage(&self) -> Coverage {
        if let Some(covered) = self.covered {
            return covered;
        }
        let mut covered = self.members.iter().map(|member| member.strategy.coverage());
        covered.find(|coverage| matches!(coverage, Coverage::Preemptions(_))).unwrap_or(Coverage::Partial(self.counts.schedules))
    }

    /// Of the member that opens with sampling: what others have seen is not known to it.
    fn estimate(&self) -> Option<Estimate> {
        if self.covered.is_some() { None } else { self.members[SAMPLING].strategy.estimate() }
    }

    fn divergence(&self) -> Option<Divergence> {
        self.members[self.current].strategy.divergence()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::explore::{execute, explore};
    use crate::fake::generate::{Flavor, program};
    use crate::fake::oracle::{self, Within};
    use crate::fake::program::parse;
    use crate::strategy::budget::Budget;
    use alloc::collections::BTreeSet;
    use alloc::format;

    /// The member that has no turns before the late stage.
    const RANDOM: usize = 7;

    #[test]
    fn a_small_program_is_explored_completely() {
        for seed in 0..40 {
            let program = program(seed, Flavor::Everything);
            let (expected, _) = oracle::outcomes(&program, Within::Everything);
            let mut portfolio = Portfolio::new(seed, Preemptions::Unlimited);
            let found: BTreeSet<_> = explore(&program, &mut portfolio).outcomes.into_keys().collect();
            assert_eq!((portfolio.coverage(), found), (Coverage::All, expected), "seed {seed}");
        }
    }

    #[test]
    fn within_a_bound_it_ends_when_all_up_to_the_bound_is_explored() {
        for (seed, bound) in (0..20).flat_map(|seed| [(seed, 0), (seed, 1), (seed, 4)]) {
            let program = program(seed, Flavor::Everything);
            let (expected, _) = oracle::outcomes(&program, Within::Preemptions(bound));
            let mut portfolio = Portfolio::new(seed, Preemptions::AtMost(bound));
            let found: BTreeSet<_> = explore(&program, &mut portfolio).outcomes.into_keys().collect();
            assert!(matches!(portfolio.coverage(), Coverage::All | Coverage::Preemptions(_)), "seed {seed}, bound {bound}");
            assert!(found.is_superset(&expected), "seed {seed}, bound {bound}");
        }
    }

    #[test]
    fn a_long_exploration_turns_to_wide_samples_and_leaves_the_complete_search_its_share() {
        // 4 threads of 4 conflicting writes: 63,063,000 classes, none of which the bounded search covers.
        let bodies = ["a", "b", "c", "d"].map(|t| format!("{t}: write x 1, write x 2, write x 3, write x 4\n")).concat();
        let program = parse(&format!("main: create a, create b, create c, create d\n{bodies}"));
        let mut portfolio = Portfolio::new(1, Preemptions::Unlimited);
        let mut turns = |executions: u64| {
            while portfolio.counts().executions() < executions && portfolio.begin() {
                execute(&program, &mut portfolio, &mut Vec::new());
            }
            portfolio.members.iter().enumerate().map(|(at, member)| member.turns.saturating_sub(opening(at))).collect::<Vec<_>>()
        };
        assert_eq!(turns(LONG)[RANDOM], 0);
        let late = turns(LONG + 3000);
        let all: u64 = late.iter().sum();
        assert!(all == 3000 && (late[SAMPLING] + late[RANDOM]) * 5 > all * 2, "{late:?}");
        assert!(late[COMPLETE] * 5 > all, "{late:?}");
    }

    #[test]
    fn a_program_whose_executions_are_all_cut_is_given_up_soon() {
        let mut portfolio = Portfolio::new(1, Preemptions::Unlimited);
        let mut begun = 0;
        while begun < LONG && portfolio.begin() {
            begun += 1;
            portfolio.end(&Ending { outcome: Outcome::Cut, pending: &[] });
        }
        assert!((CUT..LONG).contains(&begun), "{begun}");
        assert!(matches!(portfolio.coverage(), Coverage::Partial(_)), "{:?}", portfolio.coverage());
    }

    #[test]
    fn what_is_not_explored_completely_is_not_said_to_be() {
        let program = program(7, Flavor::Everything);
        let mut portfolio = Budget::new(Box::new(Portfolio::new(1, Preemptions::Unlimited)), 3);
        explore(&program, &mut portfolio);
        assert!(!portfolio.coverage().is_complete(), "{:?}", portfolio.coverage());
    }
}
