//! Spin loops: a thread that comes back to a place with nothing changed goes round in a circle.
//!
//! *Nothing changed* is meant exactly: no other thread has changed anything, the thread itself has written nothing that a
//! hook sees, and its stack and the registers that calls preserve are the same, byte for byte. Then its future is the same
//! too, until another thread changes something; so until then it is not enabled, and no schedule is lost. A loop that
//! counts its turns is no circle.
//!
//! To keep straight code fast, a place is only counted at the first pass; the state is taken at the second and compared
//! from the third on, the newest frame first. A thread that is alone is not looked at until it has gone on for long, or for a while where
//! each of its steps counts, as others have ended and were not joined. Not handled here: a circle that holds a lock of the program at every
//! hook, and threads that go round together (`rounds`).

use alloc::vec::Vec;

use model::ids::SiteKey;

use super::fiber::Engine;

/// What a thread remembers of the places that it passed since something changed.
#[derive(Default)]
pub(crate) struct Circle {
    /// What others had changed when it began to remember.
    others: u64,
    /// Places, with the state at the last pass when it was taken.
    passed: Vec<(SiteKey, Option<State>)>,
    /// Passes while no other thread lived.
    alone: u32,
    /// Whether it was found to go round in a circle: said to the model with its next request.
    found: bool,
    /// Whether it has looked at the clock since: time may end the circle.
    looked_at_clock: bool,
}

impl Circle {
    /// The thread has written something: this is no circle.
    #[inline]
    pub(crate) fn progress(&mut self) {
        self.passed.clear();
        self.looked_at_clock = false;
    }

    /// The thread looks at the clock.
    pub(crate) fn look_at_clock(&mut self) {
        self.looked_at_clock = true;
    }

    /// Whether a circle was found since this was last asked; and whether time may end it.
    pub(crate) fn take(&mut self) -> Option<bool> {
        core::mem::take(&mut self.found).then_some(self.looked_at_clock)
    }

    /// Whether a circle was found and not yet said.
    pub(crate) fn is_found(&self) -> bool {
        self.found
    }

    fn pass(&mut self, site: SiteKey, others: u64, state: impl FnOnce(Option<State>) -> State) {
        if self.others != others {
            self.progress();
            self.others = others;
        }
        match self.passed.iter_mut().find(|(known, _)| *known == site) {
            None => self.passed.push((site, None)),
            Some((_, last)) => {
                let now = state(*last);
                self.found |= last.replace(now) == Some(now);
            }
        }
    }
}

/// A thread's own state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    /// Hash of saved registers and the newest frame.
    near: u64,
    /// Hash of the rest of the stack; not taken when the newest frame differs.
    far: Option<u64>,
}

/// Bytes of the stack that count as near.
const NEAR: usize = 256;
/// Passes before a thread that is alone is looked at.
const ALONE: u32 = 1000;
/// The same where others could have come later.
const LEFT_ALONE: u32 = 4;

/// In a fiber: it passes a place. `frame` is where its stack begins, saved registers included.
#[inline]
pub(crate) fn pass(engine: &Engine, site: SiteKey, frame: usize) {
    let me = engine.current();
    let (alone, others) = {
        let model = engine.model.borrow();
        let most = if model.is_last() { ALONE } else { LEFT_ALONE };
        (model.is_alone().then_some(most), model.changes_by_others(me))
    };
    engine.with_current(|fiber| {
        if engine.rounds.is_watching() {
            fiber.stood.set(hash(frame, fiber.base) ^ site.0);
        }
        let mut circle = fiber.circle.borrow_mut();
        if alone.is_some_and(|most| circle.alone < most) {
            circle.alone += 1;
            return;
        }
        circle.pass(site, others, |last| state(frame, fiber.base, last));
    });
}

fn state(from: usize, to: usize, last: Option<State>) -> State {
    let middle = to.min(from + NEAR);
    let near = hash(from, middle);
    let far = last.is_none_or(|last| last.near == near).then(|| hash(middle, to));
    State { near, far }
}

/// A hash of the words between two addresses.
fn hash(from: usize, to: usize) -> u64 {
    let words: *const u64 = core::ptr::with_exposed_provenance(from);
    // SAFETY: part of the running fiber's own stack, from its newest frame to where it began; frames are aligned to 8.
    let words = unsafe { core::slice::from_raw_parts(words, to.saturating_sub(from) / 8) };
    words.iter().fold(0, |hash: u64, &word| (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(passes: &[(u64, u64, u64)], expected: bool) {
        let mut circle = Circle::default();
        for &(site, others, state) in passes {
            circle.pass(SiteKey(site), others, |_| State { near: state, far: Some(0) });
        }
        assert_eq!(circle.take().is_some(), expected, "{passes:?}");
    }

    #[test]
    fn a_circle_is_the_same_state_at_the_same_place_with_nothing_changed() {
        check(&[(1, 0, 5), (1, 0, 5), (1, 0, 5)], true);
        check(&[(1, 0, 5), (1, 0, 5)], false);
        check(&[(1, 0, 5), (1, 0, 6), (1, 0, 7)], false);
        check(&[(1, 0, 5), (1, 0, 5), (1, 1, 5)], false);
        check(&[(1, 0, 5), (2, 0, 5), (1, 0, 5), (2, 0, 5), (1, 0, 5)], true);
    }

    #[test]
    fn a_write_is_progress() {
        let mut circle = Circle::default();
        for _ in 0..5 {
            circle.pass(SiteKey(1), 0, |_| State { near: 5, far: Some(0) });
            circle.progress();
        }
        assert_eq!(circle.take(), None);
    }
}
