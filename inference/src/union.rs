//! Union-find over places, for variables in the making: the smallest number of a class is its root, so that order does not show.
//!
//! Places are long to compare and their tables large, so each gets a number once and is looked up by hash. Nothing ever walks the table.

use std::collections::HashMap;

use model::program::Place;

/// The number of a place: an index into `Places`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PlaceId(u32);

impl PlaceId {
    fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("fewer than 2^32 places"))
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Places, numbered in the order in which they came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places {
    numbers: HashMap<Place, PlaceId>,
    places: Vec<Place>,
}

impl Places {
    /// The number of a place, a new one if it has none.
    pub(crate) fn number(&mut self, place: &Place) -> PlaceId {
        if let Some(&id) = self.numbers.get(place) {
            return id;
        }
        let id = PlaceId::new(self.places.len());
        self.places.push(place.clone());
        self.numbers.insert(place.clone(), id);
        id
    }

    /// The number of a place, if it has one.
    pub(crate) fn known(&self, place: &Place) -> Option<PlaceId> {
        self.numbers.get(place).copied()
    }

    /// The place with this number.
    pub(crate) fn get(&self, id: PlaceId) -> &Place {
        &self.places[id.index()]
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// All, in order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (PlaceId, &Place)> {
        self.places.iter().enumerate().map(|(index, place)| (PlaceId::new(index), place))
    }
}

/// Union-find over places.
#[derive(Default)]
pub(crate) struct Union {
    pub(crate) places: Places,
    parents: Vec<PlaceId>,
}

impl Union {
    pub(crate) fn index(&mut self, place: &Place) -> PlaceId {
        let id = self.places.number(place);
        if id.index() == self.parents.len() {
            self.parents.push(id);
        }
        id
    }

    pub(crate) fn root(&self, mut id: PlaceId) -> PlaceId {
        while self.parents[id.index()] != id {
            id = self.parents[id.index()];
        }
        id
    }

    /// The root of a place's class; `None` for a place that the program does not access.
    pub(crate) fn root_of(&self, place: &Place) -> Option<PlaceId> {
        self.places.known(place).map(|id| self.root(id))
    }

    pub(crate) fn join(&mut self, x: &Place, y: &Place) {
        let (x, y) = (self.index(x), self.index(y));
        let (a, b) = (self.root(x), self.root(y));
        let root = a.min(b);
        for id in [a, b, x, y] {
            self.parents[id.index()] = root;
        }
    }
}
