//! Several strategies by turns: what one is bad at, another is good at, and nobody knows beforehand.
//!
//! First each conflicting pair of places in a schedule of its own, which shows failures that need one thread to be stopped at
//! one place; and, in every other execution, partial order sampling, which shows those that need many switches anywhere. Then,
//! by turns in fixed shares: the rest of the pairs, schedules with up to three preemptions, partial order sampling, PCT, the
//! weighted and the selective walk, and the complete search, which on a small program comes to its end and so ends everything.
//!
//! Turns follow from counts alone, so a portfolio repeats itself as its members do.

use alloc::boxed::Box;
use alloc::vec::Vec;

use model::ids::ThreadId;
use model::pair::Mode;
use model::report::Coverage;

use super::dpor::Dpor;
use super::iterative::{Iterative, Preemptions};
use super::pairs::Pairs;
use super::pct::Pct;
use super::pos::Pos;
use super::replay::Divergence;
use super::selective::Selective;
use super::weighted::Weighted;
use super::{Choice, Counts, Ending, Outcome, Pick, Point, Step, Strategy};

/// How many executions the search by pairs has before any member but sampling, which has as many.
const OPENING: u64 = 500;

/// The members that open, by number.
const PAIRS: usize = 0;
const SAMPLING: usize = 1;

/// Several strategies by turns.
pub struct Portfolio {
    members: Vec<Member>,
    /// Whose turn it is.
    current: usize,
    /// Executions of the current exploration.
    counts: Counts,
    /// Whether a member has covered everything.
    complete: bool,
}

struct Member {
    strategy: Box<dyn Strategy>,
    /// How many turns it has where others have as many as their share is.
    share: u64,
    turns: u64,
    done: bool,
}

impl Portfolio {
    /// The usual members; samplers get seeds that follow from this one.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let member = |strategy: Box<dyn Strategy>, share| Member { strategy, share, turns: 0, done: false };
        let members = alloc::vec![
            member(Box::new(Pairs::new()), 2),
            member(Box::new(Pos::new(seed)), 2),
            member(Box::new(Iterative::new(Preemptions::AtMost(3))), 2),
            member(Box::new(Pct::new(seed.wrapping_add(1), 3)), 2),
            member(Box::new(Weighted::new(seed.wrapping_add(2))), 1),
            member(Box::new(Selective::new(seed.wrapping_add(3))), 2),
            member(Box::new(Dpor::new()), 3),
        ];
        Self { members, current: 0, counts: Counts::default(), complete: false }
    }

    /// In the opening the two that open, in turn; then the member with the fewest turns for its share.
    fn next(&self) -> Option<usize> {
        let [pairs, sampling] = [&self.members[PAIRS], &self.members[SAMPLING]];
        if !pairs.done && pairs.turns < OPENING {
            return Some(if sampling.turns < pairs.turns { SAMPLING } else { PAIRS });
        }
        let waiting = self.members.iter().enumerate().filter(|(_, member)| !member.done);
        // The turns of the opening do not count.
        let opening = |at: usize| if at == PAIRS || at == SAMPLING { OPENING } else { 0 };
        let turns = |at: usize, member: &Member| member.turns.saturating_sub(opening(at));
        waiting.min_by_key(|&(at, member)| turns(at, member) * 6 / member.share).map(|(at, _)| at)
    }
}

impl Strategy for Portfolio {
    fn name(&self) -> &'static str {
        "portfolio"
    }

    fn begin(&mut self) -> bool {
        while !self.complete {
            let Some(at) = self.next() else { return false };
            let member = &mut self.members[at];
            if member.strategy.begin() {
                member.turns += 1;
                self.current = at;
                return true;
            }
            member.done = true;
            self.complete |= member.strategy.coverage() == Coverage::All;
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

    fn counts(&self) -> Counts {
        self.counts
    }

    fn coverage(&self) -> Coverage {
        if self.complete {
            return Coverage::All;
        }
        let mut covered = self.members.iter().map(|member| member.strategy.coverage());
        covered.find(|coverage| matches!(coverage, Coverage::Preemptions(_))).unwrap_or(Coverage::Partial(self.counts.schedules))
    }

    fn divergence(&self) -> Option<Divergence> {
        self.members[self.current].strategy.divergence()
    }
}
