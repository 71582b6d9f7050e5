//! The state word of an injected lock: who holds its exclusive part, and what its users must watch for.
//!
//! The exclusive part (U or X) lives in the word. Read holds do not: a reader publishes an entry in its own thread record
//! and then looks at the word; a writer claims the word and then looks at all entries. With a full fence in between on both
//! sides, one of the two sees the other.
//!
//! | bits | name | meaning |
//! |---|---|---|
//! | 0-1 | kind | 0 nobody, 2 U, 3 X (as `Mode`) |
//! | 2 | `UPGRADING` | the U holder waits for readers to leave; no new reader enters |
//! | 3 | `WAITERS` | a thread may be parked: who makes room must look for it |
//! | 4 | `FAIR` | a parked thread waited long: threads that hold nothing queue behind it |
//! | 5 | `READERS` | a reader may have published since a writer last found none |
//! | 6 | `LIGHT` | readers need no fence; who claims the word must do a process-wide barrier first |
//! | 7 | `BIASED` | only the owner may enter, by publishing an entry alone; kind is 0 |
//! | 8 | `OFF` | switched off: hooks do nothing |
//! | 16-31 | owner | slot of the thread that owns kind or bias, plus one |
//! | 32-63 | ticket | of the owner's hold; 0 with `BIASED` |
//!
//! May a thread that holds none of this lock enter, given the word? (Held by another thread; a bias of one's own is an
//! entry without any further check.)
//!
//! | word | R | U | X |
//! |---|---|---|---|
//! | kind 0 | yes | yes | yes, once no reader's entry is left |
//! | kind U | yes | no | no |
//! | kind U, `UPGRADING` | no | no | no |
//! | kind X | no | no | no |
//! | `BIASED` | after the bias is revoked | likewise | likewise |
//! | `OFF` | every operation succeeds and leaves no trace | | |
//!
//! Transitions: `0→U`, `0→X` (acquire), `U→U+UPGRADING→X` (upgrade), `X→U` (a nested X region ends), `U→0`, `X→0`
//! (release, degrade, revocation), `0→BIASED→0|U|X`. Flags are set and cleared independently of kind.

use crate::protocol::hold::{Slot, Ticket};

/// A value of the state word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Word(pub u64);

/// The mode bits: nobody, U or X.
const KIND: u64 = 0b11;
const KIND_U: u64 = 2;
const KIND_X: u64 = 3;
/// See the module's table.
pub const UPGRADING: u64 = 1 << 2;
/// See the module's table.
pub const WAITERS: u64 = 1 << 3;
/// See the module's table.
pub const FAIR: u64 = 1 << 4;
/// See the module's table.
pub const READERS: u64 = 1 << 5;
/// See the module's table.
pub const LIGHT: u64 = 1 << 6;
/// See the module's table.
pub const BIASED: u64 = 1 << 7;
/// See the module's table.
pub const OFF: u64 = 1 << 8;
const OWNER_SHIFT: u32 = 16;
const TICKET_SHIFT: u32 = 32;
/// Everything that says who owns the lock.
const OWNERSHIP: u64 = KIND | UPGRADING | BIASED | (0xffff << OWNER_SHIFT) | (0xffff_ffff << TICKET_SHIFT);

/// The exclusive part of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exclusive {
    /// Update.
    U,
    /// Exclusive.
    X,
}

impl Word {
    /// The bits of the lower half that tell whether the word is biased to one thread, and not switched off.
    pub const MARK: u32 = Self(0xffff_0000 | BIASED | OFF).lower();

    /// Its lower half: all but the ticket.
    #[inline(always)]
    #[must_use]
    pub const fn lower(self) -> u32 {
        (self.0 & 0xffff_ffff) as u32
    }

    /// Whether any of these flags is set.
    #[inline(always)]
    #[must_use]
    pub const fn has(self, flags: u64) -> bool {
        self.0 & flags != 0
    }

    /// The word with nobody's ownership in it; flags stay.
    #[inline(always)]
    #[must_use]
    pub const fn freed(self) -> Self {
        Self(self.0 & !OWNERSHIP)
    }

    /// The word owned by this thread's hold; flags stay.
    #[inline(always)]
    #[must_use]
    pub const fn owned(self, exclusive: Exclusive, slot: Slot, ticket: Ticket) -> Self {
        let kind = match exclusive {
            Exclusive::U => KIND_U,
            Exclusive::X => KIND_X,
        };
        Self(self.freed().0 | kind | owner_bits(slot) | ((ticket.0 as u64) << TICKET_SHIFT))
    }

    /// The word biased towards this thread; flags stay.
    #[inline(always)]
    #[must_use]
    pub const fn biased(self, slot: Slot) -> Self {
        Self(self.freed().0 | BIASED | owner_bits(slot))
    }

    /// Whether a reader that published its entry holds the lock without a fence.
    #[inline(always)]
    #[must_use]
    pub const fn is_light(self) -> bool {
        const BARS: u64 = 1 | UPGRADING | FAIR | BIASED | OFF;
        self.0 & (BARS | LIGHT | READERS) == LIGHT | READERS
    }

    /// Whether it is open, nobody waits for long, and no reader may be inside.
    #[inline(always)]
    #[must_use]
    pub const fn is_plain(self) -> bool {
        self.0 & (KIND | FAIR | READERS | LIGHT | BIASED | OFF) == 0
    }

    /// Whether nobody can be writing under it who would have to be waited for.
    #[inline(always)]
    #[must_use]
    pub const fn is_open_to_glances(self) -> bool {
        self.0 & (KIND | UPGRADING | BIASED) == 0
    }

    /// Whether nobody owns kind or bias, and nobody waits.
    #[inline(always)]
    #[must_use]
    pub const fn is_unwatched(self) -> bool {
        self.0 & (WAITERS | (0xffff << OWNER_SHIFT)) == 0
    }

    /// Whom it is biased towards.
    #[inline(always)]
    #[must_use]
    pub fn biased_to(self) -> Option<Slot> {
        if self.has(BIASED) { self.owner() } else { None }
    }

    /// The exclusive part, if anybody has it.
    #[inline(always)]
    #[must_use]
    pub const fn exclusive(self) -> Option<Exclusive> {
        match self.0 & KIND {
            KIND_U => Some(Exclusive::U),
            KIND_X => Some(Exclusive::X),
            _ => None,
        }
    }

    /// Whether nobody has the exclusive part and neither bias nor switch keep it from being taken.
    #[inline(always)]
    #[must_use]
    pub const fn is_open(self) -> bool {
        self.0 & (KIND | BIASED | OFF) == 0
    }

    /// Whether a reader that published its entry must withdraw it.
    #[inline(always)]
    #[must_use]
    pub const fn bars_readers(self) -> bool {
        self.0 & KIND == KIND_X || self.has(UPGRADING | BIASED | OFF)
    }

    /// Whether a reader may publish its entry: none is barred, and nobody waits for long.
    #[inline(always)]
    #[must_use]
    pub const fn welcomes_readers(self) -> bool {
        !self.bars_readers() && !self.has(FAIR)
    }

    /// The thread that owns kind or bias.
    #[inline(always)]
    #[must_use]
    pub fn owner(self) -> Option<Slot> {
        let number = u16::try_from((self.0 >> OWNER_SHIFT) & 0xffff).unwrap_or(0);
        number.checked_sub(1).map(Slot)
    }

    /// The ticket of the owner's hold.
    #[inline(always)]
    #[must_use]
    pub const fn ticket(self) -> Ticket {
        Ticket((self.0 >> TICKET_SHIFT) as u32)
    }

    /// Whether exactly this hold owns the exclusive part.
    #[inline(always)]
    #[must_use]
    pub const fn is_owned_by(self, slot: Slot, ticket: Ticket) -> bool {
        const MASK: u64 = BIASED | (0xffff << OWNER_SHIFT) | (0xffff_ffff << TICKET_SHIFT);
        self.0 & MASK == owner_bits(slot) | ((ticket.0 as u64) << TICKET_SHIFT)
    }
}

#[inline(always)]
const fn owner_bits(slot: Slot) -> u64 {
    (slot.0 as u64 + 1) << OWNER_SHIFT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ownership_reads_back_and_flags_survive_it() {
        let flags = Word(WAITERS | READERS | FAIR);
        for slot in [Slot(0), Slot(7), Slot(65_534)] {
            for exclusive in [Exclusive::U, Exclusive::X] {
                let word = flags.owned(exclusive, slot, Ticket(u32::MAX));
                assert_eq!((word.exclusive(), word.owner(), word.ticket()), (Some(exclusive), Some(slot), Ticket(u32::MAX)));
                assert!(word.is_owned_by(slot, Ticket(u32::MAX)) && !word.is_owned_by(slot, Ticket(1)) && word.biased_to().is_none());
                assert_eq!(word.freed().0, flags.0);
            }
            let biased = flags.biased(slot);
            assert!(biased.biased_to() == Some(slot) && !biased.is_open() && biased.exclusive().is_none() && biased.bars_readers());
            assert_eq!(biased.freed().0, flags.0);
        }
        assert_eq!(flags.owner(), None);
    }

    #[test]
    fn readers_pass_an_update_hold_until_it_upgrades() {
        let update = Word(0).owned(Exclusive::U, Slot(1), Ticket(1));
        assert!(!update.bars_readers() && Word(update.0 | UPGRADING).bars_readers());
        assert!(Word(0).owned(Exclusive::X, Slot(1), Ticket(1)).bars_readers());
    }
}
