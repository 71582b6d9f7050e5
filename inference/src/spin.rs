//! Loops that may wait for a variable: a lock that is held around one keeps away the very write that ends it.
//!
//! A loop in which the variable is read, and written by nobody, is taken for one that waits, unless it *counts* (`model::program::Counted`): a
//! counter that moves in each turn comes to its bound whatever other threads do. What is left of such a loop without its test, loops
//! within it, must not wait either.
//!
//! Asked of pairs that close a loop, before anything is placed, and of all loops around which a lock is held, once all is placed.
//! Not handled: loops that wait for one variable while the lock of another is held.

use std::collections::BTreeMap;

use model::ids::{FunctionId, NodeId, VariableId};
use model::program::Counted;

use crate::admit::{Admission, AdmittedPair, Facts, node_text, refusal};
use crate::flow::Flow;
use crate::operation::{EdgeAction, Placement};
use crate::placement::Placements;
use crate::sets::Set;
use crate::summary::{Touch, Touching};

/// The most turns, on average, of a loop that counts for a region to last for all of it.
const LONGEST: u64 = 4096;

/// Refuses the pairs that would be held around a loop that waits for the variable to change, or around one that counts for long.
pub(crate) fn refuse_spins(facts: &Facts<'_>, writing: &mut Touching<'_>, admission: &mut Admission) {
    let about = admission.pairs.iter().map(|pair| pair.variable).collect();
    let mut reading = Touching::of(facts.calls, facts.accesses, Touch::Reads, &about);
    let mut kept = Vec::new();
    for pair in core::mem::take(&mut admission.pairs) {
        let Some(why) = spins(facts, writing, &mut reading, &pair) else {
            kept.push(pair);
            continue;
        };
        let ends = (node_text(facts, pair.function, pair.head), node_text(facts, pair.function, pair.tail));
        admission.refused.push(refusal(facts, Some(pair.variable), ends, pair.seen, &why));
    }
    admission.pairs = kept;
}

/// Whether a pair closes a loop in which nothing but itself could write the variable, and why it cannot be held around that.
fn spins(facts: &Facts<'_>, writing: &mut Touching<'_>, reading: &mut Touching<'_>, pair: &AdmittedPair) -> Option<String> {
    let flow = &facts.flows[pair.function.index()];
    if flow.rank(pair.head) < flow.rank(pair.tail) {
        return None;
    }
    let body = flow.innermost_loop(pair.head, pair.tail)?;
    let retries = |node| pair.head == pair.tail && node == pair.head && is_atomic(facts, pair, node);
    if body.iter().any(|node| !retries(node) && facts.touches(writing, pair.variable, pair.function, node)) {
        return None;
    }
    let mut reads = |inner: &Set<NodeId>| inner.iter().any(|node| facts.touches(reading, pair.variable, pair.function, node));
    if waits(facts, pair.function, &body, &mut reads) {
        let why = "it would be held around a loop that only reads the variable, or only retries an atomic update, and may wait for it";
        return Some(why.to_owned());
    }
    let tail = facts.program.function(pair.function).node(pair.tail).site?;
    let ran = facts.evidence.sites.get(&tail)?.seen;
    let entered = ran.saturating_sub(pair.seen).max(1);
    (ran > entered.saturating_mul(LONGEST)).then(|| format!("it would be held around a loop of {} turns on average", ran / entered))
}

fn is_atomic(facts: &Facts<'_>, pair: &AdmittedPair, node: NodeId) -> bool {
    facts.accesses.of_node(pair.function, node).iter().any(|access| access.atomic && access.variable == pair.variable)
}

/// Whether control may stay among some nodes for ever, by way of loops that `matter`, unless other threads help.
fn waits(facts: &Facts<'_>, function: FunctionId, nodes: &Set<NodeId>, matters: &mut impl FnMut(&Set<NodeId>) -> bool) -> bool {
    if !matters(nodes) {
        return false;
    }
    let flow = &facts.flows[function.index()];
    let counted = facts.program.function(function).counted.iter().find(|counted| ends(flow, counted, nodes));
    counted.is_none_or(|counted| {
        let mut rest = nodes.clone();
        rest.remove(counted.test);
        flow.cycles(&rest, |_, _| true).iter().any(|inner| waits(facts, function, inner, matters))
    })
}

/// Whether control cannot pass a counter's test among some nodes for ever.
fn ends(flow: &Flow, counted: &Counted, nodes: &Set<NodeId>) -> bool {
    let is_inside = nodes.contains(counted.header) && nodes.contains(counted.test) && !nodes.contains(counted.out);
    let mut back = flow.predecessors(counted.header).iter().filter(|from| nodes.contains(**from));
    if !is_inside || !back.all(|from| counted.steps.contains(from)) {
        return false;
    }
    // Between two tests the counter must move.
    let mut rest = nodes.clone();
    rest.remove(counted.header);
    !flow.cycles(&rest, |_, _| true).iter().any(|cycle| cycle.contains(counted.test))
}

/// For each lock and function, the nodes of loops that may wait for the variable and around which the lock may be held all the time.
pub(crate) fn held_around(facts: &Facts<'_>, placements: &Placements) -> BTreeMap<(VariableId, FunctionId), Set<NodeId>> {
    let about = placements.spots.keys().map(|(variable, _)| *variable).collect();
    let touching = |how: Touch| Touching::of(facts.calls, facts.accesses, how, &about);
    let (mut writing, mut reading) = (touching(Touch::Writes), touching(Touch::Reads));
    let mut found = BTreeMap::new();
    for (&(variable, function), placement) in &placements.spots {
        let held: Set<NodeId> = placement.running.keys().copied().collect();
        let flow = &facts.flows[function.index()];
        for cycle in flow.cycles(&held, |from, to| stays_held(placement, from, to)) {
            // What is seen at once comes first: calls take a pass over the call graph.
            let any = |inner: &Set<NodeId>, touching: &mut Touching<'_>| {
                let itself = inner.iter().any(|node| facts.touches_itself(touching.how(), variable, function, node));
                itself || inner.iter().any(|node| touching.any_may(facts.calls.from_node(function, node), variable))
            };
            let mut only_reads = |inner: &Set<NodeId>| !any(inner, &mut writing) && any(inner, &mut reading);
            if waits(facts, function, &cycle, &mut only_reads) {
                found.entry((variable, function)).or_insert_with(Set::default).unite(&cycle);
            }
        }
    }
    found
}

/// Whether some hold of a node is left over an edge.
fn stays_held(placement: &Placement, from: NodeId, to: NodeId) -> bool {
    let actions = placement.edges.get(&(from, to));
    let released = |label: &NodeId| actions.and_then(|actions| actions.get(label)) == Some(&EdgeAction::Release);
    placement.running.get(&from).is_some_and(|holds| holds.labels.keys().any(|label| !released(label)))
}

impl Facts<'_> {
    /// Whether a node may touch a variable in some way, itself or in a call.
    pub(crate) fn touches(&self, touching: &mut Touching<'_>, variable: VariableId, function: FunctionId, node: NodeId) -> bool {
        self.touches_itself(touching.how(), variable, function, node) || touching.any_may(self.calls.from_node(function, node), variable)
    }

    fn touches_itself(&self, how: Touch, variable: VariableId, function: FunctionId, node: NodeId) -> bool {
        let own = self.accesses.of_node(function, node).iter();
        own.filter(|access| access.variable == variable).any(|access| how.is(access))
    }
}
