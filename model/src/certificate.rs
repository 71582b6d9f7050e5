//! The certificate: what the independent checker established about a plan, and on what evidence each lock stands.
//!
//! `inference::check` makes it; `harden` stores it beside the plan as text and as JSON, and embeds the hash of the JSON in the hardened
//! program. A plan that the checker does not accept has one too, which says so and why.
//!
//! Not here: a proof. It can be verified by running the checker again on the same program and plan.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::ids::{FunctionKey, LockId, NodeId};
use crate::plan::{At, PlannedPair, Refused, Saving};

/// The version of the certificate's form.
pub const CERTIFICATE_SCHEMA: u32 = 1;

/// What is known of a plan's freedom from deadlock and of its coverage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Certificate {
    /// `CERTIFICATE_SCHEMA`.
    pub schema: u32,
    /// The hash of the build that the plan is for.
    pub build: String,
    /// Whether the checker accepts the plan: nothing is wrong with it.
    pub checked: bool,
    /// The order in which locks are taken, injected and program ones that are taken while others are held, first ones first.
    pub order: Vec<Rung>,
    /// The locks that are switched on, with their evidence.
    pub locks: Vec<Grounds>,
    /// Pairs that were seen but get no lock, and why.
    pub refused: Vec<Refused>,
    /// What each optimization saved.
    #[cfg_attr(feature = "serde", serde(default))]
    pub savings: Vec<Saving>,
    /// What is wrong with the plan.
    pub wrong: Vec<Finding>,
    /// What the plan leaves open though nothing is wrong with it.
    pub limits: Vec<String>,
}

/// One step of the lock order: one lock, as a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Rung {
    /// The locks of this step.
    pub locks: Vec<LockTitle>,
    /// Why there are several, if there are.
    pub unordered: Option<Unordered>,
}

/// What a lock of the order is called.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum LockTitle {
    /// One of the plan, and its variable.
    Injected(LockId, String),
    /// One of the program: the place of its object.
    Program(String),
}

/// Why some locks have no order among themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum Unordered {
    /// Only readers go around: their modes never conflict.
    Readers,
    /// The program takes its own locks in more than one order.
    Program,
    /// The plan is wrong here.
    Circle,
}

/// One lock's evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Grounds {
    /// The lock.
    pub lock: LockId,
    /// What it protects.
    pub variable: String,
    /// The pairs that it keeps, with how often, by how many threads and in how many runs each was seen.
    pub pairs: Vec<PlannedPair>,
    /// How many operations it has.
    pub operations: u64,
}

/// Something wrong with a plan, and which of its lines to look at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Finding {
    /// One lower-case fragment.
    pub text: String,
    /// The lock that it is about, if it is about one.
    pub lock: Option<LockId>,
    /// Which part of the lock's entry.
    pub part: Part,
}

/// A part of a lock's entry in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum Part {
    /// The entry as a whole.
    Whole,
    /// The operations at a place.
    Operations(FunctionKey, At),
    /// Something at a node: no operation need be there.
    Node(FunctionKey, NodeId),
    /// A pair.
    Pair(FunctionKey, NodeId, NodeId),
}

impl Certificate {
    /// What is wrong, then what is left open, for people.
    pub fn findings(&self) -> impl Iterator<Item = &str> {
        self.wrong.iter().map(|finding| finding.text.as_str()).chain(self.limits.iter().map(String::as_str))
    }
}

impl fmt::Display for LockTitle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Injected(lock, variable) => write!(f, "{lock} {variable}"),
            Self::Program(place) => write!(f, "the program's {place}"),
        }
    }
}

impl fmt::Display for Rung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (l, lock) in self.locks.iter().enumerate() {
            write!(f, "{}{lock}", if l > 0 { ", " } else { "" })?;
        }
        match self.unordered {
            None => Ok(()),
            Some(Unordered::Readers) => f.write_str(" (in any order: only readers hold one and wait for another)"),
            Some(Unordered::Program) => f.write_str(" (the program itself takes these in more than one order)"),
            Some(Unordered::Circle) => f.write_str(" (in a circle)"),
        }
    }
}

/// The certificate for people.
impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "certificate {} for build {}", self.schema, self.build)?;
        if self.checked {
            writeln!(f, "checked: on every path, unwinding included, every pair is covered, every lock is given up, no lock is made")?;
            writeln!(f, "stronger while only R is held, none is held over a wait, and no cycle of waits has part in the injected locks")?;
        } else {
            writeln!(f, "NOT accepted")?;
        }
        self.wrong.iter().try_for_each(|finding| writeln!(f, "wrong: {}", finding.text))?;
        writeln!(f, "\nlock order")?;
        for (place, rung) in self.order.iter().enumerate() {
            writeln!(f, "{:4}  {rung}", place + 1)?;
        }
        if self.order.is_empty() {
            writeln!(f, "      no lock is taken while another is held")?;
        }
        for lock in &self.locks {
            writeln!(f, "\n{} protects {}, with {} operations", lock.lock, lock.variable, lock.operations)?;
            for pair in &lock.pairs {
                let (seen, near, threads, runs, confidence) = (pair.seen, pair.near, pair.threads, pair.runs, pair.confidence());
                write!(f, "    {} {} .. {}: seen {seen}, with others near {near}, ", pair.atomicity, pair.from, pair.to)?;
                write!(f, "threads {threads}, runs {runs}, confidence {confidence} %")?;
                pair.except.iter().try_for_each(|what| write!(f, "; not on ways over {what}"))?;
                writeln!(f)?;
            }
        }
        if !self.refused.is_empty() {
            writeln!(f, "\nrefused")?;
        }
        for pair in &self.refused {
            writeln!(f, "    {} {} .. {}: seen {}: {}", pair.variable, pair.from, pair.to, pair.seen, pair.why)?;
        }
        if !self.savings.is_empty() {
            writeln!(f, "\nsaved by optimizations")?;
        }
        for saving in &self.savings {
            let (operations, executions) = (saving.operations, saving.executions);
            writeln!(f, "    {}: {operations} operations, which would run {executions} times a run", saving.optimization)?;
        }
        self.limits.iter().try_for_each(|limit| writeln!(f, "note: {limit}"))
    }
}
