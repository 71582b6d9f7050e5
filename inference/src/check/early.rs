//! What runs before any thread is started, as the checker finds it: forward, from what may run while other threads do.
//!
//! Late are functions that anything may call (their address is taken, nothing in the program calls them, they have a library function's name, or
//! they are left alone), what comes behind a call that may start a thread, and whatever late code calls. If the program has code that is not
//! known, or may start threads before `main`, all of it is late.

use std::collections::BTreeSet;

use model::external::{is_of_libraries, sets_signal_handler, starts_no_thread};
use model::ids::NodeId;
use model::program::{Callee, Function, Gap, Node, NodeKind, Program};

use super::calls::Effects;

/// The nodes, by index of the function, that only run before any thread is started.
#[derive(Clone, Debug, Default)]
pub struct Early(BTreeSet<(usize, NodeId)>);

impl Early {
    /// Finds them.
    #[must_use]
    pub fn of(program: &Program, effects: &Effects) -> Self {
        let search = Search { program, effects, names: program.functions.iter().map(Function::call_name).collect() };
        search.early().map(Self).unwrap_or_default()
    }

    /// Whether a node is one of them.
    #[must_use]
    pub fn has(&self, function: usize, node: NodeId) -> bool {
        self.0.contains(&(function, node))
    }
}

struct Search<'a> {
    program: &'a Program,
    effects: &'a Effects,
    names: BTreeSet<String>,
}

impl Search<'_> {
    fn early(&self) -> Option<BTreeSet<(usize, NodeId)>> {
        let functions = &self.program.functions;
        let is_main = |function: &Function| function.name == "main" && !function.local;
        let main = functions.iter().position(is_main)?;
        let named = |names: &BTreeSet<String>, f: usize| names.contains(&functions[f].call_name());
        let first = |f: usize| named(&self.program.constructors, f);
        let mut starters = self.starters(Signals::Harmless);
        let handles = |f: &usize| named(&self.program.taken, *f) && is_like_a_handler(&functions[*f]);
        let signals = if starters.iter().any(handles) { Signals::Start } else { Signals::Harmless };
        if signals == Signals::Start {
            starters = self.starters(signals);
        }
        let outside = |f: usize| {
            functions[f].refused.is_some() || named(&self.program.taken, f) || !functions[f].local && is_of_libraries(&functions[f].name)
        };
        let called: BTreeSet<usize> = (0..functions.len()).flat_map(|f| self.effects.called_by(f)).collect();
        let spoilt = self.program.uncovered.iter().any(|one| one.gap == Gap::Code)
            || self.program.constructors.iter().any(|name| !self.names.contains(name))
            || functions.iter().filter(|function| is_main(function)).count() > 1
            || called.contains(&main)
            || outside(main)
            || starters.iter().any(|&f| first(f));
        if spoilt {
            return None;
        }
        // What may run late, function and node; a late function is late as a whole.
        let mut late: BTreeSet<(usize, NodeId)> = BTreeSet::new();
        let mut known: BTreeSet<usize> = BTreeSet::new();
        let mut whole: Vec<usize> =
            (0..functions.len()).filter(|&f| outside(f) || !called.contains(&f) && f != main && !first(f)).collect();
        let mut work: Vec<(usize, NodeId)> = Vec::new();
        for (f, function) in functions.iter().enumerate() {
            let nodes = function.nodes.iter().enumerate().filter(|(n, node)| self.starts(f, NodeId::new(*n), node, &starters, signals));
            work.extend(nodes.flat_map(|(_, node)| node.successors.iter().map(move |&to| (f, to))));
        }
        loop {
            while let Some(f) = whole.pop() {
                if known.insert(f) {
                    work.extend((0..functions[f].nodes.len()).map(|n| (f, NodeId::new(n))));
                }
            }
            let Some((f, at)) = work.pop() else { break };
            if late.insert((f, at)) {
                work.extend(functions[f].node(at).successors.iter().map(|&to| (f, to)));
                whole.extend(self.effects.targets(f, at));
            }
        }
        let all = functions.iter().enumerate().flat_map(|(f, function)| (0..function.nodes.len()).map(move |n| (f, NodeId::new(n))));
        Some(all.filter(|&(f, at)| !late.contains(&(f, at)) && !self.starts(f, at, functions[f].node(at), &starters, signals)).collect())
    }

    /// Functions of which a call may start a thread.
    fn starters(&self, signals: Signals) -> BTreeSet<usize> {
        let functions = &self.program.functions;
        let mut callers: Vec<Vec<usize>> = vec![Vec::new(); functions.len()];
        for f in 0..functions.len() {
            self.effects.called_by(f).for_each(|callee| callers[callee].push(f));
        }
        let own = |f: &usize| functions[*f].nodes.iter().enumerate().any(|(n, node)| self.starts_itself(*f, NodeId::new(n), node, signals));
        let mut work: Vec<usize> = (0..functions.len()).filter(own).collect();
        let mut found = BTreeSet::new();
        while let Some(f) = work.pop() {
            if found.insert(f) {
                work.extend(&callers[f]);
            }
        }
        found
    }

    fn starts(&self, f: usize, at: NodeId, node: &Node, starters: &BTreeSet<usize>, signals: Signals) -> bool {
        self.starts_itself(f, at, node, signals) || self.effects.targets(f, at).iter().any(|callee| starters.contains(callee))
    }

    /// Whether a node may start a thread by what it calls outside the program, or calls what is not known.
    fn starts_itself(&self, f: usize, at: NodeId, node: &Node, signals: Signals) -> bool {
        let NodeKind::Call(call) = &node.kind else { return false };
        match &call.callee {
            Callee::Direct(name) if self.names.contains(name) => false,
            Callee::Direct(name) => !starts_no_thread(name) || signals == Signals::Start && sets_signal_handler(name),
            // Points-to analysis has found all that it may be.
            Callee::OneOf(_) => self.effects.targets(f, at).is_empty(),
            Callee::Indirect(_) | Callee::Assembly => true,
        }
    }
}

/// Whether a signal may start a thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Signals {
    Harmless,
    Start,
}

/// By its type: a handler of signals has the signal's number, alone or with two pointers.
fn is_like_a_handler(function: &Function) -> bool {
    ["(i32)", "(i32, ptr, ptr)"].iter().any(|arguments| function.signature.ends_with(arguments))
}
