//! What must hold of one lock in one function: pairs are covered, accesses are protected, ways out release, nothing upgrades from R,
//! and nothing waits, for a peer or for the variable itself, with the lock held.

use std::collections::{BTreeMap, BTreeSet};

use model::certificate::{Finding, Part};
use model::external::Blocking;
use model::ids::NodeId;
use model::pair::{Atomicity, Mode};
use model::plan::{Action, At, Lock, PlannedPair};
use model::program::{Function, NodeKind, Place};

use super::calls::{Asked, Effects};
use super::early::Early;
use super::machine::{Hold, Operations, arriving};
use super::spin::{Touchers, held_around_a_wait};

/// One lock in one function.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Index of the function in the program.
    pub index: usize,
    /// The function.
    pub function: &'a Function,
    /// The lock.
    pub lock: &'a Lock,
    /// The places that it protects.
    pub places: &'a BTreeSet<Place>,
    /// Its operations here.
    pub operations: &'a Operations,
    /// What calls do.
    pub effects: &'a Effects,
    /// What comes before all threads.
    pub early: &'a Early,
}

/// Everything that is wrong, one sentence each. `touchers` are those of the lock's places.
#[must_use]
pub fn violations<'t>(frame: &Frame<'_>, asked: &mut Asked, touchers: impl FnOnce() -> &'t Touchers) -> Vec<Finding> {
    let mut found = Vec::new();
    let arriving = arriving(frame.function, frame.operations);
    for (at, actions) in frame.operations.iter() {
        if let Some(why) = misplaced(frame, at, actions) {
            found.push(frame.says(&why, Part::Operations(frame.function.key, at)));
        }
    }
    for (&at, holds) in &arriving {
        for &hold in holds {
            at_node(frame, at, hold, asked, &mut found);
        }
    }
    if let Some(at) = held_around_a_wait(frame, &arriving, touchers) {
        found.push(frame.says(&format!("held around a loop at {at} that may wait for what it protects"), frame.at(at)));
    }
    for pair in frame.lock.pairs.iter().filter(|pair| pair.function == frame.function.key) {
        pair_is_covered(frame, pair, &arriving, &mut found);
    }
    found.sort();
    found.dedup();
    found
}

impl Frame<'_> {
    fn says(&self, what: &str, part: Part) -> Finding {
        Finding { text: format!("{} in {}: {what}", self.lock.id, self.function.name), lock: Some(self.lock.id), part }
    }

    fn at(&self, node: NodeId) -> Part {
        Part::Node(self.function.key, node)
    }

    /// Whether the program certainly accesses the one instance of the variable here.
    fn must_access(&self, node: NodeId) -> bool {
        let one = self.places.len() == 1 && self.places.iter().all(|place| matches!(place, Place::Global { .. }));
        one && matches!(&self.function.node(node).kind, NodeKind::Access(access) if self.places.contains(&access.place))
    }

    /// The mode that the node's own accesses need.
    fn needs(&self, node: NodeId) -> Option<Mode> {
        let of_many = self.places.len() != 1 || !self.places.iter().all(|place| matches!(place, Place::Global { .. }));
        if self.early.has(self.index, node) {
            return None;
        }
        if of_many && matches!(&self.function.node(node).kind, NodeKind::Call(call) if call.blocking == Some(Blocking::Descriptor)) {
            return None;
        }
        let exclusive = self.lock.pairs.iter().any(|pair| pair.atomicity == Atomicity::Exclusive);
        let accesses = self.function.node(node).accesses().iter().filter(|access| access.places().any(|place| self.places.contains(place)));
        accesses.filter_map(|access| if access.rw.writes() { Some(Mode::X) } else { exclusive.then_some(Mode::R) }).max()
    }
}

/// Why an operation cannot stand where the plan puts it.
fn misplaced(frame: &Frame<'_>, at: At, actions: &[Action]) -> Option<String> {
    let known = |node: NodeId| node.index() < frame.function.nodes.len();
    match at {
        At::Before(node) if !known(node) => Some(format!("there is no node {node}")),
        At::Edge(from, to) if !known(from) || !frame.function.node(from).successors.contains(&to) => {
            Some(format!("there is no edge {from} {to}"))
        }
        At::Edge(..) if actions.iter().any(|action| matches!(action, Action::Acquire(..))) => Some(format!("acquires on {at}")),
        _ => None,
    }
}

/// What a hold may not meet at a node.
fn at_node(frame: &Frame<'_>, at: NodeId, arriving: Hold, asked: &mut Asked, found: &mut Vec<Finding>) {
    let node = frame.function.node(at);
    let mut hold = arriving;
    for &action in frame.operations.at(At::Before(at)) {
        if let (Action::Acquire(mode, _), Some((_, Mode::R))) = (action, hold)
            && mode > Mode::R
        {
            found.push(frame.says(&format!("{mode} is acquired at {at} while only R is held"), frame.at(at)));
        }
        hold = super::machine::apply(hold, action);
    }
    if let Some(need) = frame.needs(at)
        && hold.is_none_or(|(_, mode)| mode < need)
    {
        found.push(frame.says(&format!("the access at {at} is not protected by {need}"), frame.at(at)));
    }
    let Some((_, mode)) = hold.filter(|_| !frame.effects.gives_up(frame.index, at)) else { return };
    if node.successors.is_empty() {
        found.push(frame.says(&format!("still held at the way out {at}"), frame.at(at)));
    }
    if frame.effects.may_wait(frame.index, at, node) {
        found.push(frame.says(&format!("held at {at}, which may wait for another thread or a peer"), frame.at(at)));
    }
    let targets = frame.effects.targets(frame.index, at);
    if mode > Mode::R || targets.is_empty() {
        return;
    }
    if let Some(more) = frame.effects.strongest(asked, frame.lock.id, targets).filter(|more| *more > Mode::R) {
        found.push(frame.says(&format!("{more} is acquired in a call at {at} while only R is held"), frame.at(at)));
    }
}

/// Whether the lock is held without a gap, strongly enough, on every path from head to tail that has neither end and no other must access
/// in its interior, and nothing that waits if the pair excepts that.
fn pair_is_covered(frame: &Frame<'_>, pair: &PlannedPair, arriving: &BTreeMap<NodeId, BTreeSet<Hold>>, found: &mut Vec<Finding>) {
    let Some(need) = Mode::demanded_by(pair.atomicity) else { return };
    let part = Part::Pair(pair.function, pair.head, pair.tail);
    let size = frame.function.nodes.len();
    if pair.head.index() >= size || pair.tail.index() >= size {
        found.push(frame.says("a pair names a node that does not exist", part));
        return;
    }
    // A pair that says so is not kept where it waits.
    let left = |node: NodeId| pair.except.is_some() && frame.effects.may_wait(frame.index, node, frame.function.node(node));
    let inside = |node: NodeId| node != pair.head && node != pair.tail && !frame.must_access(node) && !left(node);
    let leads_on = leads_to(frame.function, pair.tail, inside);
    let strong = |hold: Hold| hold.is_some_and(|(_, mode)| mode >= need);
    // Where operations stand at the gap, they are to be looked at; else the pair.
    let at_gap = |at: At| if frame.operations.at(at).is_empty() { part } else { Part::Operations(pair.function, at) };
    let gap = |at: At| frame.says(&format!("the pair {}, {} is not covered at '{at}'", pair.head, pair.tail), at_gap(at));
    let mut seen: BTreeSet<(NodeId, Hold)> = BTreeSet::new();
    let mut work: Vec<(NodeId, Hold)> = Vec::new();
    for &hold in arriving.get(&pair.head).into_iter().flatten() {
        let running = frame.operations.after(At::Before(pair.head), hold);
        if strong(running) {
            work.push((pair.head, running));
        } else {
            found.push(gap(At::Before(pair.head)));
        }
    }
    while let Some((from, hold)) = work.pop() {
        for &to in frame.function.node(from).successors.iter().filter(|to| **to == pair.tail || leads_on.contains(to)) {
            let edge = frame.operations.trail(At::Edge(from, to), hold);
            let then = frame.operations.trail(At::Before(to), *edge.last().unwrap_or(&hold));
            let running = *then.last().unwrap_or(&hold);
            if !edge.into_iter().all(strong) {
                found.push(gap(At::Edge(from, to)));
            } else if !then.into_iter().all(strong) {
                found.push(gap(At::Before(to)));
            } else if to != pair.tail && seen.insert((to, running)) {
                work.push((to, running));
            }
        }
    }
}

/// The nodes from which `tail` is reached through nodes that are `inside`, themselves included.
fn leads_to(function: &Function, tail: NodeId, inside: impl Fn(NodeId) -> bool) -> BTreeSet<NodeId> {
    let mut into: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
    for (n, node) in function.nodes.iter().enumerate() {
        for &to in &node.successors {
            into.entry(to).or_default().push(NodeId::new(n));
        }
    }
    let mut found = BTreeSet::new();
    let mut work = vec![tail];
    while let Some(node) = work.pop() {
        for &from in into.get(&node).into_iter().flatten().filter(|from| inside(**from)) {
            if found.insert(from) {
                work.push(from);
            }
        }
    }
    found
}
