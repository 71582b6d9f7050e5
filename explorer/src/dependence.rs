//! Which events conflict: two pending events of two threads are *dependent* unless performing them in either order gives
//! the same state and neither enables or disables the other.
//!
//! Saying "dependent" of two events that commute costs executions; saying "independent" of two that do not loses
//! outcomes. So what is not known to commute conflicts: events on overlapping ranges, unless both only read, or both are
//! shared acquisitions, or both are releases of shared holds.
//!
//! A compare-and-swap is taken as what it would do now: one that would fail commutes with reads and with others that would fail, and
//! neither order makes it succeed. Whatever could change its outcome writes, and so conflicts.
//!
//! A failure that ends the process is the same failure whatever others did before; that it keeps them from doing more is for searches to
//! know, which try them where it happened. The process's end by `exit` runs handlers and shows what was done, so it conflicts with all.
//!
//! Start, join, exit and the return from a futex touch no memory: their order is by enabledness alone (a thread is there only after its creation; a join is enabled
//! only after the exit, a return after the wake-up). Two creations compete for the next `ThreadId`, and a creation writes that to where its caller wants it.
//! Not here: happens-before, which has these orders as edges of its own.

use model::event::{Comparison, Event, EventKind, Range};
use model::pair::{Mode, Rw};

/// Whether the order of two events of different threads may matter.
#[must_use]
#[inline]
pub fn dependent(a: &Event, b: &Event) -> bool {
    Footprint::of(a).meets(&Footprint::of(b))
}

/// Whether a step may wake threads that wait.
#[must_use]
pub fn wakes(event: &Event) -> bool {
    matches!(event.kind, EventKind::Signal | EventKind::Broadcast | EventKind::BarrierArrive | EventKind::FutexWake)
}

/// Whether a thread may be about to do this because that step has woken it: before, it was about to do something else, such as to time out.
#[must_use]
pub fn may_be_woken_by(event: &Event, step: &Event) -> bool {
    wakes(step) && matches!(event.kind, EventKind::WaitReacquire | EventKind::BarrierLeave | EventKind::FutexReturn)
}

/// All of an event that decides which others it depends on: for who asks that of one event many times.
#[derive(Clone, Copy, Debug)]
pub struct Footprint {
    class: Class,
    first: Range,
    second: Range,
}

/// No memory, which overlaps with none: the only range without a byte, and never seen outside of a footprint.
const NOWHERE: Range = Range { address: u64::MAX, length: 0 };

impl Footprint {
    /// That of an event.
    #[must_use]
    #[inline]
    pub fn of(event: &Event) -> Self {
        let second = event.kind.beside().unwrap_or(NOWHERE);
        let class = if event.leaves_call() { Class::Outside } else { class(event.kind) };
        Self { class, first: event.range.unwrap_or(NOWHERE), second }
    }

    /// Whether the order of the two events, of different threads, may matter.
    #[must_use]
    #[inline]
    pub fn meets(&self, other: &Self) -> bool {
        match (self.class, other.class) {
            (Class::Memory { group: x }, Class::Memory { group: y }) => self.touches(other) && !commute(x, y),
            (Class::Everything, _) | (_, Class::Everything) | (Class::Creation, Class::Creation) | (Class::Outside, Class::Outside) => true,
            // Who leaves a call that waits has a word to which those write who interrupt it.
            (Class::Creation | Class::Outside, Class::Memory { .. }) | (Class::Memory { .. }, Class::Creation | Class::Outside) => {
                self.touches(other)
            }
            _ => false,
        }
    }

    /// Whether they touch common memory.
    #[inline]
    fn touches(&self, other: &Self) -> bool {
        // Few have a second range.
        self.first.overlaps(other.first)
            || self.second.length > 0 && (self.second.overlaps(other.first) || self.second.overlaps(other.second))
            || other.second.length > 0 && self.first.overlaps(other.second)
    }
}

/// What an event competes for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Its ranges.
    Memory { group: Group },
    /// The next thread id, and the memory that it is written to.
    Creation,
    /// The world outside.
    Outside,
    /// Ends every other thread.
    Everything,
    /// Nothing.
    Nothing,
}

/// Events that commute with others of their own group on one object, but for the first and `Arrivals`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    /// Commutes with none.
    Alone,
    /// Reads.
    Reads,
    /// Shared acquisitions of a reader-writer lock.
    ReadLocks,
    /// Shared acquisitions of an injected lock.
    Shared,
    /// Posts to a semaphore.
    Posts,
    /// Arrivals at a barrier, which conflict with each other, as it tells one of its threads that it was the last.
    Arrivals,
    /// Leaving a barrier, which the last to arrive has allowed: what arrives later is of the next round.
    Leaves,
}

/// Whether events of these groups commute on one object.
#[inline]
fn commute(x: Group, y: Group) -> bool {
    match (x, y) {
        (Group::Arrivals, Group::Leaves) | (Group::Leaves, Group::Arrivals) => true,
        _ => x == y && !matches!(x, Group::Alone | Group::Arrivals),
    }
}

#[inline]
fn class(kind: EventKind) -> Class {
    use EventKind as K;
    let group = match kind {
        // A sleep that may be interrupted looks at the word that says so.
        K::Access { rw: Rw::Read, .. } | K::CompareAndSwap { finds: Comparison::Unequal, .. } | K::Sleep => Group::Reads,
        K::ReadLock | K::TryReadLock => Group::ReadLocks,
        K::Acquire { mode: Mode::R } => Group::Shared,
        K::SemPost => Group::Posts,
        K::BarrierArrive => Group::Arrivals,
        K::BarrierLeave => Group::Leaves,
        K::Access { .. }
        | K::CompareAndSwap { finds: Comparison::Equal, .. }
        | K::Lock
        | K::TryLock
        | K::TimedLock
        | K::LockTimeout { .. }
        | K::Unlock
        | K::WaitRelease { .. }
        | K::Waiting
        | K::WaitReacquire
        | K::WaitTimeout { .. }
        | K::WaitSpurious { .. }
        | K::Interrupted { .. }
        | K::Signal
        | K::Broadcast
        | K::Acquire { .. }
        | K::Release
        | K::Degrade
        | K::Revoke
        | K::SemWait
        | K::SemTryWait
        | K::OnceEnter
        | K::OnceLeave
        | K::FutexWait
        | K::FutexWake => Group::Alone,
        K::Create { .. } => return Class::Creation,
        K::External => return Class::Outside,
        K::ExitProcess => return Class::Everything,
        K::Start | K::Exit | K::Fail | K::Join { .. } | K::FutexReturn | K::Yield => return Class::Nothing,
    };
    Class::Memory { group }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::ids::ThreadId;

    fn at(address: u64, kind: EventKind) -> Event {
        Event { kind, range: Some(Range { address, length: 4 }), object: None, site: None }
    }

    fn check(a: Event, b: Event, expected: bool) {
        assert_eq!(dependent(&a, &b), expected, "{a:?} {b:?}");
        assert_eq!(dependent(&b, &a), expected, "{b:?} {a:?}");
    }

    #[test]
    fn accesses_conflict_when_they_overlap_and_one_writes() {
        let access = |address, rw| at(address, EventKind::Access { rw, atomic: false });
        check(access(0, Rw::Read), access(0, Rw::Read), false);
        check(access(0, Rw::Read), access(0, Rw::Write), true);
        check(access(0, Rw::Write), access(2, Rw::Write), true);
        check(access(0, Rw::Update), access(0, Rw::Read), true);
        check(access(0, Rw::Write), access(4, Rw::Write), false);
        let swap = |finds| at(0, EventKind::CompareAndSwap { expected: 0, finds });
        check(swap(Comparison::Unequal), swap(Comparison::Unequal), false);
        check(swap(Comparison::Unequal), access(0, Rw::Read), false);
        check(swap(Comparison::Unequal), access(0, Rw::Write), true);
        check(swap(Comparison::Unequal), swap(Comparison::Equal), true);
        check(swap(Comparison::Equal), access(0, Rw::Read), true);
    }

    #[test]
    fn a_wait_conflicts_on_its_condition_and_on_its_mutex() {
        let wait = at(0, EventKind::WaitRelease { mutex: Range { address: 64, length: 40 } });
        check(wait, at(0, EventKind::Signal), true);
        check(wait, at(64, EventKind::Lock), true);
        check(wait, at(64, EventKind::TryLock), true);
        check(wait, at(32, EventKind::Lock), false);
        check(wait, at(128, EventKind::WaitRelease { mutex: Range { address: 64, length: 40 } }), true);
    }

    #[test]
    fn an_interruption_conflicts_with_who_interrupts_and_with_what_is_waited_for() {
        let by = Range { address: 64, length: 4 };
        let wait = at(0, EventKind::Interrupted { by });
        check(wait, at(64, EventKind::Access { rw: Rw::Write, atomic: true }), true);
        check(wait, at(0, EventKind::SemPost), true);
        check(wait, at(32, EventKind::SemPost), false);
        check(at(64, EventKind::Sleep), at(64, EventKind::Access { rw: Rw::Write, atomic: true }), true);
        check(at(64, EventKind::Sleep), at(64, EventKind::Access { rw: Rw::Read, atomic: true }), false);
        let external = Event { kind: EventKind::External, range: None, object: None, site: None };
        check(wait, external, false);
        for kind in [EventKind::Interrupted { by }, EventKind::WaitTimeout { by: Some(by) }] {
            let leave = Event { kind, ..external };
            check(leave, external, true);
            check(leave, at(64, EventKind::Access { rw: Rw::Write, atomic: true }), true);
            check(leave, at(0, EventKind::Access { rw: Rw::Write, atomic: true }), false);
        }
    }

    #[test]
    fn shared_acquisitions_commute_and_exclusive_ones_do_not() {
        check(at(0, EventKind::ReadLock), at(0, EventKind::ReadLock), false);
        check(at(0, EventKind::ReadLock), at(0, EventKind::Lock), true);
        check(at(0, EventKind::Acquire { mode: Mode::R }), at(0, EventKind::Acquire { mode: Mode::R }), false);
        check(at(0, EventKind::Acquire { mode: Mode::R }), at(0, EventKind::Acquire { mode: Mode::U }), true);
        check(at(0, EventKind::SemPost), at(0, EventKind::SemPost), false);
        check(at(0, EventKind::SemPost), at(0, EventKind::SemTryWait), true);
    }

    #[test]
    fn leaving_a_barrier_commutes_with_what_arrives_for_the_next_round() {
        check(at(0, EventKind::BarrierArrive), at(0, EventKind::BarrierArrive), true);
        check(at(0, EventKind::BarrierArrive), at(0, EventKind::BarrierLeave), false);
        check(at(0, EventKind::BarrierLeave), at(0, EventKind::BarrierLeave), false);
        check(at(0, EventKind::BarrierLeave), at(0, EventKind::Access { rw: Rw::Write, atomic: false }), true);
    }

    #[test]
    fn threads_conflict_only_over_their_numbers_and_the_end_of_the_process() {
        let none = |kind| Event { kind, range: None, object: None, site: None };
        let create = |child| none(EventKind::Create { child: ThreadId(child) });
        check(create(1), create(2), true);
        check(create(1), none(EventKind::Exit), false);
        check(at(0, EventKind::Create { child: ThreadId(1) }), at(2, EventKind::Access { rw: Rw::Read, atomic: false }), true);
        check(at(0, EventKind::Create { child: ThreadId(1) }), at(4, EventKind::Access { rw: Rw::Read, atomic: false }), false);
        check(none(EventKind::Start), none(EventKind::Start), false);
        check(none(EventKind::ExitProcess), at(0, EventKind::Lock), true);
        check(none(EventKind::ExitProcess), none(EventKind::Yield), true);
        check(none(EventKind::External), none(EventKind::External), true);
        check(none(EventKind::External), at(0, EventKind::Lock), false);
    }
}
