//! Which nodes lead back to a function's caller, as the checker sees it. A wait on the way to the end of the process is not one that the
//! second end of a pair comes after; the runtime gives up what is held there.
//!
//! Not handled: exceptions through libraries of C.

use std::collections::BTreeMap;

use model::external;
use model::ids::NodeId;
use model::program::{Call, Callee, Function, Node, NodeKind, Program};

/// The nodes of all functions that lead back, by index of function and node.
#[derive(Clone, Debug)]
pub(super) struct WaysOut {
    nodes: Vec<Vec<bool>>,
    throws: Vec<bool>,
    /// Whether the program calls anything that throws; if not, no pointer leads there either.
    any_throws: bool,
}

impl WaysOut {
    /// Nothing is known yet of the functions.
    pub(super) fn new(program: &Program) -> Self {
        let may_throw =
            |node: &Node| matches!(&node.kind, NodeKind::Call(Call { callee: Callee::Direct(name), .. }) if external::may_throw(name));
        let any_throws = program.functions.iter().flat_map(|function| &function.nodes).any(may_throw);
        let count = program.functions.len();
        Self { nodes: vec![Vec::new(); count], throws: vec![false; count], any_throws }
    }

    /// Whether the caller may go on after this node.
    pub(super) fn leads_out(&self, function: usize, node: NodeId) -> bool {
        self.nodes[function].get(node.index()).copied().unwrap_or(false)
    }

    /// Looks at a function once more, with what is known of its callees; whether that changed anything.
    pub(super) fn look(&mut self, f: usize, function: &Function, targets: &BTreeMap<NodeId, Vec<usize>>) -> bool {
        let of_node = |n: usize| targets.get(&NodeId::new(n)).map_or(&[][..], Vec::as_slice);
        let throwing = |(n, node): (usize, &Node)| self.throws_at(node, of_node(n));
        let throws = self.throws[f] || function.nodes.iter().enumerate().any(throwing);
        let mut out = vec![false; function.nodes.len()];
        let mut stable = false;
        while !stable {
            stable = true;
            for (n, node) in function.nodes.iter().enumerate().rev() {
                let leaves = matches!(node.kind, NodeKind::Return | NodeKind::Stop) || self.throws_at(node, of_node(n));
                let goes_on = || self.goes_on(node, of_node(n)) && node.successors.iter().any(|to| out[to.index()]);
                if !out[n] && (leaves || goes_on()) {
                    out[n] = true;
                    stable = false;
                }
            }
        }
        let changed = (&out, throws) != (&self.nodes[f], self.throws[f]);
        self.nodes[f] = out;
        self.throws[f] = throws;
        changed
    }

    fn throws_at(&self, node: &Node, targets: &[usize]) -> bool {
        let NodeKind::Call(call) = &node.kind else { return false };
        let unknown = || match &call.callee {
            Callee::Direct(name) => external::may_throw(name),
            Callee::Indirect(_) | Callee::OneOf(_) => self.any_throws,
            Callee::Assembly => false,
        };
        if targets.is_empty() { unknown() } else { targets.iter().any(|&callee| self.throws[callee]) }
    }

    fn goes_on(&self, node: &Node, targets: &[usize]) -> bool {
        let NodeKind::Call(call) = &node.kind else { return true };
        let ends = matches!(&call.callee, Callee::Direct(name) if external::ends_the_process(name));
        let comes_back =
            targets.is_empty() || !call.calls_back.is_empty() || targets.iter().any(|&callee| self.leads_out(callee, NodeId(0)));
        !ends && comes_back
    }
}
