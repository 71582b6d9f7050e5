//! Who must act before a blocked thread goes on: owners of glibc's locks are read from the locks themselves, their readers from
//! the threads' records.

use core::sync::atomic::Ordering;

use crate::protocol::domain::Domain;
use crate::protocol::graph::{Blocked, Needed};
use crate::protocol::hold::Slot;
use crate::sys;

/// Where `pthread_mutex_t` keeps its owner's number (`__data.__owner`): fixed by glibc's binary interface.
const MUTEX_OWNER: usize = 8;
/// Where `pthread_rwlock_t` keeps its writer's (`__data.__cur_writer`).
const RWLOCK_WRITER: usize = 24;

/// As `Domain::needed`.
pub fn needed(domain: &'static Domain, blocked: Blocked, go: &mut dyn FnMut(Slot)) -> Needed {
    match blocked {
        Blocked::Condition | Blocked::Meet | Blocked::Sleep | Blocked::Poll | Blocked::Stream => return Needed::Unknown,
        Blocked::Join(handle) => every(domain, |slot| domain.thread(slot).handle.load(Ordering::Relaxed) == handle, go),
        Blocked::Mutex(address) => owner(domain, address + MUTEX_OWNER, go),
        Blocked::Rwlock(address) => {
            owner(domain, address + RWLOCK_WRITER, go);
            every(domain, |slot| domain.thread(slot).is_reading(address), go);
        }
    }
    Needed::Threads
}

fn owner(domain: &'static Domain, address: usize, go: &mut dyn FnMut(Slot)) {
    if let Some(tid) = sys::memory::read(address).filter(|&tid| tid != 0) {
        every(domain, |slot| domain.thread(slot).tid.load(Ordering::Relaxed) == tid, go);
    }
}

fn every(domain: &'static Domain, is: impl Fn(Slot) -> bool, go: &mut dyn FnMut(Slot)) {
    let in_use = |slot: &Slot| domain.thread(*slot).tid.load(Ordering::Relaxed) != 0;
    domain.slots().filter(|slot| in_use(slot) && is(*slot)).for_each(go);
}
