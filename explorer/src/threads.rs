//! Sets of threads: bits in a few words, copied and compared without allocation.
//!
//! One execution has at most [`MAX_THREADS`] threads; an engine refuses to create more, and says so.

use core::fmt;

use model::ids::ThreadId;

/// The most threads that one execution may create, the initial one included.
pub const MAX_THREADS: usize = 64 * WORDS;

const WORDS: usize = 4;

/// A set of threads.
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct ThreadSet {
    words: [u64; WORDS],
}

impl ThreadSet {
    /// The set without members.
    pub const EMPTY: Self = Self { words: [0; WORDS] };

    /// The set of all threads that there can be.
    pub const ALL: Self = Self { words: [u64::MAX; WORDS] };

    /// The set of one thread.
    #[must_use]
    pub fn one(thread: ThreadId) -> Self {
        let mut set = Self::EMPTY;
        set.insert(thread);
        set
    }

    /// Whether it has this member.
    #[must_use]
    #[inline]
    pub fn contains(&self, thread: ThreadId) -> bool {
        self.words[thread.index() / 64 % WORDS] & bit(thread) != 0
    }

    /// Adds a member.
    #[inline]
    pub fn insert(&mut self, thread: ThreadId) {
        debug_assert!(thread.index() < MAX_THREADS, "{thread} is beyond the most threads an execution may have");
        self.words[thread.index() / 64 % WORDS] |= bit(thread);
    }

    /// Takes a member out.
    #[inline]
    pub fn remove(&mut self, thread: ThreadId) {
        self.words[thread.index() / 64 % WORDS] &= !bit(thread);
    }

    /// Whether it has no members.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        // Word by word: the processor waits where two that were just written apart are read at once.
        self.words[0] == 0 && self.words[1..].iter().fold(0, |all, word| all | word) == 0
    }

    /// How many members it has.
    #[must_use]
    #[inline]
    pub fn len(&self) -> u32 {
        self.words.iter().filter(|&&word| word != 0).map(|word| word.count_ones()).sum()
    }

    /// The member with the lowest id.
    #[must_use]
    #[inline]
    pub fn first(&self) -> Option<ThreadId> {
        (0u32..).zip(self.words).find(|&(_, word)| word != 0).map(|(at, word)| ThreadId(at * 64 + word.trailing_zeros()))
    }

    /// The member that has `rank` members below it.
    #[must_use]
    pub fn nth(&self, mut rank: u32) -> Option<ThreadId> {
        for (at, mut word) in (0u32..).zip(self.words) {
            let here = word.count_ones();
            if rank < here {
                for _ in 0..rank {
                    word &= word - 1;
                }
                return Some(ThreadId(at * 64 + word.trailing_zeros()));
            }
            rank -= here;
        }
        None
    }

    /// Members of both.
    #[must_use]
    #[inline]
    pub fn intersection(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a & b)
    }

    /// Members of either.
    #[must_use]
    #[inline]
    pub fn union(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a | b)
    }

    /// Members of this one that the other has not.
    #[must_use]
    #[inline]
    pub fn difference(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a & !b)
    }

    /// How many parts a set has.
    pub const PARTS: usize = WORDS;

    /// The members of a part, in ascending order: without copying the others.
    #[inline]
    pub fn part(&self, part: usize) -> impl Iterator<Item = ThreadId> + use<> {
        let mut word = self.words[part];
        let start = u32::try_from(part * 64).unwrap_or(0);
        core::iter::from_fn(move || {
            let bit = word.trailing_zeros();
            (word != 0).then(|| {
                word &= word - 1;
                ThreadId(start + bit)
            })
        })
    }

    /// Makes a part that of another set.
    #[inline]
    pub fn set_part(&mut self, part: usize, other: &Self) {
        self.words[part] = other.words[part];
    }

    /// Members, in ascending order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = ThreadId> + use<> {
        (0u32..).zip(self.words).filter(|&(_, word)| word != 0).flat_map(|(at, mut word)| {
            core::iter::from_fn(move || {
                let bit = word.trailing_zeros();
                (word != 0).then(|| {
                    word &= word - 1;
                    ThreadId(at * 64 + bit)
                })
            })
        })
    }

    #[inline]
    fn combine(&self, other: &Self, f: impl Fn(u64, u64) -> u64) -> Self {
        let mut words = self.words;
        for (word, &with) in words.iter_mut().zip(&other.words) {
            *word = f(*word, with);
        }
        Self { words }
    }
}

#[inline]
fn bit(thread: ThreadId) -> u64 {
    1 << (thread.0 % 64)
}

impl FromIterator<ThreadId> for ThreadSet {
    fn from_iter<I: IntoIterator<Item = ThreadId>>(threads: I) -> Self {
        let mut set = Self::EMPTY;
        for thread in threads {
            set.insert(thread);
        }
        set
    }
}

impl fmt::Debug for ThreadSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn a_set_has_what_was_put_in() {
        let members = [0, 5, 63, 64, 130, 255].map(ThreadId);
        let mut set: ThreadSet = members.into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), members);
        assert_eq!(set.len(), 6);
        for (rank, &member) in (0..).zip(&members) {
            assert!(set.contains(member));
            assert_eq!(set.nth(rank), Some(member));
        }
        assert_eq!(set.nth(6), None);
        set.remove(ThreadId(0));
        assert_eq!(set.first(), Some(ThreadId(5)));
        assert!(!set.contains(ThreadId(0)));
    }

    #[test]
    fn sets_combine_by_member() {
        let a: ThreadSet = [1, 2, 70].map(ThreadId).into_iter().collect();
        let b: ThreadSet = [2, 70, 71].map(ThreadId).into_iter().collect();
        assert_eq!(a.intersection(&b), [2, 70].map(ThreadId).into_iter().collect());
        assert_eq!(a.union(&b).len(), 4);
        assert_eq!(a.difference(&b), ThreadSet::one(ThreadId(1)));
        assert!(a.difference(&a).is_empty());
    }
}
