//! Phase 6: the lock-order graph, with modes, of injected and program locks, and its cycles.
//!
//! An edge says that some thread may wait for one lock, in some mode, while it holds another. Edge e1 *waits on* e2 if e1
//! acquires the lock that e2 holds and the two modes conflict; a deadlock needs a cycle of such waits, so components are taken on the
//! graph of edges. Seed 002 drops every edge of READ under READ instead, which is unsound: T1 holds R(x) and wants R(y), T2 holds
//! X(y) and wants X(x).
//!
//! Each edge keeps its witnesses, each within one function: where the held lock was acquired (by the function or by a
//! callee that returns with it), and where the other one is (by the function or in a call). A lock that a caller holds is the
//! caller's witness. An acquisition is no edge when the thread certainly holds that lock strongly enough already, *on the
//! paths on which the first lock is held*: that is what hoisting brings about.
//!
//! Not handled: locks held by one thread only, or under a common third lock, make edges all the same; two locks of one class of
//! program locks are one lock, and an edge from it to itself is none.

use std::collections::BTreeMap;

use model::ids::{FunctionId, NodeId, VariableId};
use model::pair::Mode;
use model::program::Program;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::flow::Flow;
use crate::operation::{Holds, Placement, follow_along};
use crate::placement::Placements;
use crate::program_lock::{LockStep, ProgramLockId, ProgramLocks};
use crate::sets::Set;
use crate::summary::Calls;

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
    /// By `FunctionId`.
    pub flows: &'a [Flow],
    /// The program's own locks.
    pub locks: &'a ProgramLocks,
}

impl OrderGraph {
    /// All edges of a placement, but for those between locks that one node acquires.
    #[must_use]
    pub fn of(facts: &OrderFacts<'_>, placements: &Placements) -> Self {
        let mut found = Found::default();
        let by_function = by_function(placements);
        let none = BTreeMap::new();
        for f in 0..facts.program.functions.len() {
            let function = FunctionId::new(f);
            let injected = by_function.get(&function).unwrap_or(&none);
            Local { facts, placements, function, injected }.edges(&mut found);
        }
        Self::default().with(found)
    }

    /// Adds the edges between locks that one node acquires, which it takes in the order of `rank`.
    #[must_use]
    pub fn ranked(self, placements: &Placements, rank: &BTreeMap<VariableId, u32>) -> Self {
        let mut found = Found::default();
        for (function, injected) in by_function(placements) {
            for (&variable, placement) in &injected {
                let sooner = || injected.iter().filter(|(other, _)| rank.get(other) < rank.get(&variable));
                for (&at, acquire) in &placement.acquires {
                    for (&other, earlier) in sooner().filter(|(_, earlier)| earlier.acquires.contains_key(&at)) {
                        let mode = earlier.running.get(&at).and_then(|holds| holds.labels.values().map(|strength| strength.most).max());
                        let held = (LockKey::Injected(other), mode.unwrap_or(Mode::X));
                        found.add(held, (LockKey::Injected(variable), acquire.mode), Witness { function, from: at, at });
                    }
                }
            }
        }
        self.with(found)
    }

    fn with(mut self, mut found: Found) -> Self {
        // Sorting once is much quicker than looking every edge up.
        found.edges.sort_unstable();
        found.edges.dedup();
        for run in found.edges.chunk_by(|a, b| a.0 == b.0) {
            let Some((edge, _)) = run.first() else { continue };
            let witnesses = self.edges.entry(*edge).or_default();
            witnesses.extend(run.iter().map(|(_, witness)| *witness));
            witnesses.sort_unstable();
            witnesses.dedup();
        }
        self
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

fn by_function(placements: &Placements) -> BTreeMap<FunctionId, BTreeMap<VariableId, &Placement>> {
    let mut found: BTreeMap<FunctionId, BTreeMap<VariableId, &Placement>> = BTreeMap::new();
    for (&(variable, function), placement) in &placements.spots {
        found.entry(function).or_default().insert(variable, placement);
    }
    found
}

/// Edges as they are found, with repeats.
#[derive(Default)]
struct Found {
    edges: Vec<(Edge, Witness)>,
}

impl Found {
    fn add(&mut self, held: (LockKey, Mode), acquired: (LockKey, Mode), witness: Witness) {
        if held.0 != acquired.0 {
            let edge = Edge { held: held.0, held_mode: held.1, acquired: acquired.0, acquired_mode: acquired.1 };
            self.edges.push((edge, witness));
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

/// One function, while its edges are collected.
struct Local<'a> {
    facts: &'a OrderFacts<'a>,
    placements: &'a Placements,
    function: FunctionId,
    injected: &'a BTreeMap<VariableId, &'a Placement>,
}

/// When, in the course of a node, something is held.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moment {
    Arriving,
    Running,
}

impl Local<'_> {
    fn edges(&self, graph: &mut Found) {
        let steps = &self.facts.locks.steps[self.function.index()];
        let mut known = BTreeMap::new();
        for at in self.facts.flows[self.function.index()].nodes() {
            self.injected_edges(at, graph, &mut known);
            if let Some(&LockStep::Take(lock, mode)) = steps.get(&at) {
                for (origin, held_mode) in self.held(at, Moment::Running) {
                    let witness = Witness { function: self.function, from: origin.from, at };
                    graph.add((origin.lock, held_mode), (LockKey::Program(lock), mode), witness);
                }
            }
            self.call_edges(at, graph, &mut known);
        }
    }

    /// What the injected acquisitions before a node wait for.
    fn injected_edges(&self, at: NodeId, graph: &mut Found, known: &mut Known) {
        for (&variable, placement) in self.injected {
            let Some(acquire) = placement.acquires.get(&at) else { continue };
            let acquired = (LockKey::Injected(variable), acquire.mode);
            for (origin, mode) in self.held(at, Moment::Arriving) {
                if !self.surely_held(&origin, variable, acquire.mode, (at, Moment::Arriving), known) {
                    let witness = Witness { function: self.function, from: origin.from, at };
                    graph.add((origin.lock, mode), acquired, witness);
                }
            }
        }
    }

    /// What calls into the program may wait for.
    fn call_edges(&self, at: NodeId, graph: &mut Found, known: &mut Known) {
        let callees = self.facts.calls.from_node(self.function, at);
        if callees.is_empty() {
            return;
        }
        let held = self.held(at, Moment::Running);
        if held.is_empty() {
            return;
        }
        let mut acquired: BTreeMap<LockKey, Mode> = BTreeMap::new();
        for callee in callees {
            let program = self.facts.locks.summaries[callee.index()].acquires.iter();
            let program = program.map(|(&lock, &mode)| (LockKey::Program(lock), mode));
            let injected = self.placements.may_acquire[callee.index()].iter().map(|(&v, &mode)| (LockKey::Injected(v), mode));
            for (lock, mode) in program.chain(injected) {
                let known = acquired.entry(lock).or_insert(mode);
                *known = (*known).max(mode);
            }
        }
        for (origin, held_mode) in held {
            for (lock, &mode) in &acquired {
                let surely = match lock {
                    LockKey::Injected(variable) => self.surely_held(&origin, *variable, mode, (at, Moment::Running), known),
                    LockKey::Program(_) => false,
                };
                if !surely {
                    let witness = Witness { function: self.function, from: origin.from, at };
                    graph.add((origin.lock, held_mode), (*lock, mode), witness);
                }
            }
        }
    }

    /// Everything that may be held at a moment, as far as this function and its callees took it.
    fn held(&self, at: NodeId, moment: Moment) -> Vec<(Origin, Mode)> {
        let mut found = Vec::new();
        for (&variable, placement) in self.injected {
            for (&from, strength) in holds(placement, at, moment).into_iter().flat_map(|holds| &holds.labels) {
                found.push((Origin { lock: LockKey::Injected(variable), from }, strength.most));
            }
        }
        for (&(lock, from), &mode) in self.facts.locks.arriving[self.function.index()].get(&at).into_iter().flatten() {
            found.push((Origin { lock: LockKey::Program(lock), from }, mode));
        }
        found
    }

    /// Whether, on all paths on which `origin` is held at a moment, `variable`'s lock is held in at least `mode`.
    fn surely_held(&self, origin: &Origin, variable: VariableId, mode: Mode, (at, moment): (NodeId, Moment), known: &mut Known) -> bool {
        let Some(placement) = self.injected.get(&variable) else { return false };
        let strong = |holds: &Holds| !holds.none && holds.labels.values().all(|strength| strength.least >= mode);
        // Most questions need no second look: held on all paths, or on none.
        match holds(placement, at, moment) {
            None => return false,
            Some(holds) if strong(holds) => return true,
            Some(_) => {}
        }
        let along = known.entry((*origin, variable)).or_insert_with(|| {
            let within = region(self.facts, self.function, self.injected, origin);
            follow_along(&self.facts.flows[self.function.index()], placement, origin.from, &within)
        });
        let holds = match moment {
            Moment::Arriving => along.0.get(&at),
            Moment::Running => along.1.get(&at),
        };
        holds.is_some_and(strong)
    }
}

type Known = BTreeMap<(Origin, VariableId), (BTreeMap<NodeId, Holds>, BTreeMap<NodeId, Holds>)>;

fn holds(placement: &Placement, at: NodeId, moment: Moment) -> Option<&Holds> {
    match moment {
        Moment::Arriving => placement.arriving.get(&at),
        Moment::Running => placement.running.get(&at),
    }
}

/// The nodes at which control may arrive with `origin` held.
#[must_use]
pub fn region(facts: &OrderFacts<'_>, function: FunctionId, injected: &BTreeMap<VariableId, &Placement>, origin: &Origin) -> Set<NodeId> {
    match &origin.lock {
        LockKey::Injected(variable) => {
            let arriving = injected.get(variable).into_iter().flat_map(|placement| &placement.arriving);
            arriving.filter(|(_, holds)| holds.labels.contains_key(&origin.from)).map(|(&node, _)| node).collect()
        }
        LockKey::Program(lock) => {
            let key = (*lock, origin.from);
            facts.locks.arriving[function.index()].iter().filter(|(_, held)| held.contains_key(&key)).map(|(&node, _)| node).collect()
        }
    }
}
