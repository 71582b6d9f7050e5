//! One entry of a thread's held set, and the names that its fields are made of.
//!
//! | field | content |
//! |---|---|
//! | key | address of the lock, plus the `Mode` and a hint in the low bits; 0: free |
//! | frame, label | the origin: the activation, and the newest label in it |
//! | ticket | of the tenure; unique within the thread until 2^31 tenures later; odd |
//! | revoked | the last ticket that another thread revoked here |

use model::pair::Mode;

use super::atomic::{AtomicU32, AtomicUsize, Ordering, constructor};

/// Index of a thread's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot(pub u16);

/// Names one tenure of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(pub u32);

/// The identity of an activation: an address in its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Frame(pub usize);

/// Where a hold comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The place of the acquisition.
    pub label: u32,
    /// The activation.
    pub frame: Frame,
}

/// Index of an entry in a held set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index(pub u32);

/// A mode as hooks pass it, and as keys hold it: the greater, the stronger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bits(pub(super) usize);

impl Bits {
    /// No mode: of no entry at all.
    pub const NONE: Self = Self(0);

    /// Those of a mode.
    #[inline(always)]
    #[must_use]
    pub const fn of(mode: Mode) -> Self {
        Self(mode as usize)
    }

    /// As passed; anything but 1 to 3 is nobody's mode.
    #[inline(always)]
    #[must_use]
    pub fn passed(mode: u32) -> Self {
        Self(mode as usize & MODE)
    }

    /// The stronger of two.
    #[inline(always)]
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if other > self { other } else { self }
    }

    /// Whether it is R.
    #[inline(always)]
    #[must_use]
    pub fn is_read(self) -> bool {
        self.0 == Mode::R as usize
    }

    /// The mode. What is nobody's counts as the strongest.
    #[inline(always)]
    #[must_use]
    pub fn mode(self) -> Mode {
        mode_of(self.0).unwrap_or(Mode::X)
    }
}

/// Where an entry goes, or is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The first entry of a thread that has no other: known without reading what was written a moment ago.
    Only,
    /// This one of several.
    Among(Index),
}

/// The bits of a key that hold the mode.
pub(super) const MODE: usize = 0b11;
/// The bit of a key that says: entered by showing the entry alone. A hint, for a release to know that the word was not taken.
pub(super) const QUICK: usize = 0b100;
/// All bits of a key below a lock's alignment.
pub(super) const LOW: usize = model::abi::LOCK_BYTES - 1;

/// One entry of a held set.
#[derive(Debug)]
#[repr(C)]
pub struct Hold {
    pub(super) key: AtomicUsize,
    pub(super) frame: AtomicUsize,
    pub(super) label: AtomicU32,
    pub(super) ticket: AtomicU32,
    pub(super) revoked: AtomicU32,
    _pad: u32,
}

impl Hold {
    constructor! {
        pub(super) fn new() -> Self {
            Self {
            key: AtomicUsize::new(0),
            frame: AtomicUsize::new(0),
            label: AtomicU32::new(0),
            ticket: AtomicU32::new(0),
            revoked: AtomicU32::new(0),
            _pad: 0,
        }
    }
    }

    /// The address of its lock, and its mode. `None` when free.
    #[inline(always)]
    pub(super) fn key(&self) -> Option<(usize, Mode)> {
        let key = self.key.load(Ordering::Acquire);
        mode_of(key).map(|mode| (key & !LOW, mode))
    }

    /// In force for the tenure of its ticket.
    #[inline(always)]
    pub(super) fn in_force(&self) -> bool {
        self.revoked.load(Ordering::Acquire) != self.ticket.load(Ordering::Relaxed)
    }
}

#[inline(always)]
pub(super) fn mode_of(key: usize) -> Option<Mode> {
    // Not a match over four values: that becomes a jump through a table.
    if key & MODE == 0 {
        None
    } else if key & MODE == Mode::R as usize {
        Some(Mode::R)
    } else {
        Some(if key & MODE == Mode::X as usize { Mode::X } else { Mode::U })
    }
}

#[inline(always)]
pub(super) fn bit(place: Place) -> u32 {
    match place {
        Place::Only => 1,
        Place::Among(index) => 1 << index.0,
    }
}

/// A copy of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Where it stands.
    pub place: Place,
    /// The address of its lock.
    pub lock: usize,
    /// Its mode.
    pub mode: Mode,
    /// Its origin.
    pub origin: Origin,
    /// Its tenure.
    pub ticket: Ticket,
    /// Whether nobody revoked it.
    pub in_force: bool,
}

/// What a thread has of one lock, as seen from one frame.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// The tenure.
    pub ticket: Ticket,
    /// The frame's own entry.
    pub here: Option<Here>,
    /// The strongest mode of the entries of other frames.
    pub rest: Bits,
}

/// The entry of the frame that a share is seen from.
#[derive(Clone, Copy, Debug)]
pub struct Here {
    /// Where it stands.
    pub place: Place,
    /// Its label.
    pub label: u32,
    /// Its mode.
    pub mode: Bits,
}

impl Share {
    /// The tenure's mode; none if there is no tenure.
    #[inline(always)]
    #[must_use]
    pub fn mode(self) -> Bits {
        self.here.map_or(self.rest, |here| here.mode.or(self.rest))
    }
}
