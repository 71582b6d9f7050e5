//! Sets of dense ids as bit vectors: small, ordered, and quick to unite and intersect.
//!
//! Invariant: equal sets have equal representations, whatever was in them before (no trailing zero words).

use core::fmt;
use core::marker::PhantomData;

use model::ids::{FunctionId, NodeId, VariableId};

/// An index into a table.
pub trait Dense: Copy {
    /// The id of the entry at `index`.
    fn at(index: usize) -> Self;
    /// Its index.
    fn position(self) -> usize;
}

macro_rules! dense {
    ($($name:ident),*) => {$(
        impl Dense for $name {
            fn at(index: usize) -> Self {
                Self::new(index)
            }

            fn position(self) -> usize {
                self.index()
            }
        }
    )*};
}

dense!(FunctionId, NodeId, VariableId);

/// A set of dense ids.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Set<I> {
    // invariant: the last word is not zero.
    words: Vec<u64>,
    of: PhantomData<I>,
}

impl<I> Default for Set<I> {
    fn default() -> Self {
        Self { words: Vec::new(), of: PhantomData }
    }
}

impl<I: Dense> Set<I> {
    /// Puts `id` in; whether it is new.
    pub fn insert(&mut self, id: I) -> bool {
        let (word, bit) = (id.position() / 64, 1_u64 << (id.position() % 64));
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        let new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        new
    }

    /// Takes `id` out; whether it was in.
    pub fn remove(&mut self, id: I) -> bool {
        let was = self.contains(id);
        if was {
            self.words[id.position() / 64] &= !(1_u64 << (id.position() % 64));
            self.trim();
        }
        was
    }

    /// Whether `id` is in.
    #[must_use]
    pub fn contains(&self, id: I) -> bool {
        self.words.get(id.position() / 64).is_some_and(|word| word & (1_u64 << (id.position() % 64)) != 0)
    }

    /// Whether nothing is in.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// How many are in.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Adds all of `other`; whether any was new.
    pub fn unite(&mut self, other: &Self) -> bool {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        let mut new = false;
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            new |= more & !*word != 0;
            *word |= more;
        }
        new
    }

    /// Keeps only what is in `other` too.
    pub fn intersect(&mut self, other: &Self) {
        self.words.truncate(other.words.len());
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word &= more;
        }
        self.trim();
    }

    /// Whether any id is in both.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).any(|(a, b)| a & b != 0)
    }

    /// In ascending order.
    pub fn iter(&self) -> impl Iterator<Item = I> + '_ {
        self.words.iter().enumerate().flat_map(|(w, &word)| {
            let mut rest = word;
            core::iter::from_fn(move || {
                let bit = rest.trailing_zeros();
                (rest != 0).then(|| {
                    rest &= rest - 1;
                    I::at(w * 64 + bit as usize)
                })
            })
        })
    }

    fn trim(&mut self) {
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }
}

impl<I: Dense> FromIterator<I> for Set<I> {
    fn from_iter<T: IntoIterator<Item = I>>(ids: T) -> Self {
        let mut set = Self::default();
        set.extend(ids);
        set
    }
}

impl<I: Dense> Extend<I> for Set<I> {
    fn extend<T: IntoIterator<Item = I>>(&mut self, ids: T) {
        for id in ids {
            self.insert(id);
        }
    }
}

impl<I: Dense + fmt::Debug> fmt::Debug for Set<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_forgets_what_was_taken_out() {
        let mut set: Set<NodeId> = [1, 64, 200].into_iter().map(NodeId).collect();
        assert!(set.remove(NodeId(200)) && !set.remove(NodeId(7)));
        assert_eq!(set, [64, 1].into_iter().map(NodeId).collect());
        assert_eq!(set.iter().collect::<Vec<_>>(), [NodeId(1), NodeId(64)]);
        set.intersect(&[1].into_iter().map(NodeId).collect());
        assert_eq!((set.len(), set.contains(NodeId(64))), (1, false));
        assert!(!set.unite(&[1].into_iter().map(NodeId).collect()));
        assert!(set.unite(&[130].into_iter().map(NodeId).collect()));
    }
}
