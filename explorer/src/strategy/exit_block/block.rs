//! What ends an atomic block, and what blocks have in common.
//!
//! An exit is whatever may let another thread go on, or show it something: a release of a lock (the last one, when it is
//! held several times), the release within a wait, the creation of a thread, a thread's end; and, beyond what the thesis
//! has, a post, an arrival at a barrier, a wake-up of a futex, an atomic access, a yield, the passing of a time-out.

use alloc::vec::Vec;

use model::event::{Event, EventKind, Range};

use super::locks::Lock;
use crate::dependence::dependent;

/// What a block did, as far as others can tell.
#[derive(Clone, Debug)]
pub(super) enum Touched {
    /// These events, each once.
    Events(Vec<Event>),
    /// It ended the execution: what would have followed is not known.
    Everything,
}

/// Whether a block ends after this event; releases of locks are told by the lock's holders.
pub(super) fn is_exit(event: &Event) -> bool {
    use EventKind as K;
    matches!(
        event.kind,
        K::Exit
            | K::WaitRelease { .. }
            | K::Create { .. }
            | K::SemPost
            | K::BarrierArrive
            | K::OnceLeave
            | K::FutexWait
            | K::FutexWake
            | K::Yield
            | K::Sleep
            | K::WaitTimeout { .. }
            | K::WaitSpurious { .. }
            | K::Interrupted { .. }
            | K::LockTimeout { .. }
            | K::Access { atomic: true, .. }
            | K::CompareAndSwap { .. }
    )
}

/// Whether the theory of blocks covers this event. With others, orders of blocks are not all there is: a lock that is only
/// tried shows that it is taken within somebody's block.
pub(super) fn is_covered(kind: EventKind) -> bool {
    use EventKind as K;
    matches!(
        kind,
        K::Start
            | K::Exit
            | K::ExitProcess
            | K::Fail
            | K::Create { .. }
            | K::Join { .. }
            | K::Access { atomic: false, .. }
            | K::Lock
            | K::ReadLock
            | K::Unlock
            | K::WaitRelease { .. }
            | K::Waiting
            | K::WaitReacquire
            | K::Signal
            | K::Broadcast
            | K::Acquire { .. }
            | K::Release
            | K::Degrade
            | K::SemWait
            | K::SemPost
            | K::BarrierArrive
            | K::BarrierLeave
    )
}

/// Adds an event to those of a block. A wait is two: it changes the condition, and releases the mutex.
pub(super) fn add(events: &mut Vec<Event>, event: Event) {
    let mut one = |event: Event| {
        let known = |other: &Event| other.kind.code() == event.kind.code() && other.range == event.range;
        if !events.iter().any(known) {
            events.push(event);
        }
    };
    match event.kind {
        EventKind::WaitRelease { mutex } => {
            one(Event { kind: EventKind::Signal, ..event });
            one(unlock(mutex));
        }
        _ => one(event),
    }
}

/// The release of a lock, by whatever event.
pub(super) fn unlock(lock: Range) -> Event {
    Event { kind: EventKind::Unlock, range: Some(lock), object: None, site: None }
}

/// Whether two blocks have something in common, so that their order matters.
pub(super) fn meet(a: &Touched, b: &[Event]) -> bool {
    match a {
        Touched::Everything => true,
        Touched::Events(events) => events.iter().any(|one| b.iter().any(|other| dependent(one, other))),
    }
}

/// Makes the regions that lie within a block mere looks at their lock: two such regions commute, but neither with a block that
/// leaves the lock taken, or that releases what an earlier one took. `outer` are the locks held where it begins or ends.
pub(super) fn soften(events: &mut [Event], outer: &[Lock]) {
    for event in events.iter_mut().filter(|event| is_locking(event.kind)) {
        if event.range.is_some_and(|range| !outer.contains(&Lock(range.address))) {
            event.kind = EventKind::ReadLock;
        }
    }
}

/// Whether an event takes or releases a lock and does nothing else.
pub(super) fn is_locking(kind: EventKind) -> bool {
    use EventKind as K;
    matches!(kind, K::Lock | K::ReadLock | K::Unlock | K::WaitReacquire | K::Acquire { .. } | K::Release | K::Degrade)
}
