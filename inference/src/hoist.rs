//! Hoisting (seed 002, section 8, Figure 8): the extra constraints that turn acquisitions around which violate the lock order.
//!
//! In every cycle of waits, an acquisition that violates the order is preceded by an extra one before the other lock is taken, held on all
//! paths between the two on which that other lock is held; it is a constraint of its own, not a pair, so that no conflict removes
//! it. Program locks never move.

use std::collections::{BTreeMap, BTreeSet};

use model::ids::{FunctionId, NodeId, VariableId};
use model::pair::Mode;

use crate::admit::{Facts, blocks};
use crate::constraint::{Constraint, Origin};
use crate::operation::Placement;
use crate::order::{Edge, LockKey, OrderFacts, OrderGraph, Rank, Witness, region};
use crate::pipeline::Config;
use crate::placement::{Placements, Spot};

/// What hoisting could not resolve: the lock that cannot move, where it would be taken otherwise, and why not.
pub(crate) struct Stuck {
    pub(crate) variable: VariableId,
    /// Nodes that take the other locks of the cycle while this one is held.
    pub(crate) spans: BTreeSet<(FunctionId, NodeId)>,
    /// Why it cannot be acquired earlier.
    pub(crate) why: String,
}

/// The variables that would need more extra acquisitions than they may have, by what is violated now.
pub(crate) fn too_dear(
    graph: &OrderGraph,
    cycles: &[Vec<Edge>],
    rank: &Rank,
    counts: &BTreeMap<VariableId, usize>,
    config: &Config,
) -> Vec<Stuck> {
    let mut wanted: BTreeMap<VariableId, BTreeSet<Witness>> = BTreeMap::new();
    for edge in cycles.iter().flatten() {
        if let Some(variable) = violates(edge, rank) {
            wanted.entry(variable).or_default().extend(&graph.edges[edge]);
        }
    }
    let why = || format!("more than {} acquisitions would have to be added", config.hoists);
    let total = |variable: &VariableId, more: usize| counts.get(variable).copied().unwrap_or_default() + more;
    let dear = wanted.into_iter().filter(|(variable, witnesses)| total(variable, witnesses.len()) > config.hoists);
    dear.map(|(variable, _)| stuck_at(graph, cycles, variable, why())).collect()
}

/// The constraints that would turn every violating acquisition of the cycles around, and the variables for which one cannot be had.
pub(crate) fn hoists(
    facts: &Facts<'_>,
    order_facts: &OrderFacts<'_>,
    placements: &Placements,
    graph: &OrderGraph,
    cycles: &[Vec<Edge>],
    rank: &Rank,
) -> (Vec<(Spot, Constraint)>, Vec<Stuck>) {
    let mut found = Vec::new();
    let mut stuck: BTreeMap<VariableId, String> = BTreeMap::new();
    let mut by_function: BTreeMap<FunctionId, BTreeMap<VariableId, &Placement>> = BTreeMap::new();
    for (&(variable, function), placement) in &placements.spots {
        by_function.entry(function).or_default().insert(variable, placement);
    }
    let none = BTreeMap::new();
    for edge in cycles.iter().flatten() {
        let Some(variable) = violates(edge, rank) else { continue };
        for witness in &graph.edges[edge] {
            let injected = by_function.get(&witness.function).unwrap_or(&none);
            match hoisted(facts, order_facts, injected, edge, witness, variable) {
                Ok(constraint) => found.push(((variable, witness.function), constraint)),
                Err(why) => {
                    stuck.entry(variable).or_insert(why);
                }
            }
        }
    }
    (found, stuck.into_iter().map(|(variable, why)| stuck_at(graph, cycles, variable, why)).collect())
}

/// Whether an injected lock is part of an edge.
pub(crate) fn takes_part(edge: &Edge) -> bool {
    matches!(edge.held, LockKey::Injected(_)) || matches!(edge.acquired, LockKey::Injected(_))
}

/// The injected lock that an edge takes against the order.
pub(crate) fn violates(edge: &Edge, rank: &Rank) -> Option<VariableId> {
    let LockKey::Injected(acquired) = edge.acquired else { return None };
    match edge.held {
        LockKey::Program(_) => Some(acquired),
        LockKey::Injected(held) => (rank.get(&held) > rank.get(&acquired)).then_some(acquired),
    }
}

/// The constraint that puts an acquisition before the other lock's, or why it cannot be.
fn hoisted(
    facts: &Facts<'_>,
    order_facts: &OrderFacts<'_>,
    injected: &BTreeMap<VariableId, &Placement>,
    edge: &Edge,
    witness: &Witness,
    variable: VariableId,
) -> Result<Constraint, String> {
    let body = facts.program.function(witness.function);
    if let Some(why) = &body.refused {
        return Err(format!("{} is left alone: {why}", body.name));
    }
    let origin = crate::order::Origin { lock: edge.held, from: witness.from };
    let within = region(order_facts, witness.function, injected, &origin);
    let interior = facts.flows[witness.function.index()].inside(witness.from, witness.at, &within);
    for node in [witness.from, witness.at].into_iter().chain(interior.iter()) {
        if let Some(why) = blocks(facts, witness.function, node) {
            return Err(format!("{} in {} would wait with {} held: {why}", node, body.name, facts.variables.get(variable)));
        }
    }
    Ok(Constraint { head: witness.from, tail: witness.at, mode: edge.acquired_mode.max(Mode::R), origin: Origin::Hoist, interior })
}

pub(crate) fn stuck_at(graph: &OrderGraph, cycles: &[Vec<Edge>], variable: VariableId, why: String) -> Stuck {
    let held = cycles.iter().flatten().filter(|edge| edge.held == LockKey::Injected(variable));
    let spans = held.flat_map(|edge| &graph.edges[edge]).map(|witness| (witness.function, witness.at)).collect();
    Stuck { variable, spans, why }
}
