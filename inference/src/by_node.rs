//! A table of what some nodes of each function have: one row for all, since it is made once and walked often.

use model::ids::{FunctionId, NodeId};

/// For each function, in order, and some of its nodes, in order, several items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ByNode<T> {
    /// By `FunctionId`: where its part of `nodes` ends.
    functions: Vec<usize>,
    nodes: Vec<NodeId>,
    /// By place in `nodes`: where its part of `items` ends.
    ends: Vec<usize>,
    items: Vec<T>,
}

impl<T> ByNode<T> {
    /// A table without functions.
    pub(crate) fn new() -> Self {
        Self { functions: Vec::new(), nodes: Vec::new(), ends: Vec::new(), items: Vec::new() }
    }

    /// Adds a function: some of its nodes in order, with what they have. A node that has nothing is left out.
    pub(crate) fn push<I: IntoIterator<Item = T>>(&mut self, nodes: impl IntoIterator<Item = (NodeId, I)>) {
        for (node, items) in nodes {
            let before = self.items.len();
            self.items.extend(items);
            if self.items.len() > before {
                self.nodes.push(node);
                self.ends.push(self.items.len());
            }
        }
        self.functions.push(self.nodes.len());
    }

    /// How many functions there are.
    pub(crate) fn len(&self) -> usize {
        self.functions.len()
    }

    /// What a node has.
    pub(crate) fn of_node(&self, function: FunctionId, node: NodeId) -> &[T] {
        let start = self.start(function);
        self.nodes[start..self.functions[function.index()]].binary_search(&node).map_or(&[], |at| self.row(start + at))
    }

    /// The nodes of a function that have something, in order.
    pub(crate) fn of_function(&self, function: FunctionId) -> impl Iterator<Item = (NodeId, &[T])> {
        (self.start(function)..self.functions[function.index()]).map(|at| (self.nodes[at], self.row(at)))
    }

    /// All that nodes of a function have.
    pub(crate) fn items_of(&self, function: FunctionId) -> &[T] {
        let end = |nodes: usize| nodes.checked_sub(1).map_or(0, |last| self.ends[last]);
        &self.items[end(self.start(function))..end(self.functions[function.index()])]
    }

    fn start(&self, function: FunctionId) -> usize {
        function.index().checked_sub(1).map_or(0, |before| self.functions[before])
    }

    fn row(&self, at: usize) -> &[T] {
        &self.items[at.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[at]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_keep_what_they_have_and_others_have_nothing() {
        let mut table = ByNode::new();
        let function = |nodes: &[(u32, &[u8])]| nodes.iter().map(|&(n, items)| (NodeId(n), items.to_vec())).collect::<Vec<_>>();
        table.push(function(&[]));
        table.push(function(&[(2, &[7, 8]), (3, &[]), (5, &[9])]));
        table.push(function(&[(0, &[1])]));
        let at = |f, n| table.of_node(FunctionId(f), NodeId(n)).to_vec();
        assert_eq!([at(0, 2), at(1, 2), at(1, 3), at(1, 5), at(2, 0), at(2, 5)], [vec![], vec![7, 8], vec![], vec![9], vec![1], vec![]]);
        assert_eq!(table.of_function(FunctionId(1)).map(|(node, _)| node.0).collect::<Vec<_>>(), [2, 5]);
        assert_eq!([0, 1, 2].map(|f| table.items_of(FunctionId(f)).to_vec()), [vec![], vec![7, 8, 9], vec![1]]);
        assert_eq!(table.len(), 3);
    }
}
