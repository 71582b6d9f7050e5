//! One event of an exploration: what a thread is about to do at a scheduling point.
//!
//! A thread's *pending* event is the next thing it will do; a *step* performs it, up to and without the thread's next
//! event. Every event is atomic: a condition wait is several (`WaitRelease`; `Waiting` until woken, or `WaitTimeout`; `WaitReacquire`).
//!
//! Identities are stable across runs: threads by order of creation, objects by order of first use, sites by code.
//! Addresses are those of one process image: equal in all executions of one exploration, meaningless beyond it.
//!
//! Not here: which events conflict (`explorer::dependence`), and how a schedule writes them down (`schedule`).

use core::fmt;
use core::str::FromStr;

use crate::ids::{ObjectId, SiteKey, ThreadId};
use crate::pair::{Mode, Rw};

/// What a thread is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// What it does.
    pub kind: EventKind,
    /// To which memory: the bytes of an access, the storage of a synchronization object; `None` where there is neither
    /// (start, exit, join, yield). Two events on one object have overlapping ranges.
    pub range: Option<Range>,
    /// The object, under an identity that people and other runs understand.
    pub object: Option<ObjectId>,
    /// Where in the code; `None` for events that no instrumented code asked for.
    pub site: Option<SiteKey>,
}

/// A range of addresses. invariant: `length > 0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Range {
    /// Its first byte.
    pub address: u64,
    /// Its bytes.
    pub length: u32,
}

impl Event {
    /// Whether it is a system call that others may see, or what leaves one.
    #[must_use]
    #[inline]
    pub fn is_call(&self) -> bool {
        matches!(self.kind, EventKind::External) || self.leaves_call()
    }

    /// Whether it is what a thread that waits in a system call does without what it waits for: gives up, or takes an interruption.
    #[must_use]
    #[inline]
    pub fn leaves_call(&self) -> bool {
        self.range.is_none() && matches!(self.kind, EventKind::WaitTimeout { .. } | EventKind::Interrupted { .. })
    }
}

impl Range {
    /// Whether two ranges share a byte.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        // Wrapping differences: no overflow at the top of the address space, and no branch.
        other.address.wrapping_sub(self.address) < u64::from(self.length)
            || self.address.wrapping_sub(other.address) < u64::from(other.length)
    }
}

/// What an event does. Where a kind names an object, it is the event's `range` and `object`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A created thread begins.
    Start,
    /// A thread ends.
    Exit,
    /// The process ends by `exit` or by the initial thread's return: all other threads stop where they are.
    ExitProcess,
    /// The process ends by a failure: an assertion, `abort`, a signal. Nothing of what other threads do shows in that, in whatever order.
    Fail,
    /// Creates a thread, and writes its identity to the event's `range`, if others may see it there.
    Create {
        /// The new thread.
        child: ThreadId,
    },
    /// Waits for a thread's end. Enabled when it has ended.
    Join {
        /// The awaited thread.
        child: ThreadId,
    },

    /// Accesses memory.
    Access {
        /// What it does.
        rw: Rw,
        /// Whether it is an atomic instruction.
        atomic: bool,
    },
    /// An atomic instruction that compares memory with a value and writes only if they are equal. What others write may change the
    /// outcome of a pending one.
    CompareAndSwap {
        /// What it compares with, in as many of the low bytes as the range has.
        expected: u64,
        /// What the comparison gives as memory is now.
        finds: Comparison,
    },
    /// Takes a mutex, spin lock, or the write side of a reader-writer lock. Enabled when it is free.
    Lock,
    /// Takes it if it is free. Always enabled.
    TryLock,
    /// Takes it with a time limit: enabled when it is free; while it is not, the pending event is `LockTimeout`.
    TimedLock,
    /// A timed lock gives up. Enabled while the lock is taken.
    LockTimeout {
        /// The thread's own word, to which those write who interrupt it: it does not give up before it has seen to that.
        by: Option<Range>,
    },
    /// Takes the read side. Enabled when no writer has it.
    ReadLock,
    /// Takes the read side if no writer has it. Always enabled.
    TryReadLock,
    /// Releases any of these.
    Unlock,

    /// Condition wait, first part: releases the mutex and joins the waiters.
    WaitRelease {
        /// The mutex's storage.
        mutex: Range,
    },
    /// Condition wait, second part: waits to be woken. Never enabled: when woken, the pending event becomes
    /// `WaitReacquire`. A timed wait is `WaitTimeout` instead. Likewise before `BarrierLeave` and `FutexReturn`.
    Waiting,
    /// Condition wait, last part, once woken or timed out: takes the mutex, which is this event's object. Enabled when it is free.
    WaitReacquire,
    /// A timed wait ends without being woken: leaves the waiters of the condition. Always enabled; when woken, the pending
    /// event becomes `WaitReacquire`. Without an object, it is a system call that gives up what calls outside might bring; when that is there, the
    /// pending event becomes `External`.
    WaitTimeout {
        /// As of `LockTimeout`.
        by: Option<Range>,
    },
    /// A wait ends without any cause, as the standard allows: leaves the waiters of the condition.
    WaitSpurious {
        /// As of `LockTimeout`.
        by: Option<Range>,
    },
    /// A thread that waits takes a signal that it was sent, or sees that it was cancelled; then it goes on waiting, or not. Enabled until
    /// what it waits for is there, which is the event's object. Without one, that is what calls outside bring.
    Interrupted {
        /// The thread's own word, to which those write who interrupt it.
        by: Range,
    },
    /// Wakes one waiter; which one is a pick of the strategy's.
    Signal,
    /// Wakes all waiters.
    Broadcast,

    /// Takes an injected lock, or strengthens a hold. Enabled when the mode is compatible with all other holders.
    Acquire {
        /// The mode wanted.
        mode: Mode,
    },
    /// Gives an injected lock up.
    Release,
    /// Weakens a hold of an injected lock to read mode.
    Degrade,
    /// The engine takes an injected lock from a holder that cannot proceed; attributed to the holder.
    Revoke,

    /// Takes from a semaphore. Enabled when its count is positive.
    SemWait,
    /// Takes from a semaphore if its count is positive. Always enabled.
    SemTryWait,
    /// Adds to a semaphore.
    SemPost,
    /// Arrives at a barrier or latch. Always enabled.
    BarrierArrive,
    /// Leaves a barrier or latch, once all have arrived. Always enabled.
    BarrierLeave,
    /// Enters `once`: runs the routine, or finds it done. Enabled when nobody else is running it.
    OnceEnter,
    /// Ends the routine of `once`.
    OnceLeave,
    /// Compares a futex word and joins its waiters, or returns. Always enabled.
    FutexWait,
    /// Returns from a futex wait, once woken. Always enabled.
    FutexReturn,
    /// Wakes waiters of a futex.
    FutexWake,

    /// Offers the processor to others: `sched_yield`, a turn of a recognized spin loop.
    Yield,
    /// Sleeps for a time, which is virtual.
    Sleep,
    /// A call with an effect outside the process (output, files, time): keeps its order with others of its kind.
    External,
}

/// What a compare-and-swap finds in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// What it expects: it writes.
    Equal,
    /// Something else: it only reads.
    Unequal,
}

impl Comparison {
    /// What comparing two values in this many of their low bytes gives.
    #[must_use]
    pub fn of(found: u64, expected: u64, bytes: u32) -> Self {
        let mask = if bytes < 8 { (1 << (8 * bytes)) - 1 } else { u64::MAX };
        if (found ^ expected) & mask == 0 { Self::Equal } else { Self::Unequal }
    }
}

impl EventKind {
    /// What an access does, and whether it is an atomic instruction; `None` for all else.
    #[must_use]
    #[inline]
    pub fn access(self) -> Option<(Rw, bool)> {
        match self {
            Self::Access { rw, atomic } => Some((rw, atomic)),
            Self::CompareAndSwap { finds: Comparison::Equal, .. } => Some((Rw::Update, true)),
            Self::CompareAndSwap { finds: Comparison::Unequal, .. } => Some((Rw::Read, true)),
            _ => None,
        }
    }

    /// Other memory than its object's that it depends on: the mutex that a wait gives up, or the word of those who may interrupt it.
    #[must_use]
    #[inline]
    pub fn beside(self) -> Option<Range> {
        match self {
            Self::WaitRelease { mutex: range } | Self::Interrupted { by: range } => Some(range),
            Self::LockTimeout { by } | Self::WaitTimeout { by } | Self::WaitSpurious { by } => by,
            _ => None,
        }
    }

    /// Whether the thread offers the processor at this event, so that switching away before it costs nothing.
    #[must_use]
    pub fn is_yield(self) -> bool {
        matches!(self, Self::Yield | Self::Sleep)
    }

    /// Whether the event is the passing of a time-out, or another end of a wait that nobody caused.
    #[must_use]
    pub fn is_timeout(self) -> bool {
        matches!(self, Self::LockTimeout { .. } | Self::WaitTimeout { .. } | Self::WaitSpurious { .. })
    }

    /// The word by which schedules and reports name it. Words do not tell which child or mutex.
    #[must_use]
    pub fn word(self) -> &'static str {
        WORDS[self.code().0 as usize]
    }

    /// Its place among the words: fixed for ever within one version of the schedule's form.
    #[must_use]
    pub fn code(self) -> KindCode {
        KindCode(match self {
            Self::Start => 0,
            Self::Exit => 1,
            Self::ExitProcess => 2,
            Self::Create { .. } => 3,
            Self::Join { .. } => 4,
            Self::Access { rw: Rw::Read, atomic: false } => 5,
            Self::Access { rw: Rw::Write, atomic: false } => 6,
            Self::Access { rw: Rw::Update, atomic: false } => 7,
            Self::Access { rw: Rw::Read, atomic: true } | Self::CompareAndSwap { finds: Comparison::Unequal, .. } => 8,
            Self::Access { rw: Rw::Write, atomic: true } => 9,
            Self::Access { rw: Rw::Update, atomic: true } | Self::CompareAndSwap { finds: Comparison::Equal, .. } => 10,
            Self::Fail => 11,
            Self::Lock => 12,
            Self::TryLock => 13,
            Self::LockTimeout { .. } => 14,
            Self::ReadLock => 15,
            Self::TryReadLock => 16,
            Self::Unlock => 17,
            Self::WaitRelease { .. } => 18,
            Self::WaitReacquire => 19,
            Self::WaitTimeout { .. } => 20,
            Self::WaitSpurious { .. } => 21,
            Self::Signal => 22,
            Self::Broadcast => 23,
            Self::Acquire { mode: Mode::R } => 24,
            Self::Acquire { mode: Mode::U } => 25,
            Self::Acquire { mode: Mode::X } => 26,
            Self::Release => 27,
            Self::Degrade => 28,
            Self::Revoke => 29,
            Self::SemWait => 30,
            Self::SemTryWait => 31,
            Self::SemPost => 32,
            Self::BarrierArrive => 33,
            Self::BarrierLeave => 34,
            Self::OnceEnter => 35,
            Self::OnceLeave => 36,
            Self::FutexWait => 37,
            Self::FutexReturn => 38,
            Self::FutexWake => 39,
            Self::Yield => 40,
            Self::Sleep => 41,
            Self::External => 42,
            Self::Waiting => 43,
            Self::TimedLock => 44,
            Self::Interrupted { .. } => 45,
        })
    }
}

/// A kind without the identities in it: what a schedule keeps of a kind. Prints as its word and reads back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindCode(u8);

impl KindCode {
    /// All kinds.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..WORDS.len()).filter_map(|code| u8::try_from(code).ok().map(Self))
    }

    /// Its number, for compact records.
    #[must_use]
    pub fn number(self) -> u8 {
        self.0
    }

    /// What an access of this kind does; `None` for other kinds.
    #[must_use]
    pub fn access(self) -> Option<Rw> {
        match self.word() {
            "read" | "atomic-read" => Some(Rw::Read),
            "write" | "atomic-write" => Some(Rw::Write),
            "update" | "atomic-update" => Some(Rw::Update),
            _ => None,
        }
    }

    /// The kind with this number.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        (usize::from(number) < WORDS.len()).then_some(Self(number))
    }

    /// The word by which schedules and reports name it.
    #[must_use]
    pub fn word(self) -> &'static str {
        WORDS[self.0 as usize]
    }
}

impl fmt::Display for KindCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl fmt::Debug for KindCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A word that names no kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadKind;

impl fmt::Display for BadKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a kind of event")
    }
}

impl core::error::Error for BadKind {}

impl FromStr for KindCode {
    type Err = BadKind;

    fn from_str(text: &str) -> Result<Self, BadKind> {
        Self::all().find(|code| code.word() == text).ok_or(BadKind)
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create { child } | Self::Join { child } => write!(f, "{} {child}", self.word()),
            _ => f.write_str(self.word()),
        }
    }
}

/// Indexed by code.
const WORDS: [&str; 46] = [
    "start",
    "exit",
    "exit-process",
    "create",
    "join",
    "read",
    "write",
    "update",
    "atomic-read",
    "atomic-write",
    "atomic-update",
    "fail",
    "lock",
    "try-lock",
    "lock-timeout",
    "read-lock",
    "try-read-lock",
    "unlock",
    "wait",
    "wait-return",
    "wait-timeout",
    "wait-spurious",
    "signal",
    "broadcast",
    "acquire-R",
    "acquire-U",
    "acquire-X",
    "release",
    "degrade",
    "revoke",
    "sem-wait",
    "sem-try-wait",
    "sem-post",
    "barrier-arrive",
    "barrier-leave",
    "once-enter",
    "once-leave",
    "futex-wait",
    "futex-return",
    "futex-wake",
    "yield",
    "sleep",
    "external",
    "waiting",
    "timed-lock",
    "interrupted",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_reads_back_from_its_word() {
        for code in KindCode::all() {
            assert_eq!(code.word().parse(), Ok(code));
            assert_eq!(KindCode::from_number(code.number()), Some(code));
        }
        assert_eq!("jump".parse::<KindCode>(), Err(BadKind));
        assert_eq!(KindCode::from_number(46), None);
    }

    #[test]
    fn ranges_overlap_when_they_share_a_byte() {
        let range = |address, length| Range { address, length };
        for (a, b, expected) in [
            (range(8, 4), range(8, 4), true),
            (range(8, 4), range(11, 1), true),
            (range(8, 4), range(12, 4), false),
            (range(8, 4), range(4, 4), false),
            (range(8, 4), range(0, 32), true),
            (range(u64::MAX, 1), range(0, 1), false),
            (range(u64::MAX - 7, 8), range(u64::MAX, 1), true),
        ] {
            assert_eq!(a.overlaps(b), expected, "{a:?} {b:?}");
            assert_eq!(b.overlaps(a), expected, "{b:?} {a:?}");
        }
    }
}
