//! A part of a search, as it is handed to one process: what to do with which subtree, and how much of it.
//!
//! How much is a number of steps, which is the same on every machine; time is not. What is not done then is left to others: the rest of
//! a subtree. Only partial order reduction within a bound, whose plans would be lost, leaves all of it, to be divided first.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;
use core::fmt::Write;
use core::str::FromStr;

use super::around::{Around, Change};
use super::depth_first::{DepthFirst, Extent};
use super::dpor::{Bounded, Dpor};
use super::frontier::Frontier;
use super::subtree::Subtree;
use super::{Choice, Point, Strategy};

/// After how many points with anything to choose the tree is divided for partial order reduction within a bound.
const BRANCHINGS: usize = 5;

/// What to do with a subtree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Explore it depth first.
    Search(Extent),
    /// Explore it by partial order reduction, up to a number of preemptions if there is one.
    Reduce(Option<u32>),
    /// Divide it for partial order reduction within a bound.
    Divide(u32),
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
            Work::Reduce(None) => Box::new(Dpor::within(subtree)),
            Work::Reduce(Some(bound)) => Box::new(Bounded::below(bound, subtree)),
            Work::Divide(bound) => Box::new(Frontier::new(Extent::Preemptions(bound), subtree, BRANCHINGS)),
        };
        Box::new(Around::changing(inner, Allowance(self.steps)))
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
            Self::Divide(bound) => write!(f, "divide:{bound}"),
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
            Some(("preemptions", text)) => Ok(Self::Search(Extent::Preemptions(bound(text)?))),
            Some(("delays", text)) => Ok(Self::Search(Extent::Delays(bound(text)?))),
            Some(("dpor", text)) => Ok(Self::Reduce(Some(bound(text)?))),
            Some(("divide", text)) => Ok(Self::Divide(bound(text)?)),
            _ => Err(BadWork),
        }
    }
}

/// How many steps are left; after the last one no execution begins.
struct Allowance(u64);

impl Change for Allowance {
    fn begin(&mut self, inner: &mut dyn Strategy) -> bool {
        self.0 > 0 && inner.begin()
    }

    fn repeated(&mut self, inner: &mut dyn Strategy, steps: usize) {
        self.0 = self.0.saturating_sub(u64::try_from(steps).unwrap_or(u64::MAX));
        inner.repeated(steps);
    }

    #[inline]
    fn choose(&mut self, inner: &mut dyn Strategy, point: &Point<'_>) -> Choice {
        self.0 = self.0.saturating_sub(1);
        inner.choose(point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::explore::explore;
    use crate::fake::program::parse;
    use alloc::string::ToString;

    #[test]
    fn a_reduction_in_a_part_knows_what_writes_overwrite() {
        // GenMC, MPU2: without that, executions are lost or repeated.
        let program = parse(
            "main: create a, create b, create c, create d
             a: store y 1\n b: cas y 2 3 r\n c: cas y 1 2 r\n d: load y r",
        );
        let mut part = Part { work: Work::Reduce(None), subtree: Subtree::default(), steps: u64::MAX }.build();
        explore(&program, &mut *part);
        assert_eq!((part.counts().schedules, part.counts().abandoned), (14, 0));
    }

    #[test]
    fn steps_that_are_taken_again_count_as_well() {
        let begins_after = |repeated: usize| {
            let mut part = Part { work: Work::Reduce(None), subtree: Subtree::default(), steps: 5 }.build();
            part.repeated(repeated);
            part.begin()
        };
        assert_eq!([4, 5, 6].map(begins_after), [true, false, false]);
    }

    #[test]
    fn a_part_reads_back_from_its_text() {
        let works = [
            Work::Search(Extent::Unpruned),
            Work::Search(Extent::SleepSets),
            Work::Search(Extent::Preemptions(2)),
            Work::Search(Extent::Delays(1)),
            Work::Reduce(None),
            Work::Reduce(Some(3)),
            Work::Divide(0),
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
        for bad in ["fast", "sleep:1", "dpor:x", "divide", "preemptions"] {
            assert_eq!(bad.parse::<Work>(), Err(BadWork), "{bad}");
        }
    }
}
