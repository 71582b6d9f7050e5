//! A part of a search, as it is handed to one process: what to do with which subtree, and how much of it.
//!
//! How much is a number of steps, which is the same on every machine; time is not. What is not done then is left to others:
//! depth-first search leaves the rest of its subtree; partial order reduction, whose plans would be lost, leaves all of it,
//! to be divided first.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::fmt::Write;
use core::str::FromStr;

use model::ids::ThreadId;
use model::pair::Mode;
use model::report::{Coverage, Estimate};

use super::depth_first::{DepthFirst, Extent};
use super::dpor::{Bounded, Dpor};
use super::frontier::Frontier;
use super::replay::Divergence;
use super::subtree::Subtree;
use super::{Choice, Counts, Ending, Pick, Point, Step, Strategy};

/// After how many points with anything to choose the tree is divided for partial order reduction.
const BRANCHINGS: usize = 5;

/// What to do with a subtree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Explore it depth first.
    Search(Extent),
    /// Explore it by partial order reduction, up to a number of preemptions if there is one.
    Reduce(Option<u32>),
    /// Divide it for partial order reduction.
    Divide(Option<u32>),
}

/// A part of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What to do.
    pub work: Work,
    /// With which subtree.
    pub subtree: Subtree,
    /// No execution begins after so many steps.
    pub steps: u64,
}

impl Part {
    /// The strategy that does it.
    #[must_use]
    pub fn build(&self) -> Box<dyn Strategy> {
        let subtree = self.subtree.clone();
        let inner: Box<dyn Strategy> = match self.work {
            Work::Search(extent) => Box::new(DepthFirst::within(extent, subtree)),
            Work::Reduce(None) => Box::new(Dpor::below(subtree)),
            Work::Reduce(Some(bound)) => Box::new(Bounded::below(bound, subtree)),
            Work::Divide(bound) => {
                let extent = bound.map_or(Extent::SleepSets, Extent::Preemptions);
                Box::new(Frontier::new(extent, subtree, BRANCHINGS))
            }
        };
        Box::new(Allowance { inner, steps: self.steps })
    }

    /// Appends the text form.
    pub fn write(&self, text: &mut String) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "part {} {}", self.work, self.steps);
        self.subtree.write(text);
        text.push_str("end\n");
    }

    /// Reads the text form, whose first line has lost the word `part`; `None` when it is not one.
    #[must_use]
    pub fn read<'a>(first: &str, lines: &mut impl Iterator<Item = &'a str>) -> Option<Self> {
        let (work, steps) = first.split_once(' ')?;
        Some(Self { work: work.parse().ok()?, steps: steps.parse().ok()?, subtree: Subtree::read(lines)? })
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Search(Extent::Unpruned) => f.write_str("unpruned"),
            Self::Search(Extent::SleepSets) => f.write_str("sleep"),
            Self::Search(Extent::Preemptions(bound)) => write!(f, "preemptions:{bound}"),
            Self::Search(Extent::Delays(bound)) => write!(f, "delays:{bound}"),
            Self::Reduce(None) => f.write_str("dpor"),
            Self::Reduce(Some(bound)) => write!(f, "dpor:{bound}"),
            Self::Divide(None) => f.write_str("divide"),
            Self::Divide(Some(bound)) => write!(f, "divide:{bound}"),
        }
    }
}

/// A word that names no work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadWork;

impl fmt::Display for BadWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("names no part of a search")
    }
}

impl core::error::Error for BadWork {}

impl FromStr for Work {
    type Err = BadWork;

    fn from_str(text: &str) -> Result<Self, BadWork> {
        let bound = |text: &str| text.parse::<u32>().map_err(|_| BadWork);
        match text.split_once(':') {
            None if text == "unpruned" => Ok(Self::Search(Extent::Unpruned)),
            None if text == "sleep" => Ok(Self::Search(Extent::SleepSets)),
            None if text == "dpor" => Ok(Self::Reduce(None)),
            None if text == "divide" => Ok(Self::Divide(None)),
            Some(("preemptions", text)) => Ok(Self::Search(Extent::Preemptions(bound(text)?))),
            Some(("delays", text)) => Ok(Self::Search(Extent::Delays(bound(text)?))),
            Some(("dpor", text)) => Ok(Self::Reduce(Some(bound(text)?))),
            Some(("divide", text)) => Ok(Self::Divide(Some(bound(text)?))),
            _ => Err(BadWork),
        }
    }
}

/// A strategy that begins no execution after so many steps.
struct Allowance {
    inner: Box<dyn Strategy>,
    /// How many are left.
    steps: u64,
}

impl Strategy for Allowance {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn begin(&mut self) -> bool {
        self.steps > 0 && self.inner.begin()
    }

    #[inline]
    fn choose(&mut self, point: &Point<'_>) -> Choice {
        self.steps = self.steps.saturating_sub(1);
        self.inner.choose(point)
    }

    fn pick(&mut self, pick: &Pick<'_>) -> u32 {
        self.inner.pick(pick)
    }

    fn executed(&mut self, step: &Step) {
        self.inner.executed(step);
    }

    fn released(&mut self, thread: ThreadId, lock: u64, left: Option<Mode>) {
        self.inner.released(thread, lock, left);
    }

    fn end(&mut self, ending: &Ending<'_>) {
        self.inner.end(ending);
    }

    fn counts(&self) -> Counts {
        self.inner.counts()
    }

    fn coverage(&self) -> Coverage {
        self.inner.coverage()
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

    fn divergence(&self) -> Option<Divergence> {
        self.inner.divergence()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_part_reads_back_from_its_text() {
        let works = [
            Work::Search(Extent::Unpruned),
            Work::Search(Extent::SleepSets),
            Work::Search(Extent::Preemptions(2)),
            Work::Search(Extent::Delays(1)),
            Work::Reduce(None),
            Work::Reduce(Some(3)),
            Work::Divide(None),
            Work::Divide(Some(0)),
        ];
        for work in works {
            assert_eq!(work.to_string().parse(), Ok(work));
            let subtree = Subtree::read(&mut "t1 - - 2 - -".lines()).expect("a subtree");
            let part = Part { work, subtree, steps: 7 };
            let mut text = String::new();
            part.write(&mut text);
            let mut lines = text.lines();
            let first = lines.next().and_then(|line| line.strip_prefix("part "));
            assert_eq!(Part::read(first.expect("a first line"), &mut lines), Some(part));
        }
        for bad in ["fast", "sleep:1", "dpor:x", "preemptions"] {
            assert_eq!(bad.parse::<Work>(), Err(BadWork), "{bad}");
        }
    }
}
