//! What happens in the model when an enabled thread does what it is about to do.

use alloc::vec::Vec;

use explorer::strategy::Pick;
use model::event::{Event, EventKind};
use model::ids::{ObjectId, ThreadId};

use super::ask::{Ask, Nanoseconds, Until};
use super::model::{EPOCH, Life, Model, Thread};
use super::waiting::Once;

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Performed {
    /// The C library's result.
    pub(crate) result: i32,
    /// What happened.
    pub(crate) event: Event,
}

impl Model {
    /// Performs what an enabled thread is about to do.
    pub(crate) fn perform(&mut self, thread: ThreadId, pick: &mut dyn FnMut(&Pick<'_>) -> u32) -> Performed {
        let event = self.event_of(thread);
        let Thread { request, object, mutex, .. } = self.threads[thread.index()];
        let result = match (request.ask, object, event.kind) {
            (_, _, EventKind::WaitTimeout) => {
                if let Some(condition) = object {
                    self.objects.condition(condition).leave(thread);
                }
                self.time_out(thread)
            }
            (_, _, EventKind::LockTimeout) => self.time_out(thread),
            (Ask::Lock { .. }, Some(lock), _) => self.objects.lock(lock).lock(thread),
            (Ask::TryLock { .. }, Some(lock), _) => self.objects.lock(lock).try_lock(thread),
            (Ask::ReadLock { .. }, Some(lock), _) => self.objects.lock(lock).read(thread),
            (Ask::TryReadLock { .. }, Some(lock), _) => self.objects.lock(lock).try_read(thread),
            (Ask::Unlock { .. }, Some(lock), _) => self.objects.lock(lock).unlock(thread),
            (Ask::WaitRelease { .. }, Some(condition), _) => {
                self.objects.condition(condition).waiters.push(thread);
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
            (Ask::SemPost { .. }, Some(semaphore), _) => {
                *self.objects.semaphore(semaphore) += 1;
                0
            }
            (Ask::BarrierArrive { .. }, Some(barrier), _) => self.arrive(barrier, thread),
            (Ask::OnceEnter { .. }, Some(once), _) => {
                let once = self.objects.once(once);
                let first = *once == Once::New;
                if first {
                    *once = Once::Running(thread);
                }
                i32::from(first)
            }
            (Ask::OnceLeave { .. }, Some(once), _) => {
                *self.objects.once(once) = Once::Done;
                0
            }
            (Ask::FutexWake { count, .. }, Some(word), _) => self.wake_some(word, count),
            (Ask::SendSignal { to, signal }, _, _) => {
                self.threads[to.index()].signal = Some(signal);
                0
            }
            (Ask::AwaitSignal, _, _) => self.threads[thread.index()].signal.take().unwrap_or(0),
            (Ask::Create { child }, _, _) => {
                self.threads[child.index()].life = Life::Alive;
                self.pending[child.index()] = Some(self.event_of(child));
                self.living += 1;
                0
            }
            (Ask::Exit, _, _) => {
                self.holds.give_up(thread);
                self.threads[thread.index()].life = Life::Ended;
                self.pending[thread.index()] = None;
                self.living -= 1;
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
            (Ask::Sleep { span }, _, _) => {
                self.advance(span);
                0
            }
            _ => 0,
        };
        if changes_state(event.kind) {
            self.changes += 1;
            self.threads[thread.index()].own_changes += 1;
        }
        Performed { result, event }
    }

    fn time_out(&mut self, thread: ThreadId) -> i32 {
        let others = self.changes_by_others(thread);
        let entry = &mut self.threads[thread.index()];
        entry.timed_out_at = Some(others);
        if let Ask::Waiting { until: Until::Deadline(at), .. }
        | Ask::Lock { until: Until::Deadline(at), .. }
        | Ask::SemWait { until: Until::Deadline(at), .. }
        | Ask::FutexReturn { until: Until::Deadline(at), .. } = entry.request.ask
        {
            self.clock = self.clock.max(Nanoseconds(at.0.saturating_sub(EPOCH.0)));
        }
        libc::ETIMEDOUT
    }

    fn wake(&mut self, thread: ThreadId) {
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

    /// Wakes the first so many; how many there were.
    fn wake_some(&mut self, id: ObjectId, count: u32) -> i32 {
        let waiters = &mut self.objects.condition(id).waiters;
        let woken: Vec<ThreadId> = waiters.drain(..waiters.len().min(count as usize)).collect();
        for &thread in &woken {
            self.wake(thread);
        }
        i32::try_from(woken.len()).unwrap_or(i32::MAX)
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
        EventKind::Access { rw: model::pair::Rw::Read, .. }
            | EventKind::Lock
            | EventKind::TryLock
            | EventKind::ReadLock
            | EventKind::TryReadLock
            | EventKind::LockTimeout
            | EventKind::WaitRelease { .. }
            | EventKind::WaitReacquire
            | EventKind::WaitTimeout
            | EventKind::Acquire { .. }
            | EventKind::SemTryWait
            | EventKind::FutexWait
            | EventKind::Yield
            | EventKind::Sleep
    )
}
