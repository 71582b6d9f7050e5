//! Code that runs before any thread is started: nobody can come between its accesses, so they need no lock.
//!
//! A node of `main` is *early* if no path from the entry to it passes a call that may start a thread; a node of another function is, if
//! the same holds within the function and every call of the function stands at an early node. What may start a thread: the functions
//! that do, whatever calls them, every call through a pointer, inline assembly, and external functions that are not known to start none
//! (`model::external`). Functions whose address is taken, or that nothing calls, may run at any time.
//!
//! Nothing is early where more may run before `main` than is known: code without bitcode, a function of a constructor's type that may
//! start threads, or a `main` that is called or left alone. Not handled: threads that constructors of shared libraries start.

use model::external::starts_no_thread;
use model::ids::{FunctionId, NodeId};
use model::program::{Call, Callee, Function, NodeKind, Program};

use crate::sets::Set;
use crate::summary::Calls;

/// The early nodes of every function; by default, none is known to be early.
#[derive(Clone, Debug, Default)]
pub struct Early {
    /// By `FunctionId`; empty for functions that may run late.
    nodes: Vec<Set<NodeId>>,
}

impl Early {
    /// Finds them.
    #[must_use]
    pub fn of(program: &Program, calls: &Calls) -> Self {
        let nothing = Self { nodes: vec![Set::default(); program.functions.len()] };
        let Some(main) = main_function(program) else { return nothing };
        let starts = may_start(program, calls);
        if !program.uncovered.is_empty() || constructors(program).any(|function| starts.contains(function)) {
            return nothing;
        }
        let mut callers: Vec<Vec<(FunctionId, NodeId)>> = vec![Vec::new(); program.functions.len()];
        let all = || (0..program.functions.len()).map(FunctionId::new);
        for function in all() {
            for (node, callees) in calls.of_function(function) {
                callees.iter().for_each(|callee| callers[callee.index()].push((function, node)));
            }
        }
        if !callers[main.index()].is_empty() {
            return nothing;
        }
        let mut nodes: Vec<Set<NodeId>> = all().map(|function| before_starts(program, calls, &starts, function)).collect();
        let taken = |function: FunctionId| program.taken.contains(&program.function(function).call_name());
        let mut late: Vec<FunctionId> = all()
            .filter(|&f| {
                let reached = &callers[f.index()];
                f != main && (taken(f) || reached.is_empty() || reached.iter().any(|(by, node)| !nodes[by.index()].contains(*node)))
            })
            .collect();
        // What a late function calls is late as well.
        let mut known: Set<FunctionId> = late.iter().copied().collect();
        while let Some(function) = late.pop() {
            nodes[function.index()] = Set::default();
            for &callee in calls.of_function(function).flat_map(|(_, callees)| callees) {
                if known.insert(callee) {
                    late.push(callee);
                }
            }
        }
        let clear = all().map(|f| nodes[f.index()].iter().filter(|&node| !starting(program, calls, &starts, f, node)).collect());
        Self { nodes: clear.collect() }
    }

    /// Whether a node only runs before any thread is started.
    #[must_use]
    pub fn has(&self, function: FunctionId, node: NodeId) -> bool {
        self.nodes.get(function.index()).is_some_and(|nodes| nodes.contains(node))
    }
}

/// The one `main`, if it is a function like others.
fn main_function(program: &Program) -> Option<FunctionId> {
    let mut found = program.functions.iter().enumerate().filter(|(_, function)| function.name == "main" && !function.local);
    let (index, main) = found.next().filter(|(_, main)| main.refused.is_none() && !program.taken.contains(&main.call_name()))?;
    (found.next().is_none() && !main.nodes.is_empty()).then(|| FunctionId::new(index))
}

/// Functions whose address is taken and which could be constructors by their type: those of no arguments, or of `main`'s.
fn constructors(program: &Program) -> impl Iterator<Item = FunctionId> + '_ {
    let could_be = |function: &Function| {
        let arguments = function.signature.split_once('(').map_or("", |(_, arguments)| arguments);
        program.taken.contains(&function.call_name()) && (arguments.starts_with(')') || arguments.starts_with("i32"))
    };
    program.functions.iter().enumerate().filter(move |(_, function)| could_be(function)).map(|(index, _)| FunctionId::new(index))
}

/// Functions of which a call may start a thread.
fn may_start(program: &Program, calls: &Calls) -> Set<FunctionId> {
    let own = |function: FunctionId| {
        let body = program.function(function);
        body.refused.is_some() || body.nodes.iter().any(|node| matches!(&node.kind, NodeKind::Call(call) if starts_itself(calls, call)))
    };
    let mut found = Set::default();
    // Callees come before callers.
    for component in calls.component_ids() {
        let members = &calls.components()[component.index()];
        let called = calls.component_callees(component).iter().map(|callee| calls.components()[callee.index()][0]);
        if members.iter().any(|&member| own(member)) || called.into_iter().any(|callee| found.contains(callee)) {
            for &member in members {
                found.insert(member);
            }
        }
    }
    found
}

/// Whether a call may start a thread, whatever the functions of the program do that it reaches.
fn starts_itself(calls: &Calls, call: &Call) -> bool {
    match &call.callee {
        Callee::Direct(name) => !calls.is_defined(name) && !starts_no_thread(name),
        Callee::Indirect(_) | Callee::OneOf(_) | Callee::Assembly => true,
    }
}

/// Whether a node may start a thread.
fn starting(program: &Program, calls: &Calls, starts: &Set<FunctionId>, function: FunctionId, node: NodeId) -> bool {
    let itself = matches!(&program.function(function).node(node).kind, NodeKind::Call(call) if starts_itself(calls, call));
    itself || calls.from_node(function, node).iter().any(|&callee| starts.contains(callee))
}

/// The nodes of a function that no call which may start a thread comes before.
fn before_starts(program: &Program, calls: &Calls, starts: &Set<FunctionId>, function: FunctionId) -> Set<NodeId> {
    let body = program.function(function);
    if body.refused.is_some() {
        return Set::default();
    }
    let all = || (0..body.nodes.len()).map(NodeId::new);
    let mut after: Set<NodeId> = Set::default();
    let starters = all().filter(|&node| starting(program, calls, starts, function, node));
    let mut work: Vec<NodeId> = starters.flat_map(|node| body.node(node).successors.iter().copied()).collect();
    while let Some(node) = work.pop() {
        if after.insert(node) {
            work.extend(&body.node(node).successors);
        }
    }
    all().filter(|&node| !after.contains(node)).collect()
}
