//! Which nodes access which variables, and how surely.
//!
//! Only an instruction that certainly touches the one instance of its variable is a *must* access; calls of library
//! functions, heap classes, array elements and merged variables are *may* accesses. Lemma 1 of seed 002 needs the
//! difference: a may access never ends a pair. Not here: what calls into the program access (`summary`).

use model::external::Blocking;
use model::ids::{FunctionId, NodeId, VariableId};
use model::pair::Rw;
use model::program::{Access, NodeKind, Program};

use crate::by_node::ByNode;
use crate::sets::Set;
use crate::variable::Variables;

/// How surely a node accesses a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// Another instance may be meant, or none.
    May,
    /// Whenever the node runs, it accesses the variable's one instance.
    Must,
}

/// One node's access to one variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeAccess {
    /// What is accessed.
    pub variable: VariableId,
    /// How.
    pub rw: Rw,
    /// How surely.
    pub certainty: Certainty,
    /// Whether by an atomic instruction.
    pub atomic: bool,
    /// Whether it is a system call's that moves data between a descriptor and some instance of many. Alone it gets no lock: that
    /// would let all input of a program take turns, whatever memory it goes to.
    pub transfer: bool,
    /// Whether it gives back the block that some instance lies in: nobody waits for that, and nothing is published by it.
    pub ends: bool,
}

/// Which part of an access a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Its own place.
    Begins,
    /// What it covers besides.
    Covered,
}

/// The variables that an access touches, each once.
fn variables_of(variables: &Variables, access: &Access) -> Vec<(VariableId, Part)> {
    let mut found: Vec<(VariableId, Part)> = variables.of_place(&access.place).map(|variable| (variable, Part::Begins)).collect();
    for variable in access.covers.iter().flat_map(|place| variables.of_place(place)) {
        if found.iter().all(|(known, _)| *known != variable) {
            found.push((variable, Part::Covered));
        }
    }
    found
}

/// All accesses of a program.
#[derive(Clone, Debug)]
pub struct Accesses {
    of: ByNode<NodeAccess>,
}

impl Accesses {
    /// Collects them.
    #[must_use]
    pub fn of(program: &Program, variables: &Variables) -> Self {
        let of_node = |node: &model::program::Node| -> Vec<NodeAccess> {
            let direct = matches!(node.kind, NodeKind::Access(_));
            let moves = matches!(&node.kind, NodeKind::Call(call) if call.blocking == Some(Blocking::Descriptor));
            let ends = matches!(&node.kind, NodeKind::Call(call) if call.gives_back());
            let mut found = Vec::new();
            for access in node.accesses() {
                for (variable, part) in variables_of(variables, access) {
                    let one = variables.get(variable).is_single_instance();
                    let must = direct && one && part == Part::Begins;
                    let certainty = if must { Certainty::Must } else { Certainty::May };
                    let (rw, atomic, transfer) = (access.rw, access.atomic, moves && !one);
                    found.push(NodeAccess { variable, rw, certainty, atomic, transfer, ends });
                }
            }
            found
        };
        let mut of = ByNode::new();
        for function in &program.functions {
            of.push(function.nodes.iter().enumerate().map(|(n, node)| (NodeId::new(n), of_node(node))));
        }
        Self { of }
    }

    /// What one node accesses itself.
    #[must_use]
    pub fn of_node(&self, function: FunctionId, node: NodeId) -> &[NodeAccess] {
        self.of.of_node(function, node)
    }

    /// Every access of a function, by node.
    pub fn of_function(&self, function: FunctionId) -> impl Iterator<Item = (NodeId, &NodeAccess)> {
        self.of.of_function(function).flat_map(|(node, found)| found.iter().map(move |access| (node, access)))
    }

    /// The nodes of a function that must access `variable`.
    #[must_use]
    pub fn must(&self, function: FunctionId, variable: VariableId) -> Set<NodeId> {
        self.of_function(function)
            .filter(|(_, access)| access.variable == variable && access.certainty == Certainty::Must)
            .map(|(node, _)| node)
            .collect()
    }
}
