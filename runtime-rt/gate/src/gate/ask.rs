//! What a thread asks for at a scheduling point, as the interposed function or hook says it.

use model::cause::Cause;
use model::event::Range;
use model::ids::{SiteKey, ThreadId};
use model::pair::Rw;

use super::injected::Hold;
use super::lock::LockKind;
use super::readiness::{Fed, Readiness};

/// Whether a wait has an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// It waits as long as it takes.
    Forever,
    /// It may give up at this virtual time.
    Deadline(Nanoseconds),
}

/// A point of virtual time, or a span of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Nanoseconds(pub(crate) u64);

/// What a thread wants to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// Begin.
    Start,
    /// End.
    Exit,
    /// End the process.
    ExitProcess,
    /// End the process by a failure.
    Fail,
    /// Bring a new thread to life, and store its identity, in memory that others may see if that is named.
    Create { place: Option<Range> },
    /// Wait for a thread's end.
    Join { child: ThreadId },
    /// Wait until a thread is about to end, which it says by writing to this word, or until a time-out.
    TimedJoin { child: ThreadId, word: Range, until: Until },
    /// Touch memory.
    Access { range: Range, rw: Rw, atomic: bool },
    /// Compare memory with a value, and swap if it is equal.
    CompareAndSwap { range: Range, expected: u64 },
    /// Lock a mutex, spin lock, or the write side of a reader-writer lock.
    Lock { lock: Range, kind: LockKind, until: Until },
    /// Lock it if it is free.
    TryLock { lock: Range, kind: LockKind },
    /// Lock the write side of a reader-writer lock whose readers wait for waiting writers, if it is free; otherwise wait for it from now on.
    WriteArrive { lock: Range },
    /// Lock the read side.
    ReadLock { lock: Range, kind: LockKind, until: Until },
    /// Lock the read side if there is no writer.
    TryReadLock { lock: Range, kind: LockKind },
    /// End as the owner of a robust mutex.
    Orphan { lock: Range },
    /// Unlock.
    Unlock { lock: Range, kind: LockKind },
    /// Begin to wait on a condition.
    WaitRelease { condition: Range, mutex: Range, kind: LockKind },
    /// Wait to be woken, and take the mutex then.
    Waiting { condition: Range, mutex: Range, kind: LockKind, until: Until },
    /// Take the mutex after a wait that timed out.
    Reacquire { mutex: Range, kind: LockKind },
    /// Wake one waiter.
    Signal { condition: Range },
    /// Wake all waiters.
    Broadcast { condition: Range },
    /// Take from a semaphore, which has this count if it is not known yet.
    SemWait { semaphore: Range, count: u32, until: Until },
    /// Take from it if there is something.
    SemTryWait { semaphore: Range, count: u32 },
    /// Add to it.
    SemPost { semaphore: Range, count: u32 },
    /// Arrive at a barrier.
    BarrierArrive { barrier: Range },
    /// Leave it, once all have arrived.
    BarrierLeave { barrier: Range },
    /// Enter `once`, which is done already if it is not known yet and `done`.
    OnceEnter { once: Range, done: bool },
    /// End its routine without having done it.
    OnceAbandon { once: Range },
    /// End its routine.
    OnceLeave { once: Range },
    /// Look at a futex word, and begin to wait if it is as expected.
    FutexWait { word: Range },
    /// Wait to be woken there, by who names one of these bits.
    FutexReturn { word: Range, until: Until, bits: u32 },
    /// Wake up to this many of those who wait there for one of these bits.
    FutexWake { word: Range, count: u32, bits: u32 },
    /// Send a thread a signal.
    SendSignal { to: ThreadId, signal: i32 },
    /// Send the process a signal, which any thread may take.
    SendToAll { signal: i32 },
    /// Cancel a thread.
    Cancel { to: ThreadId },
    /// See whether the thread itself was interrupted.
    Look,
    /// Take one of these signals, as a set of bits, when it is there.
    AwaitSignal { set: u64, until: Until },
    /// Make a system call that others may see, or that waits for them: why injected locks are given up if it does.
    Call { ready: Readiness, until: Until, why: Cause },
    /// Take an injected lock.
    Acquire { hold: Hold },
    /// Let others run.
    Yield,
    /// Sleep. Who may be interrupted is so by this word of its own.
    Sleep { span: Nanoseconds, word: Option<Range> },
}

impl Ask {
    /// The objects that whoever asks must still have. Not the condition that a wait which has begun is about: who wakes all may destroy it at once.
    pub(crate) fn objects(self) -> [Option<Range>; 2] {
        let one = match self {
            Self::Lock { lock, .. }
            | Self::TryLock { lock, .. }
            | Self::WriteArrive { lock }
            | Self::ReadLock { lock, .. }
            | Self::TryReadLock { lock, .. }
            | Self::Unlock { lock, .. } => Some(lock),
            Self::WaitRelease { condition, mutex, .. } => return [Some(condition), Some(mutex)],
            Self::Waiting { mutex, .. } | Self::Reacquire { mutex, .. } => Some(mutex),
            Self::Signal { condition } | Self::Broadcast { condition } => Some(condition),
            Self::SemWait { semaphore, .. } | Self::SemTryWait { semaphore, .. } | Self::SemPost { semaphore, .. } => Some(semaphore),
            Self::BarrierArrive { barrier } => Some(barrier),
            _ => None,
        };
        [one, None]
    }

    /// Whether it waits, so that it is interrupted on its way.
    pub(crate) fn waits(self) -> bool {
        matches!(
            self,
            Self::Lock { .. }
                | Self::ReadLock { .. }
                | Self::Waiting { .. }
                | Self::Reacquire { .. }
                | Self::SemWait { .. }
                | Self::Join { .. }
                | Self::TimedJoin { .. }
                | Self::BarrierLeave { .. }
                | Self::FutexReturn { .. }
                | Self::OnceEnter { .. }
                | Self::AwaitSignal { .. }
                | Self::Sleep { word: Some(_), .. }
                | Self::Call { .. }
        )
    }

    /// Whether it may end by a time-out.
    #[inline]
    pub(crate) fn has_time_limit(&self) -> bool {
        matches!(
            self,
            Self::Lock { until: Until::Deadline(_), .. }
                | Self::ReadLock { until: Until::Deadline(_), .. }
                | Self::Waiting { until: Until::Deadline(_), .. }
                | Self::TimedJoin { until: Until::Deadline(_), .. }
                | Self::AwaitSignal { until: Until::Deadline(_), .. }
                | Self::SemWait { until: Until::Deadline(_), .. }
                | Self::Call { until: Until::Deadline(_), .. }
                | Self::FutexReturn { until: Until::Deadline(_), .. }
        )
    }

    /// Whether others have nothing to do with it: it can be granted at any moment, and is the same event all the time.
    #[inline]
    pub(crate) fn is_steady(&self) -> bool {
        matches!(
            self,
            Self::Start
                | Self::Exit
                | Self::ExitProcess
                | Self::Fail
                | Self::Access { .. }
                | Self::TryLock { .. }
                | Self::WriteArrive { .. }
                | Self::TryReadLock { .. }
                | Self::Orphan { .. }
                | Self::Unlock { .. }
                | Self::WaitRelease { .. }
                | Self::Signal { .. }
                | Self::Broadcast { .. }
                | Self::SemTryWait { .. }
                | Self::SemPost { .. }
                | Self::BarrierArrive { .. }
                | Self::OnceAbandon { .. }
                | Self::OnceLeave { .. }
                | Self::FutexWait { .. }
                | Self::FutexWake { .. }
                | Self::SendSignal { .. }
                | Self::SendToAll { .. }
                | Self::Cancel { .. }
                | Self::Yield
                | Self::Sleep { word: None, .. }
        )
    }

    /// Whether a thread that was cancelled ends in such a wait.
    pub(crate) fn is_cancellation_point(self) -> bool {
        matches!(
            self,
            Self::WaitRelease { .. }
                | Self::Waiting { .. }
                | Self::SemWait { .. }
                | Self::Join { .. }
                | Self::TimedJoin { .. }
                | Self::AwaitSignal { .. }
                | Self::Sleep { .. }
                | Self::Call { .. }
        )
    }

    /// Whether it ends when a handler has run, also one after which calls are to be restarted: waits for signals, sleep, `poll` and its
    /// like do, those at queues and semaphores of System V, and calls and waits at a semaphore or futex with a time limit.
    pub(crate) fn is_never_restarted(self) -> bool {
        match self {
            Self::AwaitSignal { .. } | Self::Sleep { .. } => true,
            Self::SemWait { until: Until::Deadline(_), .. } | Self::FutexReturn { until: Until::Deadline(_), .. } => true,
            Self::Call { ready: Readiness::Outside(Fed::Child { .. }), .. } => false,
            Self::Call { ready: Readiness::Queue { .. }, .. } | Self::Call { until: Until::Deadline(_), .. } => true,
            Self::Call { why, .. } => why == Cause::Poll,
            _ => false,
        }
    }

    /// Whether it goes on with what the request before has begun.
    pub(crate) fn continues(self) -> bool {
        matches!(
            self,
            Self::Start
                | Self::Exit
                | Self::ExitProcess
                | Self::Fail
                | Self::Orphan { .. }
                | Self::Waiting { .. }
                | Self::Reacquire { .. }
                | Self::BarrierLeave { .. }
                | Self::OnceLeave { .. }
                | Self::OnceAbandon { .. }
                | Self::FutexReturn { .. }
                | Self::AwaitSignal { .. }
                | Self::Look
        )
    }
}

/// A request with the code that makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// What.
    pub(crate) ask: Ask,
    /// Where.
    pub(crate) site: Option<SiteKey>,
}
