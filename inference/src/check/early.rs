//! What runs before any thread is started, as the checker finds it: forward, from what may run while other threads do.
//!
//! Late are functions that anything may call (their address is taken, nothing in the program calls them, or they are left alone), what comes
//! behind a call that may start a thread, and whatever late code calls. If the program has code that is not known, or may start
//! threads before `main`, all of it is late.

use std::collections::BTreeSet;

use model::external::starts_no_thread;
use model::ids::NodeId;
use model::program::{Callee, Function, Node, NodeKind, Program};

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
        let starters = self.starters();
        let outside = |f: usize| functions[f].refused.is_some() || self.program.taken.contains(&functions[f].call_name());
        let called: BTreeSet<usize> = (0..functions.len()).flat_map(|f| self.effects.called_by(f)).collect();
        let spoilt = !self.program.uncovered.is_empty()
            || functions.iter().filter(|function| is_main(function)).count() > 1
            || called.contains(&main)
            || outside(main)
            || (0..functions.len()).any(|f| outside(f) && is_like_a_constructor(&functions[f]) && starters.contains(&f));
        if spoilt {
            return None;
        }
        // What may run late, function and node; a late function is late as a whole.
        let mut late: BTreeSet<(usize, NodeId)> = BTreeSet::new();
        let mut known: BTreeSet<usize> = BTreeSet::new();
        let mut whole: Vec<usize> = (0..functions.len()).filter(|&f| f != main && (outside(f) || !called.contains(&f))).collect();
        let mut work: Vec<(usize, NodeId)> = Vec::new();
        for (f, function) in functions.iter().enumerate() {
            let nodes = function.nodes.iter().enumerate().filter(|(n, node)| self.starts(f, NodeId::new(*n), node, &starters));
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
        Some(all.filter(|&(f, at)| !late.contains(&(f, at)) && !self.starts(f, at, functions[f].node(at), &starters)).collect())
    }

    /// Functions of which a call may start a thread.
    fn starters(&self) -> BTreeSet<usize> {
        let functions = &self.program.functions;
        let mut callers: Vec<Vec<usize>> = vec![Vec::new(); functions.len()];
        for f in 0..functions.len() {
            self.effects.called_by(f).for_each(|callee| callers[callee].push(f));
        }
        let own = |f: &usize| functions[*f].refused.is_some() || functions[*f].nodes.iter().any(|node| self.starts_itself(node));
        let mut work: Vec<usize> = (0..functions.len()).filter(own).collect();
        let mut found = BTreeSet::new();
        while let Some(f) = work.pop() {
            if found.insert(f) {
                work.extend(&callers[f]);
            }
        }
        found
    }

    fn starts(&self, f: usize, at: NodeId, node: &Node, starters: &BTreeSet<usize>) -> bool {
        self.starts_itself(node) || self.effects.targets(f, at).iter().any(|callee| starters.contains(callee))
    }

    /// Whether a node may start a thread by what it calls outside the program, or calls what is not known.
    fn starts_itself(&self, node: &Node) -> bool {
        let NodeKind::Call(call) = &node.kind else { return false };
        match &call.callee {
            Callee::Direct(name) => !self.names.contains(name) && !starts_no_thread(name),
            _ => true,
        }
    }
}

/// By its type: what runs before `main` has no arguments, or those of `main`.
fn is_like_a_constructor(function: &Function) -> bool {
    function.signature.contains("()") || function.signature.contains("(i32")
}
