//! What requests are as events, as things are now, and which of them are enabled.
//!
//! Not here: what happens when one is performed (`perform`).

use explorer::threads::ThreadSet;
use model::event::{Event, EventKind, Range};
use model::ids::{ObjectId, ThreadId};
use model::pair::Rw;

use super::ask::{Ask, Until};
use super::compare::compare;
use super::model::{Model, Spurious};
use super::objects::State;
use super::readiness::Readiness;
use super::thread::{Life, Thread};
use super::waiting::Once;

/// Bytes of an injected lock.
const INJECTED_BYTES: u32 = 64;

impl Model {
    /// Brings waits up to date and says who is enabled.
    pub(crate) fn enabled(&mut self) -> ThreadSet {
        self.find_enabled();
        *self.found_enabled()
    }

    /// Who can go on, as [`Model::find_enabled`] has last found it.
    #[inline]
    pub(crate) fn found_enabled(&self) -> &ThreadSet {
        match &self.alone {
            Some(alone) => alone,
            None => &self.ready,
        }
    }

    /// Brings waits up to date and finds out who is enabled: at each step, so what cannot have changed is not looked at.
    #[inline]
    pub(crate) fn find_enabled(&mut self) {
        if self.is_stale() {
            self.look_at_waits();
        }
        debug_assert!(self.is_right(), "what others do has changed who can go on, and nobody said so");
    }

    /// Whether waits are to be looked at: something was done to what they wait for, or one of them waits for what changes without that.
    #[inline]
    fn is_stale(&self) -> bool {
        self.changed | self.watched | self.objects.changed | self.holds.changed | self.exiting.is_some()
    }

    fn look_at_waits(&mut self) {
        (self.changed, self.objects.changed, self.holds.changed) = (false, false, false);
        self.watched = false;
        let mut held = false;
        for part in 0..ThreadSet::PARTS {
            for thread in self.dependent.part(part) {
                let can_go_on = self.plain_wait(thread).unwrap_or_else(|| {
                    self.watched |= self.is_watched(&self.threads[thread.index()]);
                    if self.is_flexible(&self.threads[thread.index()]) {
                        self.pending[thread.index()] = Some(self.event_of(thread));
                    }
                    let can_go_on = self.is_enabled(thread);
                    held |= !can_go_on && self.is_held(thread);
                    can_go_on
                });
                if can_go_on {
                    self.ready.insert(thread);
                } else {
                    self.ready.remove(thread);
                }
            }
        }
        self.held_ends |= held && !self.ready.is_empty();
        if self.exiting.is_some() || self.alone.is_some() {
            self.alone = self.exiting.filter(|&thread| self.ready.contains(thread)).map(ThreadSet::one);
        }
    }

    /// Looks at what a thread has just asked for: it changes nothing for others.
    #[inline]
    pub(super) fn look_at_new(&mut self, thread: ThreadId) {
        if !self.dependent.contains(thread) {
            return;
        }
        match self.plain_wait(thread) {
            Some(true) => self.ready.insert(thread),
            Some(false) => self.ready.remove(thread),
            None => {
                self.ready.remove(thread);
                self.changed = true;
            }
        }
    }

    /// Of the most frequent waits, which nothing can end but what is waited for: whether that is there.
    #[inline]
    fn plain_wait(&self, thread: ThreadId) -> Option<bool> {
        let entry = &self.threads[thread.index()];
        if entry.waiting() != 0 || entry.cancelled || entry.spinning_at.is_some() {
            return None;
        }
        match entry.request.ask {
            Ask::Join { child } => Some(self.threads.get(child.index())?.life == Life::Ended),
            Ask::Lock { until: Until::Forever, .. } => match &self.objects.get(entry.object?).state {
                State::Lock(lock) => Some(lock.can_lock(thread)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether looking at all waits finds what is known.
    fn is_right(&self) -> bool {
        let living = || (0..self.threads.len()).map(ThreadId::new).filter(|thread| self.threads[thread.index()].life == Life::Alive);
        let is_as_pending = |thread: ThreadId| {
            !self.is_flexible(&self.threads[thread.index()]) || self.pending[thread.index()] == Some(self.event_of(thread))
        };
        let can_go_on = |&thread: &ThreadId| !self.dependent.contains(thread) || self.is_enabled(thread);
        living().filter(|&thread| self.dependent.contains(thread)).all(is_as_pending)
            && living().filter(can_go_on).collect::<ThreadSet>() == self.ready
    }

    /// What one thread is about to do, if it can do that now.
    pub(crate) fn ready(&mut self, thread: ThreadId) -> Option<Event> {
        if self.exiting.is_some_and(|exiting| exiting != thread) {
            return None;
        }
        if !self.dependent.contains(thread) {
            return self.pending.get(thread.index()).copied().flatten();
        }
        if self.is_flexible(&self.threads[thread.index()]) {
            self.pending[thread.index()] = Some(self.event_of(thread));
        }
        self.pending[thread.index()].filter(|_| self.is_enabled(thread))
    }

    /// What the thread's request is as an event, as things are now.
    pub(super) fn event_of(&self, thread: ThreadId) -> Event {
        let entry = &self.threads[thread.index()];
        let range_of = |object: Option<ObjectId>| object.map(|id| self.objects.get(id).range);
        let on = |kind| (kind, range_of(entry.object), entry.object);
        let on_mutex = |kind| (kind, range_of(entry.mutex), entry.mutex);
        let by = entry.heeds_others.then_some(entry.word);
        // What need not wait for ever may also end without: strategies must not take the release for what alone enables it.
        let timed = |until, kind, may_end| match until {
            Until::Forever => kind,
            Until::Deadline(_) if self.is_free(thread) => may_end,
            Until::Deadline(_) => EventKind::LockTimeout { by },
        };
        if self.is_interrupted(thread) {
            // What would take the interruption from it.
            let object = if entry.retakes(entry.request.ask) { entry.mutex } else { entry.object };
            let awaited = match entry.request.ask {
                Ask::Join { child } => self.threads.get(child.index()).map(|child| child.end),
                Ask::TimedJoin { word, .. } => Some(word),
                Ask::AwaitSignal { .. } | Ask::Sleep { .. } => Some(entry.word),
                Ask::Call { .. } => None,
                _ => range_of(object),
            };
            let kind = EventKind::Interrupted { by: entry.word };
            return Event { kind, range: awaited, object, site: entry.request.site };
        }
        let (kind, range, object) = match entry.request.ask {
            Ask::Start => (EventKind::Start, None, None),
            Ask::Exit => (EventKind::Exit, None, None),
            Ask::ExitProcess => (EventKind::ExitProcess, None, None),
            Ask::Fail => (EventKind::Fail, None, None),
            Ask::Create { place } => (EventKind::Create { child: ThreadId::new(self.threads.len()) }, place, None),
            Ask::Join { child } => (EventKind::Join { child }, None, None),
            Ask::TimedJoin { word, .. } if self.is_free(thread) => (EventKind::Access { rw: Rw::Read, atomic: true }, Some(word), None),
            Ask::TimedJoin { word, .. } => (EventKind::LockTimeout { by }, Some(word), None),
            Ask::Access { range, rw, atomic } => (EventKind::Access { rw, atomic }, Some(range), None),
            Ask::CompareAndSwap { range, expected } => {
                (EventKind::CompareAndSwap { expected, finds: compare(range, expected) }, Some(range), None)
            }
            Ask::Lock { until, .. } => on(timed(until, EventKind::Lock, EventKind::TimedLock)),
            Ask::TryLock { .. } | Ask::WriteArrive { .. } => on(EventKind::TryLock),
            Ask::ReadLock { until, .. } => on(timed(until, EventKind::ReadLock, EventKind::TryReadLock)),
            Ask::TryReadLock { .. } => on(EventKind::TryReadLock),
            Ask::Unlock { .. } | Ask::Orphan { .. } => on(EventKind::Unlock),
            Ask::WaitRelease { mutex, .. } => on(EventKind::WaitRelease { mutex }),
            Ask::Waiting { .. } if entry.woken => on_mutex(EventKind::WaitReacquire),
            Ask::Waiting { until: Until::Deadline(_), .. } => on(EventKind::WaitTimeout { by }),
            Ask::Waiting { .. } if self.may_wake_for_nothing(thread) => on(EventKind::WaitSpurious { by }),
            Ask::Waiting { .. } => on(EventKind::Waiting),
            Ask::Reacquire { .. } => on_mutex(EventKind::WaitReacquire),
            Ask::Signal { .. } => on(EventKind::Signal),
            Ask::Broadcast { .. } => on(EventKind::Broadcast),
            Ask::SemWait { until, .. } => on(timed(until, EventKind::SemWait, EventKind::SemTryWait)),
            Ask::SemTryWait { .. } => on(EventKind::SemTryWait),
            Ask::SemPost { .. } => on(EventKind::SemPost),
            Ask::BarrierArrive { .. } => on(EventKind::BarrierArrive),
            Ask::BarrierLeave { .. } if entry.woken => on(EventKind::BarrierLeave),
            Ask::BarrierLeave { .. } => on(EventKind::Waiting),
            Ask::OnceEnter { .. } => on(EventKind::OnceEnter),
            Ask::OnceLeave { .. } | Ask::OnceAbandon { .. } => on(EventKind::OnceLeave),
            Ask::FutexWait { .. } => on(EventKind::FutexWait),
            Ask::FutexReturn { .. } if entry.woken => on(EventKind::FutexReturn),
            Ask::FutexReturn { until: Until::Deadline(_), .. } => on(EventKind::WaitTimeout { by }),
            Ask::FutexReturn { .. } => on(EventKind::Waiting),
            Ask::FutexWake { .. } => on(EventKind::FutexWake),
            Ask::SendSignal { to, .. } | Ask::Cancel { to } => {
                let word = self.threads.get(to.index()).map(|to| to.word);
                (EventKind::Access { rw: Rw::Write, atomic: true }, word, None)
            }
            Ask::SendToAll { .. } => (EventKind::Access { rw: Rw::Write, atomic: true }, Some(entry.word), None),
            Ask::Look => {
                // Who takes what others might have taken has them find nothing.
                let rw = if entry.for_all & !entry.blocked == 0 { Rw::Read } else { Rw::Update };
                (EventKind::Access { rw, atomic: true }, Some(entry.word), None)
            }
            // One of several threads takes what is there, as from a semaphore.
            Ask::AwaitSignal { until: Until::Forever, .. } if self.has_signals_for_all() => (EventKind::SemWait, Some(entry.word), None),
            Ask::AwaitSignal { .. } if self.is_free(thread) && self.has_signals_for_all() => {
                (EventKind::SemTryWait, Some(entry.word), None)
            }
            Ask::AwaitSignal { .. } if self.is_free(thread) => (EventKind::Access { rw: Rw::Update, atomic: true }, Some(entry.word), None),
            Ask::AwaitSignal { until: Until::Deadline(_), .. } => (EventKind::WaitTimeout { by: None }, Some(entry.word), None),
            Ask::AwaitSignal { .. } => (EventKind::Waiting, None, None),
            Ask::Call { until: Until::Deadline(_), .. } if !self.is_free(thread) => (EventKind::WaitTimeout { by }, None, None),
            Ask::Call { .. } => (EventKind::External, None, None),
            Ask::Acquire { hold } => {
                let range = Range { address: hold.lock, length: INJECTED_BYTES };
                (EventKind::Acquire { mode: hold.mode }, Some(range), None)
            }
            Ask::Yield => (EventKind::Yield, None, None),
            Ask::Sleep { word, .. } => (EventKind::Sleep, word, None),
        };
        Event { kind, range, object, site: entry.request.site }
    }

    /// Whether what the thread waits for is there, deadlines apart.
    pub(super) fn is_free(&self, thread: ThreadId) -> bool {
        let entry = &self.threads[thread.index()];
        let state = |object: Option<ObjectId>| object.map(|id| &self.objects.get(id).state);
        match entry.request.ask {
            Ask::Lock { .. } => matches!(state(entry.object), Some(State::Lock(lock)) if lock.can_lock(thread)),
            Ask::ReadLock { .. } => matches!(state(entry.object), Some(State::Lock(lock)) if lock.can_read(thread)),
            Ask::Waiting { .. } | Ask::Reacquire { .. } => match state(entry.mutex) {
                Some(State::Lock(lock)) => lock.owner.is_none() && lock.readers.is_empty(),
                _ => true,
            },
            Ask::SemWait { .. } => matches!(state(entry.object), Some(State::Semaphore(count)) if *count > 0),
            Ask::BarrierLeave { .. } | Ask::FutexReturn { .. } => entry.woken,
            Ask::AwaitSignal { set, .. } => entry.waiting() & set != 0,
            Ask::OnceEnter { .. } => !matches!(state(entry.object), Some(State::Once(Once::Running(_)))),
            Ask::Join { child } => self.threads.get(child.index()).is_none_or(|child| child.life == Life::Ended),
            Ask::TimedJoin { child, .. } => self.threads.get(child.index()).is_none_or(|child| child.ending),
            Ask::Acquire { hold } => self.holds.can_acquire(thread, hold.lock, hold.mode),
            Ask::Call { ready, .. } => self.is_ready(ready),
            _ => true,
        }
    }

    /// Whether a thread waits, and has to see to a signal or to its cancellation first.
    pub(super) fn is_interrupted(&self, thread: ThreadId) -> bool {
        let entry = &self.threads[thread.index()];
        if (entry.waiting() == 0 && !entry.cancelled) || !entry.request.ask.waits() {
            return false;
        }
        let waits = match entry.request.ask {
            Ask::Waiting { .. } if !entry.woken => true,
            Ask::Sleep { .. } => true,
            _ => !self.is_free(thread),
        };
        waits && (entry.deliverable() != 0 || entry.ends_in(entry.request.ask))
    }

    /// Whether a thread that waits on a condition may be woken without a cause.
    pub(super) fn may_wake_for_nothing(&self, thread: ThreadId) -> bool {
        let entry = &self.threads[thread.index()];
        let waits = self.spurious == Spurious::Possible && matches!(entry.request.ask, Ask::Waiting { .. });
        waits && entry.may_wake(self.changes_by_others(thread))
    }

    /// Whether the program is one that sends itself signals, which any thread may take: all have one word then.
    fn has_signals_for_all(&self) -> bool {
        matches!(&self.threads[..], [first, second, ..] if first.word == second.word)
    }

    fn is_enabled(&self, thread: ThreadId) -> bool {
        let entry = &self.threads[thread.index()];
        let others = || self.changes_by_others(thread);
        if entry.spinning_at.is_some_and(|at| at == others()) {
            return false;
        }
        match self.pending[thread.index()].map(|event| event.kind) {
            Some(EventKind::Interrupted { .. }) => true,
            Some(EventKind::Waiting) | None => false,
            Some(EventKind::WaitSpurious { .. }) => true,
            Some(EventKind::WaitTimeout { .. } | EventKind::LockTimeout { .. }) => {
                entry.may_time_out(others()) || self.may_wake_for_nothing(thread)
            }
            Some(_) => self.is_free(thread),
        }
    }

    /// Of a thread that cannot go on: whether its wait would end by itself, had it not done so before, and the thread is not in the state in which it was then.
    fn is_held(&self, thread: ThreadId) -> bool {
        let entry = &self.threads[thread.index()];
        let kind = self.pending[thread.index()].map(|event| event.kind);
        let has_limit = matches!(kind, Some(EventKind::WaitTimeout { .. } | EventKind::LockTimeout { .. }));
        let could_wake = self.spurious == Spurious::Possible && matches!(entry.request.ask, Ask::Waiting { .. }) && !entry.woken;
        !entry.repeats && (could_wake || (has_limit && !entry.may_time_out(self.changes_by_others(thread))))
    }

    /// Whether a system call would not have to wait.
    pub(super) fn is_ready(&self, ready: Readiness) -> bool {
        match ready {
            Readiness::Calls { known } => self.calls != known,
            Readiness::Refused { known, .. } => self.calls != known || self.open_to_outside,
            Readiness::Queue { known, .. } => self.calls != known || (self.open_to_outside && ready.holds()),
            Readiness::Outside(_) if !self.open_to_outside => false,
            _ => ready.holds(),
        }
    }

    /// Whether what the thread waits for changes without anything being done to it, or what it is about to do does.
    fn is_watched(&self, thread: &Thread) -> bool {
        let waits_for_objects = match thread.request.ask {
            Ask::Lock { until, .. } | Ask::ReadLock { until, .. } | Ask::SemWait { until, .. } | Ask::FutexReturn { until, .. } => {
                until == Until::Forever
            }
            Ask::Waiting { until, .. } => until == Until::Forever && self.spurious == Spurious::Never,
            Ask::Create { .. }
            | Ask::Join { .. }
            | Ask::Reacquire { .. }
            | Ask::Sleep { .. }
            | Ask::BarrierLeave { .. }
            | Ask::OnceEnter { .. }
            | Ask::Acquire { .. }
            | Ask::Look => true,
            _ => false,
        };
        !waits_for_objects || thread.spinning_at.is_some()
    }

    /// Whether what the thread's request is as an event depends on what others do, or has changed by what they did.
    fn is_flexible(&self, thread: &Thread) -> bool {
        let by_request = match thread.request.ask {
            Ask::Waiting { .. } => thread.woken || self.spurious == Spurious::Possible,
            Ask::BarrierLeave { .. } | Ask::FutexReturn { .. } => thread.woken,
            Ask::Lock { until, .. } | Ask::ReadLock { until, .. } | Ask::SemWait { until, .. } => until != Until::Forever,
            Ask::Call { until, .. } => until != Until::Forever,
            Ask::Create { .. } | Ask::CompareAndSwap { .. } | Ask::AwaitSignal { .. } | Ask::TimedJoin { .. } | Ask::Look => true,
            _ => false,
        };
        by_request || thread.waiting() != 0 || thread.cancelled
    }
}
