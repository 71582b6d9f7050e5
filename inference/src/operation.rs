//! Phase 5: where one function acquires, degrades and releases the lock of one variable (seed 002, Figure 6, second part).
//!
//! The runtime knows a hold by its label, the node of its latest acquisition, so everything here is computed *per label*: which
//! constraints may be in force while the hold carries it. A hold is released on the edges over which none of them
//! stays in force, and degraded where only READ ones do. The paper's rules for redundant releases follow: a release is placed
//! only for labels that a hold can have at that edge.
//!
//! Beyond the figure:
//! - An access outside all regions, or stronger than the region around it, gets a protection of its own, also where it never ran.
//! - A head at which the lock is certainly held strongly enough acquires nothing and joins its constraints to the hold (`join`).
//! - A hold from which a stronger acquisition may be reached begins in U, and from X is degraded to U only, so two
//!   upgraders never wait for each other.
//!
//! `optimize` says which of this can be turned off. Not here: lifting acquisitions out of loops (`lift`).

use std::collections::{BTreeMap, BTreeSet};

use model::ids::NodeId;
use model::pair::Mode;

use crate::constraint::{ConstraintId, Constraints};
use crate::flow::Flow;
use crate::optimize::{Optimization, Optimizations};
use crate::sets::Set;

/// What one function and variable need.
#[derive(Clone, Copy, Debug)]
pub struct Demand<'a> {
    /// The function's graph.
    pub flow: &'a Flow,
    /// What must be held where.
    pub constraints: &'a Constraints,
    /// The mode that each access of the function itself needs while it runs.
    pub accesses: &'a BTreeMap<NodeId, Mode>,
    /// The strongest mode in which each call may acquire the lock.
    pub calls: &'a BTreeMap<NodeId, Mode>,
    /// Who may enter while a hold that has written waits for its next write.
    pub between_writes: BetweenWrites,
    /// What may be left out.
    pub optimizations: Optimizations,
}

/// Who may enter between two writes of a READ pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BetweenWrites {
    /// Readers, as in passing runs.
    Readers,
    /// Nobody. In a correlated set a reader of one variable, seen there in passing runs, says nothing of one that reads all of them half written.
    Nobody,
}

/// Why a node acquires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// It is the head of a constraint.
    Head,
    /// It is an access that no region protects.
    Single,
}

/// One acquisition, before its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acquire {
    /// How strongly.
    pub mode: Mode,
    /// Why.
    pub reason: Reason,
}

/// What an edge does to a hold with a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EdgeAction {
    /// Gives it up.
    Release,
    /// Weakens it to R.
    Degrade,
    /// Weakens X to U: readers get in until it is to be X again.
    DegradeToUpdate,
}

/// The weakest and the strongest mode that a hold may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strength {
    /// At least this.
    pub least: Mode,
    /// At most this.
    pub most: Mode,
}

/// Where a hold may be, by the node of its latest acquisition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holds {
    /// Whether there may be none.
    pub none: bool,
    /// By label.
    pub labels: BTreeMap<NodeId, Strength>,
}

/// All operations of one function on the lock of one variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// Before nodes.
    pub acquires: BTreeMap<NodeId, Acquire>,
    /// On edges, by label.
    pub edges: BTreeMap<(NodeId, NodeId), BTreeMap<NodeId, EdgeAction>>,
    /// What may be held when control arrives at a node, before its acquisition; absent where nothing is.
    pub arriving: BTreeMap<NodeId, Holds>,
    /// What may be held while a node runs; absent where nothing is.
    pub running: BTreeMap<NodeId, Holds>,
    /// Heads that acquire nothing, since the lock is certainly held.
    pub joined: BTreeSet<NodeId>,
    /// Labels that begin in U.
    pub updates: BTreeSet<NodeId>,
    /// Releases that the paper's rule would place and that can meet no hold: edge and label.
    pub left_out: BTreeSet<(NodeId, NodeId, NodeId)>,
}

/// Places the operations. `updates` are labels already known to be upgraded from elsewhere.
#[must_use]
pub fn place(demand: &Demand<'_>, updates: &BTreeSet<NodeId>) -> Placement {
    let mut updates = updates.clone();
    loop {
        let placement = settle(demand, &updates);
        let more = upgraded(demand, &placement);
        if more.is_subset(&updates) {
            return placement;
        }
        updates.extend(more);
    }
}

/// Labels whose hold, at R, may meet a stronger acquisition.
fn upgraded(demand: &Demand<'_>, placement: &Placement) -> BTreeSet<NodeId> {
    let weak = |holds: &Holds| -> Vec<NodeId> {
        holds.labels.iter().filter(|(_, strength)| strength.least == Mode::R).map(|(&label, _)| label).collect()
    };
    let mut found = BTreeSet::new();
    for (node, _) in placement.acquires.iter().filter(|(_, acquire)| acquire.mode > Mode::R) {
        found.extend(placement.arriving.get(node).map(weak).unwrap_or_default());
    }
    for (node, _) in demand.calls.iter().filter(|&(_, &mode)| mode > Mode::R) {
        found.extend(placement.running.get(node).map(weak).unwrap_or_default());
    }
    found
}

/// What each node does on arrival.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Decisions {
    acquires: BTreeMap<NodeId, Acquire>,
    joined: BTreeSet<NodeId>,
}

/// With the labels to be upgraded known: heads first, then accesses that they leave bare, then what turns out redundant.
fn settle(demand: &Demand<'_>, updates: &BTreeSet<NodeId>) -> Placement {
    let mode_at = |node: NodeId, mode: Mode| if updates.contains(&node) { mode.max(Mode::U) } else { mode };
    let mut decisions = Decisions::default();
    for constraint in &demand.constraints.list {
        let own = demand.accesses.get(&constraint.head).copied().unwrap_or(Mode::R);
        let mode = mode_at(constraint.head, constraint.mode.max(own));
        let acquire = decisions.acquires.entry(constraint.head).or_insert(Acquire { mode, reason: Reason::Head });
        acquire.mode = acquire.mode.max(mode);
    }
    let heads = decisions.acquires.clone();
    let mut placement = solve(demand, &decisions, updates);
    for (&node, &mode) in demand.accesses {
        if !decisions.acquires.contains_key(&node) && !is_held(&placement, node, mode) {
            decisions.acquires.insert(node, Acquire { mode: mode_at(node, mode), reason: Reason::Single });
        }
    }
    placement = solve(demand, &decisions, updates);
    if !demand.optimizations.has(Optimization::Acquisitions) {
        return placement;
    }
    for (&node, acquire) in &heads {
        if is_held(&placement, node, acquire.mode) {
            decisions.acquires.remove(&node);
            decisions.joined.insert(node);
        }
    }
    // Joining makes labels more precise, and holds shorter: what relied on a longer one gets its acquisition after all.
    loop {
        placement = solve(demand, &decisions, updates);
        let bare: Vec<NodeId> =
            decisions.joined.iter().copied().filter(|node| heads.get(node).is_some_and(|a| !is_held(&placement, *node, a.mode))).collect();
        let naked: Vec<(NodeId, Mode)> = demand
            .accesses
            .iter()
            .map(|(&node, &mode)| (node, mode))
            .filter(|(node, mode)| {
                !decisions.acquires.contains_key(node) && !decisions.joined.contains(node) && !is_held(&placement, *node, *mode)
            })
            .collect();
        if bare.is_empty() && naked.is_empty() {
            return placement;
        }
        for node in bare {
            decisions.joined.remove(&node);
            decisions.acquires.insert(node, heads[&node]);
        }
        for (node, mode) in naked {
            decisions.acquires.insert(node, Acquire { mode: mode_at(node, mode), reason: Reason::Single });
        }
    }
}

/// Whether the lock is certainly held in at least `mode` when control arrives at `node`.
fn is_held(placement: &Placement, node: NodeId, mode: Mode) -> bool {
    placement.arriving.get(&node).is_some_and(|holds| !holds.none && holds.labels.values().all(|strength| strength.least >= mode))
}

type Obligations = BTreeMap<NodeId, Set<ConstraintId>>;

/// Follows holds through the function, given what each node does.
fn solve(demand: &Demand<'_>, decisions: &Decisions, updates: &BTreeSet<NodeId>) -> Placement {
    let obligations = obligations(demand, decisions);
    let edges = edge_actions(demand, decisions, &obligations, updates);
    let mut placement = Placement {
        acquires: decisions.acquires.clone(),
        joined: decisions.joined.clone(),
        updates: updates.clone(),
        ..Placement::default()
    };
    follow_holds(demand, &edges, &mut placement);
    // A degrade that can only meet holds in R, or a release of a label that is not held there, is left out.
    for ((from, to), actions) in edges {
        let Some(holds) = placement.running.get(&from) else { continue };
        let useful = |label: &NodeId, action: &EdgeAction| match (holds.labels.get(label), action) {
            (Some(strength), EdgeAction::Degrade) => strength.most > Mode::R,
            (Some(strength), EdgeAction::DegradeToUpdate) => strength.most > Mode::U,
            (held, EdgeAction::Release) => held.is_some(),
            (None, EdgeAction::Degrade | EdgeAction::DegradeToUpdate) => false,
        };
        let kept: BTreeMap<NodeId, EdgeAction> = actions.into_iter().filter(|(label, action)| useful(label, action)).collect();
        if !kept.is_empty() {
            placement.edges.insert((from, to), kept);
        }
    }
    leave_out_redundant(demand, &mut placement);
    placement
}

/// Takes note of the releases that the rule of the paper (*INRelease*) would place beyond those that are needed, or places them. A
/// release of a label with which the lock cannot be held does nothing, so either is right. Where the label's hold stays for another constraint
/// there is nothing to place: the paper's operations name a mode as well, ours do not.
fn leave_out_redundant(demand: &Demand<'_>, placement: &mut Placement) {
    for constraint in demand.constraints.list.iter().filter(|constraint| placement.acquires.contains_key(&constraint.head)) {
        for from in demand.flow.nodes().filter(|&node| constraint.covers(node) && demand.flow.is_reachable(node)) {
            let held = |label| placement.running.get(&from).is_some_and(|holds| holds.labels.contains_key(&label));
            if held(constraint.head) {
                continue;
            }
            let ends = demand.flow.successors(from).iter().filter(|&&to| !constraint.carries(from, to));
            placement.left_out.extend(ends.map(|&to| (from, to, constraint.head)));
        }
    }
    if !demand.optimizations.has(Optimization::Releases) {
        for (from, to, label) in core::mem::take(&mut placement.left_out) {
            placement.edges.entry((from, to)).or_default().insert(label, EdgeAction::Release);
        }
    }
}

/// The obligations of each label while a node runs, from those on arrival.
fn while_running(demand: &Demand<'_>, decisions: &Decisions, node: NodeId, arriving: Option<&Obligations>) -> Obligations {
    let own = || demand.constraints.beginning_at(node);
    let mut running = arriving.cloned().unwrap_or_default();
    if decisions.acquires.contains_key(&node) {
        let mut all = own();
        for obligations in running.values() {
            all.unite(obligations);
        }
        return BTreeMap::from([(node, all)]);
    }
    if decisions.joined.contains(&node) {
        for obligations in running.values_mut() {
            obligations.unite(&own());
        }
    }
    running
}

/// For each node, the constraints that may be in force per label while it runs; least fixpoint.
fn obligations(demand: &Demand<'_>, decisions: &Decisions) -> BTreeMap<NodeId, Obligations> {
    let flow = demand.flow;
    let mut arriving: BTreeMap<NodeId, Obligations> = BTreeMap::new();
    let mut running: BTreeMap<NodeId, Obligations> = BTreeMap::new();
    let mut work: BTreeSet<((u32, NodeId), NodeId)> = decisions.acquires.keys().map(|&node| (flow.rank(node), node)).collect();
    while let Some((_, node)) = work.pop_first() {
        let now = while_running(demand, decisions, node, arriving.get(&node));
        for &to in flow.successors(node) {
            let mut changed = false;
            for (&label, obligations) in &now {
                let carried: Set<ConstraintId> = obligations.iter().filter(|&id| demand.constraints.get(id).carries(node, to)).collect();
                if !carried.is_empty() {
                    changed |= arriving.entry(to).or_default().entry(label).or_default().unite(&carried);
                }
            }
            if changed {
                work.insert((flow.rank(to), to));
            }
        }
        running.insert(node, now);
    }
    running
}

/// Per edge and label: release where no obligation stays, degrade where only READ ones do: to U where the hold may be upgraded later.
fn edge_actions(
    demand: &Demand<'_>,
    decisions: &Decisions,
    running: &BTreeMap<NodeId, Obligations>,
    updates: &BTreeSet<NodeId>,
) -> BTreeMap<(NodeId, NodeId), BTreeMap<NodeId, EdgeAction>> {
    let mut edges: BTreeMap<(NodeId, NodeId), BTreeMap<NodeId, EdgeAction>> = BTreeMap::new();
    for (&node, labels) in running {
        for &to in demand.flow.successors(node) {
            for (&label, obligations) in labels {
                let needed = obligations.iter().map(|id| demand.constraints.get(id)).filter(|c| c.carries(node, to)).map(|c| c.mode).max();
                let action = match needed {
                    None => Some(EdgeAction::Release),
                    Some(Mode::R | Mode::U) if !may_be_strong(demand, decisions) => None,
                    Some(Mode::R) if !updates.contains(&label) => Some(EdgeAction::Degrade),
                    Some(Mode::R | Mode::U) if demand.between_writes == BetweenWrites::Readers => Some(EdgeAction::DegradeToUpdate),
                    Some(_) => None,
                };
                if let Some(action) = action {
                    edges.entry((node, to)).or_default().insert(label, action);
                }
            }
        }
    }
    edges
}

/// Whether any acquisition is stronger than R, so that there can be anything to degrade.
fn may_be_strong(_demand: &Demand<'_>, decisions: &Decisions) -> bool {
    decisions.acquires.values().any(|acquire| acquire.mode > Mode::R)
}

/// Which holds, how strong, may arrive at and exist during each node, given all operations.
fn follow_holds(demand: &Demand<'_>, edges: &BTreeMap<(NodeId, NodeId), BTreeMap<NodeId, EdgeAction>>, placement: &mut Placement) {
    let flow = demand.flow;
    let Some(entry) = flow.nodes().next() else { return };
    let mut arriving: BTreeMap<NodeId, Holds> = BTreeMap::from([(entry, Holds { none: true, labels: BTreeMap::new() })]);
    let mut work = BTreeSet::from([(flow.rank(entry), entry)]);
    while let Some((_, node)) = work.pop_first() {
        let now = hold_running(placement, node, &arriving[&node]);
        for &to in flow.successors(node) {
            let left = over_edge(&now, edges.get(&(node, to)));
            let known = arriving.contains_key(&to);
            if merge(arriving.entry(to).or_default(), &left) || !known {
                work.insert((flow.rank(to), to));
            }
        }
        placement.running.insert(node, now);
    }
    placement.arriving = arriving;
    placement.arriving.retain(|_, holds| !holds.labels.is_empty());
    placement.running.retain(|_, holds| !holds.labels.is_empty());
}

fn hold_running(placement: &Placement, node: NodeId, arriving: &Holds) -> Holds {
    let Some(acquire) = placement.acquires.get(&node) else { return arriving.clone() };
    let held = arriving.labels.values();
    let least = held.clone().map(|strength| strength.least).min().filter(|_| !arriving.none);
    let most = held.map(|strength| strength.most).max();
    let strength = Strength {
        least: least.map_or(acquire.mode, |least| least.max(acquire.mode)),
        most: most.map_or(acquire.mode, |most| most.max(acquire.mode)),
    };
    Holds { none: false, labels: BTreeMap::from([(node, strength)]) }
}

fn over_edge(holds: &Holds, actions: Option<&BTreeMap<NodeId, EdgeAction>>) -> Holds {
    let mut left = Holds { none: holds.none, labels: BTreeMap::new() };
    for (&label, &strength) in &holds.labels {
        match actions.and_then(|actions| actions.get(&label)) {
            Some(EdgeAction::Release) => left.none = true,
            Some(EdgeAction::Degrade) => {
                left.labels.insert(label, Strength { least: Mode::R, most: Mode::R });
            }
            Some(EdgeAction::DegradeToUpdate) => {
                left.labels.insert(label, Strength { least: strength.least.min(Mode::U), most: strength.most.min(Mode::U) });
            }
            None => {
                left.labels.insert(label, strength);
            }
        }
    }
    left
}

/// Adds what may arrive over one more edge; whether that is new.
fn merge(into: &mut Holds, from: &Holds) -> bool {
    let before = into.clone();
    into.none |= from.none;
    for (&label, &strength) in &from.labels {
        into.labels
            .entry(label)
            .and_modify(|known| {
                known.least = known.least.min(strength.least);
                known.most = known.most.max(strength.most);
            })
            .or_insert(strength);
    }
    *into != before
}

/// Which holds may arrive at and exist during each node of `within`, on paths that begin at `from` and stay in `within`.
#[must_use]
pub fn follow_along(
    flow: &Flow,
    placement: &Placement,
    from: NodeId,
    within: &Set<NodeId>,
) -> (BTreeMap<NodeId, Holds>, BTreeMap<NodeId, Holds>) {
    let nothing = Holds { none: true, labels: BTreeMap::new() };
    let start = placement.running.get(&from).cloned().unwrap_or(nothing);
    let mut arriving: BTreeMap<NodeId, Holds> = BTreeMap::new();
    let mut running: BTreeMap<NodeId, Holds> = BTreeMap::new();
    let mut work = BTreeSet::new();
    let mut leave = |node: NodeId, now: &Holds, arriving: &mut BTreeMap<NodeId, Holds>| {
        for &to in flow.successors(node).iter().filter(|&&to| within.contains(to)) {
            let left = over_edge(now, placement.edges.get(&(node, to)));
            let known = arriving.contains_key(&to);
            if merge(arriving.entry(to).or_default(), &left) || !known {
                work.insert((flow.rank(to), to));
            }
        }
        work.pop_first().map(|(_, next)| next)
    };
    let mut next = leave(from, &start, &mut arriving);
    while let Some(node) = next {
        let now = hold_running(placement, node, &arriving[&node]);
        next = leave(node, &now, &mut arriving);
        running.insert(node, now);
    }
    running.insert(from, start);
    (arriving, running)
}
