//! What locks may cost. A variable whose operations would run in the innermost loops of the profile is left unprotected, and said
//! so, rather than making the program several times slower.
//!
//! Cost is counted in operations and compared with all recorded accesses of the same runs, so no clock is needed: an access takes
//! about a nanosecond, an operation a few. Not handled: waiting for a lock that others hold; loops out of which an acquisition
//! could be lifted.

use std::collections::BTreeMap;

use model::ids::VariableId;
use model::pair::Atomicity;

use crate::admit::{Admission, AdmittedPair, Facts};

/// Bounds on the operations of one variable's lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// At most this share of all recorded accesses.
    pub per_mille: u64,
    /// Up to so many a run are always affordable: short runs tell little about shares.
    pub free: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { per_mille: 20, free: 10_000 }
    }
}

/// Refuses the pairs of variables that are over budget. Returns a line about each.
pub fn enforce(facts: &Facts<'_>, budget: Budget, admission: &mut Admission) -> Vec<String> {
    let all: u64 = facts.evidence.sites.values().map(|site| site.seen).sum();
    let runs = u64::from(facts.evidence.runs.max(1));
    let costs = costs(facts, admission);
    let hot: BTreeMap<VariableId, u64> =
        costs.into_iter().filter(|&(_, cost)| cost > budget.free * runs && cost * 1000 > all * budget.per_mille).collect();
    let share = |cost: u64| (cost * 100).checked_div(all).unwrap_or_default();
    let refused: Vec<(AdmittedPair, String)> = admission
        .pairs
        .iter()
        .filter_map(|pair| hot.get(&pair.variable).map(|&cost| (pair.clone(), cost)))
        .map(|(pair, cost)| {
            (pair, format!("its lock would be over budget: {} operations a run, {} % of all accesses", cost / runs, share(cost)))
        })
        .collect();
    admission.give_up(facts, &refused);
    hot.iter()
        .map(|(&variable, &cost)| {
            let name = facts.variables.get(variable);
            format!(
                "{name} stays unprotected: its lock would be taken {} times a run, at {} % of all accesses (--budget)",
                cost / runs,
                share(cost)
            )
        })
        .collect()
}

/// Operations that the lock of each variable with admitted pairs would need, as often as its sites ran.
fn costs(facts: &Facts<'_>, admission: &Admission) -> BTreeMap<VariableId, u64> {
    let mut costs: BTreeMap<VariableId, u64> = BTreeMap::new();
    let mut exclusive: BTreeMap<VariableId, bool> = BTreeMap::new();
    for pair in &admission.pairs {
        *costs.entry(pair.variable).or_default() += pair.seen;
        *exclusive.entry(pair.variable).or_default() |= pair.atomicity == Atomicity::Exclusive;
    }
    // Single accesses: writes always, reads where something excludes them (seed 002, section 7).
    for (&site, evidence) in &facts.evidence.sites {
        for &variable in facts.variables.of_site(site).iter() {
            if exclusive.get(&variable).is_some_and(|&excludes_reads| excludes_reads || evidence.rw.writes()) {
                *costs.entry(variable).or_default() += evidence.seen;
            }
        }
    }
    costs
}
