//! What each object went through in the current execution, by the key under which steps meet there.
//!
//! One key comes several times in a row: a step asks for what it conflicts with there and is then noted, and many steps are about one object. So
//! the object that was asked for last is found at once.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cell::Cell;

use super::holds::{Change, Holds};
use super::keys::Key;

/// What a step meant to an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) step: usize,
    pub(super) change: Change,
    /// Whether it is about a lock that the step gave up on its way, and not about the step's event.
    pub(super) aside: bool,
}

/// What an object went through.
#[derive(Debug, Default)]
pub(super) struct Object {
    pub(super) entries: Vec<Entry>,
    pub(super) holds: Holds,
}

/// All objects that steps were about. None is ever forgotten: its entries are.
#[derive(Debug, Default)]
pub(super) struct Objects {
    places: BTreeMap<Key, usize>,
    all: Vec<Object>,
    /// The one for accesses that are too wide to be kept piece by piece, which every access may meet.
    wide: Option<usize>,
    /// The one that was found last.
    last: Cell<Option<(Key, usize)>>,
}

impl Objects {
    fn place(&self, key: Key) -> Option<usize> {
        if let Some((_, place)) = self.last.get().filter(|&(last, _)| last == key) {
            return Some(place);
        }
        let place = *self.places.get(&key)?;
        self.last.set(Some((key, place)));
        Some(place)
    }

    /// The object with this key, if there is one.
    pub(super) fn get(&self, key: Key) -> Option<&Object> {
        self.place(key).map(|place| &self.all[place])
    }

    /// That of wide accesses.
    pub(super) fn wide(&self) -> Option<&Object> {
        self.wide.map(|place| &self.all[place])
    }

    /// The object with this key, new if there is none.
    pub(super) fn at(&mut self, key: Key) -> &mut Object {
        let place = self.place(key).unwrap_or_else(|| {
            let place = self.all.len();
            self.all.push(Object::default());
            self.places.insert(key, place);
            if key == Key::Wide {
                self.wide = Some(place);
            }
            self.last.set(Some((key, place)));
            place
        });
        &mut self.all[place]
    }

    /// Those with keys from one to another, both included.
    pub(super) fn between(&self, first: Key, last: Key) -> impl Iterator<Item = &Object> {
        self.places.range(first..=last).map(|(_, &place)| &self.all[place])
    }
}
