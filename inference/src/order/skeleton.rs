//! The skeleton of the lock order: locks without modes, and one hub for each component of the call graph.
//!
//! A hub leads to the locks that its functions take themselves and to the hubs of those that they call, so the skeleton grows with the program
//! and not with what calls reach. It has every edge of the full graph, and more: modes are left out, and so is
//! that a lock may surely be held already.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use model::ids::{FunctionId, VariableId};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, EdgeReference, NodeIndex};
use petgraph::visit::EdgeRef;

use super::{LockKey, Order, Rank};
use crate::placement::Placements;
use crate::program_lock::ProgramLockId;

/// Locks that are on common cycles of the skeleton, sorted: one alone, if it is on none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tangle {
    /// The locks.
    pub locks: Vec<LockKey>,
}

impl Tangle {
    /// The injected ones.
    pub fn variables(&self) -> impl Iterator<Item = VariableId> + '_ {
        self.locks.iter().filter_map(|lock| if let LockKey::Injected(variable) = lock { Some(*variable) } else { None })
    }

    /// Whether its locks may wait for each other, as far as the skeleton tells.
    #[must_use]
    pub fn is_cyclic(&self) -> bool {
        self.locks.len() > 1
    }
}

/// What kind of lock is held while calls are followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Under {
    Program,
    Injected,
}

/// The vertices: variables, then program locks, then components of the call graph, then those of what goes on under injected locks.
struct Vertices {
    variables: usize,
    locks: usize,
    components: usize,
}

impl Vertices {
    fn of_lock(&self, lock: LockKey) -> NodeIndex {
        NodeIndex::new(match lock {
            LockKey::Injected(variable) => variable.index(),
            LockKey::Program(lock) => self.variables + lock.0 as usize,
        })
    }

    /// The first hub of either call graph.
    fn first_hub(&self, under: Under) -> usize {
        self.variables + self.locks + if under == Under::Injected { self.components } else { 0 }
    }

    fn lock(&self, vertex: NodeIndex) -> Option<LockKey> {
        let index = vertex.index();
        if index < self.variables {
            return Some(LockKey::Injected(VariableId::new(index)));
        }
        let lock = index - self.variables;
        (lock < self.locks).then(|| u32::try_from(lock).ok().map(|lock| LockKey::Program(ProgramLockId(lock))))?
    }
}

impl Order<'_> {
    /// All locks, tangle by tangle, those before others that are taken while they are held; ties go to the smaller ids. Where one node
    /// acquires several locks, they count as taken in the order of `rank`, if there is one yet.
    #[must_use]
    pub fn tangles(&self, placements: &Placements, rank: Option<&Rank>) -> Vec<Tangle> {
        let calls = self.facts.calls;
        let variables = placements.spots.keys().next_back().map_or(0, |(variable, _)| variable.index() + 1);
        let going_on = self.facts.going_on;
        // Mostly they are the same.
        let same = core::ptr::eq(calls, going_on);
        let components = if same { 0 } else { calls.components().len() };
        let vertices = Vertices { variables, locks: self.facts.locks.names.len(), components };
        let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(vertices.first_hub(Under::Injected) + going_on.components().len(), 0);
        for _ in 0..vertices.first_hub(Under::Injected) + going_on.components().len() {
            graph.add_node(());
        }
        let hub = |under: Under, function: FunctionId| {
            let component = if under == Under::Injected { going_on } else { calls }.component_of(function);
            NodeIndex::new(vertices.first_hub(under) + component.index())
        };
        for (under, calls) in [(Under::Program, calls), (Under::Injected, going_on)].into_iter().skip(usize::from(same)) {
            let of_component = |index: usize| NodeIndex::new(vertices.first_hub(under) + index);
            for component in calls.component_ids() {
                for callee in calls.component_callees(component) {
                    graph.add_edge(of_component(component.index()), of_component(callee.index()), ());
                }
            }
            for (&(variable, function), placement) in &placements.spots {
                if !placement.acquires.is_empty() {
                    graph.add_edge(hub(under, function), vertices.of_lock(LockKey::Injected(variable)), ());
                }
            }
            for (&lock, takers) in &self.takers {
                for &(function, _) in takers {
                    graph.add_edge(hub(under, function), vertices.of_lock(LockKey::Program(lock)), ());
                }
            }
        }
        let mut edges: Vec<(NodeIndex, NodeIndex)> = Vec::new();
        for (f, takes) in self.locals.iter().enumerate() {
            edges.clear();
            edges.extend(takes.edges.iter().map(|(edge, _)| (vertices.of_lock(edge.held), vertices.of_lock(edge.acquired))));
            for (at, origin, _) in &takes.at_calls {
                let callees = self.facts.calls_under(origin.lock).from_node(FunctionId::new(f), *at).iter();
                let under = if same || matches!(origin.lock, LockKey::Injected(_)) { Under::Injected } else { Under::Program };
                edges.extend(callees.map(|&callee| (vertices.of_lock(origin.lock), hub(under, callee))));
            }
            for (_, several) in &takes.together {
                let mut order: Vec<_> = several.iter().filter_map(|(variable, ..)| Some((*rank?.get(variable)?, *variable))).collect();
                order.sort_unstable();
                let locks: Vec<NodeIndex> = order.iter().map(|&(_, variable)| vertices.of_lock(LockKey::Injected(variable))).collect();
                edges.extend(locks.windows(2).map(|two| (two[0], two[1])));
            }
            edges.sort_unstable();
            edges.dedup();
            edges.iter().for_each(|&(from, to)| {
                graph.add_edge(from, to, ());
            });
        }
        sorted(&graph, &vertices)
    }
}

/// The components of the graph in topological order, without those that are hubs only.
fn sorted(graph: &DiGraph<(), ()>, vertices: &Vertices) -> Vec<Tangle> {
    // Kosaraju's algorithm, since it does not recurse.
    let components = kosaraju_scc(graph);
    let mut of_vertex = vec![0; graph.node_count()];
    for (c, component) in components.iter().enumerate() {
        for vertex in component {
            of_vertex[vertex.index()] = c;
        }
    }
    let between = |edge: EdgeReference<'_, ()>| (of_vertex[edge.source().index()], of_vertex[edge.target().index()]);
    let across = || graph.edge_references().map(between).filter(|(from, to)| from != to);
    // One row for all, as often as the order is asked for.
    let mut ends = vec![0_usize; components.len() + 1];
    let mut waiting = vec![0_usize; components.len()];
    for (from, to) in across() {
        ends[from + 1] += 1;
        waiting[to] += 1;
    }
    for c in 0..components.len() {
        ends[c + 1] += ends[c];
    }
    let mut next = vec![0_usize; ends[components.len()]];
    let mut free = ends.clone();
    for (from, to) in across() {
        next[free[from]] = to;
        free[from] += 1;
    }
    let tangles: Vec<Tangle> = components
        .iter()
        .map(|component| {
            let mut locks: Vec<LockKey> = component.iter().filter_map(|&vertex| vertices.lock(vertex)).collect();
            locks.sort_unstable();
            Tangle { locks }
        })
        .collect();
    // Hubs first, since they hold others back; then the tangle with the smallest lock.
    let key = |c: usize| Reverse((tangles[c].locks.first().copied(), c));
    let mut ready: BinaryHeap<_> = (0..components.len()).filter(|&c| waiting[c] == 0).map(key).collect();
    let mut order = Vec::new();
    while let Some(Reverse((_, c))) = ready.pop() {
        for &to in &next[ends[c]..ends[c + 1]] {
            waiting[to] -= 1;
            if waiting[to] == 0 {
                ready.push(key(to));
            }
        }
        order.push(c);
    }
    let mut tangles = tangles;
    let all = order.into_iter().map(|c| Tangle { locks: core::mem::take(&mut tangles[c].locks) });
    all.filter(|tangle| !tangle.locks.is_empty()).collect()
}
