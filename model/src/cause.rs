//! Why a hold of an injected lock ended before its region, or never began: the same words in production (`stats=1`), in exploration
//! (`check`) and in `docs/locks.md`.

/// A cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Cause {
    /// Given up: the thread was about to wait for a condition.
    Condition,
    /// Given up: for another thread's end.
    Join,
    /// Given up: for a semaphore, a barrier, a futex word, a queue or a lock of a file.
    Meet,
    /// Given up: it was about to sleep, or to wait for a signal.
    Sleep,
    /// Given up: for events on descriptors, processes, or in a function that the plan lists.
    Poll,
    /// Given up: for input or output on a pipe, socket or terminal.
    Stream,
    /// Given up: for a lock of the program whose owner waits for this thread.
    ProgramLock,
    /// Given up: it wanted X with only R in its hands, and could not have it at once.
    Strengthened,
    /// Given up: its frame was gone.
    DeadFrame,
    /// Revoked: the holder waited, directly or not, for the waiter.
    Cycle,
    /// Revoked: the holder was blocked, or waited for a thread that was.
    Blocked,
    /// Revoked: the holder used the processor for as long as the inspection interval while others waited.
    Spinning,
    /// Revoked: nothing was wrong with the holder, but time was up.
    Timeout,
    /// Revoked: the holder's thread had ended.
    DeadThread,
    /// Never began: the thread's held set, or the table of threads, was full.
    Full,
    /// Never began: a signal handler had interrupted a hook.
    Nested,
}

/// How many causes there are.
pub const CAUSES: usize = 16;

impl Cause {
    /// All of them, by number.
    pub const ALL: [Self; CAUSES] = [
        Self::Condition,
        Self::Join,
        Self::Meet,
        Self::Sleep,
        Self::Poll,
        Self::Stream,
        Self::ProgramLock,
        Self::Strengthened,
        Self::DeadFrame,
        Self::Cycle,
        Self::Blocked,
        Self::Spinning,
        Self::Timeout,
        Self::DeadThread,
        Self::Full,
        Self::Nested,
    ];

    /// The cause of this number.
    #[must_use]
    pub fn from_number(number: u64) -> Option<Self> {
        usize::try_from(number).ok().and_then(|number| Self::ALL.get(number)).copied()
    }

    /// Its word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Condition => "condition",
            Self::Join => "join",
            Self::Meet => "meet",
            Self::Sleep => "sleep",
            Self::Poll => "poll",
            Self::Stream => "stream",
            Self::ProgramLock => "program-lock",
            Self::Strengthened => "strengthened",
            Self::DeadFrame => "dead-frame",
            Self::Cycle => "cycle",
            Self::Blocked => "blocked",
            Self::Spinning => "spinning",
            Self::Timeout => "timeout",
            Self::DeadThread => "dead-thread",
            Self::Full => "full",
            Self::Nested => "nested",
        }
    }

    /// What it says to people, after what was lost.
    #[must_use]
    pub const fn story(self) -> &'static str {
        match self {
            Self::Condition => "given up (condition) before a wait for a condition",
            Self::Join => "given up (join) before a wait for a thread's end",
            Self::Meet => "given up (meet) before a wait for a semaphore, a barrier, a futex or a lock of a file",
            Self::Sleep => "given up (sleep) before a sleep or a wait for a signal",
            Self::Poll => "given up (poll) before a wait for descriptors, processes or in a listed function",
            Self::Stream => "given up (stream) before input or output that was not ready",
            Self::ProgramLock => "given up (program-lock) before a wait for a lock whose owner waited for this thread",
            Self::Strengthened => "given up (strengthened): it was held too weakly for what came",
            Self::DeadFrame => "given up (dead-frame): its function was gone",
            Self::Cycle => "revoked (cycle): its holder waited for the thread that wanted it",
            Self::Blocked => "revoked (blocked): its holder could not go on",
            Self::Spinning => "revoked (spinning): its holder went round in a loop until another thread acted",
            Self::Timeout => "revoked (timeout): its holder did not release it",
            Self::DeadThread => "revoked (dead-thread): its holder had ended",
            Self::Full => "never taken (full): its thread held too many others",
            Self::Nested => "never taken (nested): a signal handler had interrupted the lock's own code",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_is_found_by_its_number_and_says_its_word() {
        for (number, cause) in (0..).zip(Cause::ALL) {
            assert_eq!((cause as u64, Cause::from_number(number)), (number, Some(cause)));
            assert!(cause.story().contains(&alloc::format!("({})", cause.name())), "{cause:?}");
        }
        assert_eq!(Cause::from_number(CAUSES as u64), None);
    }
}
