//! Who must act before a blocked thread goes on: owners of glibc's locks are read from the locks themselves.

use core::sync::atomic::Ordering;

use crate::protocol::graph::{Blocked, Needed};
use crate::protocol::thread::{Domain, Slot};
use crate::sys;

/// Where `pthread_mutex_t` keeps its owner's number (`__data.__owner`): fixed by glibc's binary interface.
const MUTEX_OWNER: usize = 8;
/// Where `pthread_rwlock_t` keeps its writer's (`__data.__cur_writer`).
const RWLOCK_WRITER: usize = 24;

/// As `Domain::needed`.
pub fn needed(domain: &'static Domain, blocked: Blocked) -> Needed {
    match blocked {
        Blocked::Condition | Blocked::Meet | Blocked::Sleep | Blocked::Poll | Blocked::Stream => Needed::Unknown,
        Blocked::Join(handle) => find(domain, |slot| domain.thread(slot).handle.load(Ordering::Relaxed) == handle),
        Blocked::Mutex(address) => owner(domain, address + MUTEX_OWNER),
        Blocked::Rwlock(address) => owner(domain, address + RWLOCK_WRITER),
    }
}

fn owner(domain: &'static Domain, address: usize) -> Needed {
    match sys::memory::read(address) {
        None | Some(0) => Needed::Stranger,
        Some(tid) => find(domain, |slot| domain.thread(slot).tid.load(Ordering::Relaxed) == tid),
    }
}

fn find(domain: &'static Domain, is: impl Fn(Slot) -> bool) -> Needed {
    let in_use = |slot: &Slot| domain.thread(*slot).tid.load(Ordering::Relaxed) != 0;
    domain.slots().find(|slot| in_use(slot) && is(*slot)).map_or(Needed::Stranger, Needed::Thread)
}
