//! Walking one function's control-flow graph: predecessors, reverse postorder, and the nodes between two nodes.

use std::collections::BTreeMap;

use model::ids::NodeId;
use model::program::Function;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::sets::Set;

/// A function's graph, walkable both ways.
#[derive(Clone, Debug)]
pub struct Flow {
    successors: Vec<Vec<NodeId>>,
    predecessors: Vec<Vec<NodeId>>,
    /// Place of each node in reverse postorder from the entry; `None` where unreachable.
    rank: Vec<Option<u32>>,
}

impl Flow {
    /// The graph of `function`.
    #[must_use]
    pub fn of(function: &Function) -> Self {
        let successors: Vec<Vec<NodeId>> = function.nodes.iter().map(|node| node.successors.clone()).collect();
        let mut predecessors = vec![Vec::new(); successors.len()];
        for (n, next) in successors.iter().enumerate() {
            for to in next {
                predecessors[to.index()].push(NodeId::new(n));
            }
        }
        let rank = rank(&successors);
        Self { successors, predecessors, rank }
    }

    /// Where control goes from `node`.
    #[must_use]
    pub fn successors(&self, node: NodeId) -> &[NodeId] {
        &self.successors[node.index()]
    }

    /// Where control comes from.
    #[must_use]
    pub fn predecessors(&self, node: NodeId) -> &[NodeId] {
        &self.predecessors[node.index()]
    }

    /// All nodes.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.successors.len()).map(NodeId::new)
    }

    /// How many nodes there are.
    #[must_use]
    pub fn size(&self) -> usize {
        self.successors.len()
    }

    /// Its place in reverse postorder; nodes that the entry does not reach come last.
    #[must_use]
    pub fn rank(&self, node: NodeId) -> (u32, NodeId) {
        (self.rank[node.index()].unwrap_or(u32::MAX), node)
    }

    /// Whether the entry reaches `node`.
    #[must_use]
    pub fn is_reachable(&self, node: NodeId) -> bool {
        self.rank[node.index()].is_some()
    }

    /// The nodes strictly inside paths from `head` to `tail` that have neither end, and no node of `barred`, in their
    /// interior; `None` where there is no such path. With `head == tail`: the loops through it.
    #[must_use]
    pub fn between(&self, head: NodeId, tail: NodeId, barred: &Set<NodeId>) -> Option<Set<NodeId>> {
        let open = |node: NodeId| node != head && node != tail && !barred.contains(node);
        let forward = walk(self.successors(head), |node| self.successors(node), open);
        let backward = walk(self.predecessors(tail), |node| self.predecessors(node), open);
        let direct = self.successors(head).contains(&tail);
        let mut inside = forward;
        inside.intersect(&backward);
        (direct || !inside.is_empty()).then_some(inside)
    }

    /// The largest sets of nodes of `within` between which control may go round, over edges that are `open`.
    #[must_use]
    pub fn cycles(&self, within: &Set<NodeId>, open: impl Fn(NodeId, NodeId) -> bool) -> Vec<Set<NodeId>> {
        let retreats = |from: NodeId| self.successors(from).iter().any(|&to| within.contains(to) && self.rank(to) <= self.rank(from));
        if !within.iter().any(retreats) {
            return Vec::new();
        }
        let mut graph: DiGraph<NodeId, ()> = DiGraph::new();
        let indices: BTreeMap<NodeId, NodeIndex> = within.iter().map(|node| (node, graph.add_node(node))).collect();
        for (&from, &index) in &indices {
            let inside = self.successors(from).iter().filter(|&&to| open(from, to)).filter_map(|to| indices.get(to));
            for &to in inside {
                graph.add_edge(index, to, ());
            }
        }
        let components = kosaraju_scc(&graph).into_iter();
        let cyclic = components.filter(|component| component.len() > 1 || graph.contains_edge(component[0], component[0]));
        cyclic.map(|component| component.into_iter().map(|index| graph[index]).collect()).collect()
    }

    /// The loops by header: the nodes that reach an edge back to it without leaving through it.
    #[must_use]
    pub fn loops(&self) -> BTreeMap<NodeId, Set<NodeId>> {
        let mut bodies: BTreeMap<NodeId, Set<NodeId>> = BTreeMap::new();
        for from in self.nodes().filter(|&node| self.is_reachable(node)) {
            for &header in self.successors(from).iter().filter(|&&to| self.rank(to) <= self.rank(from)) {
                let inside = |node: NodeId| node != header && self.rank(node) > self.rank(header);
                let mut body = walk(&[from], |node| self.predecessors(node), inside);
                body.insert(header);
                bodies.entry(header).or_default().unite(&body);
            }
        }
        bodies
    }

    /// The smallest loop with both nodes in it, if any.
    #[must_use]
    pub fn innermost_loop(&self, one: NodeId, other: NodeId) -> Option<Set<NodeId>> {
        let around = self.loops().into_values().filter(|body| body.contains(one) && body.contains(other));
        around.min_by_key(Set::len)
    }

    /// The nodes of `within` that lie on paths from `head` to `tail` inside it. `tail` is one of them only if a path passes it
    /// and comes back; `head` never is.
    #[must_use]
    pub fn inside(&self, head: NodeId, tail: NodeId, within: &Set<NodeId>) -> Set<NodeId> {
        let open = |node: NodeId| node != head && within.contains(node);
        let mut nodes = walk(self.successors(head), |node| self.successors(node), open);
        nodes.intersect(&walk(self.predecessors(tail), |node| self.predecessors(node), open));
        nodes
    }
}

/// The nodes reached from `starts`, going only through nodes that are `open`.
fn walk<'a>(starts: &[NodeId], next: impl Fn(NodeId) -> &'a [NodeId], open: impl Fn(NodeId) -> bool) -> Set<NodeId> {
    let mut found = Set::default();
    let mut stack: Vec<NodeId> = starts.iter().copied().filter(|&node| open(node)).collect();
    while let Some(node) = stack.pop() {
        if found.insert(node) {
            stack.extend(next(node).iter().copied().filter(|&to| open(to) && !found.contains(to)));
        }
    }
    found
}

/// Reverse postorder numbers from node 0, without recursion: functions of machine-made code are deep.
fn rank(successors: &[Vec<NodeId>]) -> Vec<Option<u32>> {
    let mut seen = vec![false; successors.len()];
    let mut postorder = Vec::new();
    let mut stack = Vec::new();
    if !successors.is_empty() {
        seen[0] = true;
        stack.push((NodeId(0), 0_usize));
    }
    while let Some((node, done)) = stack.pop() {
        if let Some(&to) = successors[node.index()].get(done) {
            stack.push((node, done + 1));
            if !core::mem::replace(&mut seen[to.index()], true) {
                stack.push((to, 0));
            }
        } else {
            postorder.push(node);
        }
    }
    let mut rank = vec![None; successors.len()];
    for (place, node) in (0_u32..).zip(postorder.iter().rev()) {
        rank[node.index()] = Some(place);
    }
    rank
}
