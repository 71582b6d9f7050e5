//! A strategy by name and parameters: what options on the command line and the page shared with the target carry.

use alloc::boxed::Box;
use core::fmt;
use core::str::FromStr;

use super::Strategy;
use super::budget::Budget;
use super::depth_first::{DepthFirst, Extent};
use super::iterative::{Iterative, Preemptions};
use super::random::RandomWalk;

/// Which strategy, with what it needs to be reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Which one.
    pub name: Name,
    /// Up to how many preemptions a systematic search goes. Samplers have no such bound.
    pub preemptions: Preemptions,
    /// After how many executions it stops; `None` when it has explored all.
    pub executions: Option<u64>,
    /// The seed of samplers.
    pub seed: u64,
}

/// A strategy's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// `dfs`: depth-first by rising preemption bound, then complete by sleep sets.
    DepthFirst,
    /// `sleep`: sleep sets alone.
    SleepSets,
    /// `random`: the random walk.
    Random,
}

/// All names.
pub const NAMES: &[(Name, &str)] = &[(Name::DepthFirst, "dfs"), (Name::SleepSets, "sleep"), (Name::Random, "random")];

impl Config {
    /// The strategy.
    #[must_use]
    pub fn build(&self) -> Box<dyn Strategy> {
        let strategy: Box<dyn Strategy> = match self.name {
            Name::DepthFirst => Box::new(Iterative::new(self.preemptions)),
            Name::SleepSets => Box::new(DepthFirst::new(Extent::SleepSets)),
            Name::Random => Box::new(RandomWalk::new(self.seed)),
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
            Self::DepthFirst | Self::SleepSets => true,
            Self::Random => false,
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAMES.iter().find(|(name, _)| name == self).map_or("?", |&(_, word)| word))
    }
}

/// A word that names no strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadName;

impl fmt::Display for BadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no strategy has this name; there are")?;
        for (at, (_, word)) in NAMES.iter().enumerate() {
            write!(f, "{} {word}", if at == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl core::error::Error for BadName {}

impl FromStr for Name {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        NAMES.iter().find(|(_, word)| *word == text).map(|&(name, _)| name).ok_or(BadName)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn names_read_back_from_their_words() {
        for (name, word) in NAMES {
            assert_eq!(name.to_string(), *word);
            assert_eq!(word.parse(), Ok(*name));
        }
        assert_eq!("fast".parse::<Name>(), Err(BadName));
        assert_eq!(BadName.to_string(), "no strategy has this name; there are dfs, sleep, random");
    }
}
