//! Phase between admission and constraints: one lock for a correlated set, instead of one for each of its variables as well.
//!
//! A set is *in force* if some pair of it was admitted. Then the admitted pairs of its variables become pairs of the set, so that one
//! region spans them all. A pair of one variable keeps a lock of its own only where runs have seen the set interleaved at one of
//! its ends: there the set's lock would forbid more than was ever kept.

use std::collections::BTreeSet;

use model::ids::{FunctionId, NodeId};
use model::pair::Atomicity;

use crate::admit::{Admission, AdmittedPair, Facts};
use crate::correlate::Correlated;

/// Gives the pairs of variables in a set that is in force to the set.
pub fn gather(facts: &Facts<'_>, admission: &mut Admission) {
    for correlated in facts.correlated {
        if !admission.pairs.iter().any(|pair| pair.variable == correlated.variable) {
            continue;
        }
        let loose = interleaved(facts, correlated);
        for pair in &mut admission.pairs {
            let is_loose = loose.contains(&(pair.function, pair.head)) || loose.contains(&(pair.function, pair.tail));
            if correlated.members.contains(&pair.variable) && !is_loose {
                pair.variable = correlated.variable;
            }
        }
    }
    merge(&mut admission.pairs);
}

/// The nodes at which some pair of the set was seen with a remote write in between.
fn interleaved(facts: &Facts<'_>, correlated: &Correlated) -> BTreeSet<(FunctionId, NodeId)> {
    let pairs = facts.evidence.sets.get(&correlated.set).into_iter().flat_map(|seen| &seen.pairs);
    let weak = pairs.filter(|(_, (evidence, _))| evidence.atomicity == Atomicity::None);
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
