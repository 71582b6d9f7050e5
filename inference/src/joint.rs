//! Around admission: which pairs a correlated set has, and one lock for them all instead of one for each of its variables as well.
//!
//! A set is one abstract variable (seed 002, section 5), and what an activation does to it, from the first access to the last write, one
//! region. So pairs of one variable within it are pairs of the set where they lead to a write: after `x = 1; y = y + 1` has read y, the set is half written,
//! whatever guards y alone. Those that lead to reads only add nothing that the lock on the variable would not do.
//!
//! A set is *in force* if some pair of it was admitted. Then the admitted pairs of its variables become pairs of the set, so that one
//! region spans them all. A pair of one variable keeps a lock of its own only where runs have seen the set interleaved at one of
//! its ends: there the set's lock would forbid more than was ever kept.

use std::collections::{BTreeMap, BTreeSet};

use model::ids::{FunctionId, NodeId, SiteKey};
use model::pair::Atomicity;
use model::profile::{Evidence, PairEvidence, PairKey};

use crate::admit::{Admission, AdmittedPair, Facts, region};
use crate::correlate::Correlated;
use crate::variable::Variables;

/// A set, and the observed pairs of it that are to be admitted or not.
#[derive(Clone, Debug)]
pub struct Observed<'a> {
    /// The set.
    pub correlated: &'a Correlated,
    /// Each with how often and in how many runs it was seen.
    pub pairs: Vec<(&'a PairKey, &'a (PairEvidence, u32))>,
}

/// What was seen of each set.
#[must_use]
pub fn observed<'a>(evidence: &'a Evidence, variables: &Variables, correlated: &'a [Correlated]) -> Vec<Observed<'a>> {
    correlated.iter().map(|correlated| Observed { correlated, pairs: pairs_of(evidence, variables, correlated) }).collect()
}

fn pairs_of<'a>(evidence: &'a Evidence, variables: &Variables, correlated: &Correlated) -> Vec<(&'a PairKey, &'a (PairEvidence, u32))> {
    let pairs: Vec<_> = evidence.sets.get(&correlated.set).into_iter().flat_map(|seen| &seen.pairs).collect();
    let writes = |site: SiteKey| evidence.sites.get(&site).is_none_or(|seen| seen.rw.writes());
    let whole = || pairs.iter().filter(|(_, (evidence, _))| evidence.atomicity != Atomicity::None).map(|(key, _)| key);
    // Where some pair begins that leads to a write.
    let mut leading: BTreeSet<SiteKey> = BTreeSet::new();
    let mut work: Vec<SiteKey> = whole().filter(|key| writes(key.second)).map(|key| key.head).collect();
    let mut before: BTreeMap<SiteKey, Vec<SiteKey>> = BTreeMap::new();
    for key in whole() {
        before.entry(key.tail).or_default().push(key.head);
    }
    while let Some(head) = work.pop() {
        if leading.insert(head) {
            work.extend(before.get(&head).into_iter().flatten());
        }
    }
    let of_one = |key: &PairKey| match [key.first, key.second].map(|site| variables.only_of_site(site)) {
        [Some(first), Some(second)] => first == second,
        _ => false,
    };
    let goes_on = |key: &PairKey| writes(key.second) || leading.contains(&key.tail);
    pairs.into_iter().filter(|(key, _)| !of_one(key) || goes_on(key)).collect()
}

/// Gives the pairs of variables in a set that is in force to the set.
pub fn gather(facts: &Facts<'_>, admission: &mut Admission) {
    for observed in facts.joint {
        let correlated = observed.correlated;
        if !admission.pairs.iter().any(|pair| pair.variable == correlated.variable) {
            continue;
        }
        let loose = interleaved(facts, observed);
        for pair in &mut admission.pairs {
            let is_loose = loose.contains(&(pair.function, pair.head)) || loose.contains(&(pair.function, pair.tail));
            if !correlated.members.contains(&pair.variable) || is_loose {
                continue;
            }
            // No access certainly is one to the whole set, so none cuts off a way between the ends that it would cut off for its variable
            // alone. Where the pair cannot be kept on all these ways, it stays its variable's.
            if let Ok((interior, except)) = region(facts, (correlated.variable, pair.function, pair.head, pair.tail)) {
                (pair.variable, pair.interior, pair.except) = (correlated.variable, interior, except);
            }
        }
    }
    merge(&mut admission.pairs);
}

/// The nodes at which some pair of the set was seen with a remote write in between.
fn interleaved(facts: &Facts<'_>, observed: &Observed<'_>) -> BTreeSet<(FunctionId, NodeId)> {
    let weak = observed.pairs.iter().filter(|(_, (evidence, _))| evidence.atomicity == Atomicity::None);
    weak.flat_map(|(key, _)| [key.head, key.tail]).filter_map(|site| facts.sites.get(&site).copied()).collect()
}

/// Sorts pairs, and makes one of those that came to name the same ends.
fn merge(pairs: &mut Vec<AdmittedPair>) {
    pairs.sort_by_key(|pair| (pair.variable, pair.function, pair.head, pair.tail));
    pairs.dedup_by(|next, kept| {
        let place = |pair: &AdmittedPair| (pair.variable, pair.function, pair.head, pair.tail);
        let same = place(next) == place(kept);
        if same {
            // The stronger of the two, so that both are kept.
            kept.atomicity = kept.atomicity.max(next.atomicity);
            kept.seen = kept.seen.max(next.seen);
            kept.near = kept.near.max(next.near);
            kept.threads = kept.threads.max(next.threads);
            kept.runs = kept.runs.max(next.runs);
            kept.interior.unite(&next.interior);
            kept.except = kept.except.take().or_else(|| next.except.take());
        }
        same
    });
}

/// What a user must know about a set.
#[must_use]
pub fn finding(facts: &Facts<'_>, admission: &Admission, correlated: &Correlated) -> String {
    let name = facts.variables.get(correlated.variable);
    let kept = admission.pairs.iter().filter(|pair| pair.variable == correlated.variable).count();
    let outcome = match kept {
        0 => "no pair of it needs a lock".to_owned(),
        1 => "one lock keeps its pair".to_owned(),
        _ => format!("one lock keeps {kept} pairs"),
    };
    let runs = if correlated.runs == 1 { "1 run" } else { &format!("{} runs", correlated.runs) };
    format!("correlated: {name}: {}, watched in {runs}; {outcome}", correlated.strength)
}
