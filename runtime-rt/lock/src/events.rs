//! Events by place, for statistics: a table that is filled without locks and read at exit.
//!
//! | `lock` | meaning |
//! |---|---|
//! | 0 | free |
//! | 1 | being taken |
//! | otherwise | the lock's address, which is a multiple of 64, plus the number of the cause |
//!
//! Two threads that meet a place for the first time at once may give it two entries: both are printed.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::protocol::lock::{CAUSES, Cause, Lock};

/// Places and causes that are told apart.
pub const KEPT: usize = 256;

const FREE: u64 = 0;
const TAKING: u64 = 1;
const ALIGNMENT: u64 = model::abi::LOCK_BYTES as u64;
const _: () = assert!(CAUSES as u64 <= ALIGNMENT);

/// What happened at one place: the label plus one (0: none), and how often.
struct Event {
    lock: AtomicU64,
    label: AtomicU32,
    count: AtomicU32,
}

static EVENTS: [Event; KEPT] = [const { Event { lock: AtomicU64::new(FREE), label: AtomicU32::new(0), count: AtomicU32::new(0) } }; KEPT];
static ELSEWHERE: AtomicU32 = AtomicU32::new(0);

/// What happened at one place.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The address of its lock.
    pub lock: usize,
    /// Where the hold came from.
    pub label: Option<u32>,
    /// The number of its `Cause`.
    pub cause: u32,
    /// How often.
    pub count: u32,
}

/// Counts an event at its place.
pub fn note(lock: &Lock, label: Option<u32>, cause: Cause) {
    let key = lock.address() as u64 + cause as u64;
    let label = label.map_or(0, |label| label.wrapping_add(1));
    for event in &EVENTS {
        let mut found = event.lock.load(Ordering::Acquire);
        if found == FREE {
            match event.lock.compare_exchange(FREE, TAKING, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => {
                    event.label.store(label, Ordering::Relaxed);
                    event.lock.store(key, Ordering::Release);
                    found = key;
                }
                Err(other) => found = other,
            }
        }
        if found == key && event.label.load(Ordering::Relaxed) == label {
            event.count.fetch_add(1, Ordering::Relaxed);
            return;
        }
    }
    ELSEWHERE.fetch_add(1, Ordering::Relaxed);
}

/// The places kept, in the order in which they first occurred.
pub fn all() -> impl Iterator<Item = View> {
    EVENTS.iter().filter_map(|event| {
        let key = event.lock.load(Ordering::Acquire);
        let lock = usize::try_from(key - key % ALIGNMENT).ok().filter(|&lock| lock != 0)?;
        let label = event.label.load(Ordering::Relaxed).checked_sub(1);
        Some(View { lock, label, cause: u32::try_from(key % ALIGNMENT).ok()?, count: event.count.load(Ordering::Relaxed) })
    })
}

/// How many events happened at places for which no room was left.
pub fn elsewhere() -> u32 {
    ELSEWHERE.load(Ordering::Relaxed)
}
