//! What is done in a part: a part of a search, a block of samples, or everything where a strategy cannot be divided.
//!
//! Systematic searches have *scouts*: first parts that are done up to an allowance and not divided, such as passes with few
//! preemptions, which show most failures; what they leave is left to the search that follows. A portfolio is a search by partial order
//! reduction whose scouts are all its other members, and which has samples among its parts.

use std::vec::Vec;

use crate::random::Random;
use crate::strategy::config::{Config, Name};
use crate::strategy::depth_first::Extent;
use crate::strategy::dpor::Trunk;
use crate::strategy::iterative::Preemptions;
use crate::strategy::part::{Part, Work};
use crate::strategy::subtree::Subtree;

/// How many executions a block of samples has. Each block learns anew.
pub const BLOCK: u64 = 1000;

/// Up to how many subtrees a search leaves.
const SPLIT: usize = 48;

/// About how many planned steps a search by partial order reduction gives away when it is broken off: those nearest to the root are most of what
/// is left.
const GIVEN: usize = 4;

/// The preemption bounds that come before a search without one.
const SCOUTS: u32 = 3;

/// What is done in a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// Everything, by a strategy that cannot be divided.
    Whole,
    /// The samples of a block.
    Block(u64),
    /// A member of a portfolio, up to as many executions as a block has.
    Member {
        /// Which.
        name: Name,
        /// Which of its blocks.
        block: u64,
    },
    /// A part of a search, and what becomes of what it leaves.
    Search(Part, Rest),
}

/// What becomes of what a part of a search leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Others do it.
    Split,
    /// Nothing: a later part covers it.
    Dropped,
}

/// How a strategy is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// Into subtrees.
    Subtrees,
    /// Into blocks of samples.
    Blocks,
    /// Not at all: what an execution is to be depends on all before it.
    None,
}

/// How a strategy is divided.
#[must_use]
pub fn division(name: Name) -> Division {
    match name {
        Name::DepthFirst | Name::Delays | Name::SleepSets | Name::Unpruned | Name::Dpor | Name::Portfolio => Division::Subtrees,
        Name::Random | Name::Pct { .. } | Name::Pos | Name::Weighted | Name::Selective | Name::Coverage => Division::Blocks,
        Name::Pairs | Name::ExitBlock(_) => Division::None,
    }
}

/// The first parts; of blocks, none, as there may be any number of them.
#[must_use]
pub fn first(config: &Config) -> Vec<Task> {
    let search = |work, rest| Task::Search(Part { work, subtree: Subtree::default(), steps: allowance(work, 1, rest) }, rest);
    let passes = |extent: fn(u32) -> Extent| {
        let (scouts, last) = match config.preemptions {
            Preemptions::AtMost(bound) => (bound.min(SCOUTS), extent(bound)),
            Preemptions::Unlimited => (SCOUTS, Extent::SleepSets),
        };
        let scouts = (0..scouts).map(|bound| search(Work::Search(extent(bound)), Rest::Dropped));
        scouts.chain([search(Work::Search(last), Rest::Split)]).collect()
    };
    let reduction = |preemptions| match preemptions {
        Preemptions::Unlimited => search(Work::Reduce(None), Rest::Split),
        Preemptions::AtMost(bound) => search(Work::Reduce(Some(bound)), Rest::Split),
    };
    match (config.name, config.preemptions) {
        (Name::Portfolio, preemptions) => {
            let bounds = if let Preemptions::AtMost(bound) = preemptions { SCOUTS.min(bound + 1) } else { SCOUTS };
            let passes = (0..bounds).map(|bound| search(Work::Search(Extent::Preemptions(bound)), Rest::Dropped));
            let opening = [Name::Pairs, Name::Pos].into_iter().map(|name| Task::Member { name, block: 0 });
            let samples = SAMPLERS.into_iter().filter(|name| *name != Name::Pos).map(|name| Task::Member { name, block: 0 });
            opening.chain(passes).chain(samples).chain([reduction(preemptions)]).collect()
        }
        (Name::DepthFirst, _) => passes(Extent::Preemptions),
        (Name::Delays, _) => passes(Extent::Delays),
        (Name::SleepSets, _) => std::vec![search(Work::Search(Extent::SleepSets), Rest::Split)],
        (Name::Unpruned, _) => std::vec![search(Work::Search(Extent::Unpruned), Rest::Split)],
        (Name::Dpor, preemptions) => std::vec![reduction(preemptions)],
        (name, _) if division(name) == Division::Blocks => Vec::new(),
        _ => std::vec![Task::Whole],
    }
}

/// The members of a portfolio that sample, in the order of their turns.
const SAMPLERS: [Name; 4] = [Name::Pos, Name::Pct { depth: 3 }, Name::Weighted, Name::Selective];

/// After how many subtrees a portfolio has a block of samples.
const SUBTREES: usize = 8;

/// The parts of a portfolio that follow from one: its subtrees, with blocks of samples among them.
#[must_use]
pub fn with_samples(subtrees: Vec<Task>) -> Vec<Task> {
    let mut tasks = Vec::new();
    for (turn, some) in (1..).zip(subtrees.chunks(SUBTREES)) {
        tasks.extend_from_slice(some);
        let name = SAMPLERS[turn % SAMPLERS.len()];
        tasks.push(Task::Member { name, block: turn as u64 });
    }
    tasks
}

/// How many steps a part of this generation may take. The first ones are small, so that there soon is something for everybody.
fn allowance(work: Work, generation: usize, rest: Rest) -> u64 {
    match (work, generation) {
        (Work::Divide(_), _) => u64::MAX,
        (Work::Search(_), _) if rest == Rest::Dropped => 1 << 20,
        (Work::Search(_) | Work::Reduce(_), 1) => 1 << 16,
        (Work::Reduce(None), 2) => 1 << 20,
        (Work::Reduce(_), _) => 1 << 23,
        (Work::Search(_), 2) => 1 << 18,
        (Work::Search(_), _) => 1 << 21,
    }
}

impl Task {
    /// The tasks that follow from what one of this generation leaves, in order; and where it was divided, if they may ask for more.
    #[must_use]
    pub fn following(&self, generation: usize, left: Vec<Subtree>) -> (Vec<Self>, Option<Trunk>) {
        let Self::Search(part, Rest::Split) = self else { return (Vec::new(), None) };
        let mut trunk = None;
        let (work, subtrees): (Work, Vec<Subtree>) = match part.work {
            Work::Search(_) => (part.work, left.into_iter().flat_map(|left| left.split(SPLIT)).collect()),
            Work::Reduce(None) => {
                let mut divide = |left| {
                    let (at, parts) = Trunk::divide(left, GIVEN);
                    trunk = at;
                    parts
                };
                (part.work, left.into_iter().flat_map(&mut divide).collect())
            }
            Work::Reduce(Some(bound)) => (Work::Divide(bound), left),
            Work::Divide(bound) => (Work::Reduce(Some(bound)), left),
        };
        (subtrees.into_iter().map(|subtree| Self::of(work, generation + 1, subtree)).collect(), trunk)
    }

    /// The task of a subtree that is not the first part.
    #[must_use]
    pub fn of(work: Work, generation: usize, subtree: Subtree) -> Self {
        Self::Search(Part { work, subtree, steps: allowance(work, generation, Rest::Split) }, Rest::Split)
    }

    /// Whether what it has done does not count when it leaves something: partial order reduction within a bound begins anew.
    #[must_use]
    pub fn is_void(&self, left: &[Subtree]) -> bool {
        matches!(self, Self::Search(Part { work: Work::Reduce(Some(_)), .. }, _)) && !left.is_empty()
    }
}

/// The seed of a block. The first block's is that of the whole.
#[must_use]
pub fn seed(seed: u64, block: u64) -> u64 {
    if block == 0 { seed } else { Random::new(seed ^ block.wrapping_mul(0x9e37_79b9_7f4a_7c15)).next_u64() }
}
