//! Synchronization events: locks made, taken and given up, waits, and what order they make; and what a lock is called.
//!
//! Not here: which instances a thread holds (`hold`), vector clocks (`order`), classes of locks (`made`).

use core::sync::atomic::Ordering;

use model::ids::SiteKey;
use model::recording::Drop;

use crate::hold::{Holding, Protects};
use crate::made::Making;
use crate::mapping::Lock;
use crate::order::Clock;
use crate::recorder::Recorder;
use crate::shadow::Address;
use crate::table::{LockIndex, mix};
use crate::thread::Thread;

/// A lock as far as it can be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Naming {
    Executable(u64),
    Heap(SiteKey, u64),
    Made(SiteKey),
    Other(u64),
}

impl Recorder {
    /// A lock is being made.
    pub(crate) fn make_lock(&self, thread: &mut Thread, lock: Address) {
        let calling = thread.frames.calling().map(|(call, activation)| Making { lock, call, activation });
        let earlier = core::mem::replace(&mut thread.making, calling);
        let class = match (earlier, calling) {
            (Some(earlier), Some(now)) if now.continues(earlier) => self.call_site(thread, now.call).map(|class| (earlier, class)),
            _ => None,
        };
        if let Some((earlier, class)) = class {
            self.made.set(earlier.lock, Some(class));
        }
        self.made.set(lock, class.map(|(_, class)| class));
    }

    /// A lock was taken.
    pub(crate) fn acquire(&self, thread: &mut Thread, lock: Address, holding: Holding, block_size: impl Fn(Address) -> usize) {
        let now = thread.frames.tick();
        let Some(name) = self.lock(self.naming(lock, block_size)) else {
            return self.drop_count(thread, Drop::TableFull);
        };
        self.order.acquire(lock, &mut thread.clock);
        if !thread.holds.acquire(lock, holding, name, now) {
            self.drop_count(thread, Drop::TooManyHolds);
        }
        self.update_held(thread);
    }

    /// A lock is given up.
    pub(crate) fn give_up(&self, thread: &mut Thread, lock: Address) {
        self.release(thread, lock);
        thread.holds.release(lock);
        self.update_held(thread);
    }

    /// What the thread did so far happens before what others do after they have acquired the object.
    pub(crate) fn release(&self, thread: &mut Thread, object: Address) {
        self.settle_wait(thread);
        let now = thread.frames.tick();
        self.order.release(object, &mut thread.clock, thread.number, now);
    }

    /// The thread is about to wait for the object (a condition, a semaphore, a thread's end): what follows happens after its
    /// release. The wait has ended when the thread's next event comes.
    pub(crate) fn wait(&self, thread: &mut Thread, object: Address) {
        self.settle_wait(thread);
        thread.waited = Some(object);
    }

    /// If the thread has waited, it learns what was published meanwhile.
    #[inline]
    pub(crate) fn settle_wait(&self, thread: &mut Thread) {
        if let Some(object) = thread.waited.take() {
            self.order.acquire(object, &mut thread.clock);
        }
    }

    /// What a thread passes on to one that it creates.
    pub(crate) fn departure(&self, thread: &mut Thread) -> Clock {
        self.settle_wait(thread);
        let now = thread.frames.tick();
        thread.clock.tick(thread.number, now);
        thread.clock
    }

    /// A lock was given up and taken again by a condition wait.
    pub(crate) fn renew(&self, thread: &mut Thread, lock: Address) {
        self.release(thread, lock);
        self.wait(thread, lock);
        let now = thread.frames.tick();
        thread.holds.renew(lock, now);
    }

    fn update_held(&self, thread: &mut Thread) {
        let now = thread.frames.now();
        let set = self.held.set(thread.holds.locks());
        if set != thread.held_set {
            thread.held_set = set;
            if let Some(history) = self.shadow.history(thread.number) {
                history.note(now, set);
            }
        }
        thread.held = [Protects::Reads, Protects::Writes].map(|protects| self.set(&thread.holds.names_since(now, protects)));
    }

    fn naming(&self, lock: Address, block_size: impl Fn(Address) -> usize) -> Naming {
        let class = self.made.class(lock).and_then(|class| self.sites.get(class.0));
        if let Some(class) = class {
            return Naming::Made(SiteKey(class.key.load(Ordering::Relaxed)));
        }
        if self.executable.contains(lock) {
            return Naming::Executable(lock.0.wrapping_sub(self.slide) as u64);
        }
        let block = self.shadow.find_start(lock).and_then(|(start, site)| {
            let offset = lock.0 - start.0;
            let key = self.sites.get(site?.0)?.key.load(Ordering::Relaxed);
            (offset < block_size(start)).then_some(Naming::Heap(SiteKey(key), offset as u64))
        });
        block.unwrap_or(Naming::Other(lock.0 as u64))
    }

    fn lock(&self, naming: Naming) -> Option<LockIndex> {
        let (kind, a, b) = match naming {
            Naming::Executable(address) => (1, address, 0),
            Naming::Heap(site, offset) => (2, site.0, offset),
            Naming::Other(address) => (3, address, 0),
            Naming::Made(site) => (4, site.0, 0),
        };
        let is = |lock: &Lock| {
            let stored = (lock.kind.load(Ordering::Relaxed), lock.a.load(Ordering::Relaxed), lock.b.load(Ordering::Relaxed));
            stored == (kind, a, b)
        };
        let number = self.locks.count();
        let fill = |lock: &Lock| {
            lock.kind.store(kind, Ordering::Relaxed);
            lock.number.store(number, Ordering::Relaxed);
            lock.a.store(a, Ordering::Relaxed);
            lock.b.store(b, Ordering::Relaxed);
        };
        self.locks.intern(mix(mix(a) ^ b.rotate_left(7) ^ u64::from(kind)), is, fill).map(LockIndex)
    }
}
