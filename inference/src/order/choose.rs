//! A total order of the injected locks that costs little to enforce.
//!
//! Tangles come in the skeleton's topological order. Within one, the greedy heuristic of Eades, Lin and Smyth (1993) looks for an order that few
//! edges violate, weighed by what turning them around costs: for each witness one acquisition more, and as many
//! executions of it as the place of the held lock's acquisition has in a profiled run. Ties go to the smaller id.

use std::collections::{BTreeMap, BTreeSet};

use model::ids::{FunctionId, NodeId, SiteKey, VariableId};
use model::profile::Evidence;

use super::{LockKey, OrderGraph, Rank, Tangle};
use crate::admit::Facts;

/// How often sites ran in a profiled run, as far as accesses and the ends of pairs tell.
#[derive(Clone, Debug, Default)]
pub struct Heat {
    by_site: BTreeMap<SiteKey, u64>,
}

impl Heat {
    /// Collects it.
    #[must_use]
    pub fn of(evidence: &Evidence) -> Self {
        let runs = u64::from(evidence.runs.max(1));
        let mut by_site: BTreeMap<SiteKey, u64> = evidence.sites.iter().map(|(&site, known)| (site, known.seen / runs)).collect();
        for (pair, (known, _)) in &evidence.pairs {
            for end in [pair.head, pair.tail] {
                let heat = by_site.entry(end).or_default();
                *heat = (*heat).max(known.seen / runs);
            }
        }
        Self { by_site }
    }

    /// What one more acquisition before a node costs: itself and its executions.
    fn cost(&self, facts: &Facts<'_>, function: FunctionId, node: NodeId) -> i64 {
        let site = facts.program.function(function).node(node).site;
        let heat = site.and_then(|site| self.by_site.get(&site)).copied().unwrap_or_default();
        i64::try_from(heat).unwrap_or(i64::MAX / 2).min(1 << 40) + 1
    }
}

/// The place of every variable of `tangles` in the order.
#[must_use]
pub fn rank(facts: &Facts<'_>, heat: &Heat, tangles: &[Tangle], graph: &OrderGraph) -> Rank {
    let mut weights: BTreeMap<(VariableId, VariableId), i64> = BTreeMap::new();
    for (edge, witnesses) in &graph.edges {
        if let (LockKey::Injected(held), LockKey::Injected(acquired)) = (edge.held, edge.acquired) {
            let cost: i64 = witnesses.iter().map(|witness| heat.cost(facts, witness.function, witness.from)).sum();
            *weights.entry((held, acquired)).or_default() += cost;
        }
    }
    let order = tangles.iter().flat_map(|tangle| sequence(tangle.variables().collect(), &weights));
    order.zip(0..).collect()
}

/// The sums of the weights of the edges out of and into a variable that is still to be placed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Balance {
    out: i64,
    into: i64,
}

/// One tangle's variables in order.
fn sequence(mut left: BTreeSet<VariableId>, weights: &BTreeMap<(VariableId, VariableId), i64>) -> Vec<VariableId> {
    let mut neighbors: BTreeMap<VariableId, Vec<(VariableId, Balance)>> = BTreeMap::new();
    let mut balance: BTreeMap<VariableId, Balance> = left.iter().map(|&variable| (variable, Balance::default())).collect();
    for &variable in &left {
        for (&(_, other), &weight) in weights.range((variable, VariableId(0))..=(variable, VariableId(u32::MAX))) {
            if left.contains(&other) {
                balance.entry(variable).or_default().out += weight;
                balance.entry(other).or_default().into += weight;
                neighbors.entry(variable).or_default().push((other, Balance { out: 0, into: weight }));
                neighbors.entry(other).or_default().push((variable, Balance { out: weight, into: 0 }));
            }
        }
    }
    let key = |variable: VariableId, b: Balance| (b.into == 0, b.out - b.into, core::cmp::Reverse(variable));
    let mut sinks: BTreeSet<VariableId> = left.iter().copied().filter(|variable| balance[variable].out == 0).collect();
    let mut queue: BTreeSet<_> = left.iter().map(|&variable| key(variable, balance[&variable])).collect();
    let (mut front, mut back): (Vec<VariableId>, Vec<VariableId>) = (Vec::new(), Vec::new());
    while !left.is_empty() {
        // All sinks there are, or else the best source.
        let now: Vec<VariableId> =
            if sinks.is_empty() { queue.last().map(|best| best.2.0).into_iter().collect() } else { sinks.iter().rev().copied().collect() };
        if sinks.is_empty() {
            front.extend(&now)
        } else {
            back.extend(&now)
        }
        for variable in now {
            left.remove(&variable);
            sinks.remove(&variable);
            queue.remove(&key(variable, balance[&variable]));
            for &(other, less) in neighbors.get(&variable).into_iter().flatten().filter(|(other, _)| left.contains(other)) {
                let known = balance[&other];
                queue.remove(&key(other, known));
                let now = Balance { out: known.out - less.out, into: known.into - less.into };
                balance.insert(other, now);
                queue.insert(key(other, now));
                if now.out == 0 {
                    sinks.insert(other);
                }
            }
        }
    }
    front.extend(back.into_iter().rev());
    front
}
