//! Waits that end by themselves: how often, so that loops of them come to an end.
//!
//! A time-out, or a wake-up without a cause, may come again in one place though nothing has changed, for ever. Where a thread is in the same state
//! then, nothing is lost by keeping it waiting until others change something; where it is not, as who counts its tries, something may be, and
//! results say so. So a few are free.
//!
//! Places are hashes of where a thread stands, callers included.

use alloc::vec::Vec;

/// How many ends in one place are free.
const FREE: u32 = 3;

/// When ends in one place are free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Free {
    /// The first of an execution. Loops that look at a clock come to such a place again and again, in a new state each time.
    InAll,
    /// The first since others changed something.
    SinceChange,
}

/// The ends of one thread's waits so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Ends {
    /// How many changes others had made at the last one.
    at: Option<u64>,
    /// How many there were since then, by place.
    since: Vec<(u64, u32)>,
    /// How many there were before, by place; no more than are free.
    before: Vec<(u64, u32)>,
}

fn count(ends: &[(u64, u32)], place: u64) -> u32 {
    ends.iter().find(|(known, _)| *known == place).map_or(0, |&(_, count)| count)
}

fn add(ends: &mut Vec<(u64, u32)>, place: u64, more: u32) {
    match ends.iter_mut().find(|(known, _)| *known == place) {
        Some((_, count)) => *count = (*count + more).min(FREE),
        None => ends.push((place, more.min(FREE))),
    }
}

impl Ends {
    /// Whether a wait in this place may end, when others have made so many changes. `repeats`: the thread is in the same state as a turn before.
    pub(super) fn may_end(&self, place: u64, others: u64, free: Free, repeats: bool) -> bool {
        let since = if self.at == Some(others) { count(&self.since, place) } else { 0 };
        let spent = match free {
            Free::SinceChange => since,
            Free::InAll => count(&self.since, place) + count(&self.before, place),
        };
        since == 0 || (!repeats && spent < FREE)
    }

    /// A wait ends.
    pub(super) fn note(&mut self, place: u64, others: u64) {
        if self.at.replace(others) != Some(others) {
            for (place, count) in core::mem::take(&mut self.since) {
                add(&mut self.before, place, count);
            }
        }
        add(&mut self.since, place, 1);
    }

    /// All may end once more, as if others had changed something; whether that is anything new.
    pub(super) fn free(&mut self) -> bool {
        self.at.take().is_some()
    }

    /// What decides which may end, when others have made so many changes: as numbers, to be compared.
    pub(super) fn standing(&self, others: u64) -> impl Iterator<Item = (bool, u64, u32)> {
        let is_new = self.at == Some(others);
        let since = self.since.iter().map(move |&(place, count)| (is_new, place, count));
        since.chain(self.before.iter().map(|&(place, count)| (false, place, count)))
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::*;

    /// After so many changes by others, a wait that asks to end: whether each may, in one place.
    fn check(free: Free, repeats: bool, changes: &[u64], expected: &str) {
        let mut ends = Ends::default();
        let ended = changes.iter().map(|&others| {
            let may_end = ends.may_end(7, others, free, repeats);
            if may_end {
                ends.note(7, others);
            }
            if may_end { '+' } else { '-' }
        });
        assert_eq!(ended.collect::<String>(), expected, "{free:?}, {repeats}, {changes:?}");
    }

    #[test]
    fn a_few_are_free_and_then_one_for_each_change() {
        check(Free::InAll, false, &[0, 0, 0, 0, 0, 1, 1, 2, 3], "+++--+-++");
        check(Free::InAll, false, &[0, 1, 1, 1, 2, 2], "+++-+-");
        check(Free::SinceChange, false, &[0, 0, 0, 0, 0, 1, 1, 2, 3], "+++--++++");
        check(Free::SinceChange, false, &[0, 1, 1, 1, 1], "++++-");
    }

    #[test]
    fn in_the_same_state_there_is_one_for_each_change() {
        for free in [Free::InAll, Free::SinceChange] {
            check(free, true, &[0, 0, 1, 1, 1, 2], "+-+--+");
        }
    }

    #[test]
    fn places_are_apart_and_all_can_be_freed() {
        let mut ends = Ends::default();
        for _ in 0..FREE {
            ends.note(1, 0);
        }
        assert!(!ends.may_end(1, 0, Free::InAll, false) && ends.may_end(2, 0, Free::InAll, true));
        assert!(ends.free() && ends.may_end(1, 0, Free::InAll, false) && !ends.free());
        ends.note(1, 0);
        assert!(!ends.may_end(1, 0, Free::InAll, false));
    }
}
