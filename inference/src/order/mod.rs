//! Phase 6: the lock-order graph, with modes, of injected and program locks, and its cycles.
//!
//! An edge says that some thread may wait for one lock, in some mode, while it holds another. Edge e1 *waits on* e2 if e1
//! acquires the lock that e2 holds and the two modes conflict; a deadlock needs a cycle of such waits, so components are taken on the
//! graph of edges. Seed 002 drops every edge of READ under READ instead, which is unsound: T1 holds R(x) and wants R(y), T2 holds
//! X(y) and wants X(x).
//!
//! The edges are as many as the locks held at calls times the locks that the calls may take, so they are not all made. A *skeleton*
//! (`skeleton`) has one hub for each component of the call graph, and no modes; it is as small as the program. Locks that are not on a common
//! cycle of it cannot be on one of the full graph. Only between the locks of one *tangle*, a component of the skeleton, are edges made
//! (`detail`), with modes and witnesses.
//!
//! Each edge keeps its witnesses, each within one function: where the held lock was acquired (by the function or by a
//! callee that returns with it), and where the other one is (by the function or in a call). A lock that a caller holds is the
//! caller's witness. An acquisition is no edge when the thread certainly holds that lock strongly enough already, *on the
//! paths on which the first lock is held*: that is what hoisting brings about.
//!
//! Not handled: locks held by one thread only, or under a common third lock, make edges all the same; two locks of one class of
//! program locks are one lock, and an edge from it to itself is none.

mod choose;
mod detail;
mod local;
mod skeleton;

use std::collections::{BTreeMap, BTreeSet};

use model::ids::{FunctionId, NodeId, VariableId};
use model::pair::Mode;
use model::program::Program;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::flow::Flow;
use crate::placement::Placements;
use crate::program_lock::{LockStep, ProgramLockId, ProgramLocks};
use crate::summary::Calls;

pub use choose::{Heat, rank};
pub use detail::{Detail, Spans};
pub use local::region;
use local::{Local, Takes};
pub use skeleton::Tangle;

/// A lock of either kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockKey {
    /// Injected, for a variable.
    Injected(VariableId),
    /// The program's own.
    Program(ProgramLockId),
}

/// A thread may wait for `acquired` while it holds `held`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// The lock held.
    pub held: LockKey,
    /// In at most this mode.
    pub held_mode: Mode,
    /// The lock waited for.
    pub acquired: LockKey,
    /// In this mode.
    pub acquired_mode: Mode,
}

/// Where an edge arises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Witness {
    /// In this function.
    pub function: FunctionId,
    /// The held lock was taken here.
    pub from: NodeId,
    /// The other one is taken here.
    pub at: NodeId,
}

/// The lock-order graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderGraph {
    /// All edges with their witnesses, sorted.
    pub edges: BTreeMap<Edge, Vec<Witness>>,
}

/// What the graph is made from.
#[derive(Clone, Copy, Debug)]
pub struct OrderFacts<'a> {
    /// The program.
    pub program: &'a Program,
    /// The call graph.
    pub calls: &'a Calls,
    /// The same without calls before which the thread gives up its injected locks (`ends::endings`).
    pub going_on: &'a Calls,
    /// By `FunctionId`.
    pub flows: &'a [Flow],
    /// The program's own locks.
    pub locks: &'a ProgramLocks,
}

impl<'a> OrderFacts<'a> {
    /// The calls during which a lock that is held before stays held.
    #[must_use]
    pub fn calls_under(&self, held: LockKey) -> &'a Calls {
        match held {
            LockKey::Injected(_) => self.going_on,
            LockKey::Program(_) => self.calls,
        }
    }
}

/// One lock held, with where it was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// Which.
    pub lock: LockKey,
    /// Where.
    pub from: NodeId,
}

/// The places of injected locks in their total order.
pub type Rank = BTreeMap<VariableId, u32>;

/// What every function holds and takes, kept up to date while placements change.
#[derive(Clone, Debug)]
pub struct Order<'a> {
    facts: &'a OrderFacts<'a>,
    /// By `FunctionId`.
    locals: Vec<Takes>,
    /// The functions that wait for each of the program's locks, and how.
    takers: BTreeMap<ProgramLockId, Vec<(FunctionId, Mode)>>,
}

impl<'a> Order<'a> {
    /// Looks at all functions.
    #[must_use]
    pub fn of(facts: &'a OrderFacts<'a>, placements: &Placements) -> Self {
        let mut takers: BTreeMap<ProgramLockId, Vec<(FunctionId, Mode)>> = BTreeMap::new();
        for (f, steps) in facts.locks.steps.iter().enumerate() {
            for step in steps.values().flatten() {
                if let LockStep::Take(lock, mode) = *step {
                    takers.entry(lock).or_default().push((FunctionId::new(f), mode));
                }
            }
        }
        let mut order = Self { facts, locals: vec![Takes::default(); facts.program.functions.len()], takers };
        order.look_at(placements, &(0..facts.program.functions.len()).map(FunctionId::new).collect());
        order
    }

    /// What it was made from.
    #[must_use]
    pub fn facts(&self) -> &'a OrderFacts<'a> {
        self.facts
    }

    /// Looks at functions again, since their placements have changed.
    pub fn look_at(&mut self, placements: &Placements, functions: &BTreeSet<FunctionId>) {
        let mut injected: BTreeMap<FunctionId, BTreeMap<VariableId, _>> = BTreeMap::new();
        for (&(variable, function), placement) in placements.spots.iter().filter(|((_, function), _)| functions.contains(function)) {
            injected.entry(function).or_default().insert(variable, placement);
        }
        let none = BTreeMap::new();
        for &function in functions {
            let local = Local { facts: self.facts, function, injected: injected.get(&function).unwrap_or(&none) };
            self.locals[function.index()] = local.takes();
        }
    }
}

impl OrderGraph {
    fn new(mut found: Vec<(Edge, Witness)>) -> Self {
        // Sorting once is much quicker than looking every edge up.
        found.sort_unstable();
        found.dedup();
        let runs = found.chunk_by(|a, b| a.0 == b.0).filter_map(|run| Some((run.first()?.0, run)));
        Self { edges: runs.map(|(edge, run)| (edge, run.iter().map(|(_, witness)| *witness).collect())).collect() }
    }

    /// The locks of each cycle of waits, largest sets that wait on each other: for each component, its edges.
    #[must_use]
    pub fn cycles(&self) -> Vec<Vec<Edge>> {
        let edges: Vec<&Edge> = self.edges.keys().collect();
        let mut graph: DiGraph<(), ()> = DiGraph::new();
        let nodes: Vec<NodeIndex> = edges.iter().map(|_| graph.add_node(())).collect();
        // One hub for each lock and mode of acquisition keeps the graph linear in the number of edges.
        let mut hubs: BTreeMap<(LockKey, Mode), NodeIndex> = BTreeMap::new();
        for (edge, &node) in edges.iter().zip(&nodes) {
            let hub = *hubs.entry((edge.acquired, edge.acquired_mode)).or_insert_with(|| graph.add_node(()));
            graph.add_edge(node, hub, ());
        }
        for (edge, &node) in edges.iter().zip(&nodes) {
            for mode in [Mode::R, Mode::U, Mode::X].into_iter().filter(|mode| !mode.compatible(edge.held_mode)) {
                if let Some(&hub) = hubs.get(&(edge.held, mode)) {
                    graph.add_edge(hub, node, ());
                }
            }
        }
        let mut cycles: Vec<Vec<Edge>> = kosaraju_scc(&graph)
            .into_iter()
            .filter(|component| component.len() > 1)
            .map(|component| {
                let mut found: Vec<usize> = component.iter().map(|node| node.index()).filter(|&index| index < edges.len()).collect();
                found.sort_unstable();
                found.into_iter().map(|index| *edges[index]).collect()
            })
            .collect();
        cycles.sort();
        cycles
    }
}
