//! Ending another thread's tenure of a lock.
//!
//! The mark comes first, then the word: a holder that leaves meanwhile finds either its own word, or one that is no longer its
//! own and leaves that alone. When the holder next looks at the entry it sees the mark: its releases and degrades do nothing,
//! a new acquire takes the lock afresh. A tenure that ended by itself since it was seen is not counted as revoked.

use crate::events;
use crate::protocol::domain::Domain;
use crate::protocol::lock::{Cause, Lock, Obstructor};
use crate::protocol::wait;
use crate::protocol::word::{READERS, Word};

/// Ends this tenure.
#[cold]
pub fn revoke(domain: &'static Domain, lock: &Lock, from: Obstructor, cause: Cause) {
    let holder = domain.thread(from.slot);
    let label = from.label.or_else(|| {
        let mut entries = holder.entries();
        entries.find(|view| view.lock == lock.address() && view.ticket == from.ticket).map(|view| view.origin.label)
    });
    let mut ended = holder.revoke(lock.address(), from.ticket);
    (domain.barrier)();
    loop {
        let word = lock.word();
        if !word.is_owned_by(from.slot, from.ticket) {
            break;
        }
        if lock.swap(word, Word(word.freed().0 | READERS)) {
            ended = true;
            break;
        }
    }
    if ended {
        lock.count(cause);
        events::note(lock, label, cause);
    }
    wait::wake(domain, lock);
}
