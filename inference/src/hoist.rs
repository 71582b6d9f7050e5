//! Phase 7: deadlock resolution by hoisting (seed 002, section 8, Figure 8).
//!
//! Injected locks get one total order, in front of all program locks, chosen so that few acquisitions violate it. In every cycle
//! of waits, an acquisition that violates the order is preceded by an extra one before the other lock is taken, held on all
//! paths between the two on which that other lock is held; it is a constraint of its own, not a pair, so that no conflict removes
//! it. Program locks never move. This is repeated until no cycle is left; every round adds constraints over finitely many nodes.
//!
//! Where hoisting cannot help, because the longer region could wait for a peer or lies in a function that is left alone, or where one
//! lock would need more extra acquisitions than `Config::hoists`, pairs are refused instead: those that span most acquisitions on
//! cycles, those of the lock whose region takes the other one, and in the end all pairs of the variable. Locks are never merged.
//! Cycles of program locks alone are reported and left as they are.

use std::collections::{BTreeMap, BTreeSet};

use model::ids::{FunctionId, NodeId, VariableId};
use model::pair::Mode;

use crate::admit::{AdmittedPair, Facts, blocks};
use crate::constraint::{Constraint, Constraints, Origin};
use crate::operation::Placement;
use crate::order::{Edge, LockKey, OrderFacts, OrderGraph, Witness, region};
use crate::pipeline::Config;
use crate::placement::{Placements, Spot, constraints, demands, place_all};

/// Deadlock-free placements, and what it took.
#[derive(Clone, Debug, Default)]
pub struct Resolution {
    /// The operations.
    pub placements: Placements,
    /// The graph that they make.
    pub graph: OrderGraph,
    /// Injected locks in lock order.
    pub order: Vec<VariableId>,
    /// The pairs that are kept.
    pub pairs: Vec<AdmittedPair>,
    /// Pairs given up, with why.
    pub refused: Vec<(AdmittedPair, String)>,
    /// How many constraints were added.
    pub hoists: usize,
    /// How many operations there were before.
    pub operations_before: usize,
    /// Cycles among the program's own locks.
    pub program_cycles: Vec<Vec<Edge>>,
}

/// Places locks for `pairs` and resolves the deadlocks that they could cause.
#[must_use]
pub fn resolve(facts: &Facts<'_>, order_facts: &OrderFacts<'_>, pairs: &[AdmittedPair], config: &Config) -> Resolution {
    let mut resolution = Resolution { pairs: pairs.to_vec(), ..Resolution::default() };
    loop {
        match attempt(facts, order_facts, config, &mut resolution) {
            Ok(()) => return resolution,
            Err(Setback::Stuck(stuck)) => stuck.iter().for_each(|stuck| give_up(&mut resolution, stuck)),
            Err(Setback::Dear(worst)) => {
                let why = format!(
                    "it spans too many other locks: freedom from deadlock would take more than {} extra acquisitions",
                    config.hoists
                );
                resolution.pairs.retain(|pair| !worst.contains(pair));
                resolution.refused.extend(worst.into_iter().map(|pair| (pair, why.clone())));
            }
        }
    }
}

/// Why an attempt has to begin again with fewer pairs.
enum Setback {
    /// Hoisting cannot resolve these.
    Stuck(Vec<Stuck>),
    /// Some lock would need too many extra acquisitions; these pairs have most to do with it.
    Dear(Vec<AdmittedPair>),
}

/// What hoisting could not resolve: the lock that cannot move, where it would be taken otherwise, and why not.
struct Stuck {
    variable: VariableId,
    /// Nodes that take the other locks of the cycle while this one is held.
    spans: BTreeSet<(FunctionId, NodeId)>,
    why: String,
}

/// Refuses the pairs that span the other locks, or else all of the variable.
fn give_up(resolution: &mut Resolution, stuck: &Stuck) {
    let of_variable = |pair: &AdmittedPair| pair.variable == stuck.variable;
    let spanning = |pair: &AdmittedPair| {
        let covers = |node: NodeId| node == pair.head || node == pair.tail || pair.interior.contains(node);
        of_variable(pair) && stuck.spans.iter().any(|&(function, node)| function == pair.function && covers(node))
    };
    let any = resolution.pairs.iter().any(spanning);
    let (gone, kept): (Vec<_>, Vec<_>) =
        core::mem::take(&mut resolution.pairs).into_iter().partition(|pair| if any { spanning(pair) } else { of_variable(pair) });
    resolution.pairs = kept;
    let why = format!("its lock could take part in a deadlock that hoisting cannot resolve: {}", stuck.why);
    resolution.refused.extend(gone.into_iter().map(|pair| (pair, why.clone())));
}

fn attempt(facts: &Facts<'_>, order_facts: &OrderFacts<'_>, config: &Config, resolution: &mut Resolution) -> Result<(), Setback> {
    let placements = Placements { constraints: constraints(&resolution.pairs), ..Placements::default() };
    let demands = demands(
        facts.accesses,
        &placements.constraints,
        |function| facts.program.function(function).refused.is_none(),
        (0..facts.program.functions.len()).map(FunctionId::new),
    );
    let all: BTreeSet<Spot> = placements.constraints.keys().chain(demands.keys()).copied().collect();
    let mut placements = place_all(facts.flows, facts.calls, placements, &demands, &all);
    resolution.operations_before = placements.spots.values().map(|placement| placement.acquires.len() + placement.edges.len()).sum();
    resolution.hoists = 0;
    let mut graph = OrderGraph::of(order_facts, &placements);
    resolution.order = choose_order(&graph, resolution.pairs.iter().map(|pair| pair.variable).collect());
    let rank: BTreeMap<VariableId, u32> = (0..).zip(&resolution.order).map(|(place, &variable)| (variable, place)).collect();
    let mut counts: BTreeMap<VariableId, usize> = BTreeMap::new();
    loop {
        graph = graph.ranked(&placements, &rank);
        let (ours, program): (Vec<_>, Vec<_>) = graph.cycles().into_iter().partition(|cycle| cycle.iter().any(takes_part));
        if ours.is_empty() {
            (resolution.placements, resolution.graph, resolution.program_cycles) = (placements, graph, program);
            return Ok(());
        }
        let dear = too_dear(&graph, &ours, &rank, &counts, config);
        if !dear.is_empty() {
            let worst = worst(&graph, &ours, &resolution.pairs);
            return Err(if worst.is_empty() { Setback::Stuck(dear) } else { Setback::Dear(worst) });
        }
        let (hoists, stuck) = hoists(facts, order_facts, &placements, &graph, &ours, &rank);
        if !stuck.is_empty() {
            return Err(Setback::Stuck(stuck));
        }
        let mut changed: BTreeSet<Spot> = BTreeSet::new();
        for (spot, constraint) in hoists {
            let list = placements.constraints.entry(spot).or_insert_with(|| Constraints::new(spot.1, spot.0));
            if list.add_hoist(constraint) {
                *counts.entry(spot.0).or_default() += 1;
                changed.insert(spot);
            }
        }
        resolution.hoists = counts.values().sum();
        if changed.is_empty() {
            let culprit = ours.iter().flatten().find_map(|edge| violates(edge, &rank)).or_else(|| resolution.order.first().copied());
            let why = "an earlier acquisition leaves the cycle in place".to_owned();
            return Err(Setback::Stuck(culprit.into_iter().map(|variable| stuck_at(&graph, &ours, variable, why.clone())).collect()));
        }
        placements = place_all(facts.flows, facts.calls, placements, &demands, &changed);
        graph = OrderGraph::of(order_facts, &placements);
    }
}

/// The variables that would need more extra acquisitions than they may have, by what is violated now.
fn too_dear(
    graph: &OrderGraph,
    cycles: &[Vec<Edge>],
    rank: &BTreeMap<VariableId, u32>,
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

/// The quarter of the pairs, at least one, that hold their locks at most acquisitions on cycles; none if no pair does.
fn worst(graph: &OrderGraph, cycles: &[Vec<Edge>], pairs: &[AdmittedPair]) -> Vec<AdmittedPair> {
    let mut spans: BTreeMap<Spot, BTreeMap<NodeId, usize>> = BTreeMap::new();
    for edge in cycles.iter().flatten() {
        let LockKey::Injected(held) = edge.held else { continue };
        for witness in &graph.edges[edge] {
            *spans.entry((held, witness.function)).or_default().entry(witness.at).or_default() += 1;
        }
    }
    let blame = |pair: &AdmittedPair| -> usize {
        let at = spans.get(&(pair.variable, pair.function)).into_iter().flatten();
        let covers = |node: NodeId| node == pair.head || node == pair.tail || pair.interior.contains(node);
        at.filter(|(node, _)| covers(**node)).map(|(_, count)| count).sum()
    };
    let mut blamed: Vec<(usize, &AdmittedPair)> = pairs.iter().map(|pair| (blame(pair), pair)).filter(|(blame, _)| *blame > 0).collect();
    blamed.sort_by_key(|(blame, pair)| (core::cmp::Reverse(*blame), pair.seen, pair.variable, pair.function, pair.head, pair.tail));
    let quarter = blamed.len().div_ceil(4);
    blamed.into_iter().take(quarter).map(|(_, pair)| pair.clone()).collect()
}

/// The constraints that would turn every violating acquisition of the cycles around, and the variables for which one cannot be had.
fn hoists(
    facts: &Facts<'_>,
    order_facts: &OrderFacts<'_>,
    placements: &Placements,
    graph: &OrderGraph,
    cycles: &[Vec<Edge>],
    rank: &BTreeMap<VariableId, u32>,
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
fn takes_part(edge: &Edge) -> bool {
    matches!(edge.held, LockKey::Injected(_)) || matches!(edge.acquired, LockKey::Injected(_))
}

/// The injected lock that an edge takes against the order.
fn violates(edge: &Edge, rank: &BTreeMap<VariableId, u32>) -> Option<VariableId> {
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

fn stuck_at(graph: &OrderGraph, cycles: &[Vec<Edge>], variable: VariableId, why: String) -> Stuck {
    let held = cycles.iter().flatten().filter(|edge| edge.held == LockKey::Injected(variable));
    let spans = held.flat_map(|edge| &graph.edges[edge]).map(|witness| (witness.function, witness.at)).collect();
    Stuck { variable, spans, why }
}

/// A total order of the injected locks that few witnesses violate: the greedy heuristic of Eades, Lin and Smyth (1993), which takes
/// sinks and sources first and so finds a topological order where there is one. Ties go to the smaller id.
fn choose_order(graph: &OrderGraph, mut left: BTreeSet<VariableId>) -> Vec<VariableId> {
    let mut weights: BTreeMap<(VariableId, VariableId), i64> = BTreeMap::new();
    for (edge, witnesses) in &graph.edges {
        if let (LockKey::Injected(held), LockKey::Injected(acquired)) = (&edge.held, &edge.acquired) {
            *weights.entry((*held, *acquired)).or_default() += i64::try_from(witnesses.len()).unwrap_or(i64::MAX);
        }
    }
    let (mut front, mut back) = (Vec::new(), Vec::new());
    while !left.is_empty() {
        let mut balance: BTreeMap<VariableId, (i64, i64)> = left.iter().map(|&variable| (variable, (0, 0))).collect();
        for (&(held, acquired), &weight) in weights.iter().filter(|((a, b), _)| left.contains(a) && left.contains(b)) {
            balance.entry(held).or_default().0 += weight;
            balance.entry(acquired).or_default().1 += weight;
        }
        let sinks: Vec<VariableId> = balance.iter().filter(|(_, (out, _))| *out == 0).map(|(&variable, _)| variable).collect();
        if let Some(best) = balance.iter().max_by_key(|(variable, (out, into))| (*into == 0, out - into, core::cmp::Reverse(**variable)))
            && sinks.is_empty()
        {
            front.push(*best.0);
            left.remove(best.0);
        }
        for &sink in sinks.iter().rev() {
            back.push(sink);
            left.remove(&sink);
        }
    }
    front.extend(back.into_iter().rev());
    front
}
