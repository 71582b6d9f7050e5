//! Lifting out of loops: one acquisition before a loop instead of one in each of its iterations.
//!
//! A loop's own acquisitions of one lock are lifted to the nodes that lead into it, as a constraint that is in force in the whole loop and
//! ends on every way out. That is done where
//! - it *adds no wait*: what the lock is not held over now takes no lock, calls nothing in the program and waits for nothing;
//! - the lock is held over three quarters of the loop's accesses and calls already;
//! - it *pays*: by the profile's counts, the acquisitions in the loop ran more often than the loop was entered;
//! - the loop *ends by itself*. Where the lock is held around from one iteration to the next already, nothing changes in this regard.
//!   Elsewhere lifting makes one region of many: then the loop may only read what another thread cannot write meanwhile, must write
//!   the variable itself, must not call into the program, and may have made at most `LONGEST` accesses each time it was entered.
//!
//! `resolve` looks at the lock order again afterwards and takes back what would close a cycle of waits. Not handled: loops with several entries
//! or whose entry leads elsewhere too; loops that no run entered.

use std::collections::BTreeMap;

use model::external::SyncOp;
use model::ids::{FunctionId, NodeId, SiteKey, VariableId};
use model::pair::{Mode, Rw};
use model::profile::Evidence;
use model::program::{Callee, NodeKind};

use crate::admit::{Facts, blocks, unknown_code};
use crate::constraint::{Constraint, Origin};
use crate::flow::Flow;
use crate::operation::Placement;
use crate::optimize::Counts;
use crate::placement::{Placements, Spot};
use crate::sets::Set;
use crate::summary::Touch;

/// The most accesses that a region around a whole loop may make, on average: some microseconds.
const LONGEST: u64 = 4096;

/// One loop out of which one lock's acquisitions are to be moved, or one lock's regions that are to become one (`sequence`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lift {
    pub(crate) spot: Spot,
    /// One for each way into the loop, or from one region to the next.
    pub(crate) constraints: Vec<Constraint>,
    /// Acquisitions that would run less in each profiled run.
    pub(crate) executions: u64,
}

/// How often pairs were seen, by the site of their second end.
type Arrivals = BTreeMap<SiteKey, Vec<(SiteKey, u64)>>;

/// What is looked at.
struct View<'a> {
    facts: &'a Facts<'a>,
    counts: &'a Counts,
    arrivals: &'a Arrivals,
    function: FunctionId,
    flow: &'a Flow,
    variable: VariableId,
    placement: &'a Placement,
}

/// Every loop and lock that are worth it, outermost loops first; of loops in each other, one.
pub(crate) fn lifts(facts: &Facts<'_>, counts: &Counts, placements: &Placements) -> Vec<Lift> {
    let arrivals = arrivals(facts.evidence);
    let mut found = Vec::new();
    let mut loops: BTreeMap<FunctionId, Vec<(NodeId, Set<NodeId>)>> = BTreeMap::new();
    for (&(variable, function), placement) in placements.spots.iter().filter(|(_, placement)| !placement.acquires.is_empty()) {
        let flow = &facts.flows[function.index()];
        let loops = loops.entry(function).or_insert_with(|| {
            let mut loops: Vec<_> = flow.loops().into_iter().collect();
            loops.sort_by_key(|(header, body)| (core::cmp::Reverse(body.len()), *header));
            loops
        });
        let view = View { facts, counts, arrivals: &arrivals, function, flow, variable, placement };
        let mut done: Set<NodeId> = Set::default();
        for (header, body) in loops.iter() {
            if let Some(lift) = (!done.contains(*header)).then(|| view.lift(*header, body)).flatten() {
                done.unite(body);
                found.push(lift);
            }
        }
    }
    found
}

fn arrivals(evidence: &Evidence) -> Arrivals {
    let mut arrivals = Arrivals::new();
    for (key, (seen, _)) in &evidence.pairs {
        arrivals.entry(key.tail).or_default().push((key.head, seen.seen));
    }
    arrivals
}

impl View<'_> {
    fn lift(&self, header: NodeId, body: &Set<NodeId>) -> Option<Lift> {
        let inner: Vec<NodeId> = self.placement.acquires.keys().copied().filter(|&node| body.contains(node)).collect();
        let mode = inner.iter().map(|node| self.placement.acquires[node].mode).max()?;
        let entries = self.entries(header, body)?;
        if !entries.iter().all(|&node| self.is_quiet(node)) || !self.is_nearly_covered(body) {
            return None;
        }
        let entered = self.entered(&entries, body, &inner)?;
        let ran: u64 = inner.iter().filter_map(|&node| self.count(node)).sum();
        if ran <= entered || !(self.is_held_around(header, body, mode) || self.ends_by_itself(body, entered)) {
            return None;
        }
        let constraint = |&head: &NodeId| Constraint { head, tail: header, mode, origin: Origin::Lift, interior: body.clone() };
        let executions = (ran - entered) / self.counts.runs;
        Some(Lift { spot: (self.variable, self.function), constraints: entries.iter().map(constraint).collect(), executions })
    }

    fn count(&self, node: NodeId) -> Option<u64> {
        self.counts.of_node(self.facts.program, self.function, node)
    }

    /// The nodes that lead into a loop and nowhere else; `None` where it has an entry beside its header, or one that leads elsewhere too.
    fn entries(&self, header: NodeId, body: &Set<NodeId>) -> Option<Vec<NodeId>> {
        let outside = |node: &NodeId| self.flow.is_reachable(*node) && !body.contains(*node);
        let is_closed = body.iter().filter(|&node| node != header).all(|node| !self.flow.predecessors(node).iter().any(outside));
        let entries: Vec<NodeId> = self.flow.predecessors(header).iter().copied().filter(|from| outside(from)).collect();
        (is_closed && !entries.is_empty() && entries.iter().all(|&node| self.flow.successors(node) == [header])).then_some(entries)
    }

    /// Whether a lock that is held over a node for the first time keeps nobody waiting longer than the node takes.
    fn is_quiet(&self, node: NodeId) -> bool {
        match &self.facts.program.function(self.function).node(node).kind {
            NodeKind::Block | NodeKind::Access(_) => true,
            NodeKind::Call(call) => {
                let known = !matches!(call.callee, Callee::Indirect(_) | Callee::OneOf(_));
                let takes_none = call.sync.as_ref().is_none_or(|(op, _)| matches!(op, SyncOp::Unlock | SyncOp::Signal | SyncOp::Manage));
                let outside = self.facts.calls.from_node(self.function, node).is_empty();
                let waits = blocks(self.facts, self.function, node).is_some() || call.blocking.is_some();
                known && takes_none && outside && !waits && unknown_code(self.facts, self.function, node).is_none()
            }
            NodeKind::Return | NodeKind::Stop => false,
        }
    }

    fn is_held(&self, node: NodeId) -> bool {
        self.placement.running.contains_key(&node)
    }

    /// Whether the lock is held over most of what the loop does, and the rest is quiet.
    fn is_nearly_covered(&self, body: &Set<NodeId>) -> bool {
        let does = |node: &NodeId| !matches!(self.facts.program.function(self.function).node(*node).kind, NodeKind::Block);
        let all = body.iter().filter(does).count();
        let held = body.iter().filter(does).filter(|&node| self.is_held(node)).count();
        held * 4 >= all * 3 && body.iter().filter(|&node| !self.is_held(node)).all(|node| self.is_quiet(node))
    }

    /// How often the loop was entered: as often as the last node before it that is counted, or else as often as its first acquisition
    /// ran without a pair that led to it from within the loop.
    fn entered(&self, entries: &[NodeId], body: &Set<NodeId>, inner: &[NodeId]) -> Option<u64> {
        let before: Option<Vec<u64>> = entries.iter().map(|&entry| self.last_count(entry)).collect();
        if let Some(counts) = before {
            return Some(counts.into_iter().sum());
        }
        let first = inner.iter().copied().min_by_key(|&node| self.flow.rank(node))?;
        let nodes = &self.facts.program.function(self.function).nodes;
        let site = nodes[first.index()].site?;
        let within = |head: &SiteKey| {
            self.facts.sites.get(head).is_some_and(|&(function, node)| {
                function == self.function && body.contains(node) && self.flow.rank(node) >= self.flow.rank(first)
            })
        };
        let back: u64 = self.arrivals.get(&site)?.iter().filter(|(head, _)| within(head)).map(|(_, seen)| seen).sum();
        (back > 0).then_some(self.count(first)?.saturating_sub(back).max(1))
    }

    /// The count of the nearest node at or before this one through which all its executions come.
    fn last_count(&self, mut node: NodeId) -> Option<u64> {
        let mut steps = 0;
        loop {
            if let Some(count) = self.count(node) {
                return Some(count);
            }
            let [before] = self.flow.predecessors(node) else { return None };
            steps += 1;
            if self.flow.successors(*before).len() != 1 || steps > self.flow.size() {
                return None;
            }
            node = *before;
        }
    }

    /// Whether the lock is certainly held from one iteration to the next already, as strongly, and never given up in between.
    fn is_held_around(&self, header: NodeId, body: &Set<NodeId>, mode: Mode) -> bool {
        let inside = |(from, to): &(NodeId, NodeId)| body.contains(*from) && body.contains(*to);
        let surely = |from: NodeId| {
            let holds = self.placement.running.get(&from);
            holds.is_some_and(|holds| !holds.none && holds.labels.values().all(|strength| strength.least >= mode))
        };
        let mut back = self.flow.predecessors(header).iter().filter(|from| body.contains(**from));
        !self.placement.edges.keys().any(inside) && back.all(|&from| surely(from))
    }

    /// Whether, with the lock held around all of it, the loop ends soon and without any help from other threads.
    fn ends_by_itself(&self, body: &Set<NodeId>, entered: u64) -> bool {
        let (mut writes, mut accesses) = (false, 0_u64);
        for node in body.iter() {
            if !self.facts.calls.from_node(self.function, node).is_empty() {
                return false;
            }
            let of_node = self.facts.accesses.of_node(self.function, node);
            accesses += self.count(node).filter(|_| !of_node.is_empty()).unwrap_or_default();
            writes |= of_node.iter().any(|access| access.variable == self.variable && Touch::Writes.is(access));
            let exposure = self.facts.exposure;
            let may_change = |v: VariableId| exposure.contended.contains(v) && exposure.written.contains(v);
            let others = of_node.iter().filter(|access| access.variable != self.variable && access.rw != Rw::Write);
            if of_node.iter().any(|access| access.atomic) || others.map(|access| access.variable).any(may_change) {
                return false;
            }
        }
        writes && accesses <= entered.saturating_mul(LONGEST)
    }
}
