//! The plan: which locks to inject where. Inference writes it, people read and edit it (`plan.toml`), injection applies it.
//!
//! Order at one place: releases, then degrades, then acquires by ascending `LockId`; ids follow the lock order.
//! Not here: whether a plan is right (`certificate`).

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use crate::ids::{FunctionKey, Label, LockId, NodeId};
use crate::pair::{Atomicity, Mode};

/// Locks to inject into one build of one program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Plan {
    /// The version of this form.
    pub schema: u32,
    /// The hash of the build it was made for.
    pub build: String,
    /// Functions, by linkage name, that may wait for another thread or a peer in ways that nobody sees: before each call of one the
    /// thread gives up its injected locks.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub blocking: Vec<String>,
    /// Functions, as `program::Callee::Direct` names them, that never come back to their callers and may take locks on their way to the end of the
    /// process: before each call of one the thread gives up its injected locks, since no pair's second end comes after it.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub endings: Vec<String>,
    /// Indexed by `LockId`.
    #[cfg_attr(feature = "serde", serde(default, rename = "lock"))]
    pub locks: Vec<Lock>,
    /// Pairs that were seen but get no lock, and why.
    #[cfg_attr(feature = "serde", serde(default, rename = "refused"))]
    pub refused: Vec<Refused>,
    /// What each optimization saved; for people.
    #[cfg_attr(feature = "serde", serde(default, rename = "saving"))]
    pub savings: Vec<Saving>,
}

/// What one optimization of the locks' placement saved.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Saving {
    /// Its name, by which it is turned off.
    pub optimization: String,
    /// Operations that the plan would have besides.
    pub operations: u64,
    /// How many operations more would run in each profiled run, as far as counts of accesses tell.
    pub executions: u64,
}

/// The version of the plan's form that this crate reads and writes.
pub const PLAN_SCHEMA: u32 = 1;

/// One lock, which protects one variable.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Lock {
    /// Its place in the runtime's table and in the lock order.
    pub id: LockId,
    /// `false` leaves all its operations out.
    #[cfg_attr(feature = "serde", serde(default = "enabled"))]
    pub enabled: bool,
    /// What it protects, for people.
    pub variable: String,
    /// How many operations run per second of the profiled runs, roughly; for people.
    #[cfg_attr(feature = "serde", serde(default))]
    pub cost: u64,
    /// Why it is there.
    #[cfg_attr(feature = "serde", serde(default, rename = "pair"))]
    pub pairs: Vec<PlannedPair>,
    /// What to inject.
    #[cfg_attr(feature = "serde", serde(default, rename = "operation"))]
    pub operations: Vec<Operation>,
}

#[cfg(feature = "serde")]
fn enabled() -> bool {
    true
}

/// An admitted pair, with its evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct PlannedPair {
    /// The function of both ends.
    pub function: FunctionKey,
    /// The first end.
    pub head: NodeId,
    /// The second end.
    pub tail: NodeId,
    /// What is kept.
    pub atomicity: Atomicity,
    /// How often it was seen.
    pub seen: u64,
    /// In how many of these another thread was near enough to interleave (`profile::PairEvidence::near`).
    #[cfg_attr(feature = "serde", serde(default))]
    pub near: u64,
    /// By how many threads.
    pub threads: u32,
    /// In how many runs.
    pub runs: u32,
    /// Source of the first end: `file:line (function)`.
    pub from: String,
    /// Source of the second end.
    pub to: String,
    /// What may wait on some ways between the ends: on these the lock is given up, and the pair is not kept.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub except: Option<String>,
}

impl PlannedPair {
    /// How sure it is that what was never seen between the ends is not meant to be there, in per cent.
    #[must_use]
    pub fn confidence(&self) -> u64 {
        confidence(self.near)
    }
}

/// How sure it is, in per cent, that what did not happen any of the `near` times when it could have is not meant to happen: by Laplace's rule
/// of succession, the chance that the next time ends as all those before.
#[must_use]
pub fn confidence(near: u64) -> u64 {
    let near = near.min(u64::MAX / 200);
    (near + 1) * 100 / (near + 2)
}

/// A pair that gets no lock.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Refused {
    /// One lower-case fragment.
    pub why: String,
    /// What it is about.
    pub variable: String,
    /// Source of the first end.
    pub from: String,
    /// Source of the second end.
    pub to: String,
    /// How often it was seen.
    pub seen: u64,
}

/// One operation to inject.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Operation {
    /// The function to change.
    pub function: FunctionKey,
    /// Where in it.
    pub at: At,
    /// What to do there.
    #[cfg_attr(feature = "serde", serde(rename = "do"))]
    pub action: Action,
    /// Source, for people.
    #[cfg_attr(feature = "serde", serde(default))]
    pub source: String,
}

/// A place in a function: `before n3`, or `edge n3 n4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum At {
    /// Immediately before the node's instruction.
    Before(NodeId),
    /// On the edge from the first node to the second.
    Edge(NodeId, NodeId),
}

/// What an operation does: `acquire X l3`, `release l3`, `degrade l3`, `degrade U l3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// `?release`: gives the lock up if this frame's hold comes from this label.
    Release(Label),
    /// `?degrade`: weakens it to R under the same condition.
    Degrade(Label),
    /// Weakens X to U under the same condition: readers get in, and the hold can become exclusive again.
    DegradeToUpdate(Label),
    /// Takes the lock, or strengthens a hold; the hold's origin becomes this label.
    Acquire(Mode, Label),
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Before(node) => write!(f, "before {node}"),
            Self::Edge(from, to) => write!(f, "edge {from} {to}"),
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Release(label) => write!(f, "release {label}"),
            Self::Degrade(label) => write!(f, "degrade {label}"),
            Self::DegradeToUpdate(label) => write!(f, "degrade U {label}"),
            Self::Acquire(mode, label) => write!(f, "acquire {mode} {label}"),
        }
    }
}

/// Text that is not a place or an action of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPlanText(String);

impl fmt::Display for BadPlanText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is not one of 'before nN', 'edge nN nN', 'acquire R|U|X lN', 'release lN', 'degrade lN', 'degrade U lN'", self.0)
    }
}

impl core::error::Error for BadPlanText {}

fn number(word: &str, prefix: char) -> Option<u32> {
    word.strip_prefix(prefix)?.parse().ok()
}

impl FromStr for At {
    type Err = BadPlanText;

    fn from_str(text: &str) -> Result<Self, BadPlanText> {
        let words: Vec<&str> = text.split(' ').collect();
        let node = |word| number(word, 'n').map(NodeId);
        match words[..] {
            ["before", n] => node(n).map(Self::Before),
            ["edge", from, to] => node(from).zip(node(to)).map(|(from, to)| Self::Edge(from, to)),
            _ => None,
        }
        .ok_or_else(|| BadPlanText(text.to_string()))
    }
}

impl FromStr for Action {
    type Err = BadPlanText;

    fn from_str(text: &str) -> Result<Self, BadPlanText> {
        let words: Vec<&str> = text.split(' ').collect();
        let label = |word| number(word, 'l').map(Label);
        match words[..] {
            ["release", l] => label(l).map(Self::Release),
            ["degrade", l] => label(l).map(Self::Degrade),
            ["degrade", "U", l] => label(l).map(Self::DegradeToUpdate),
            ["acquire", "R", l] => label(l).map(|l| Self::Acquire(Mode::R, l)),
            ["acquire", "U", l] => label(l).map(|l| Self::Acquire(Mode::U, l)),
            ["acquire", "X", l] => label(l).map(|l| Self::Acquire(Mode::X, l)),
            _ => None,
        }
        .ok_or_else(|| BadPlanText(text.to_string()))
    }
}

/// Both are text in every format.
#[cfg(feature = "serde")]
macro_rules! serde_as_text {
    ($($name:ident),*) => {$(
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

#[cfg(feature = "serde")]
serde_as_text!(At, Action);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_grows_with_every_time_that_another_thread_was_near() {
        let pair = |near| PlannedPair {
            function: FunctionKey(0),
            head: NodeId(0),
            tail: NodeId(1),
            atomicity: Atomicity::Read,
            seen: 9,
            near,
            threads: 2,
            runs: 1,
            from: String::new(),
            to: String::new(),
            except: None,
        };
        assert_eq!([0, 1, 8, 98, u64::MAX].map(|near| pair(near).confidence()), [50, 66, 90, 99, 99]);
    }

    #[test]
    fn places_and_actions_read_back_what_they_print() {
        for text in ["before n3", "edge n3 n41"] {
            assert_eq!(text.parse::<At>().expect("a place").to_string(), text);
        }
        for text in ["acquire X l3", "acquire U l0", "release l12", "degrade l1", "degrade U l1"] {
            assert_eq!(text.parse::<Action>().expect("an action").to_string(), text);
        }
        for text in ["", "acquire Q l3", "before 3", "edge n1", "release l1 l2"] {
            assert!(text.parse::<At>().is_err() && text.parse::<Action>().is_err(), "{text}");
        }
    }
}
