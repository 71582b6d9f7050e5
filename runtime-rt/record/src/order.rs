//! Happens-before between accesses, as far as the program's synchronization orders them: whether a remote access could have
//! come between at all, or memory was merely handed over (created here, used there, freed here again).
//!
//! Vector clocks over the serials of `frame`: a release draws a serial, so what came before it has a smaller one. Edges:
//! create, join, unlock to lock, signal, semaphores and barriers to the end of the wait. Accesses under a lock are taken as
//! concurrent by the caller all the same, since locks order them only by chance.
//!
//! Not ordered, hence taken as concurrent: threads beyond the first `THREADS`, atomics, and objects for which the table has no
//! room. An object made anew at the address of a dead one inherits its order.

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::cell::ThreadNumber;
use crate::frame::Serial;
use crate::shadow::Address;
use crate::sys::{self, Spin, Zeroed};

/// Threads that are told apart.
const THREADS: usize = 64;
/// Synchronization objects that are remembered.
const OBJECTS: usize = 1 << 13;
/// How far a search goes.
const PROBES: usize = 32;

/// For each thread, the serial below which its accesses happen before now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock([u64; THREADS]);

// SAFETY: integers.
unsafe impl Zeroed for Clock {}

impl Clock {
    /// Before anything.
    pub(crate) const START: Self = Self([0; THREADS]);

    /// Whether an access of another thread happens before now.
    #[inline]
    pub(crate) fn covers(&self, thread: ThreadNumber, at: Serial) -> bool {
        self.0.get(usize::from(thread.0)).is_some_and(|&upto| at.number() < upto)
    }

    /// The thread's own serial is now this one.
    pub(crate) fn tick(&mut self, thread: ThreadNumber, now: Serial) {
        if let Some(own) = self.0.get_mut(usize::from(thread.0)) {
            *own = now.number();
        }
    }

    /// What either knows.
    pub(crate) fn join(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(own, other)| *own = other.max(*own));
    }
}

/// What the last releases of one object published. Free while the address is 0.
#[derive(Debug)]
struct Object {
    address: AtomicUsize,
    lock: Spin,
    clock: [AtomicU64; THREADS],
}

// SAFETY: atomic integers and a free lock.
unsafe impl Zeroed for Object {}

/// All objects.
#[derive(Debug)]
pub(crate) struct Order {
    objects: &'static [Object],
}

impl Order {
    pub(crate) fn new() -> Option<Self> {
        Some(Self { objects: sys::leak(OBJECTS)? })
    }

    /// The thread publishes what it did, at `now`, a serial that no access has yet.
    pub(crate) fn release(&self, object: Address, clock: &mut Clock, thread: ThreadNumber, now: Serial) {
        clock.tick(thread, now);
        let Some(object) = self.object(object) else { return };
        let _taken = object.lock.take();
        for (known, &own) in object.clock.iter().zip(&clock.0) {
            if known.load(Ordering::Relaxed) < own {
                known.store(own, Ordering::Relaxed);
            }
        }
    }

    /// The thread learns what was published.
    pub(crate) fn acquire(&self, object: Address, clock: &mut Clock) {
        let Some(object) = self.object(object) else { return };
        let _taken = object.lock.take();
        for (own, known) in clock.0.iter_mut().zip(&object.clock) {
            *own = known.load(Ordering::Relaxed).max(*own);
        }
    }

    fn object(&self, address: Address) -> Option<&'static Object> {
        let first = (address.0 >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - OBJECTS.ilog2());
        for n in 0..PROBES {
            let object = &self.objects[(first + n) % OBJECTS];
            let known = object.address.load(Ordering::Relaxed);
            let found = if known == 0 {
                object.address.compare_exchange(0, address.0, Ordering::Relaxed, Ordering::Relaxed).unwrap_or_else(|other| other)
            } else {
                known
            };
            if found == address.0 || found == 0 {
                return Some(object);
            }
        }
        None
    }

    /// In a forked child: nobody holds an object.
    pub(crate) fn after_fork(&self) {
        self.objects.iter().for_each(|object| object.lock.unlock());
    }
}
