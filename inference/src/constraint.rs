//! Phase 4: the lock constraint sets `lc` of seed 002, Figure 6, for one variable in one function.
//!
//! A constraint ⟨head, tail, mode⟩ says that a lock is to be held from head to tail. It is in `lc` of exactly the nodes on paths
//! from head to tail with neither end, and no other *must* access, in their interior: that is what the rules Gen and Join leave
//! after `notreachable` and `conflict`, with these corrections.
//! - Paths have neither end in their interior, so a constraint ends on the out-edges of its second end, and a pair of a
//!   node with itself covers each way around its loops once and begins anew at the node.
//! - Only must accesses conflict. The paper asks for one access that is on all remaining paths; a set of accesses that together
//!   cut all remaining paths off ends a constraint just as well, since the two ends cannot be consecutive on any of them.
//!
//! A *hoisted* constraint (section 8) holds a lock between two acquisitions and is cut by nothing; nor is one that holds a lock around a
//! loop (`lift`).

use std::fmt;

use model::ids::{FunctionId, NodeId, VariableId};
use model::pair::{Atomicity, Mode};

use crate::admit::AdmittedPair;
use crate::flow::Flow;
use crate::sets::{Dense, Set};

/// A constraint of one function and variable, by its place in their list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ConstraintId(pub u32);

impl Dense for ConstraintId {
    fn at(index: usize) -> Self {
        Self(u32::try_from(index).expect("fewer than 2^32 constraints"))
    }

    fn position(self) -> usize {
        self.0 as usize
    }
}

/// Why a constraint is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// An admitted pair.
    Pair,
    /// Deadlock resolution: the lock is to be held before another one is taken.
    Hoist,
    /// The lock is to be held around a loop: its tail is the loop's header, which lies in the interior too. Or on from one region to the next.
    Lift,
}

/// A lock of at least `mode` is to be held from `head` to `tail`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// Where it begins: the lock is acquired before this node.
    pub head: NodeId,
    /// Where it ends: after this node.
    pub tail: NodeId,
    /// How strongly.
    pub mode: Mode,
    /// Why.
    pub origin: Origin,
    /// The nodes between.
    pub interior: Set<NodeId>,
}

impl Constraint {
    /// Whether it is in force while `node` runs.
    #[must_use]
    pub fn covers(&self, node: NodeId) -> bool {
        node == self.head || node == self.tail || self.interior.contains(node)
    }

    /// Whether it stays in force over an edge.
    #[must_use]
    pub fn carries(&self, from: NodeId, to: NodeId) -> bool {
        (from == self.head || self.interior.contains(from)) && (to == self.tail || self.interior.contains(to))
    }
}

/// `X(2,12)`.
impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({},{})", self.mode, self.head.0, self.tail.0)
    }
}

/// All constraints on one variable in one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraints {
    /// The function.
    pub function: FunctionId,
    /// The variable.
    pub variable: VariableId,
    /// Sorted by (head, tail, mode), hoisted ones after those of pairs. Indexed by `ConstraintId`.
    pub list: Vec<Constraint>,
}

impl Constraints {
    /// None yet.
    #[must_use]
    pub fn new(function: FunctionId, variable: VariableId) -> Self {
        Self { function, variable, list: Vec::new() }
    }

    /// Adds a pair's constraint.
    pub fn add_pair(&mut self, pair: &AdmittedPair) {
        let Some(mode) = Mode::demanded_by(pair.atomicity).filter(|_| pair.atomicity != Atomicity::None) else { return };
        let interior = pair.interior.clone();
        self.list.push(Constraint { head: pair.head, tail: pair.tail, mode, origin: Origin::Pair, interior });
    }

    /// Takes the lock for a write already where the write follows its head at once: one operation instead of two. Not so where the head
    /// writes: readers may see what it left.
    pub fn hasten(&mut self, writes: impl Fn(NodeId) -> bool) {
        let hasty = |constraint: &&mut Constraint| constraint.interior.is_empty() && writes(constraint.tail) && !writes(constraint.head);
        self.list.iter_mut().filter(hasty).for_each(|constraint| constraint.mode = Mode::X);
    }

    /// Adds a constraint that is no pair's; `false` when it is there already.
    pub fn add(&mut self, constraint: Constraint) -> bool {
        let new = !self.list.contains(&constraint);
        if new {
            self.list.push(constraint);
        }
        new
    }

    /// With their ids.
    pub fn iter(&self) -> impl Iterator<Item = (ConstraintId, &Constraint)> {
        self.list.iter().enumerate().map(|(c, constraint)| (ConstraintId::at(c), constraint))
    }

    /// The constraint with this id.
    #[must_use]
    pub fn get(&self, id: ConstraintId) -> &Constraint {
        &self.list[id.position()]
    }

    /// Those that begin at a node.
    #[must_use]
    pub fn beginning_at(&self, node: NodeId) -> Set<ConstraintId> {
        self.iter().filter(|(_, constraint)| constraint.head == node).map(|(id, _)| id).collect()
    }

    /// The paper's `lc`: those in force at a node.
    #[must_use]
    pub fn at(&self, node: NodeId) -> Set<ConstraintId> {
        self.iter().filter(|(_, constraint)| constraint.covers(node)).map(|(id, _)| id).collect()
    }

    /// The strongest mode of a set; `None` when it is empty.
    #[must_use]
    pub fn strongest(&self, set: &Set<ConstraintId>) -> Option<Mode> {
        set.iter().map(|id| self.get(id).mode).max()
    }

    /// The nodes whose `lc` holds NONE: those that some path reaches with no constraint in force.
    #[must_use]
    pub fn unconstrained(&self, flow: &Flow) -> Set<NodeId> {
        let on_any = |node: NodeId| self.list.iter().any(|constraint| constraint.covers(node));
        let heads: Set<NodeId> = self.list.iter().map(|constraint| constraint.head).collect();
        let carried = |from: NodeId, to: NodeId| self.list.iter().any(|constraint| constraint.carries(from, to));
        let mut none: Set<NodeId> = flow.nodes().filter(|&node| !on_any(node)).collect();
        let mut stack: Vec<NodeId> = none.iter().collect();
        // An edge that carries nothing out of a constrained node leaves its target unconstrained too.
        for from in flow.nodes() {
            stack.extend(flow.successors(from).iter().copied().filter(|&to| !heads.contains(to) && !carried(from, to) && none.insert(to)));
        }
        if let Some(entry) = flow.nodes().next().filter(|&entry| !heads.contains(entry)) {
            none.insert(entry);
            stack.push(entry);
        }
        while let Some(node) = stack.pop() {
            stack.extend(flow.successors(node).iter().copied().filter(|&to| !heads.contains(to) && none.insert(to)));
        }
        none
    }
}
