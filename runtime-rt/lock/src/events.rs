//! The last events by place, for statistics: a ring that is written without locks and read at exit.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::protocol::lock::{Cause, Lock};

/// How many are kept.
pub const KEPT: usize = 64;

/// One event: the address of its lock, and its label plus one (0: none) beside its cause.
struct Event {
    lock: AtomicU64,
    label: AtomicU32,
    cause: AtomicU32,
}

static EVENTS: [Event; KEPT] = [const { Event { lock: AtomicU64::new(0), label: AtomicU32::new(0), cause: AtomicU32::new(0) } }; KEPT];
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A copy of an event.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The address of its lock.
    pub lock: usize,
    /// Where the hold came from.
    pub label: Option<u32>,
    /// The number of its `Cause`.
    pub cause: u32,
}

/// Keeps an event. Two threads that write one entry at once may mix it up: it is a hint for people.
pub fn note(lock: &Lock, label: Option<u32>, cause: Cause) {
    let at = NEXT.fetch_add(1, Ordering::Relaxed) as usize % KEPT;
    let event = &EVENTS[at];
    event.label.store(label.map_or(0, |label| label.wrapping_add(1)), Ordering::Relaxed);
    event.cause.store(cause as u32, Ordering::Relaxed);
    event.lock.store(lock.address() as u64, Ordering::Release);
}

/// The events kept, in no particular order.
pub fn all() -> impl Iterator<Item = View> {
    EVENTS.iter().filter_map(|event| {
        let lock = usize::try_from(event.lock.load(Ordering::Acquire)).ok().filter(|&lock| lock != 0)?;
        let label = event.label.load(Ordering::Relaxed).checked_sub(1);
        Some(View { lock, label, cause: event.cause.load(Ordering::Relaxed) })
    })
}
