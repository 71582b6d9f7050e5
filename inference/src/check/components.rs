//! The strongly connected components of a graph, for the checker: Tarjan's algorithm (1972) on an explicit stack.

/// For each vertex the number of its component; an edge never leads to a component with a higher number.
#[must_use]
pub(super) fn components(edges: &[Vec<usize>]) -> Vec<usize> {
    let mut search = Search { index: vec![None; edges.len()], low: vec![0; edges.len()], of: vec![None; edges.len()], ..Search::default() };
    for root in 0..edges.len() {
        if search.index[root].is_none() {
            search.run(root, edges);
        }
    }
    search.of.into_iter().flatten().collect()
}

#[derive(Default)]
struct Search {
    index: Vec<Option<usize>>,
    low: Vec<usize>,
    /// The component, once it is complete.
    of: Vec<Option<usize>>,
    open: Vec<usize>,
    seen: usize,
    complete: usize,
}

impl Search {
    fn enter(&mut self, vertex: usize) {
        self.index[vertex] = Some(self.seen);
        self.low[vertex] = self.seen;
        self.seen += 1;
        self.open.push(vertex);
    }

    fn run(&mut self, root: usize, edges: &[Vec<usize>]) {
        self.enter(root);
        let mut stack = vec![(root, 0_usize)];
        while let Some((vertex, done)) = stack.pop() {
            if let Some(&to) = edges[vertex].get(done) {
                stack.push((vertex, done + 1));
                match self.index[to] {
                    None => {
                        self.enter(to);
                        stack.push((to, 0));
                    }
                    Some(index) if self.of[to].is_none() => self.low[vertex] = self.low[vertex].min(index),
                    Some(_) => {}
                }
                continue;
            }
            if Some(self.low[vertex]) == self.index[vertex] {
                while let Some(member) = self.open.pop() {
                    self.of[member] = Some(self.complete);
                    if member == vertex {
                        break;
                    }
                }
                self.complete += 1;
            }
            if let Some(&(parent, _)) = stack.last() {
                self.low[parent] = self.low[parent].min(self.low[vertex]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn components_are_numbered_against_the_edges() {
        // 0 -> 1 <-> 2 -> 3, 4 -> 4
        assert_eq!(components(&[vec![1], vec![2], vec![1, 3], vec![], vec![4]]), [2, 1, 1, 0, 3]);
        assert_eq!(components(&[]), Vec::<usize>::new());
    }
}
