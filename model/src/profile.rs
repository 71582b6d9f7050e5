//! What passing runs taught: pair observations, and per site what was seen of it.
//!
//! A profile is a *set of runs*, each with a random 128-bit identity, so merging is set union: commutative, associative,
//! and the same run twice counts once. `Profile::evidence` folds the set into what inference reads.
//!
//! Only correct runs are ever put in (the profiler's duty). Not here: how a run is recorded (`recording`).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::correlation::{CorrelatedSet, Joint};
use crate::ids::{RunId, SiteKey};
use crate::pair::{Atomicity, Meeting, Rw};

/// The runs of one program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Profile {
    /// Each recorded process once.
    pub runs: BTreeMap<RunId, Run>,
}

/// What one process recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Run {
    /// The seed of its perturbation.
    pub seed: u64,
    /// Observations of pairs.
    pub pairs: BTreeMap<PairKey, PairEvidence>,
    /// Per site.
    pub sites: BTreeMap<SiteKey, SiteEvidence>,
    /// Sites that touched the same memory as another while it was one object: edges of a graph whose components belong
    /// to one variable. Smaller key first.
    pub together: BTreeSet<(SiteKey, SiteKey)>,
    /// Sites that met on one address, at least one of them writing, where the order could have been another. Smaller key first; the worst
    /// meeting of each two.
    pub met: BTreeMap<(SiteKey, SiteKey), Meeting>,
    /// Sites that ran near each other, the earlier first: what correlated sets are mined from.
    pub joint: BTreeMap<(SiteKey, SiteKey), Joint>,
    /// The correlated sets that were watched, with the pairs seen on one instance, whose ends access different variables of the set.
    pub sets: BTreeMap<CorrelatedSet, BTreeMap<PairKey, PairEvidence>>,
    /// Events that were dropped, and calls that were not understood, by cause. Empty is the norm.
    pub dropped: BTreeMap<String, u64>,
}

/// A pair of consecutive accesses by one thread to one address.
///
/// `head` and `tail` are the *frontier* (seed 002, Fig. 5): the two nodes, in the innermost activation common to both
/// accesses, that contain them; each is the access itself or a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PairKey {
    /// The node that contains the first access.
    pub head: SiteKey,
    /// The node that contains the second access.
    pub tail: SiteKey,
    /// The first access.
    pub first: SiteKey,
    /// The second access.
    pub second: SiteKey,
}

/// What was seen of a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PairEvidence {
    /// The weakest observation.
    pub atomicity: Atomicity,
    /// How often it was seen.
    pub seen: u64,
    /// How many of these were on memory that more than one thread used.
    pub shared: u64,
    /// In how many of these another thread was *near* enough to interleave: it had accessed the same memory, before or between the two
    /// accesses, and nothing but the chance of who got a lock first puts that before the second one. Not counted for correlated sets.
    pub near: u64,
    /// By how many threads, at most over the runs.
    pub threads: u32,
    /// Locks whose same *instance* (one acquisition) was held at both accesses, in every observation on shared memory; in every
    /// observation, if none was. A program need not lock what it has not shared yet.
    pub locks: BTreeSet<LockName>,
}

/// What was seen of a site.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SiteEvidence {
    /// What it did.
    pub rw: Rw,
    /// How often it ran.
    pub seen: u64,
    /// How often on memory that more than one thread used.
    pub shared: u64,
    /// Locks held at every execution on shared memory; `None` until there is one.
    pub locks: Option<BTreeSet<LockName>>,
    /// Whether it met an access of another thread that could have come at another time: one that neither creation and join,
    /// nor waiting, nor the handing over of memory under a lock put before it. Accesses under a lock count as such.
    pub concurrent: bool,
}

/// A lock as far as it has a name that runs have in common. Locks reached through pointers are classes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum LockName {
    /// In a global.
    Global {
        /// The symbol that contains it.
        symbol: String,
        /// In bytes.
        offset: u64,
    },
    /// In a heap object.
    Heap {
        /// The call that allocated it.
        allocation: SiteKey,
        /// In bytes.
        offset: u64,
    },
    /// One of those that a loop initialized: an array of locks, say.
    Made {
        /// The call that initialized it.
        call: SiteKey,
    },
    /// Elsewhere (a stack, a library): a number within the run.
    Other(u32),
}

impl fmt::Display for LockName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Global { symbol, offset: 0 } => write!(f, "{symbol}"),
            Self::Global { symbol, offset } => write!(f, "{symbol}+{offset}"),
            Self::Heap { allocation, offset } => write!(f, "heap({allocation})+{offset}"),
            Self::Made { call } => write!(f, "locks of {call}"),
            Self::Other(number) => write!(f, "lock#{number}"),
        }
    }
}

/// All runs folded into one: what inference reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// How many runs.
    pub runs: u32,
    /// Pairs, with how many runs saw each.
    pub pairs: BTreeMap<PairKey, (PairEvidence, u32)>,
    /// Sites.
    pub sites: BTreeMap<SiteKey, SiteEvidence>,
    /// Sites that belong together, as edges.
    pub together: BTreeSet<(SiteKey, SiteKey)>,
    /// Sites that met on one address.
    pub met: BTreeMap<(SiteKey, SiteKey), Meeting>,
    /// Sites that ran near each other.
    pub joint: BTreeMap<(SiteKey, SiteKey), Joint>,
    /// Correlated sets that were watched.
    pub sets: BTreeMap<CorrelatedSet, SetEvidence>,
    /// Drops by cause.
    pub dropped: BTreeMap<String, u64>,
}

/// What was seen of a correlated set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetEvidence {
    /// How many runs watched it.
    pub runs: u32,
    /// Pairs on its instances, with how many runs saw each.
    pub pairs: BTreeMap<PairKey, (PairEvidence, u32)>,
}

impl Profile {
    /// Set union. A run that both hold is kept once.
    pub fn merge(&mut self, other: Self) {
        for (id, run) in other.runs {
            self.runs.entry(id).or_insert(run);
        }
    }

    /// Folds the runs.
    #[must_use]
    pub fn evidence(&self) -> Evidence {
        let mut all = Evidence { runs: u32::try_from(self.runs.len()).unwrap_or(u32::MAX), ..Evidence::default() };
        for run in self.runs.values() {
            absorb_pairs(&mut all.pairs, &run.pairs);
            for (set, pairs) in &run.sets {
                let known = all.sets.entry(set.clone()).or_default();
                known.runs += 1;
                absorb_pairs(&mut known.pairs, pairs);
            }
            for (sites, joint) in &run.joint {
                all.joint.entry(*sites).and_modify(|known| known.absorb(joint)).or_insert(*joint);
            }
            for (key, site) in &run.sites {
                all.sites.entry(*key).and_modify(|known| known.absorb(site)).or_insert_with(|| site.clone());
            }
            all.together.extend(run.together.iter().copied());
            for (sites, meeting) in &run.met {
                all.met.entry(*sites).and_modify(|known| *known = (*known).max(*meeting)).or_insert(*meeting);
            }
            for (cause, count) in &run.dropped {
                *all.dropped.entry(cause.clone()).or_default() += count;
            }
        }
        all
    }

    /// The sites that it mentions, for a measure of staleness.
    #[must_use]
    pub fn mentioned_sites(&self) -> Vec<SiteKey> {
        self.runs.values().flat_map(|run| run.sites.keys().copied()).collect::<BTreeSet<_>>().into_iter().collect()
    }
}

fn absorb_pairs(all: &mut BTreeMap<PairKey, (PairEvidence, u32)>, of_run: &BTreeMap<PairKey, PairEvidence>) {
    for (key, pair) in of_run {
        all.entry(*key).and_modify(|(known, runs)| (known.absorb(pair), *runs += 1).0).or_insert_with(|| (pair.clone(), 1));
    }
}

impl PairEvidence {
    /// Adds another run's observations of the same pair.
    pub fn absorb(&mut self, other: &Self) {
        self.atomicity = self.atomicity.meet(other.atomicity);
        self.seen += other.seen;
        match (self.shared > 0, other.shared > 0) {
            (false, true) => self.locks.clone_from(&other.locks),
            (true, false) => {}
            (true, true) | (false, false) => self.locks.retain(|lock| other.locks.contains(lock)),
        }
        self.shared += other.shared;
        self.near += other.near;
        self.threads = self.threads.max(other.threads);
    }
}

impl SiteEvidence {
    /// Adds another run's observations of the same site.
    pub fn absorb(&mut self, other: &Self) {
        self.seen += other.seen;
        self.shared += other.shared;
        self.concurrent |= other.concurrent;
        match (&mut self.locks, &other.locks) {
            (Some(locks), Some(others)) => locks.retain(|lock| others.contains(lock)),
            (locks @ None, others) => *locks = others.clone(),
            (Some(_), None) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(atomicity: Atomicity, locks: &[u32]) -> Run {
        let key = PairKey { head: SiteKey(1), tail: SiteKey(2), first: SiteKey(1), second: SiteKey(2) };
        let locks = locks.iter().map(|&n| LockName::Other(n)).collect();
        let pair = PairEvidence { atomicity, seen: 1, shared: 1, near: 1, threads: 1, locks };
        Run { pairs: BTreeMap::from([(key, pair)]), ..Run::default() }
    }

    #[test]
    fn merging_is_commutative_and_counts_a_run_once() {
        let one = Profile { runs: BTreeMap::from([(RunId(1), run(Atomicity::Exclusive, &[1, 2]))]) };
        let two = Profile { runs: BTreeMap::from([(RunId(2), run(Atomicity::Read, &[2, 3]))]) };
        let mut ab = one.clone();
        ab.merge(two.clone());
        let mut ba = two.clone();
        ba.merge(one.clone());
        assert_eq!(ab, ba);
        let once = ab.clone();
        ab.merge(one);
        assert_eq!(ab, once);
        let (pair, runs) = ab.evidence().pairs.into_values().next().expect("one pair");
        assert_eq!((pair.atomicity, pair.seen, pair.near, runs), (Atomicity::Read, 2, 2, 2));
        assert_eq!(pair.locks, BTreeSet::from([LockName::Other(2)]));
    }
}
