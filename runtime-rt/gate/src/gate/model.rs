//! The model of one execution: what every thread is about to do, whether it can, and what happens when it does.
//!
//! Enabledness is exact: a thread that the model says is enabled never blocks. Time is virtual: it passes only by sleeping
//! and by time-outs. A wait with a deadline may time out at any moment, but in one place only some times until another thread changes
//! something; otherwise loops of timed waits would go on for ever (`ends`).
//!
//! Not handled: time-outs that are impossible in real time because another thread's deadline comes first are explored too.

use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use explorer::threads::ThreadSet;
use model::cause::Cause;
use model::event::{Event, EventKind, Range};
use model::ids::{ObjectId, SiteKey, ThreadId};
use model::pair::Rw;

use super::ask::{Ask, Nanoseconds, Request, Until};
use super::ends::Ends;
use super::injected::Holds;
use super::lock::{Lock, LockKind};
use super::objects::{Objects, State};
use super::readiness::Readiness;
use super::thread::{Cancellation, Hope, Life, Thread, Way};
use super::waiting::{Barrier, Condition, Once};

/// Where virtual time begins, so that the wall clock shows a plausible date.
pub(crate) const EPOCH: Nanoseconds = Nanoseconds(1_700_000_000_000_000_000);

/// Whether waits on conditions may end without a cause, as the standard allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Spurious {
    /// They never do.
    #[default]
    Never,
    /// At any moment, but in one place only some times until another thread has changed something.
    Possible,
}

/// The state of one execution.
#[derive(Default)]
pub(crate) struct Model {
    /// By `ThreadId`.
    pub(crate) threads: Vec<Thread>,
    /// By `ThreadId`: what each living thread is about to do.
    pub(crate) pending: Vec<Option<Event>>,
    /// Living threads that can go on: exact for those that can whatever others do, and for all others when waits were looked at.
    pub(super) ready: ThreadSet,
    /// The one thread that is to go on of those, if others must not.
    pub(super) alone: Option<ThreadSet>,
    /// Living threads that may have to wait for others, or whose pending event depends on what others do.
    pub(super) dependent: ThreadSet,
    /// Whether something was done, to other things than objects and injected locks, that waits may be for.
    pub(super) changed: bool,
    /// Whether one of these threads waits for what changes unseen: memory, time, the kernel.
    pub(super) watched: bool,
    /// Whether a thread was kept from having its wait end by itself once more where it had before, in another state, while others could go on.
    pub(crate) held_ends: bool,
    /// Synchronization objects.
    pub(crate) objects: Objects,
    /// Injected locks.
    pub(crate) holds: Holds,
    /// Virtual time since the beginning.
    pub(super) clock: Nanoseconds,
    /// Whether waits on conditions may end without a cause.
    pub(crate) spurious: Spurious,
    /// How many changes of shared state there were.
    pub(super) changes: u64,
    /// How many threads live.
    pub(super) living: u32,
    /// How many have ended and were not joined.
    pub(super) unjoined: u32,
    /// Signals that the process was sent and no thread has taken, as a set of bits.
    pub(super) for_all: u64,
    /// How often time was made to pass because nobody could go on.
    leaps: u32,
    /// How many injected holds were taken from threads.
    pub(crate) revoked: u64,
    /// Who is ending the process.
    pub(super) exiting: Option<ThreadId>,
    /// How many system calls were made that others may see.
    pub(super) calls: u64,
    /// Nobody could go on, so that what comes from outside counts until the next step.
    pub(super) open_to_outside: bool,
}

impl Model {
    /// Forgets everything and begins with one thread.
    pub(crate) fn begin(&mut self) {
        self.threads.clear();
        self.pending.clear();
        self.objects.clear();
        self.holds.clear();
        self.clock = Nanoseconds(0);
        self.changes = 0;
        self.living = 0;
        self.unjoined = 0;
        self.for_all = 0;
        self.exiting = None;
        self.calls = 0;
        self.open_to_outside = false;
        self.leaps = 0;
        self.revoked = 0;
        self.ready = ThreadSet::EMPTY;
        self.alone = None;
        self.dependent = ThreadSet::EMPTY;
        (self.changed, self.watched, self.held_ends) = (true, false, false);
        self.create();
    }

    /// A thread more, with the next number.
    pub(super) fn create(&mut self) -> ThreadId {
        let thread = ThreadId::new(self.threads.len());
        self.threads.push(Thread {
            life: Life::Alive,
            request: Request { ask: Ask::Start, site: None },
            object: None,
            mutex: None,
            word: NOWHERE,
            end: NOWHERE,
            called: NOWHERE,
            signals: 0,
            for_all: self.for_all,
            blocked: 0,
            cancelled: false,
            cancellation: Cancellation::Enabled,
            woken: false,
            own_changes: 0,
            place: 0,
            waits: 0,
            repeats: false,
            heeds_others: false,
            time_outs: Ends::default(),
            wake_ups: Ends::default(),
            spinning_at: None,
            hope: Hope::None,
            worked: Nanoseconds(0),
            ending: false,
            joined: false,
        });
        self.pending.push(Some(event(EventKind::Start, None, None)));
        self.ready.insert(thread);
        self.living += 1;
        thread
    }

    /// A thread that has ended lives on, alone: all that it does comes after all that others did.
    pub(crate) fn revive(&mut self, thread: ThreadId) {
        self.threads[thread.index()].life = Life::Alive;
        (self.living, self.unjoined) = (1, 0);
        self.exiting = Some(thread);
        self.changed = true;
    }

    /// How many threads there are, with those that others than this one are about to create.
    pub(crate) fn expected(&self, me: ThreadId) -> usize {
        let creates = |thread: &Thread| thread.life == Life::Alive && matches!(thread.request.ask, Ask::Create { .. });
        let coming = self.threads.iter().enumerate().filter(|(at, thread)| *at != me.index() && creates(thread));
        self.threads.len() + coming.count()
    }

    /// Whether any thread waits for a signal, which may come from outside.
    pub(crate) fn awaits_signal(&self) -> bool {
        self.threads.iter().any(|thread| thread.life == Life::Alive && matches!(thread.request.ask, Ask::AwaitSignal { .. }))
    }

    /// How many system calls were made that others may see.
    pub(crate) fn calls(&self) -> u64 {
        self.calls
    }

    /// What threads wait for in system calls.
    pub(crate) fn awaited(&self) -> impl Iterator<Item = Readiness> + '_ {
        self.threads.iter().filter(|thread| thread.life == Life::Alive).filter_map(|thread| match thread.request.ask {
            Ask::Call { ready, .. } => Some(ready),
            _ => None,
        })
    }

    /// When nobody is enabled: what comes from outside may free threads, up to the next step.
    pub(crate) fn open_to_outside(&mut self) {
        self.open_to_outside = true;
        self.changed = true;
    }

    /// Whether only one thread lives: nothing it does can be seen by another.
    #[inline]
    pub(crate) fn is_alone(&self) -> bool {
        self.living == 1
    }

    /// Whether all that the only living thread does comes after all that others did, in every schedule: they were joined. What comes
    /// after the end of a thread that was not joined could have come before it, and strategies must see that.
    #[inline]
    pub(crate) fn is_last(&self) -> bool {
        self.is_alone() && self.unjoined == 0
    }

    /// Virtual time.
    pub(crate) fn now(&self) -> Nanoseconds {
        Nanoseconds(EPOCH.0 + self.clock.0)
    }

    /// What a deadline in wall-clock time is in virtual time, and the other way round: they run together.
    pub(crate) fn advance(&mut self, span: Nanoseconds) {
        self.clock.0 = self.clock.0.saturating_add(span.0);
    }

    /// How many changes others than this thread have made.
    pub(crate) fn changes_by_others(&self, thread: ThreadId) -> u64 {
        self.changes - self.threads[thread.index()].own_changes
    }

    /// How many changes this thread has made, those among them by which it let others have its mutex while it waited.
    pub(crate) fn own_changes(&self, thread: ThreadId) -> u64 {
        self.threads[thread.index()].own_changes + self.threads[thread.index()].waits
    }

    /// The thread goes round in a circle: it is not enabled until another one changes something. A thread that holds a
    /// lock of the program, and may not hold it all the way round, goes on to a place where it does not; injected locks are taken from it.
    pub(crate) fn goes_in_circle(&mut self, thread: ThreadId, hope: Hope, way: Way) {
        if way == Way::Idle || !self.objects.holds_any(thread) {
            self.revoked += u64::from(self.holds.give_up(thread, Cause::Spinning));
            self.threads[thread.index()].spinning_at = Some(self.changes_by_others(thread));
            self.threads[thread.index()].hope = hope;
            self.ready.remove(thread);
            self.dependent.insert(thread);
            self.changed = true;
        }
    }

    /// When nobody is enabled: lets threads go on that go round until time has passed or a number is drawn; whether there was one. Time is
    /// out when 2^50 microseconds have passed, luck never.
    pub(crate) fn let_hope(&mut self) -> bool {
        const LONGEST: u32 = 50;
        let least = if self.leaps < LONGEST { Hope::Time } else { Hope::Luck };
        let mut any = false;
        let span = if self.leaps < LONGEST { 1000 << self.leaps } else { 0 };
        for thread in self.threads.iter_mut().filter(|thread| thread.life == Life::Alive && thread.hope >= least) {
            if thread.spinning_at.take().is_some() {
                any = true;
                thread.worked.0 += span;
            }
        }
        self.changed |= any;
        if any && self.leaps < LONGEST {
            self.advance(Nanoseconds(span));
            self.leaps += 1;
        }
        any
    }

    /// Ends or weakens injected holds of a thread, which others may see.
    pub(crate) fn let_go(&mut self, thread: ThreadId, how: impl FnOnce(&mut Holds, ThreadId) -> bool) {
        if how(&mut self.holds, thread) {
            self.note_change(thread);
        }
    }

    /// The thread wants a lock more strongly than it has it, and others are in the way: it starts afresh without.
    pub(crate) fn give_up_weaker(&mut self, thread: ThreadId, lock: u64) {
        let update = self.holds.covers(thread, lock, model::pair::Mode::U);
        if !update {
            self.let_go(thread, |holds, me| holds.end_tenure(me, lock));
        }
    }

    /// When nobody is enabled: lets threads time out once more; whether that was anything.
    pub(crate) fn free_timeouts(&mut self) -> bool {
        let mut any = false;
        for thread in &mut self.threads {
            any |= thread.life == Life::Alive && thread.time_outs.free();
        }
        self.changed |= any;
        any
    }

    /// Whether somebody has begun to end the process.
    pub(crate) fn is_exiting(&self) -> bool {
        self.exiting.is_some()
    }

    /// Whether the thread goes round in a circle with nothing changing.
    pub(crate) fn is_spinning(&self, thread: ThreadId) -> bool {
        self.threads[thread.index()].spinning_at == Some(self.changes_by_others(thread))
    }

    /// When nobody is enabled: threads that injected locks keep waiting, any of which can be let in by taking the lock from others.
    pub(crate) fn kept_waiting(&self) -> Vec<ThreadId> {
        let is_kept = |thread: &ThreadId| match self.threads[thread.index()] {
            Thread { life: Life::Alive, request: Request { ask: Ask::Acquire { hold }, .. }, .. } => {
                !self.holds.can_acquire(*thread, hold.lock, hold.mode)
            }
            _ => false,
        };
        (0..self.threads.len()).map(ThreadId::new).filter(is_kept).collect()
    }

    /// Takes the lock that a thread waits for from everyone in its way.
    pub(crate) fn revoke_for(&mut self, thread: ThreadId) {
        let Ask::Acquire { hold } = self.threads[thread.index()].request.ask else { return };
        let in_the_way: Vec<ThreadId> = self.holds.in_the_way(thread, hold.lock, hold.mode).collect();
        let verdicts: Vec<(ThreadId, Cause)> = in_the_way.into_iter().map(|holder| (holder, self.verdict(holder, thread))).collect();
        for (holder, why) in verdicts {
            self.holds.revoke(holder, hold.lock, why);
        }
        self.revoked += 1;
    }

    /// Why a holder that cannot go on loses its lock to this thread, as `runtime-rt/lock` finds it out: it waits, directly or not, for
    /// the thread or for itself; for something unknown; or for threads of which none does.
    fn verdict(&self, holder: ThreadId, asking: ThreadId) -> Cause {
        let mut reached = alloc::vec![holder];
        let mut next = 0;
        let mut why = Cause::Timeout;
        while let Some(&from) = reached.get(next) {
            next += 1;
            let Some(needed) = self.needed(from) else {
                why = Cause::Blocked;
                continue;
            };
            if needed.iter().any(|&to| to == asking || to == holder) {
                return Cause::Cycle;
            }
            for to in needed {
                if !reached.contains(&to) {
                    reached.push(to);
                }
            }
        }
        why
    }

    /// Why a thread gives its injected locks up when it asks for what it asks for now, as `runtime-rt/lock` does: before calls that may
    /// wait for anybody, unless they turn out not to wait; and for a lock of the program whose owner waits for this very thread.
    fn gives_up(&self, thread: ThreadId) -> Option<Cause> {
        let (why, may_turn_out_free) = match self.threads[thread.index()].request.ask {
            Ask::WaitRelease { .. } => (Cause::Condition, false),
            Ask::BarrierArrive { .. } => (Cause::Meet, false),
            Ask::Sleep { .. } | Ask::AwaitSignal { .. } => (Cause::Sleep, false),
            Ask::Join { .. } | Ask::TimedJoin { .. } => (Cause::Join, true),
            Ask::SemWait { .. } | Ask::FutexReturn { .. } | Ask::OnceEnter { .. } => (Cause::Meet, true),
            Ask::Call { why, .. } => (why, true),
            Ask::Lock { .. } | Ask::ReadLock { .. } if self.verdict(thread, thread) == Cause::Cycle => (Cause::ProgramLock, true),
            _ => return None,
        };
        (!may_turn_out_free || !self.is_free(thread)).then_some(why)
    }

    /// Whom a thread waits for, where that is certain threads.
    pub(crate) fn waits_for(&self, thread: ThreadId) -> Vec<ThreadId> {
        self.needed(thread).unwrap_or_default()
    }

    /// Whom a thread waits for: holders of a lock, a thread to join. `None`: anybody, or nobody.
    fn needed(&self, thread: ThreadId) -> Option<Vec<ThreadId>> {
        let entry = &self.threads[thread.index()];
        if entry.life != Life::Alive || self.is_free(thread) {
            return Some(Vec::new());
        }
        let holders = |object: Option<ObjectId>| match object.map(|id| &self.objects.get(id).state) {
            Some(State::Lock(lock)) => lock.holders().collect(),
            _ => Vec::new(),
        };
        Some(match entry.request.ask {
            Ask::Lock { .. } => holders(entry.object),
            Ask::ReadLock { .. } => match entry.object.map(|id| &self.objects.get(id).state) {
                Some(State::Lock(lock)) => lock.in_the_way_of_readers().collect(),
                _ => Vec::new(),
            },
            Ask::Waiting { .. } if entry.woken => holders(entry.mutex),
            Ask::Reacquire { .. } => holders(entry.mutex),
            Ask::Join { child } | Ask::TimedJoin { child, .. } => [child].into(),
            Ask::Acquire { hold } => self.holds.in_the_way(thread, hold.lock, hold.mode).collect(),
            Ask::OnceEnter { .. } => match entry.object.map(|id| &self.objects.get(id).state) {
                Some(State::Once(Once::Running(by))) => [*by].into(),
                _ => Vec::new(),
            },
            _ => return None,
        })
    }

    /// Hashes all that decides what can happen next, memory and the threads' own state apart.
    pub(crate) fn digest<H: Hasher + Default>(&mut self, digest: &mut H) {
        for (thread, entry) in self.threads.iter().enumerate() {
            let id = ThreadId::new(thread);
            let since = |at: Option<u64>| at.is_some_and(|at| at == self.changes_by_others(id));
            (entry.life as u8, entry.woken, entry.signals, entry.for_all, entry.blocked, entry.cancelled, entry.joined, entry.ending)
                .hash(digest);
            let ends = [&entry.time_outs, &entry.wake_ups];
            ends.into_iter().flat_map(|ends| ends.standing(self.changes_by_others(id))).for_each(|end| end.hash(digest));
            (since(entry.spinning_at), entry.hope).hash(digest);
            let event = self.pending.get(thread).copied().flatten();
            event.map(|event| (event.kind.code().number(), event.range.map(|range| range.address), event.site)).hash(digest);
        }
        self.objects.hash::<H>().hash(digest);
        self.holds.all().for_each(|(thread, lock, mode)| (thread, lock, mode as u8).hash(digest));
        self.exiting.hash(digest);
    }

    /// A thread asks for an access: what is most frequent, and needs nothing of what follows.
    #[inline]
    pub(crate) fn publish_access(&mut self, thread: ThreadId, range: Range, rw: Rw, atomic: bool, site: Option<SiteKey>) {
        let entry = &mut self.threads[thread.index()];
        entry.request = Request { ask: Ask::Access { range, rw, atomic }, site };
        (entry.object, entry.mutex) = (None, None);
        // Made in its place: the processor waits where what was written in parts is moved as a whole.
        self.pending[thread.index()] = Some(Event { kind: EventKind::Access { rw, atomic }, range: Some(range), object: None, site });
        self.ready.insert(thread);
        self.dependent.remove(thread);
    }

    /// A thread asks for what its entry says by now.
    pub(crate) fn publish(&mut self, thread: ThreadId) {
        let Request { ask, site } = &self.threads[thread.index()].request;
        if let &Ask::Access { range, rw, atomic } = ask {
            self.publish_access(thread, range, rw, atomic, *site);
            return;
        }
        let objects = &mut self.objects;
        let free = |kind| move || State::Lock(Lock::new(kind));
        let (object, mutex) = match *ask {
            Ask::Lock { lock, kind, .. }
            | Ask::TryLock { lock, kind }
            | Ask::Unlock { lock, kind }
            | Ask::ReadLock { lock, kind, .. }
            | Ask::TryReadLock { lock, kind } => {
                let id = objects.at(lock, free(kind));
                objects.set_kind(id, kind);
                (Some(id), None)
            }
            Ask::WriteArrive { lock } => (Some(objects.at(lock, free(LockKind::WriterFirst))), None),
            Ask::Orphan { lock } => (Some(objects.at(lock, free(LockKind::NORMAL))), None),
            Ask::WaitRelease { condition, mutex, kind } | Ask::Waiting { condition, mutex, kind, .. } => {
                let mutex = objects.at(mutex, free(kind));
                (Some(objects.at(condition, || State::Condition(Condition::default()))), Some(mutex))
            }
            Ask::Reacquire { mutex, kind } => (None, Some(objects.at(mutex, free(kind)))),
            Ask::FutexWait { word: condition }
            | Ask::FutexReturn { word: condition, .. }
            | Ask::FutexWake { word: condition, .. }
            | Ask::Signal { condition }
            | Ask::Broadcast { condition } => (Some(objects.at(condition, || State::Condition(Condition::default()))), None),
            Ask::SemWait { semaphore, count, .. } | Ask::SemTryWait { semaphore, count } | Ask::SemPost { semaphore, count } => {
                (Some(objects.at(semaphore, || State::Semaphore(count))), None)
            }
            Ask::BarrierArrive { barrier } | Ask::BarrierLeave { barrier } => {
                (Some(objects.at(barrier, || State::Barrier(Barrier { size: 1, arrived: Vec::new() }))), None)
            }
            Ask::OnceEnter { once, done } => (Some(objects.at(once, || State::Once(if done { Once::Done } else { Once::New }))), None),
            Ask::OnceLeave { once } | Ask::OnceAbandon { once } => (Some(objects.at(once, || State::Once(Once::New))), None),
            _ => (None, None),
        };
        let entry = &mut self.threads[thread.index()];
        entry.object = object;
        entry.mutex = mutex;
        if entry.request.ask.is_steady() {
            self.ready.insert(thread);
            self.dependent.remove(thread);
        } else {
            self.dependent.insert(thread);
        }
        if matches!(entry.request.ask, Ask::WaitRelease { .. } | Ask::BarrierArrive { .. } | Ask::FutexWait { .. }) {
            entry.woken = false;
        }
        let site = entry.request.site;
        let is_free = entry.waiting() == 0 && !entry.cancelled;
        let next = ThreadId::new(self.threads.len());
        // What is asked for most is written where it is read: the processor waits where what was written in parts is copied as a whole.
        let pending = &mut self.pending[thread.index()];
        let mut put = |kind, range, object| *pending = Some(Event { kind, range, object, site });
        match (&self.threads[thread.index()].request.ask, object) {
            (Ask::Start, _) => put(EventKind::Start, None, None),
            (Ask::Exit, _) => put(EventKind::Exit, None, None),
            (Ask::Create { place: None }, _) => put(EventKind::Create { child: next }, None, None),
            (&Ask::Join { child }, _) if is_free => put(EventKind::Join { child }, None, None),
            (Ask::Unlock { .. }, Some(id)) => put(EventKind::Unlock, Some(self.objects.get(id).range), object),
            (Ask::Lock { until: Until::Forever, .. }, Some(id)) if is_free => {
                put(EventKind::Lock, Some(self.objects.get(id).range), object);
            }
            _ => self.pending[thread.index()] = Some(self.event_of(thread)),
        }
        debug_assert!(self.pending[thread.index()] == Some(self.event_of(thread)), "an event is not what was asked for");
        self.look_at_new(thread);
        // Without injected locks there is nothing to ask.
        if self.holds.is_any()
            && let Some(why) = self.gives_up(thread)
        {
            self.let_go(thread, |holds, me| holds.give_up(me, why));
        }
    }
}

/// Where a thread's word lies before it is known.
const NOWHERE: Range = Range { address: 0, length: 1 };

fn event(kind: EventKind, range: Option<Range>, object: Option<ObjectId>) -> Event {
    Event { kind, range, object, site: None }
}
