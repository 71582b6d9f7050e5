//! Which orders to bring about in the next run: those that locks would forbid if no passing run showed them.
//!
//! Active testing (Sen, PLDI 2008; CTrigger, ASPLOS 2009; TSVD, SOSP 2019): accesses that met, but never so that one came between two of
//! another thread, are brought together on purpose. Each order has its turns, so one that cannot be keeps no other from its own.
//! Not here: how a process brings an order about (`runtime-rt/record/src/wanted.rs`).

use std::collections::{BTreeMap, BTreeSet};

use model::ids::SiteKey;
use model::pair::Atomicity;
use model::profile::Evidence;
use model::wanted::{MOST_WANTED, Wanted};

use crate::perturb::Seed;
use crate::run::Ending;

/// Every order that was never seen and could have been: an access comes between the two of a pair that it conflicts with.
#[must_use]
pub fn unseen(evidence: &Evidence) -> BTreeSet<Wanted> {
    let mut partners: BTreeMap<SiteKey, Vec<SiteKey>> = BTreeMap::new();
    for &(a, b) in evidence.met.keys() {
        partners.entry(a).or_default().push(b);
        partners.entry(b).or_default().push(a);
    }
    let writes = |site: SiteKey| evidence.sites.get(&site).is_some_and(|site| site.rw.writes());
    let locks = |site: SiteKey| evidence.sites.get(&site).and_then(|site| site.locks.as_ref());
    let mut all = BTreeSet::new();
    for (key, (pair, _)) in &evidence.pairs {
        // Until the pair has written something, it does not matter who reads.
        let is_unseen = |between: SiteKey| match pair.atomicity {
            Atomicity::None => false,
            Atomicity::Read => writes(between),
            Atomicity::Exclusive => writes(between) || writes(key.first),
        };
        let is_kept = |between: SiteKey| locks(between).is_some_and(|locks| pair.locks.intersection(locks).next().is_some());
        let met = [key.first, key.second].into_iter().filter_map(|site| partners.get(&site)).flatten().copied();
        let found = met.filter(|&between| is_unseen(between) && !is_kept(between));
        all.extend(found.map(|between| Wanted { between, second: key.second }));
    }
    all
}

/// What was tried so far.
#[derive(Clone, Debug, Default)]
pub struct Search {
    turns: BTreeMap<Wanted, Turns>,
}

/// An order's turns.
#[derive(Clone, Copy, Debug, Default)]
struct Turns {
    all: u32,
    /// In how many the run failed.
    failed: u32,
}

/// An order that was tried in so many runs that failed is not tried again: it may be what is wrong with the program.
const MOST_FAILED: u32 = 2;

impl Search {
    /// The orders for the next run: those that had the fewest turns, by chance among equals, and no two that have a site in common, as they
    /// could disturb each other. One with which a run has failed is tried alone, so that none is given up for what another did.
    #[must_use]
    pub fn choose(&self, unseen: &BTreeSet<Wanted>, seed: Seed) -> Vec<Wanted> {
        let turns = |order: &Wanted| self.turns.get(order).copied().unwrap_or_default();
        let chance = |order: &Wanted| mix(mix(seed.0 ^ order.between.0) ^ order.second.0);
        let mut waiting: Vec<Wanted> = unseen.iter().copied().filter(|order| turns(order).failed < MOST_FAILED).collect();
        waiting.sort_by_cached_key(|order| (turns(order).all, chance(order)));
        let mut chosen: Vec<Wanted> = Vec::new();
        for order in waiting {
            let beside = |other: &Wanted| {
                let is_apart = !other.is_at(order.between) && !other.is_at(order.second);
                is_apart && turns(other).failed == 0 && turns(&order).failed == 0
            };
            if chosen.len() < MOST_WANTED && chosen.iter().all(beside) {
                chosen.push(order);
            }
        }
        chosen
    }

    /// How a run ended that was to bring these about.
    pub fn tried(&mut self, orders: &[Wanted], ending: Ending) {
        for order in orders {
            let turns = self.turns.entry(*order).or_default();
            turns.all += 1;
            turns.failed += u32::from(ending != Ending::Passed);
        }
    }
}

/// The finalizer of MurmurHash3.
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ bits >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    bits = (bits ^ bits >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    bits ^ bits >> 33
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::pair::{Meeting, Rw};
    use model::profile::{LockName, PairEvidence, PairKey, SiteEvidence};

    /// Sites by one letter each: capitals write.
    fn key(site: char) -> SiteKey {
        SiteKey(u64::from(u32::from(site)))
    }

    fn order(sites: &str) -> Wanted {
        let mut sites = sites.chars().map(key);
        Wanted { between: sites.next().expect("two sites"), second: sites.next().expect("two sites") }
    }

    /// One pair, sites that it met, and the locks of both.
    fn evidence(pair: &str, atomicity: Atomicity, met: &str, locks: [&[u32]; 2]) -> Evidence {
        let names = |locks: &[u32]| -> BTreeSet<LockName> { locks.iter().map(|&lock| LockName::Other(lock)).collect() };
        let [first, second] = [0, 1].map(|n| key(pair.chars().nth(n).expect("two sites")));
        let of_pair = PairEvidence { atomicity, seen: 1, shared: 1, near: 0, threads: 1, locks: names(locks[0]) };
        let site = |site: char| {
            let rw = if site.is_uppercase() { Rw::Write } else { Rw::Read };
            (key(site), SiteEvidence { rw, seen: 1, shared: 1, locks: Some(names(locks[1])), concurrent: true })
        };
        Evidence {
            pairs: BTreeMap::from([(PairKey { head: first, tail: second, first, second }, (of_pair, 1))]),
            sites: pair.chars().chain(met.chars()).map(site).collect(),
            met: met.chars().map(|site| ((first.min(key(site)), first.max(key(site))), Meeting::Unordered)).collect(),
            ..Evidence::default()
        }
    }

    #[test]
    fn an_order_is_wanted_if_it_was_never_seen_and_a_lock_would_forbid_it() {
        use Atomicity::{Exclusive, None, Read};
        for (pair, atomicity, met, locks, expected) in [
            ("AB", Exclusive, "xY", [&[][..], &[]], &["xB", "YB"][..]),
            // The pair itself, in another thread.
            ("aA", Exclusive, "A", [&[], &[]], &["AA"]),
            ("ab", Exclusive, "Y", [&[], &[]], &["Yb"]),
            // Readers do not matter before the pair writes.
            ("aB", Exclusive, "xY", [&[], &[]], &["YB"]),
            ("AB", Read, "xY", [&[], &[]], &["YB"]),
            // Seen.
            ("AB", None, "xY", [&[], &[]], &[]),
            // A lock of the program keeps the pair, or does not.
            ("AB", Exclusive, "Y", [&[1, 2], &[2]], &[]),
            ("AB", Exclusive, "Y", [&[1], &[2]], &["YB"]),
            // One thread's memory.
            ("AB", Exclusive, "", [&[], &[]], &[]),
        ] {
            let found = unseen(&evidence(pair, atomicity, met, locks));
            assert_eq!(found, expected.iter().map(|sites| order(sites)).collect(), "{pair} {atomicity}, met {met}");
        }
    }

    #[test]
    fn every_order_has_its_turn_and_none_beside_one_of_the_same_sites() {
        let all: BTreeSet<Wanted> = ["ab", "ba", "cd", "dd", "ef"].map(order).into();
        let mut search = Search::default();
        let mut turns: BTreeMap<Wanted, u32> = BTreeMap::new();
        for seed in 0..8 {
            let chosen = search.choose(&all, Seed(seed));
            let sites: BTreeSet<SiteKey> = chosen.iter().flat_map(|order| [order.between, order.second]).collect();
            assert!(chosen.len() == 3 && sites.len() >= 5, "{chosen:?}");
            search.tried(&chosen, Ending::Passed);
            chosen.iter().for_each(|order| *turns.entry(*order).or_default() += 1);
        }
        assert_eq!(turns.into_values().collect::<Vec<_>>(), [4, 4, 4, 4, 8]);
    }

    #[test]
    fn many_orders_have_their_first_turns_by_chance() {
        let all: BTreeSet<Wanted> = ('a'..='z').zip('A'..='Z').map(|(a, b)| Wanted { between: key(a), second: key(b) }).collect();
        let first = |seed| Search::default().choose(&all, Seed(seed));
        assert_eq!((first(1).len(), first(1) == first(1), first(1) == first(2)), (MOST_WANTED, true, false));
    }

    #[test]
    fn an_order_with_which_runs_fail_is_given_up() {
        let all: BTreeSet<Wanted> = ["ab"].map(order).into();
        let mut search = Search::default();
        let endings = [Ending::Passed, Ending::Signal(6), Ending::Passed, Ending::TimedOut, Ending::Passed];
        let chosen = endings.map(|ending| {
            let chosen = search.choose(&all, Seed(1));
            search.tried(&chosen, ending);
            chosen.len()
        });
        assert_eq!(chosen, [1, 1, 1, 1, 0]);
    }

    #[test]
    fn no_order_is_given_up_for_what_another_did() {
        let (bad, all) = (order("ab"), BTreeSet::from(["ab", "cd", "ef"].map(order)));
        let mut search = Search::default();
        let chosen = [0; 8].map(|_| {
            let chosen = search.choose(&all, Seed(1));
            search.tried(&chosen, if chosen.contains(&bad) { Ending::Signal(6) } else { Ending::Passed });
            chosen.len()
        });
        assert_eq!(chosen, [3, 1, 1, 1, 1, 1, 1, 1]);
        assert_eq!(search.turns.values().map(|turns| (turns.all, turns.failed)).collect::<Vec<_>>(), [(2, 2), (4, 1), (4, 1)]);
    }
}
