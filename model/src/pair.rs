//! Atomicity: the lattice of seed 002, Fig. 5, and lock modes.
//!
//! Over all observations of one pair the weakest wins, so observations are combined by `meet`, which is associative,
//! commutative and idempotent: profiles merge in any order.

use core::fmt;

/// The atomicity of a pair of consecutive thread-local accesses: `⊤ > Exclusive > Read > None` (seed 002, Fig. 5).
/// ⊤, "never seen", is the absence of the pair from the profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum Atomicity {
    /// A remote write came between the two accesses in some correct run: nothing to keep.
    None,
    /// Only remote reads came between.
    Read,
    /// No remote access came between.
    Exclusive,
}

impl Atomicity {
    /// The weaker of two observations.
    #[must_use]
    pub fn meet(self, other: Self) -> Self {
        self.min(other)
    }
}

impl fmt::Display for Atomicity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "NONE",
            Self::Read => "READ",
            Self::Exclusive => "EXCLUSIVE",
        })
    }
}

/// How two accesses of different threads to one address met, at least one of which writes: what could have come in another order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(u32)]
pub enum Meeting {
    /// Both held one lock instance.
    UnderOneLock = 1,
    /// They held no lock in common, and no synchronization put one before the other.
    Unordered = 2,
}

/// The mode in which an injected lock is held, weakest first.
///
/// Compatibility (may two threads hold them at once?):
///
/// |   | R | U | X |
/// |---|---|---|---|
/// | R | yes | yes | no |
/// | U | yes | no | no |
/// | X | no | no | no |
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(u8)]
pub enum Mode {
    /// Read: shared.
    R = 1,
    /// Update: a read that may become exclusive; compatible with R only, so two upgraders never wait for each other.
    U = 2,
    /// Exclusive.
    X = 3,
}

impl Mode {
    /// Whether two threads may hold the lock in these modes at once.
    #[must_use]
    pub fn compatible(self, other: Self) -> bool {
        matches!((self, other), (Self::R, Self::R | Self::U) | (Self::U, Self::R))
    }

    /// The mode that a pair of this atomicity demands; `None` demands nothing.
    #[must_use]
    pub fn demanded_by(atomicity: Atomicity) -> Option<Self> {
        match atomicity {
            Atomicity::None => None,
            Atomicity::Read => Some(Self::R),
            Atomicity::Exclusive => Some(Self::X),
        }
    }

    /// The mode with this number in the hooks' `mode` argument.
    #[must_use]
    pub fn from_abi(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::R),
            2 => Some(Self::U),
            3 => Some(Self::X),
            _ => None,
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// What an access does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
#[repr(u8)]
pub enum Rw {
    /// Reads only.
    Read = 0,
    /// Writes only.
    Write = 1,
    /// Reads and writes in one step (atomic read-modify-write, compare-and-swap).
    Update = 2,
}

impl Rw {
    /// Whether it writes, or may.
    #[must_use]
    pub fn writes(self) -> bool {
        self != Self::Read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weakest_observation_wins() {
        use Atomicity::{Exclusive, None, Read};
        for (a, b, expected) in [(Exclusive, Exclusive, Exclusive), (Exclusive, Read, Read), (Read, None, None), (Exclusive, None, None)] {
            assert_eq!(a.meet(b), expected);
            assert_eq!(b.meet(a), expected);
        }
    }

    #[test]
    fn compatibility_is_symmetric_and_only_readers_share_with_update() {
        use Mode::{R, U, X};
        let compatible: Vec<_> = [R, U, X].iter().flat_map(|&a| [R, U, X].map(|b| (a, b))).filter(|(a, b)| a.compatible(*b)).collect();
        assert_eq!(compatible, [(R, R), (R, U), (U, R)]);
    }
}
