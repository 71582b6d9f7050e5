//! What samplers of several blocks have not seen, all together: a sample of the classes of schedules that each saw, chosen by the classes'
//! own hashes, so that samples of different blocks are of the same classes and can be joined.
//!
//! The classes with the least keys are kept, and what is true of them is taken for true of all (bottom-k sketches: Cohen and Kaplan,
//! PODC 2007). The invariant: when fewer are kept than there is room for, they are all there are.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use model::report::Estimate;

/// How many classes are kept.
const ROOM: usize = 64;

/// A class that was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// A hash that is as likely to be any number.
    pub key: u64,
    /// Whether it was seen once.
    pub seen: Seen,
}

/// How often a class was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Once.
    Once,
    /// More often.
    Again,
}

/// Keeps the classes with the least keys.
#[must_use]
pub fn sketch(mut classes: Vec<Class>) -> Vec<Class> {
    classes.sort_unstable_by_key(|class| class.key);
    classes.truncate(ROOM);
    classes
}

/// Joins two sketches.
#[must_use]
pub fn join(one: &[Class], other: &[Class]) -> Vec<Class> {
    // Above this key one of them does not say what it saw.
    let most = [one, other].into_iter().filter(|side| side.len() == ROOM).filter_map(|side| side.last()).map(|class| class.key).min();
    let mut joined: BTreeMap<u64, Seen> = BTreeMap::new();
    for class in one.iter().chain(other).filter(|class| most.is_none_or(|most| class.key <= most)) {
        joined.entry(class.key).and_modify(|seen| *seen = Seen::Again).or_insert(class.seen);
    }
    joined.into_iter().take(ROOM).map(|(key, seen)| Class { key, seen }).collect()
}

/// The chance that the next schedule is of a class not yet seen, after so many; `None` before the first one.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a share")]
pub fn unseen(sketch: &[Class], schedules: u64) -> Option<Estimate> {
    let share = match sketch.last() {
        Some(last) if sketch.len() == ROOM => (last.key as f64 + 1.0) / (u64::MAX as f64 + 1.0),
        _ => 1.0,
    };
    let once = sketch.iter().filter(|class| class.seen == Seen::Once).count();
    (schedules > 0).then(|| Estimate::Unseen((once as f64 / share / schedules as f64).min(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Draws so many schedules of so many classes, in blocks of 1000.
    fn draw(schedules: u64, classes: u32) -> (f64, f64) {
        let mut random = Random::new(7);
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        let mut joined = Vec::new();
        for _ in 0..schedules / 1000 {
            let mut block: BTreeMap<u32, u32> = BTreeMap::new();
            for _ in 0..1000 {
                let class = random.below(classes);
                *block.entry(class).or_default() += 1;
                *counts.entry(class).or_default() += 1;
            }
            let seen = |count: u32| if count == 1 { Seen::Once } else { Seen::Again };
            let classes = block.into_iter().map(|(class, count)| Class { key: Random::new(class.into()).next_u64(), seen: seen(count) });
            joined = join(&joined, &sketch(classes.collect()));
        }
        let once = counts.values().filter(|count| **count == 1).count();
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let exact = once as f64 / schedules as f64;
        let Some(Estimate::Unseen(unseen)) = unseen(&joined, schedules) else { panic!("no estimate") };
        (unseen, exact)
    }

    #[test]
    fn joined_sketches_say_about_what_all_schedules_together_would() {
        assert_eq!(draw(5000, 40), (0.0, 0.0), "few classes are all kept");
        for (schedules, classes) in [(2000, 100_000), (10_000, 10_000), (50_000, 20_000)] {
            let (about, exact) = draw(schedules, classes);
            assert!((about - exact).abs() < 0.15, "{schedules} of {classes}: {about}, {exact}");
        }
    }
}
