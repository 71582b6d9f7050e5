//! Phase 2: what a call may do, transitively, over the strongly connected components of the call graph.
//!
//! An indirect call may reach every function of the type that it names whose address is taken. Not handled: calls that library code makes back
//! into the program (`qsort`'s comparison); they are taken to do nothing.

use std::collections::BTreeMap;

use model::external::{Blocking, SyncOp};
use model::ids::{FunctionId, NodeId, VariableId};
use model::program::{Call, Callee, NodeKind, Program};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::access::Accesses;
use crate::sets::Set;

/// Who calls whom.
#[derive(Clone, Debug)]
pub struct Calls {
    callees: Vec<BTreeMap<NodeId, Vec<FunctionId>>>,
    /// Components of functions that call each other, callees before callers.
    components: Vec<Vec<FunctionId>>,
}

/// What one call of a function may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Variables that it may read.
    pub reads: Set<VariableId>,
    /// Variables that it may write.
    pub writes: Set<VariableId>,
    /// Why it may wait for another thread or a peer, if it may.
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
        let reached = |call: &Call| match &call.callee {
            Callee::Direct(name) => by_name.get(name.as_str()).cloned().unwrap_or_default(),
            Callee::Indirect(signature) => by_signature.get(signature.as_str()).cloned().unwrap_or_default(),
            Callee::Assembly => Vec::new(),
        };
        let callees: Vec<BTreeMap<NodeId, Vec<FunctionId>>> = program
            .functions
            .iter()
            .map(|function| {
                let calls = function.nodes.iter().enumerate().filter_map(|(n, node)| match &node.kind {
                    NodeKind::Call(call) => Some((NodeId::new(n), reached(call))),
                    _ => None,
                });
                calls.filter(|(_, reached)| !reached.is_empty()).collect()
            })
            .collect();
        let components = components(&callees);
        Self { callees, components }
    }

    /// The functions of the program that a node may call.
    #[must_use]
    pub fn from_node(&self, function: FunctionId, node: NodeId) -> &[FunctionId] {
        self.callees[function.index()].get(&node).map_or(&[], Vec::as_slice)
    }

    /// The calls of a function into the program.
    pub fn of_function(&self, function: FunctionId) -> impl Iterator<Item = (NodeId, &[FunctionId])> {
        self.callees[function.index()].iter().map(|(&node, reached)| (node, reached.as_slice()))
    }

    /// Functions that call each other, callees before callers.
    #[must_use]
    pub fn components(&self) -> &[Vec<FunctionId>] {
        &self.components
    }

    /// Whether a function may call itself directly.
    #[must_use]
    pub fn calls_itself(&self, function: FunctionId) -> bool {
        self.callees[function.index()].values().flatten().any(|&callee| callee == function)
    }

    /// Spreads what each function does itself to all who may call it: `spread(into, from)` unites and never shrinks.
    /// `own` is indexed by `FunctionId`.
    pub fn close<T: Clone>(&self, own: Vec<T>, spread: impl Fn(&mut T, &T)) -> Vec<T> {
        let mut all = own;
        for component in &self.components {
            let Some((&first, rest)) = component.split_first() else { continue };
            let mut joint = all[first.index()].clone();
            for &function in rest {
                spread(&mut joint, &all[function.index()]);
            }
            for &function in component {
                for callee in self.callees[function.index()].values().flatten().filter(|callee| !component.contains(callee)) {
                    spread(&mut joint, &all[callee.index()]);
                }
            }
            for &function in component {
                all[function.index()] = joint.clone();
            }
        }
        all
    }
}

fn components(callees: &[BTreeMap<NodeId, Vec<FunctionId>>]) -> Vec<Vec<FunctionId>> {
    let mut graph: DiGraph<(), ()> = DiGraph::new();
    let indices: Vec<NodeIndex> = callees.iter().map(|_| graph.add_node(())).collect();
    for (caller, calls) in callees.iter().enumerate() {
        let mut reached: Vec<FunctionId> = calls.values().flatten().copied().collect();
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

/// The summary of every function, indexed by `FunctionId`.
#[must_use]
pub fn summaries(program: &Program, calls: &Calls, accesses: &Accesses) -> Vec<Summary> {
    let own = program.functions.iter().enumerate().map(|(f, function)| {
        let mut summary = Summary::default();
        for (_, access) in accesses.of_function(FunctionId::new(f)) {
            if access.rw.writes() {
                summary.writes.insert(access.variable);
            } else {
                summary.reads.insert(access.variable);
            }
        }
        summary.blocks = function.nodes.iter().find_map(|node| match &node.kind {
            NodeKind::Call(call) => waits(call).map(|what| format!("{what} in {}", function.name)),
            _ => None,
        });
        summary
    });
    calls.close(own.collect(), |into, from| {
        into.reads.unite(&from.reads);
        into.writes.unite(&from.writes);
        if into.blocks.is_none() {
            into.blocks.clone_from(&from.blocks);
        }
    })
}

/// What a call itself waits for, if it waits for another thread or a peer.
#[must_use]
pub fn waits(call: &Call) -> Option<String> {
    let waiting = matches!(call.sync, Some((SyncOp::Wait | SyncOp::Join | SyncOp::Meet, _)));
    (waiting || call.blocking == Some(Blocking::Peer)).then(|| match &call.callee {
        Callee::Direct(name) => name.clone(),
        Callee::Indirect(_) => "an indirect call".to_owned(),
        Callee::Assembly => "inline assembly".to_owned(),
    })
}
