//! A strategy by name and parameters: what options on the command line and the page shared with the target carry.

use alloc::boxed::Box;
use core::fmt;
use core::str::FromStr;

use super::Strategy;
use super::budget::Budget;
use super::coverage::Coverage;
use super::depth_first::{DepthFirst, Extent};
use super::dpor::{Bounded, Dpor};
use super::exit_block::{ExitBlock, Variant};
use super::iterative::{Iterative, Preemptions};
use super::pairs::Pairs;
use super::pct::{DEEPEST, Pct};
use super::portfolio::Portfolio;
use super::pos::Pos;
use super::random::RandomWalk;
use super::selective::Selective;
use super::weighted::Weighted;

/// Which strategy, with what it needs to be reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Which one.
    pub name: Name,
    /// Up to how many preemptions (`delay`: delays) a systematic search goes. Samplers have no such bound.
    pub preemptions: Preemptions,
    /// After how many executions it stops; `None` when it has explored all.
    pub executions: Option<u64>,
    /// The seed of samplers.
    pub seed: u64,
}

/// A strategy's name, with its own parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// `dfs`: depth-first by rising preemption bound, then complete by sleep sets.
    DepthFirst,
    /// `delay`: the same by rising bound on delays.
    Delays,
    /// `sleep`: sleep sets alone.
    SleepSets,
    /// `unpruned`: every schedule there is, depth first.
    Unpruned,
    /// `dpor`: dynamic partial order reduction, optimal without a bound.
    Dpor,
    /// `pairs`: each conflicting pair of places in a schedule of its own.
    Pairs,
    /// `random`: the random walk.
    Random,
    /// `pct:D`: probabilistic concurrency testing for failures of depth D.
    Pct {
        /// D.
        depth: u32,
    },
    /// `pos`: partial order sampling.
    Pos,
    /// `weighted`: the random walk weighted by what is left.
    Weighted,
    /// `coverage`: sampling near executions that showed something new.
    Coverage,
    /// `surw`: the selectively uniform random walk.
    Selective,
    /// `exitblock` and its relatives: threads are switched where a lock was released.
    ExitBlock(Variant),
    /// `portfolio`: several by turns.
    Portfolio,
}

/// The depth of `pct` without a number.
const USUAL_DEPTH: u32 = 3;

/// Each name, for messages.
pub const NAMES: &[&str] = &[
    "dfs",
    "delay",
    "sleep",
    "unpruned",
    "dpor",
    "pairs",
    "random",
    "pct:D",
    "pos",
    "weighted",
    "surw",
    "coverage",
    "exitblock",
    "exitblock-rw",
    "exitblock-dd",
    "exitblock-rwdd",
    "portfolio",
];

impl Config {
    /// The strategy.
    #[must_use]
    pub fn build(&self) -> Box<dyn Strategy> {
        let strategy: Box<dyn Strategy> = match self.name {
            Name::DepthFirst => Box::new(Iterative::new(self.preemptions)),
            Name::Delays => Box::new(Iterative::by_delays(self.preemptions)),
            Name::SleepSets => Box::new(DepthFirst::new(Extent::SleepSets)),
            Name::Unpruned => Box::new(DepthFirst::new(Extent::Unpruned)),
            Name::Dpor => match self.preemptions {
                Preemptions::AtMost(bound) => Box::new(Bounded::new(bound)),
                Preemptions::Unlimited => Box::new(Dpor::new()),
            },
            Name::Pairs => Box::new(Pairs::new()),
            Name::Random => Box::new(RandomWalk::new(self.seed)),
            Name::Pct { depth } => Box::new(Pct::new(self.seed, depth)),
            Name::Pos => Box::new(Pos::new(self.seed)),
            Name::Weighted => Box::new(Weighted::new(self.seed)),
            Name::Coverage => Box::new(Coverage::new(self.seed)),
            Name::Selective => Box::new(Selective::new(self.seed)),
            Name::ExitBlock(variant) => Box::new(ExitBlock::new(variant)),
            Name::Portfolio => Box::new(Portfolio::new(self.seed, self.preemptions)),
        };
        match self.executions {
            Some(executions) => Box::new(Budget::new(strategy, executions)),
            None => strategy,
        }
    }
}

impl Name {
    /// Whether it ends by itself, when it has covered what it covers.
    #[must_use]
    pub fn ends(self) -> bool {
        match self {
            Self::DepthFirst
            | Self::Delays
            | Self::SleepSets
            | Self::Unpruned
            | Self::Dpor
            | Self::Pairs
            | Self::ExitBlock(_)
            | Self::Portfolio => true,
            Self::Random | Self::Pct { .. } | Self::Pos | Self::Weighted | Self::Selective | Self::Coverage => false,
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DepthFirst => f.write_str("dfs"),
            Self::Delays => f.write_str("delay"),
            Self::SleepSets => f.write_str("sleep"),
            Self::Unpruned => f.write_str("unpruned"),
            Self::Dpor => f.write_str("dpor"),
            Self::Pairs => f.write_str("pairs"),
            Self::Random => f.write_str("random"),
            Self::Pct { depth } => write!(f, "pct:{depth}"),
            Self::Pos => f.write_str("pos"),
            Self::Weighted => f.write_str("weighted"),
            Self::Coverage => f.write_str("coverage"),
            Self::Selective => f.write_str("surw"),
            Self::ExitBlock(Variant::Plain) => f.write_str("exitblock"),
            Self::ExitBlock(Variant::ReadWrite) => f.write_str("exitblock-rw"),
            Self::ExitBlock(Variant::Deadlocks) => f.write_str("exitblock-dd"),
            Self::ExitBlock(Variant::ReadWriteDeadlocks) => f.write_str("exitblock-rwdd"),
            Self::Portfolio => f.write_str("portfolio"),
        }
    }
}

/// A word that names no strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadName;

impl fmt::Display for BadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no strategy has this name; there are")?;
        for (at, word) in NAMES.iter().enumerate() {
            write!(f, "{} {word}", if at == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl core::error::Error for BadName {}

impl FromStr for Name {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        match text.split_once(':').unwrap_or((text, "")) {
            ("dfs", "") => Ok(Self::DepthFirst),
            ("delay", "") => Ok(Self::Delays),
            ("sleep", "") => Ok(Self::SleepSets),
            ("unpruned", "") => Ok(Self::Unpruned),
            ("dpor", "") => Ok(Self::Dpor),
            ("pairs", "") => Ok(Self::Pairs),
            ("random", "") => Ok(Self::Random),
            ("pos", "") => Ok(Self::Pos),
            ("weighted", "") => Ok(Self::Weighted),
            ("coverage", "") => Ok(Self::Coverage),
            ("surw", "") => Ok(Self::Selective),
            ("exitblock", "") => Ok(Self::ExitBlock(Variant::Plain)),
            ("exitblock-rw", "") => Ok(Self::ExitBlock(Variant::ReadWrite)),
            ("exitblock-dd", "") => Ok(Self::ExitBlock(Variant::Deadlocks)),
            ("exitblock-rwdd", "") => Ok(Self::ExitBlock(Variant::ReadWriteDeadlocks)),
            ("portfolio", "") => Ok(Self::Portfolio),
            ("pct", "") => Ok(Self::Pct { depth: USUAL_DEPTH }),
            ("pct", depth) => {
                depth.parse().ok().filter(|depth| (1..=DEEPEST).contains(depth)).map(|depth| Self::Pct { depth }).ok_or(BadName)
            }
            _ => Err(BadName),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn names_read_back_from_their_words() {
        let names = [
            Name::DepthFirst,
            Name::Delays,
            Name::SleepSets,
            Name::Unpruned,
            Name::Dpor,
            Name::Pairs,
            Name::Random,
            Name::Pct { depth: 5 },
            Name::Pos,
            Name::Weighted,
            Name::Coverage,
            Name::Selective,
            Name::ExitBlock(Variant::Plain),
            Name::ExitBlock(Variant::ReadWrite),
            Name::ExitBlock(Variant::Deadlocks),
            Name::ExitBlock(Variant::ReadWriteDeadlocks),
            Name::Portfolio,
        ];
        assert_eq!(names.len(), NAMES.len());
        for name in names {
            assert_eq!(name.to_string().parse(), Ok(name));
        }
        assert_eq!("pct".parse(), Ok(Name::Pct { depth: 3 }));
        for bad in ["fast", "pct:0", "pct:99", "pct:x", "dfs:1", ""] {
            assert_eq!(bad.parse::<Name>(), Err(BadName), "{bad}");
        }
        assert_eq!(
            BadName.to_string(),
            "no strategy has this name; there are dfs, delay, sleep, unpruned, dpor, pairs, random, pct:D, pos, weighted, surw, \
             coverage, exitblock, exitblock-rw, exitblock-dd, exitblock-rwdd, portfolio"
        );
    }
}
