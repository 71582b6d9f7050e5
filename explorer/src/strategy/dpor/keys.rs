//! What steps meet at: those that may conflict have a key in common.
//!
//! Objects are keyed by the eight-byte granule in which their storage begins, memory by each granule of an access; ranges of more than
//! [`WIDE`] granules have one key for all of them, and are looked at one by one. Not here: whether two that meet conflict (`dependence`).

use model::event::{Event, EventKind, Range};

use super::holds::Role;

/// What steps meet at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Granule(u64),
    Wide,
    Creation,
    Outside,
}

/// The most granules under which an access is kept.
const WIDE: u64 = 16;

/// That of an injected lock.
pub(super) fn lock_key(lock: u64) -> Key {
    Key::Granule(lock >> 3)
}

/// The first and the last granule that a range has bytes in.
pub(super) fn granules(range: Range) -> (u64, u64) {
    (range.address >> 3, range.address.saturating_add(u64::from(range.length) - 1) >> 3)
}

/// That of the object whose storage this is.
pub(super) fn granule(range: Range) -> Key {
    Key::Granule(range.address >> 3)
}

/// Goes through all keys under which an event meets others, and as what it names the lock there, if it is one.
#[inline]
pub(super) fn each_key(event: &Event, mut go: impl FnMut(Key, Option<Role>)) {
    match event.range {
        Some(range) if event.kind.access().is_some() || matches!(event.kind, EventKind::Create { .. }) => {
            let (first, last) = granules(range);
            if last - first >= WIDE {
                go(Key::Wide, None);
            } else {
                (first..=last).for_each(|at| go(Key::Granule(at), None));
            }
        }
        Some(range) => go(granule(range), Some(Role::Object)),
        None => {}
    }
    if let Some(range) = event.kind.beside() {
        go(granule(range), Some(Role::Mutex));
    }
    match event.kind {
        EventKind::Create { .. } => go(Key::Creation, None),
        _ if event.is_call() => go(Key::Outside, None),
        _ => {}
    }
}
