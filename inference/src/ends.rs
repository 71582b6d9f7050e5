//! From which nodes of a function control may come back to its caller. Elsewhere all ways lead to the end of the process (an error is
//! printed, threads are joined, `exit` is called): what waits there waits inside no pair, since the pair's second end is never reached.
//!
//! Nor need anything be held there: before a call of a function that never comes back the thread gives up its injected locks, so the lock order
//! does not count what such a function takes (`endings`).
//!
//! Not handled: C++ exceptions that pass through libraries of C, and conditions that make an error path impossible or certain.

use std::collections::BTreeSet;

use model::external::{self, SyncOp};
use model::ids::{FunctionId, NodeId};
use model::program::{Call, Callee, Node, NodeKind, Program};

use crate::sets::Set;
use crate::summary::Calls;

/// For each function, the nodes that control may pass on its way back to the caller, by return or by an exception.
#[must_use]
pub fn returning(program: &Program, calls: &Calls) -> Vec<Set<NodeId>> {
    let throws = throwing(program, calls);
    let mut all = vec![Set::default(); program.functions.len()];
    for component in calls.components() {
        // What none is known to return from does not return: of functions that call each other, the least solution.
        let mut stable = false;
        while !stable {
            stable = true;
            for &function in component {
                let now = of_function(program, calls, function, &all, &throws);
                stable &= now == all[function.index()];
                all[function.index()] = now;
            }
        }
    }
    all
}

/// The functions, as calls name them, that are called by name, never come back, and may take one of the program's locks or `touch` what is
/// protected.
#[must_use]
pub fn endings(program: &Program, calls: &Calls, returning: &[Set<NodeId>], touch: impl Fn(FunctionId) -> bool) -> BTreeSet<String> {
    let takes = |node: &Node| matches!(call_of(&node.kind), Some(Call { sync: Some((SyncOp::Lock | SyncOp::ReadLock, _)), .. }));
    let minding = calls.reaching(|function| touch(function) || program.function(function).nodes.iter().any(takes));
    let all = program.functions.iter().enumerate().map(|(f, function)| (FunctionId::new(f), function));
    let (mut ending, mut coming_back): (BTreeSet<String>, BTreeSet<String>) = Default::default();
    for (f, function) in all {
        if returning[f.index()].contains(NodeId(0)) {
            coming_back.insert(function.call_name());
        } else if minding.contains(f) && !function.nodes.is_empty() {
            ending.insert(function.call_name());
        }
    }
    let nodes = program.functions.iter().flat_map(|function| &function.nodes);
    let called = nodes.filter_map(|node| if let Callee::Direct(name) = &call_of(&node.kind)?.callee { Some(name) } else { None });
    called.filter(|name| ending.contains(*name) && !coming_back.contains(*name)).cloned().collect()
}

/// Whether a node calls one of these.
#[must_use]
pub fn is_ending(program: &Program, endings: &BTreeSet<String>, function: FunctionId, node: NodeId) -> bool {
    let call = call_of(&program.function(function).node(node).kind);
    call.is_some_and(|call| matches!(&call.callee, Callee::Direct(name) if endings.contains(name)))
}

/// The functions that an exception may leave. In a program that calls nothing of C++, no pointer leads to what throws.
fn throwing(program: &Program, calls: &Calls) -> Set<FunctionId> {
    let all_calls = || program.functions.iter().flat_map(|function| &function.nodes).filter_map(|node| call_of(&node.kind));
    if !all_calls().any(|call| matches!(&call.callee, Callee::Direct(name) if external::may_throw(name))) {
        return Set::default();
    }
    let nothing = Set::default();
    calls.reaching(|function| {
        let nodes = program.function(function).nodes.iter().enumerate();
        let mut calls_of = nodes.filter_map(|(n, node)| Some((NodeId::new(n), call_of(&node.kind)?)));
        calls_of.any(|(node, call)| throws_at(calls, function, node, call, &nothing))
    })
}

fn call_of(kind: &NodeKind) -> Option<&Call> {
    if let NodeKind::Call(call) = kind { Some(call) } else { None }
}

/// Whether an exception may come out of a call.
fn throws_at(calls: &Calls, function: FunctionId, node: NodeId, call: &Call, throws: &Set<FunctionId>) -> bool {
    let targets = calls.from_node(function, node);
    let outside = || match &call.callee {
        Callee::Direct(name) => external::may_throw(name),
        Callee::Indirect(_) | Callee::OneOf(_) => true,
        Callee::Assembly => false,
    };
    if targets.is_empty() { outside() } else { targets.iter().any(|&callee| throws.contains(callee)) }
}

fn of_function(program: &Program, calls: &Calls, function: FunctionId, all: &[Set<NodeId>], throws: &Set<FunctionId>) -> Set<NodeId> {
    let body = program.function(function);
    let returns = |callee: &FunctionId| all[callee.index()].contains(NodeId(0));
    let ends = |node: NodeId, call: &Call| {
        let targets = calls.from_node(function, node);
        let named = matches!(&call.callee, Callee::Direct(name) if external::ends_the_process(name));
        named || (call.calls_back.is_empty() && !targets.is_empty() && !targets.iter().any(returns))
    };
    let leaves = |node: NodeId, call: &Call| throws.contains(function) && throws_at(calls, function, node, call, throws);
    let mut predecessors = vec![Vec::new(); body.nodes.len()];
    let mut found = Set::default();
    let mut work = Vec::new();
    for (n, node) in body.nodes.iter().enumerate() {
        let at = NodeId::new(n);
        let (passes, leaves) = match &node.kind {
            NodeKind::Call(call) => (!ends(at, call), leaves(at, call)),
            NodeKind::Return | NodeKind::Stop => (false, true),
            NodeKind::Block | NodeKind::Access(_) => (true, false),
        };
        if passes {
            node.successors.iter().for_each(|to| predecessors[to.index()].push(at));
        }
        if leaves {
            work.push(at);
        }
    }
    while let Some(node) = work.pop() {
        if found.insert(node) {
            work.extend(&predecessors[node.index()]);
        }
    }
    found
}
