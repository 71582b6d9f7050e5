//! One region instead of two that follow each other at once: `?release` on the way and the next acquisition are left out.
//!
//! The lock is held on from where it would be released to where it is taken again, as a constraint like a loop's (`lift`). That is done where
//! - *every* way from the release comes to an acquisition of the lock in the very mode in which it is held, within `LONGEST` nodes that only
//!   compute and access memory, and each of these acquisitions becomes needless, since no other way leads to it with the lock not held;
//! - *no wait is added*: no other lock is taken on the way, nor in front of the acquisition;
//! - the two do not lie in one loop, so that no lock is held from one turn to the next on this account;
//! - it *pays*: the acquisition ran `OFTEN` times in the profiled runs. What runs seldom costs nothing.
//!
//! Not handled: ways of which only some lead to an acquisition; regions of different modes.

use std::collections::{BTreeMap, BTreeSet};

use model::ids::{FunctionId, NodeId};
use model::pair::Mode;
use model::program::NodeKind;

use crate::admit::Facts;
use crate::constraint::{Constraint, Origin};
use crate::flow::Flow;
use crate::lift::Lift;
use crate::operation::{EdgeAction, Placement};
use crate::optimize::Counts;
use crate::placement::{Placements, Spot};
use crate::sets::Set;

/// The most nodes from the release to the acquisition.
const LONGEST: usize = 12;

/// How often an acquisition must have run, in all runs together.
const OFTEN: u64 = 256;

/// What is looked at.
struct View<'a> {
    facts: &'a Facts<'a>,
    flow: &'a Flow,
    function: FunctionId,
    placement: &'a Placement,
    /// Where the function takes which locks.
    taken: &'a BTreeSet<(Spot, NodeId)>,
    spot: Spot,
}

/// The ways from a release.
struct Ways {
    /// Where it is: the last node of the region.
    from: NodeId,
    mode: Mode,
    between: Set<NodeId>,
    /// The acquisitions that they come to.
    to: BTreeSet<NodeId>,
    /// Every edge of them.
    edges: BTreeSet<(NodeId, NodeId)>,
}

/// All regions that are worth holding on to, spot by spot.
pub(crate) fn sequences(facts: &Facts<'_>, counts: &Counts, placements: &Placements) -> Vec<Lift> {
    let taken: BTreeSet<(Spot, NodeId)> =
        placements.spots.iter().flat_map(|(&spot, placement)| placement.acquires.keys().map(move |&node| (spot, node))).collect();
    let mut by_function: BTreeMap<FunctionId, BTreeSet<(Spot, NodeId)>> = BTreeMap::new();
    for (spot, node) in taken {
        by_function.entry(spot.1).or_default().insert((spot, node));
    }
    let mut found = Vec::new();
    for (&spot, placement) in &placements.spots {
        let Some(taken) = by_function.get(&spot.1) else { continue };
        let view = View { facts, flow: &facts.flows[spot.1.index()], function: spot.1, placement, taken, spot };
        let often = |node: &NodeId| counts.of_node(facts.program, spot.1, *node).is_some_and(|count| count >= OFTEN);
        if !placement.acquires.keys().any(often) {
            continue;
        }
        let ways: Vec<Ways> = placement.edges.keys().filter_map(|&(from, to)| view.ways(from, to)).collect();
        let kept = view.complete(ways.into_iter().filter(|ways| ways.to.iter().any(often)).collect());
        let saved: BTreeSet<NodeId> = kept.iter().flat_map(|ways| ways.to.iter().copied()).collect();
        let executions = saved.iter().filter_map(|&node| counts.of_node(facts.program, spot.1, node)).sum::<u64>() / counts.runs;
        let constraints = |ways: &Ways| -> Vec<Constraint> {
            let one = |&tail: &NodeId| {
                let (head, mode, interior) = (ways.from, ways.mode, ways.between.clone());
                Constraint { head, tail, mode, origin: Origin::Lift, interior }
            };
            ways.to.iter().map(one).collect()
        };
        let constraints: Vec<Constraint> = kept.iter().flat_map(constraints).collect();
        if !constraints.is_empty() {
            found.push(Lift { spot, constraints, executions });
        }
    }
    found
}

impl View<'_> {
    /// The ways over an edge that gives the lock up, if they all come to acquisitions.
    fn ways(&self, from: NodeId, to: NodeId) -> Option<Ways> {
        let mode = self.given_up(from, to)?;
        let mut ways = Ways { from, mode, between: Set::default(), to: BTreeSet::new(), edges: BTreeSet::new() };
        let mut work = vec![(from, to)];
        while let Some((before, node)) = work.pop() {
            if !ways.edges.insert((before, node)) {
                continue;
            }
            let other_is_taken = self.taken.iter().any(|&(spot, at)| at == node && spot != self.spot);
            if ways.edges.len() > LONGEST || self.flow.rank(node) <= self.flow.rank(before) || other_is_taken {
                return None;
            }
            if let Some(acquire) = self.placement.acquires.get(&node) {
                ways.to.insert(node);
                if acquire.mode != mode || self.flow.innermost_loop(from, node).is_some() {
                    return None;
                }
                continue;
            }
            let is_quiet = matches!(self.facts.program.function(self.function).node(node).kind, NodeKind::Block | NodeKind::Access(_));
            if !is_quiet || self.flow.successors(node).is_empty() || self.placement.running.contains_key(&node) {
                return None;
            }
            ways.between.insert(node);
            work.extend(self.flow.successors(node).iter().map(|&next| (node, next)));
        }
        Some(ways)
    }

    /// The mode of all holds that an edge gives up, if there certainly is one.
    fn given_up(&self, from: NodeId, to: NodeId) -> Option<Mode> {
        let actions = self.placement.edges.get(&(from, to))?;
        let holds = self.placement.running.get(&from).filter(|holds| !holds.none)?;
        let is_released = |label: &NodeId| actions.get(label) == Some(&EdgeAction::Release);
        let modes: BTreeSet<Mode> = holds.labels.values().flat_map(|strength| [strength.least, strength.most]).collect();
        (holds.labels.keys().all(is_released) && modes.len() == 1).then(|| modes.first().copied()).flatten()
    }

    /// Those whose acquisitions are all reached in no other way than with the lock held.
    fn complete(&self, mut all: Vec<Ways>) -> Vec<Ways> {
        loop {
            let edges: BTreeSet<(NodeId, NodeId)> = all.iter().flat_map(|ways| ways.edges.iter().copied()).collect();
            let is_known = |&from: &NodeId, to: NodeId| !self.flow.is_reachable(from) || edges.contains(&(from, to));
            let is_closed = |node: NodeId| self.flow.predecessors(node).iter().all(|from| is_known(from, node));
            let before = all.len();
            all.retain(|ways| ways.to.iter().copied().chain(ways.between.iter()).all(is_closed));
            if all.len() == before {
                return all;
            }
        }
    }
}
