//! What happens in the model when an enabled thread does what it is about to do.

use explorer::strategy::Pick;
use model::event::{Comparison, Event, EventKind};
use model::ids::{ObjectId, ThreadId};
use model::pair::Rw;

use super::ask::{Ask, Nanoseconds, Until};
use super::model::{EPOCH, Model};
use super::thread::{Life, Thread};
use super::waiting::Once;

/// The result of a wait that was interrupted: no number of an error either.
pub(crate) const INTERRUPTED: i32 = -2;

/// The bit of a signal in a set of them.
pub(crate) fn bit(signal: i32) -> u64 {
    u32::try_from(signal - 1).ok().and_then(|place| 1_u64.checked_shl(place)).unwrap_or(0)
}

/// The highest count of a semaphore.
const SEM_VALUE_MAX: u32 = i32::MAX.cast_unsigned();

/// The result of a wait that ended without a cause: no number of an error.
pub(crate) const FOR_NOTHING: i32 = -1;

impl Model {
    /// What a living thread is about to do, as [`Model::enabled`] has just found it.
    pub(crate) fn event(&self, thread: ThreadId) -> Event {
        self.pending[thread.index()].unwrap_or_else(|| self.event_of(thread))
    }

    /// Performs what an enabled thread is about to do ([`Model::event`]); the C library's result.
    #[inline(always)]
    pub(crate) fn perform(&mut self, thread: ThreadId, event: &Event, pick: &mut dyn FnMut(&Pick<'_>) -> u32) -> i32 {
        // The most frequent ones first: what they do is done to memory alone, and nothing interrupts them.
        if let Ask::Access { rw, .. } = self.threads[thread.index()].request.ask {
            self.open_to_outside = false;
            if rw.writes() {
                self.note_change(thread);
            }
            return 0;
        }
        self.perform_on_objects(thread, event, pick)
    }

    #[inline(never)]
    fn perform_on_objects(&mut self, thread: ThreadId, event: &Event, pick: &mut dyn FnMut(&Pick<'_>) -> u32) -> i32 {
        // What is done to objects is noted there.
        self.changed |=
            !matches!(event.kind, EventKind::Start | EventKind::Join { .. } | EventKind::Lock | EventKind::TryLock | EventKind::Unlock);
        if let EventKind::Interrupted { .. } = event.kind {
            return INTERRUPTED;
        }
        let Thread { request, object, mutex, .. } = self.threads[thread.index()];
        let result = match (request.ask, object, event.kind) {
            (_, _, EventKind::WaitTimeout { .. }) => {
                if let Some(condition) = object {
                    self.objects.condition(condition).leave(thread);
                }
                let others = self.changes_by_others(thread);
                let may_time_out = self.threads[thread.index()].may_time_out(others);
                if self.may_wake_for_nothing(thread) && (!may_time_out || pick(&Pick::Value { options: 2 }) == 1) {
                    self.wake_for_nothing(thread)
                } else {
                    self.time_out(thread)
                }
            }
            (_, _, EventKind::WaitSpurious { .. }) => {
                if let Some(condition) = object {
                    self.objects.condition(condition).leave(thread);
                }
                self.wake_for_nothing(thread)
            }
            (Ask::Lock { .. }, Some(lock), EventKind::LockTimeout { .. }) => {
                self.objects.lock(lock).leave(thread);
                self.time_out(thread)
            }
            (_, _, EventKind::LockTimeout { .. }) => self.time_out(thread),
            (Ask::WriteArrive { .. }, Some(lock), _) => self.objects.lock(lock).arrive(thread),
            (Ask::Orphan { .. }, Some(lock), _) => {
                self.objects.lock(lock).orphan();
                0
            }
            (Ask::Lock { .. }, Some(lock), _) => self.objects.lock(lock).lock(thread),
            (Ask::TryLock { .. }, Some(lock), _) => self.objects.lock(lock).try_lock(thread),
            (Ask::ReadLock { .. }, Some(lock), _) => self.objects.lock(lock).read(thread),
            (Ask::TryReadLock { .. }, Some(lock), _) => self.objects.lock(lock).try_read(thread),
            (Ask::Unlock { .. }, Some(lock), _) => self.objects.lock(lock).unlock(thread),
            (Ask::WaitRelease { .. }, Some(condition), _) => {
                self.objects.condition(condition).waiters.push(thread);
                self.threads[thread.index()].waits += 1;
                mutex.map_or(0, |mutex| self.objects.lock(mutex).unlock(thread))
            }
            (Ask::Waiting { .. } | Ask::Reacquire { .. }, _, _) => mutex.map_or(0, |mutex| self.objects.lock(mutex).lock(thread)),
            (Ask::Signal { .. }, Some(condition), _) => self.signal(condition, pick),
            (Ask::Broadcast { .. }, Some(condition), _) => self.broadcast(condition),
            (Ask::SemWait { .. }, Some(semaphore), _) => {
                *self.objects.semaphore(semaphore) -= 1;
                0
            }
            (Ask::SemTryWait { .. }, Some(semaphore), _) => match self.objects.semaphore(semaphore) {
                0 => libc::EAGAIN,
                count => {
                    *count -= 1;
                    0
                }
            },
            (Ask::SemPost { .. }, Some(semaphore), _) => match self.objects.semaphore(semaphore) {
                count if *count >= SEM_VALUE_MAX => libc::EOVERFLOW,
                count => {
                    *count += 1;
                    0
                }
            },
            (Ask::BarrierArrive { .. }, Some(barrier), _) => self.arrive(barrier, thread),
            (Ask::OnceEnter { .. }, Some(once), _) => {
                let once = self.objects.once(once);
                let first = *once == Once::New;
                if first {
                    *once = Once::Running(thread);
                }
                i32::from(first)
            }
            (Ask::OnceAbandon { .. }, Some(once), _) => {
                *self.objects.once(once) = Once::New;
                0
            }
            (Ask::OnceLeave { .. }, Some(once), _) => {
                *self.objects.once(once) = Once::Done;
                0
            }
            (Ask::FutexWake { count, bits, .. }, Some(word), _) => self.wake_some(word, count, bits),
            (Ask::SendSignal { to, signal }, _, _) => {
                self.threads[to.index()].signals |= bit(signal);
                0
            }
            (Ask::SendToAll { signal }, _, _) => {
                self.send_to_all(signal);
                0
            }
            (Ask::Cancel { to }, _, _) => {
                self.threads[to.index()].cancelled = true;
                0
            }
            (Ask::AwaitSignal { set, .. }, _, _) => self.take_signal(thread, set).unwrap_or(0),
            (Ask::Create { .. }, _, _) => {
                let child = self.create();
                self.threads[child.index()].blocked = self.threads[thread.index()].blocked;
                i32::try_from(child.0).unwrap_or(i32::MAX)
            }
            (Ask::Exit, _, _) => {
                self.holds.end_all(thread);
                self.threads[thread.index()].life = Life::Ended;
                self.pending[thread.index()] = None;
                self.ready.remove(thread);
                self.dependent.remove(thread);
                self.living -= 1;
                self.unjoined += 1;
                0
            }
            (Ask::Join { child }, _, _) => {
                if let Some(child) = self.threads.get_mut(child.index()).filter(|child| !child.joined) {
                    child.joined = true;
                    self.unjoined -= 1;
                }
                0
            }
            (Ask::ExitProcess, _, _) => {
                self.exiting = Some(thread);
                0
            }
            (Ask::Acquire { hold }, _, _) => {
                self.holds.acquire(hold);
                0
            }
            (Ask::Call { .. }, _, _) => {
                self.calls += 1;
                0
            }
            (Ask::Sleep { span, .. }, _, _) => {
                self.advance(span);
                0
            }
            _ => 0,
        };
        self.open_to_outside = false;
        if changes_state(event.kind) {
            self.note_change(thread);
        }
        result
    }

    #[inline]
    pub(super) fn note_change(&mut self, thread: ThreadId) {
        self.changes += 1;
        self.threads[thread.index()].own_changes += 1;
    }

    /// The thread has done what it was let do, which wrote what was there already: nothing was changed.
    pub(crate) fn changed_nothing(&mut self, thread: ThreadId, event: &Event) {
        if changes_state(event.kind) {
            self.changes -= 1;
            self.threads[thread.index()].own_changes -= 1;
        }
    }

    fn wake_for_nothing(&mut self, thread: ThreadId) -> i32 {
        let others = self.changes_by_others(thread);
        let entry = &mut self.threads[thread.index()];
        entry.wake_ups.note(entry.place, others);
        FOR_NOTHING
    }

    fn time_out(&mut self, thread: ThreadId) -> i32 {
        let others = self.changes_by_others(thread);
        let entry = &mut self.threads[thread.index()];
        entry.time_outs.note(entry.place, others);
        if let Ask::Waiting { until: Until::Deadline(at), .. }
        | Ask::Lock { until: Until::Deadline(at), .. }
        | Ask::ReadLock { until: Until::Deadline(at), .. }
        | Ask::TimedJoin { until: Until::Deadline(at), .. }
        | Ask::AwaitSignal { until: Until::Deadline(at), .. }
        | Ask::SemWait { until: Until::Deadline(at), .. }
        | Ask::Call { until: Until::Deadline(at), .. }
        | Ask::FutexReturn { until: Until::Deadline(at), .. } = entry.request.ask
        {
            self.clock = self.clock.max(Nanoseconds(at.0.saturating_sub(EPOCH.0)));
        }
        libc::ETIMEDOUT
    }

    pub(super) fn wake(&mut self, thread: ThreadId) {
        self.threads[thread.index()].woken = true;
    }

    fn signal(&mut self, id: ObjectId, pick: &mut dyn FnMut(&Pick<'_>) -> u32) -> i32 {
        let condition = self.objects.condition(id);
        let chosen = match condition.waiters.len() {
            0 => {
                condition.signalled_in_vain = true;
                return 0;
            }
            1 => 0,
            _ => pick(&Pick::Waiter { condition: Some(id), waiters: &condition.waiters }) as usize,
        };
        let woken = condition.waiters.remove(chosen.min(condition.waiters.len() - 1));
        self.wake(woken);
        0
    }

    fn broadcast(&mut self, id: ObjectId) -> i32 {
        let condition = self.objects.condition(id);
        condition.signalled_in_vain |= condition.waiters.is_empty();
        for woken in core::mem::take(&mut condition.waiters) {
            self.wake(woken);
        }
        0
    }

    /// The last to arrive is told so by the result 1.
    fn arrive(&mut self, id: ObjectId, thread: ThreadId) -> i32 {
        match self.objects.barrier(id).arrive(thread) {
            Some(leaving) => {
                for thread in leaving {
                    self.wake(thread);
                }
                1
            }
            None => 0,
        }
    }
}

/// Whether the event changes what other threads can see. Taking and giving back a lock cancel out, so neither counts:
/// a thread that only does that, and reads, makes no progress.
fn changes_state(kind: EventKind) -> bool {
    !matches!(
        kind,
        EventKind::Access { rw: Rw::Read, .. }
            | EventKind::CompareAndSwap { finds: Comparison::Unequal, .. }
            | EventKind::Lock
            | EventKind::TryLock
            | EventKind::TimedLock
            | EventKind::ReadLock
            | EventKind::TryReadLock
            | EventKind::LockTimeout { .. }
            | EventKind::WaitRelease { .. }
            | EventKind::WaitReacquire
            | EventKind::WaitTimeout { .. }
            | EventKind::WaitSpurious { .. }
            | EventKind::Acquire { .. }
            | EventKind::SemTryWait
            | EventKind::FutexWait
            | EventKind::Yield
            | EventKind::Sleep
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::ask::Request;
    use crate::gate::lock::LockKind;
    use crate::gate::thread::{Hope, Way};
    use alloc::vec::Vec;
    use model::event::Range;

    const A: ThreadId = ThreadId(0);
    const B: ThreadId = ThreadId(1);
    const C: ThreadId = ThreadId(2);
    const KIND: LockKind = LockKind::NORMAL;

    fn at(address: u64) -> Range {
        Range { address, length: 40 }
    }

    /// Three living threads.
    fn model() -> Model {
        let mut model = Model::default();
        model.begin();
        for child in [B, C] {
            let number = i32::try_from(child.0).expect("small");
            assert_eq!(run(&mut model, A, Ask::Create { place: None }), number);
        }
        model
    }

    fn ask(model: &mut Model, thread: ThreadId, ask: Ask) {
        model.threads[thread.index()].request = Request { ask, site: None };
        model.publish(thread);
    }

    fn perform(model: &mut Model, thread: ThreadId) -> i32 {
        assert!(model.enabled().contains(thread), "{thread} is enabled");
        let event = model.event(thread);
        model.perform(thread, &event, &mut |_| 0)
    }

    fn run(model: &mut Model, thread: ThreadId, request: Ask) -> i32 {
        ask(model, thread, request);
        perform(model, thread)
    }

    fn lock() -> Ask {
        Ask::Lock { lock: at(0), kind: KIND, until: Until::Forever }
    }

    fn unlock() -> Ask {
        Ask::Unlock { lock: at(0), kind: KIND }
    }

    fn wait(model: &mut Model, thread: ThreadId, until: Until) {
        let (condition, mutex) = (at(100), at(0));
        run(model, thread, lock());
        run(model, thread, Ask::WaitRelease { condition, mutex, kind: KIND });
        ask(model, thread, Ask::Waiting { condition, mutex, kind: KIND, until });
    }

    fn enabled(model: &mut Model) -> Vec<ThreadId> {
        model.enabled().iter().collect()
    }

    #[test]
    fn a_lock_keeps_others_out_until_it_is_free() {
        let mut model = model();
        run(&mut model, B, lock());
        ask(&mut model, C, lock());
        assert!(!model.enabled().contains(C));
        assert_eq!(model.waits_for(C), [B]);
        run(&mut model, B, unlock());
        assert!(model.enabled().contains(C));
    }

    #[test]
    fn a_signal_wakes_one_waiter_and_a_broadcast_all() {
        let mut model = model();
        for thread in [B, C] {
            wait(&mut model, thread, Until::Forever);
        }
        assert_eq!(enabled(&mut model), [A]);
        run(&mut model, A, Ask::Signal { condition: at(100) });
        ask(&mut model, A, Ask::Yield);
        assert_eq!(enabled(&mut model), [A, B]);
        assert_eq!(perform(&mut model, B), 0);
        run(&mut model, A, Ask::Broadcast { condition: at(100) });
        ask(&mut model, A, Ask::Yield);
        ask(&mut model, B, Ask::Yield);
        assert_eq!(enabled(&mut model), [A, B], "the woken thread needs the mutex, which another one has");
        run(&mut model, B, unlock());
        assert!(model.enabled().contains(C));
    }

    #[test]
    fn a_wait_times_out_a_few_times_until_another_thread_changes_something() {
        let mut model = model();
        let deadline = Until::Deadline(Nanoseconds(EPOCH.0 + 5));
        for _ in 0..3 {
            wait(&mut model, B, deadline);
            assert_eq!(perform(&mut model, B), libc::ETIMEDOUT);
            assert_eq!(model.now(), Nanoseconds(EPOCH.0 + 5), "time has passed");
            run(&mut model, B, Ask::Reacquire { mutex: at(0), kind: KIND });
            run(&mut model, B, unlock());
        }
        wait(&mut model, B, deadline);
        assert!(!model.enabled().contains(B));
        run(&mut model, A, Ask::SemPost { semaphore: at(200), count: 0 });
        assert!(model.enabled().contains(B));
    }

    #[test]
    fn a_thread_in_a_circle_goes_on_when_another_one_has_changed_something() {
        let mut model = model();
        let access = |rw| Ask::Access { range: at(300), rw, atomic: true };
        ask(&mut model, B, access(Rw::Read));
        model.goes_in_circle(B, Hope::None, Way::Changing);
        assert!(!model.enabled().contains(B));
        run(&mut model, C, access(Rw::Read));
        assert!(!model.enabled().contains(B));
        run(&mut model, C, access(Rw::Write));
        assert!(model.enabled().contains(B));
    }

    #[test]
    fn a_semaphore_that_is_not_known_yet_has_the_count_of_its_storage() {
        let mut model = model();
        let wait = Ask::SemWait { semaphore: at(400), count: 1, until: Until::Forever };
        assert_eq!(run(&mut model, B, wait), 0);
        ask(&mut model, C, wait);
        assert!(!model.enabled().contains(C));
        run(&mut model, B, Ask::SemPost { semaphore: at(400), count: 7 });
        assert!(model.enabled().contains(C));
    }

    #[test]
    fn a_join_waits_for_the_end() {
        let mut model = model();
        ask(&mut model, A, Ask::Join { child: B });
        assert!(!model.enabled().contains(A));
        run(&mut model, B, Ask::Exit);
        assert!(model.enabled().contains(A));
    }

    #[test]
    fn a_thread_is_last_when_all_others_were_joined_not_when_they_have_ended() {
        let mut model = model();
        run(&mut model, B, Ask::Exit);
        run(&mut model, C, Ask::Exit);
        assert!(model.is_alone() && !model.is_last());
        run(&mut model, A, Ask::Join { child: B });
        assert!(!model.is_last());
        run(&mut model, A, Ask::Join { child: C });
        assert!(model.is_last());
    }
}
