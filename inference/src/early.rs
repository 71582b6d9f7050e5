//! Code that runs before any thread is started: nobody can come between its accesses, so they need no lock.
//!
//! `main` and constructors begin early. A node of theirs is *early* if no path from the entry to it passes a call that may start a thread; a
//! node of another function is, if the same holds within the function and every call of the function stands at an early node. What may
//! start a thread: the functions that do, whatever calls them, calls through a pointer of which nothing is known, inline assembly, external
//! functions that are not known to start none (`model::external`), and what sets a handler of signals, if a handler could. Functions whose
//! address is taken, that nothing calls, that have the name of a library's, or that are left alone may run at any time.
//!
//! Nothing is early where more may run before `main` than is known: code of the program without bitcode, a constructor that may
//! start threads, or a `main` that is called or left alone. Not handled: threads that constructors of shared libraries start, and functions
//! that a library calls by name although it is not one of its own.

use std::collections::BTreeSet;

use model::external::{is_of_libraries, sets_signal_handler, starts_no_thread};
use model::ids::{FunctionId, NodeId};
use model::program::{Call, Callee, Function, Gap, NodeKind, Program};

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
        let Some(main) = main_function(program, calls) else { return nothing };
        let starts = Starts::of(program, calls);
        let all = || (0..program.functions.len()).map(FunctionId::new);
        let constructors: Set<FunctionId> = all().filter(|&f| program.constructors.contains(&program.function(f).call_name())).collect();
        if constructors.iter().any(|constructor| starts.functions.contains(constructor)) {
            return nothing;
        }
        let is_entry = |f: FunctionId| f == main || constructors.contains(f);
        let mut callers: Vec<Vec<(FunctionId, NodeId)>> = vec![Vec::new(); program.functions.len()];
        for function in all() {
            for (node, callees) in calls.of_function(function) {
                callees.iter().for_each(|callee| callers[callee.index()].push((function, node)));
            }
        }
        let mut nodes: Vec<Set<NodeId>> = all().map(|function| starts.before(function)).collect();
        let mut late: Vec<FunctionId> = all()
            .filter(|&f| {
                let reached = &callers[f.index()];
                let is_reached_late = reached.iter().any(|(by, node)| !nodes[by.index()].contains(*node));
                is_open(program, f) || (reached.is_empty() && !is_entry(f)) || is_reached_late
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
        let clear = all().map(|f| nodes[f.index()].iter().filter(|&node| !starts.at(f, node)).collect());
        Self { nodes: clear.collect() }
    }

    /// Whether a node only runs before any thread is started.
    #[must_use]
    pub fn has(&self, function: FunctionId, node: NodeId) -> bool {
        self.nodes.get(function.index()).is_some_and(|nodes| nodes.contains(node))
    }
}

/// The one `main`, if it is a function like others and it is known what runs before it.
fn main_function(program: &Program, calls: &Calls) -> Option<FunctionId> {
    let mut found = program.functions.iter().enumerate().filter(|(_, function)| function.name == "main" && !function.local);
    let (index, main) = found.next().filter(|(_, main)| main.refused.is_none() && !main.nodes.is_empty())?;
    let id = FunctionId::new(index);
    let all = (0..program.functions.len()).map(FunctionId::new);
    let is_called = all.flat_map(|f| calls.of_function(f)).any(|(_, callees)| callees.contains(&id));
    let is_whole =
        program.uncovered.iter().all(|one| one.gap != Gap::Code) && program.constructors.iter().all(|name| calls.is_defined(name));
    (found.next().is_none() && !is_called && !program.taken.contains(&main.call_name()) && is_whole).then_some(id)
}

/// Whether code that is not known may call a function at any time.
fn is_open(program: &Program, function: FunctionId) -> bool {
    let body = program.function(function);
    body.refused.is_some() || program.taken.contains(&body.call_name()) || (!body.local && is_of_libraries(&body.name))
}

/// What may start a thread.
struct Starts<'a> {
    program: &'a Program,
    calls: &'a Calls,
    /// Functions of which a call may.
    functions: Set<FunctionId>,
    /// Whether a handler of signals may.
    handlers: bool,
}

impl<'a> Starts<'a> {
    fn of(program: &'a Program, calls: &'a Calls) -> Self {
        let mut starts = Self { program, calls, functions: Set::default(), handlers: false };
        starts.functions = starts.find();
        let starting = starts.functions.iter().map(|function| program.function(function));
        starts.handlers = starting.into_iter().any(|function| could_handle_signals(function, &program.taken));
        if starts.handlers {
            starts.functions = starts.find();
        }
        starts
    }

    fn find(&self) -> Set<FunctionId> {
        self.calls.reaching(|function| {
            let nodes = self.program.function(function).nodes.iter().enumerate();
            let mut calls =
                nodes.filter_map(|(n, node)| if let NodeKind::Call(call) = &node.kind { Some((NodeId::new(n), call)) } else { None });
            calls.any(|(node, call)| self.itself(function, node, call))
        })
    }

    /// Whether a call may start a thread, whatever the functions of the program do that it reaches.
    fn itself(&self, function: FunctionId, node: NodeId, call: &Call) -> bool {
        match &call.callee {
            Callee::Direct(name) if self.calls.is_defined(name) => false,
            Callee::Direct(name) => !starts_no_thread(name) || (self.handlers && sets_signal_handler(name)),
            Callee::OneOf(_) => self.calls.from_node(function, node).is_empty(),
            Callee::Indirect(_) | Callee::Assembly => true,
        }
    }

    /// Whether a node may start a thread.
    fn at(&self, function: FunctionId, node: NodeId) -> bool {
        let itself = matches!(&self.program.function(function).node(node).kind, NodeKind::Call(call) if self.itself(function, node, call));
        itself || self.calls.from_node(function, node).iter().any(|&callee| self.functions.contains(callee))
    }

    /// The nodes of a function that no call which may start a thread comes before.
    fn before(&self, function: FunctionId) -> Set<NodeId> {
        let body = self.program.function(function);
        if body.refused.is_some() {
            return Set::default();
        }
        let all = || (0..body.nodes.len()).map(NodeId::new);
        let mut after: Set<NodeId> = Set::default();
        let mut work: Vec<NodeId> =
            all().filter(|&node| self.at(function, node)).flat_map(|node| body.node(node).successors.iter().copied()).collect();
        while let Some(node) = work.pop() {
            if after.insert(node) {
                work.extend(&body.node(node).successors);
            }
        }
        all().filter(|&node| !after.contains(node)).collect()
    }
}

/// By its type: what handles a signal is given its number, and sometimes more.
fn could_handle_signals(function: &Function, taken: &BTreeSet<String>) -> bool {
    let arguments = function.signature.split_once('(').map_or("", |(_, arguments)| arguments);
    taken.contains(&function.call_name()) && matches!(arguments, "i32)" | "i32, ptr, ptr)")
}
