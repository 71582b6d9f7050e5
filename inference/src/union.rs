//! Union-find over places, for variables in the making: the smallest index of a class is its root, so that order does not show.

use std::collections::BTreeMap;

use model::program::Place;

/// Union-find over places.
#[derive(Default)]
pub(crate) struct Union {
    pub(crate) indices: BTreeMap<Place, usize>,
    parents: Vec<usize>,
}

impl Union {
    pub(crate) fn index(&mut self, place: &Place) -> usize {
        if let Some(&index) = self.indices.get(place) {
            return index;
        }
        let index = self.parents.len();
        self.parents.push(index);
        self.indices.insert(place.clone(), index);
        index
    }

    pub(crate) fn root(&self, mut index: usize) -> usize {
        while self.parents[index] != index {
            index = self.parents[index];
        }
        index
    }

    /// The root of a place's class; `None` for a place that the program does not access.
    pub(crate) fn root_of(&self, place: &Place) -> Option<usize> {
        self.indices.get(place).map(|&index| self.root(index))
    }

    pub(crate) fn join(&mut self, x: &Place, y: &Place) {
        let (x, y) = (self.index(x), self.index(y));
        let (a, b) = (self.root(x), self.root(y));
        let root = a.min(b);
        for index in [a, b, x, y] {
            self.parents[index] = root;
        }
    }
}
