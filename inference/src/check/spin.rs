//! Loops around which a lock is held all the time, as the checker sees them: one in which the places of the lock are read and by nobody written
//! may wait for a write that the lock keeps away. It may not, if it ends by counting.
//!
//! A turn counts if it comes to the counter's header from its steps only, and passes the header between any two tests; without the test,
//! nothing of it may go round and wait.

use std::collections::{BTreeMap, BTreeSet};

use model::ids::NodeId;
use model::pair::Rw;
use model::plan::At;
use model::program::{Counted, Function, Node, NodeKind, Place, Program};

use super::components::components;
use super::coverage::Frame;
use super::machine::Hold;

/// The functions that read some places themselves, and those that write them.
#[derive(Clone, Debug)]
pub struct Touchers {
    readers: BTreeSet<usize>,
    writers: BTreeSet<usize>,
}

impl Touchers {
    /// Finds them among the functions that access each place.
    #[must_use]
    pub fn of(program: &Program, users: &BTreeMap<&Place, BTreeSet<usize>>, places: &BTreeSet<Place>) -> Self {
        let all: BTreeSet<usize> = places.iter().filter_map(|place| users.get(place)).flatten().copied().collect();
        let of = |how: fn(Rw) -> bool| {
            let does = |f: &usize| program.functions[*f].nodes.iter().any(|node| touches(node, places, how));
            all.iter().copied().filter(does).collect()
        };
        Self { readers: of(reads), writers: of(Rw::writes) }
    }
}

fn reads(rw: Rw) -> bool {
    rw != Rw::Write
}

fn touches(node: &Node, places: &BTreeSet<Place>, how: impl Fn(Rw) -> bool) -> bool {
    // Nobody waits for an object to end.
    let ends = matches!(&node.kind, NodeKind::Call(call) if call.gives_back());
    !ends && node.accesses().iter().any(|access| how(access.rw) && access.places().any(|place| places.contains(place)))
}

/// A node of a loop that may wait and around which the lock is held, if there is one. `touchers` is asked only where a lock is held around a loop.
#[must_use]
pub fn held_around_a_wait<'t>(
    frame: &Frame<'_>,
    arriving: &BTreeMap<NodeId, BTreeSet<Hold>>,
    touchers: impl FnOnce() -> &'t Touchers,
) -> Option<NodeId> {
    let mut edges: BTreeMap<NodeId, BTreeSet<NodeId>> = BTreeMap::new();
    for (&at, holds) in arriving {
        for running in holds.iter().map(|&hold| frame.operations.after(At::Before(at), hold)).filter(Option::is_some) {
            let left = |to: &&NodeId| frame.operations.after(At::Edge(at, **to), running).is_some();
            edges.entry(at).or_default().extend(frame.function.node(at).successors.iter().filter(left));
        }
    }
    let rounds = rounds(&edges);
    if rounds.is_empty() {
        return None;
    }
    let touchers = touchers();
    rounds.into_iter().find(|round| waits(frame, touchers, round)).and_then(|round| round.first().copied())
}

/// The sets of nodes that lead round to each other.
fn rounds(edges: &BTreeMap<NodeId, BTreeSet<NodeId>>) -> Vec<BTreeSet<NodeId>> {
    let nodes: Vec<NodeId> = edges.keys().copied().collect();
    let number = |node: &NodeId| nodes.binary_search(node).ok();
    let inside: Vec<Vec<usize>> = edges.values().map(|to| to.iter().filter_map(number).collect()).collect();
    let mut groups: BTreeMap<usize, BTreeSet<NodeId>> = BTreeMap::new();
    for (n, component) in components(&inside).into_iter().enumerate() {
        groups.entry(component).or_default().insert(nodes[n]);
    }
    groups.into_values().filter(|group| group.len() > 1 || group.iter().all(|node| edges[node].contains(node))).collect()
}

/// The rounds among some nodes of a function without one of them.
fn rounds_without(function: &Function, nodes: &BTreeSet<NodeId>, left_out: NodeId) -> Vec<BTreeSet<NodeId>> {
    let rest = nodes.iter().filter(|node| **node != left_out);
    let within = |to: &NodeId| nodes.contains(to) && *to != left_out;
    rounds(&rest.map(|&node| (node, function.node(node).successors.iter().copied().filter(within).collect())).collect())
}

fn waits(frame: &Frame<'_>, touchers: &Touchers, round: &BTreeSet<NodeId>) -> bool {
    let any = |functions: &BTreeSet<usize>, how: fn(Rw) -> bool| {
        let in_call = |&at: &NodeId| frame.effects.may_come_to(frame.effects.targets(frame.index, at), functions);
        round.iter().any(|&at| touches(frame.function.node(at), frame.places, how)) || round.iter().any(in_call)
    };
    if any(&touchers.writers, Rw::writes) || !any(&touchers.readers, reads) {
        return false;
    }
    let counts = |counted: &&Counted| counts_out(frame.function, counted, round);
    match frame.function.counted.iter().find(counts) {
        None => true,
        Some(counted) => rounds_without(frame.function, round, counted.test).iter().any(|inner| waits(frame, touchers, inner)),
    }
}

fn counts_out(function: &Function, counted: &Counted, round: &BTreeSet<NodeId>) -> bool {
    let Counted { header, steps, test, out } = counted;
    // The test leads there by way of nodes that do nothing.
    let mut after: BTreeSet<NodeId> = BTreeSet::from([*test]);
    let is_idle = |node: &NodeId| node == test || function.node(*node).kind == NodeKind::Block;
    for _ in 0..function.nodes.len().min(16) {
        after.extend(after.clone().iter().filter(|node| is_idle(node)).flat_map(|node| &function.node(*node).successors));
    }
    let leaves = after.contains(out);
    let comes_back_by_steps = || {
        let into = round.iter().filter(|from| function.node(**from).successors.contains(header));
        into.into_iter().all(|from| steps.contains(from))
    };
    let moves_between = || !rounds_without(function, round, *header).iter().any(|inner| inner.contains(test));
    round.contains(header) && round.contains(test) && leaves && !round.contains(out) && comes_back_by_steps() && moves_between()
}
