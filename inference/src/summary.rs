//! Phase 2: what a call may do, transitively, over the strongly connected components of the call graph.
//!
//! An indirect call may reach what points-to analysis found (`indirect`), else every function of the type that it names whose address is
//! taken. Not handled: calls back into the program by libraries that `points_to` knows nothing of; they are taken to do nothing.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use model::external::{Blocking, SyncOp};
use model::ids::{FunctionId, NodeId, VariableId};
use model::pair::Rw;
use model::program::{Call, Callee, NodeKind, Program};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::access::{Accesses, NodeAccess};
use crate::by_node::ByNode;
use crate::reach::{Reach, Slot};
use crate::sets::Set;

/// Who calls whom.
#[derive(Clone, Debug)]
pub struct Calls {
    /// The functions of the program, as calls name them.
    defined: BTreeSet<String>,
    callees: ByNode<FunctionId>,
    /// Components of functions that call each other, callees before callers.
    components: Vec<Vec<FunctionId>>,
    /// By `FunctionId`.
    component_of: Vec<ComponentId>,
    /// The other components that each component calls, sorted, one component's after the other's.
    component_callees: Vec<ComponentId>,
    /// By `ComponentId`: where its part of `component_callees` ends.
    callees_end: Vec<usize>,
}

/// Functions that call each other, by their place in `Calls::components`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ComponentId(u32);

impl ComponentId {
    fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("fewer than 2^32 functions"))
    }

    /// The index into `Calls::components`.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What one call of a function may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Why it may wait for another thread or a peer and then return, if it may.
    pub blocks: Option<String>,
}

impl Calls {
    /// The call graph of `program`.
    #[must_use]
    pub fn of(program: &Program) -> Self {
        let mut by_name: BTreeMap<String, Vec<FunctionId>> = BTreeMap::new();
        let mut by_signature: BTreeMap<&str, Vec<FunctionId>> = BTreeMap::new();
        for (f, function) in program.functions.iter().enumerate() {
            by_name.entry(function.call_name()).or_default().push(FunctionId::new(f));
            if program.taken.contains(&function.call_name()) {
                by_signature.entry(&function.signature).or_default().push(FunctionId::new(f));
            }
        }
        let named =
            |names: &[String]| -> Vec<FunctionId> { names.iter().filter_map(|name| by_name.get(name)).flatten().copied().collect() };
        let reached = |call: &Call| match &call.callee {
            _ if !call.calls_back.is_empty() => named(&call.calls_back),
            Callee::Direct(name) => by_name.get(name.as_str()).cloned().unwrap_or_default(),
            Callee::Indirect(signature) => by_signature.get(signature.as_str()).cloned().unwrap_or_default(),
            Callee::OneOf(names) => named(names),
            Callee::Assembly => Vec::new(),
        };
        let mut callees = ByNode::new();
        for function in &program.functions {
            let calls = function.nodes.iter().enumerate().filter_map(|(n, node)| match &node.kind {
                NodeKind::Call(call) => Some((NodeId::new(n), reached(call))),
                _ => None,
            });
            callees.push(calls);
        }
        Self::between(by_name.into_keys().collect(), callees)
    }

    /// The same without some of the calls.
    #[must_use]
    pub fn without(&self, is_left_out: impl Fn(FunctionId, NodeId) -> bool) -> Self {
        let mut kept = ByNode::new();
        for function in (0..self.callees.len()).map(FunctionId::new) {
            let calls = self.callees.of_function(function).filter(|(node, _)| !is_left_out(function, *node));
            kept.push(calls.map(|(node, callees)| (node, callees.iter().copied())));
        }
        Self::between(self.defined.clone(), kept)
    }

    fn between(defined: BTreeSet<String>, callees: ByNode<FunctionId>) -> Self {
        let components = components(&callees);
        let mut component_of = vec![ComponentId(0); callees.len()];
        for (c, component) in components.iter().enumerate() {
            for function in component {
                component_of[function.index()] = ComponentId::new(c);
            }
        }
        let outside = |(c, component): (usize, &Vec<FunctionId>)| {
            let called = component.iter().flat_map(|&function| callees.items_of(function));
            let mut outside: Vec<ComponentId> = called.map(|callee| component_of[callee.index()]).collect();
            outside.sort_unstable();
            outside.dedup();
            outside.retain(|callee| callee.index() != c);
            outside
        };
        // One row for all, since passes over the call graph are many.
        let (mut component_callees, mut callees_end) = (Vec::new(), Vec::new());
        for called in components.iter().enumerate().map(outside) {
            component_callees.extend(called);
            callees_end.push(component_callees.len());
        }
        Self { defined, callees, components, component_of, component_callees, callees_end }
    }

    /// Whether a direct call of this name calls a function of the program.
    #[must_use]
    pub fn is_defined(&self, name: &str) -> bool {
        self.defined.contains(name)
    }

    /// The functions of the program that a node may call.
    #[must_use]
    pub fn from_node(&self, function: FunctionId, node: NodeId) -> &[FunctionId] {
        self.callees.of_node(function, node)
    }

    /// The calls of a function into the program.
    pub fn of_function(&self, function: FunctionId) -> impl Iterator<Item = (NodeId, &[FunctionId])> {
        self.callees.of_function(function)
    }

    /// The ids of all functions.
    pub fn functions(&self) -> impl Iterator<Item = FunctionId> + use<> {
        (0..self.callees.len()).map(FunctionId::new)
    }

    /// Functions that call each other, callees before callers.
    #[must_use]
    pub fn components(&self) -> &[Vec<FunctionId>] {
        &self.components
    }

    /// The ids of the components, callees before callers.
    pub fn component_ids(&self) -> impl Iterator<Item = ComponentId> + use<> {
        (0..self.components.len()).map(ComponentId::new)
    }

    /// The component of a function.
    #[must_use]
    pub fn component_of(&self, function: FunctionId) -> ComponentId {
        self.component_of[function.index()]
    }

    /// The other components that a component calls, sorted.
    #[must_use]
    pub fn component_callees(&self, component: ComponentId) -> &[ComponentId] {
        let start = component.index().checked_sub(1).map_or(0, |before| self.callees_end[before]);
        &self.component_callees[start..self.callees_end[component.index()]]
    }

    /// The functions of which something holds, and those that may call one of them, directly or not.
    #[must_use]
    pub fn reaching(&self, own: impl Fn(FunctionId) -> bool) -> Set<FunctionId> {
        let mut found = Set::default();
        // Callees come before callers.
        for component in self.component_ids() {
            let members = &self.components[component.index()];
            let mut called = self.component_callees(component).iter().map(|callee| self.components[callee.index()][0]);
            if members.iter().any(|&member| own(member)) || called.any(|callee| found.contains(callee)) {
                members.iter().for_each(|&member| {
                    found.insert(member);
                });
            }
        }
        found
    }

    /// Whether a function may call itself directly.
    #[must_use]
    pub fn calls_itself(&self, function: FunctionId) -> bool {
        self.callees.items_of(function).contains(&function)
    }
}

fn components(callees: &ByNode<FunctionId>) -> Vec<Vec<FunctionId>> {
    let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(callees.len(), 0);
    let indices: Vec<NodeIndex> = (0..callees.len()).map(|_| graph.add_node(())).collect();
    for caller in 0..callees.len() {
        let mut reached = callees.items_of(FunctionId::new(caller)).to_vec();
        reached.sort_unstable();
        reached.dedup();
        for callee in reached {
            graph.add_edge(indices[caller], indices[callee.index()], ());
        }
    }
    // Kosaraju's algorithm, since it does not recurse; it lists callees before callers.
    kosaraju_scc(&graph)
        .into_iter()
        .map(|component| {
            let mut functions: Vec<FunctionId> = component.into_iter().map(|index| FunctionId::new(index.index())).collect();
            functions.sort_unstable();
            functions
        })
        .collect()
}

/// The summary of every function, indexed by `FunctionId`, as `returning` is (`ends`).
#[must_use]
pub fn summaries(program: &Program, calls: &Calls, returning: &[Set<NodeId>]) -> Vec<Summary> {
    let mut all = vec![Summary::default(); program.functions.len()];
    let mut callers: Vec<Vec<FunctionId>> = vec![Vec::new(); all.len()];
    let mut work = VecDeque::new();
    for (f, function) in program.functions.iter().enumerate() {
        let id = FunctionId::new(f);
        // What waits elsewhere, or calls what waits, does not come back.
        for node in returning[f].iter() {
            calls.from_node(id, node).iter().for_each(|callee| callers[callee.index()].push(id));
            if let (NodeKind::Call(call), None) = (&function.node(node).kind, &all[f].blocks) {
                all[f].blocks = waits(call).map(|what| format!("{what} in {}", function.name));
            }
        }
        work.extend(all[f].blocks.as_ref().map(|_| id));
    }
    while let Some(function) = work.pop_front() {
        let why = all[function.index()].blocks.clone();
        for caller in &callers[function.index()] {
            if all[caller.index()].blocks.is_none() {
                all[caller.index()].blocks.clone_from(&why);
                work.push_back(*caller);
            }
        }
    }
    all
}

/// How memory is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// It is read, updates included.
    Reads,
    /// It is written, updates included.
    Writes,
}

impl Touch {
    /// Whether an access is such. To give an object back is neither: nobody finds another value in it.
    #[must_use]
    pub fn is(self, access: &NodeAccess) -> bool {
        let kind = match self {
            Self::Reads => access.rw != Rw::Write,
            Self::Writes => access.rw.writes(),
        };
        kind && !access.ends
    }
}

/// Which functions may read, or write, some variables, themselves or through calls; asked in the order of variables, it is computed piece by
/// piece (`reach`).
#[derive(Clone, Debug)]
pub struct Touching<'a> {
    how: Touch,
    calls: &'a Calls,
    /// The variables, sorted.
    about: Vec<VariableId>,
    /// Places in `about` with the functions that do so themselves, sorted.
    direct: Vec<(usize, FunctionId)>,
    piece: Option<(usize, Reach<'a>)>,
}

impl<'a> Touching<'a> {
    /// Collects who does so itself to one of the variables `about`.
    #[must_use]
    pub fn of(calls: &'a Calls, accesses: &Accesses, how: Touch, about: &Set<VariableId>) -> Self {
        let about: Vec<VariableId> = about.iter().collect();
        let mut direct = Vec::new();
        for function in calls.functions() {
            let touched = accesses.of_function(function).filter(|(_, access)| how.is(access));
            direct.extend(touched.filter_map(|(_, access)| Some((about.binary_search(&access.variable).ok()?, function))));
        }
        direct.sort_unstable();
        direct.dedup();
        Self { how, calls, about, direct, piece: None }
    }

    /// Which way of touching.
    #[must_use]
    pub fn how(&self) -> Touch {
        self.how
    }

    /// Whether a call of any of `callees` may touch `variable`, one of those that were asked about, so.
    pub fn any_may(&mut self, callees: &[FunctionId], variable: VariableId) -> bool {
        if callees.is_empty() {
            return false;
        }
        let Ok(index) = self.about.binary_search(&variable) else {
            debug_assert!(false, "{variable} was not asked about");
            return true;
        };
        let piece = index / Slot::COUNT;
        let reach = match self.piece.take() {
            Some((known, reach)) if known == piece => reach,
            _ => self.reach(piece),
        };
        let may = callees.iter().any(|&callee| reach.has(callee, Slot::of(index)));
        self.piece = Some((piece, reach));
        may
    }

    fn reach(&self, piece: usize) -> Reach<'a> {
        let mut reach = Reach::new(self.calls);
        let before = |end: usize| self.direct.partition_point(|&(index, _)| index < end);
        for &(index, function) in &self.direct[before(piece * Slot::COUNT)..before((piece + 1) * Slot::COUNT)] {
            reach.add(function, Slot::of(index));
        }
        reach.close();
        reach
    }
}

/// What a call itself waits for, if it waits for another thread or a peer.
#[must_use]
pub fn waits(call: &Call) -> Option<String> {
    let waiting = matches!(call.sync, Some((SyncOp::Wait | SyncOp::Join | SyncOp::Meet, _)));
    (waiting || call.blocking == Some(Blocking::Peer)).then(|| match &call.callee {
        Callee::Direct(name) => name.clone(),
        Callee::Indirect(_) | Callee::OneOf(_) => "an indirect call".to_owned(),
        Callee::Assembly => "inline assembly".to_owned(),
    })
}
