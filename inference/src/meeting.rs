//! Whether the program's own locks keep everybody out of a pair already.
//!
//! The paper asks for one lock that all accesses of the variable hold. Of memory that is used again and again that asks too much: whoever
//! takes a free object writes it before anybody else can see it, under no lock or that of the free list. Runs say which accesses met
//! (`Evidence::met`), so an access may do without the pair's locks if it ran often and never met the pair's accesses. Nor is it enough that
//! both hold locks of one class: where they met without one *instance* in common, these locks keep nobody out. What always came before any other thread
//! says nothing of later, unless it is to memory with one instance, and no order put it there.
//!
//! Not handled: accesses that never ran; order by atomics, which is no order.

use std::collections::{BTreeMap, BTreeSet};

use model::ids::{SiteKey, VariableId};
use model::pair::{Atomicity, Meeting, Rw};
use model::profile::{Evidence, LockName};
use model::program::Place;
use model::recording::Drop;

use crate::variable::Variables;

/// How often an access must have run for it to count what it never met.
const ENOUGH_TO_TELL: u64 = 64;

/// What an access held on shared memory: locks, or nobody knows, since it always came before any other thread.
type Held = Option<BTreeSet<LockName>>;

/// The accesses that ran, and how they met.
#[derive(Debug)]
pub struct Meetings<'a> {
    evidence: &'a Evidence,
    /// Nothing was left out for want of room.
    whole: bool,
    /// Sites that give objects back: what these never met was out of reach, however seldom they ran.
    ends: BTreeSet<SiteKey>,
    of_variable: BTreeMap<VariableId, Vec<(SiteKey, Held)>>,
}

impl<'a> Meetings<'a> {
    /// Collects them. `trusted` leaves of each site's locks those whose names runs have in common.
    #[must_use]
    pub fn of(evidence: &'a Evidence, variables: &Variables, trusted: impl Fn(&BTreeSet<LockName>) -> BTreeSet<LockName>) -> Self {
        let mut of_variable: BTreeMap<VariableId, Vec<(SiteKey, Held)>> = BTreeMap::new();
        for (&site, seen) in &evidence.sites {
            let locks = seen.locks.as_ref().map(&trusted);
            // A new object is made before others see it, by an order that may well be one of atomics.
            let has_one_instance = |variable: VariableId| variables.get(variable).places.iter().all(Place::is_single_instance);
            let counts = |variable: &&VariableId| locks.is_some() || has_one_instance(**variable);
            for &variable in variables.of_site(site).iter().filter(counts) {
                of_variable.entry(variable).or_default().push((site, locks.clone()));
            }
        }
        let ends = evidence.sites.keys().copied().filter(|&site| variables.gives_back(site)).collect();
        Self { evidence, ends, whole: !evidence.dropped.contains_key(Drop::TableFull.text()), of_variable }
    }

    /// The worst way in which an access met one of these.
    fn worst(&self, ends: &BTreeSet<SiteKey>, other: SiteKey) -> Option<Meeting> {
        ends.iter().filter_map(|&end| self.evidence.met.get(&(end.min(other), end.max(other))).copied()).max()
    }

    /// Whether somebody else gave the object of these accesses back, though nothing put that behind them.
    #[must_use]
    pub fn met_an_end(&self, accesses: &BTreeSet<SiteKey>) -> bool {
        self.ends.iter().any(|&end| self.worst(accesses, end).is_some())
    }

    /// Whether what is held over a pair with these accesses keeps out every access of the variable that could come between and matters: from
    /// what is to be kept READ, only those that write.
    #[must_use]
    pub fn keep_out(&self, variable: VariableId, ends: &BTreeSet<SiteKey>, held: &BTreeSet<LockName>, kept: Atomicity) -> bool {
        let matters = |site: &SiteKey| kept == Atomicity::Exclusive || self.evidence.sites.get(site).is_none_or(|seen| seen.rw != Rw::Read);
        let often = |site: &SiteKey| self.evidence.sites.get(site).is_some_and(|seen| seen.seen >= ENOUGH_TO_TELL);
        let kept_out = |(site, locks): &(SiteKey, Held)| {
            let in_common = locks.as_ref().is_none_or(|locks| !locks.is_disjoint(held));
            match self.worst(ends, *site) {
                Some(Meeting::Unordered) => false,
                Some(Meeting::UnderOneLock) => in_common,
                None => in_common || (self.whole && (often(site) || self.ends.contains(site))),
            }
        };
        let others = self.of_variable.get(&variable).into_iter().flatten().filter(|(site, _)| matters(site));
        !held.is_empty() && others.into_iter().all(kept_out)
    }
}
