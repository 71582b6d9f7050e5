//! Spin loops: a thread that comes back to a place with nothing changed goes round in a circle.
//!
//! *Nothing changed* is meant exactly: no other thread has changed anything, the thread itself has written nothing off its stack that a
//! hook sees (to memory that others see, nothing else than what was there, as who tries to set a flag that is set), and its stack and the registers that calls preserve are the same, byte for byte. Then its future is the same
//! too, until another thread changes something; so until then it is not enabled, and no schedule is lost. A loop that
//! counts its turns is no circle.
//!
//! To keep straight code fast, a place is only counted at the first pass; the state is taken at the second and compared
//! from the third on, the newest frame first; of many passes only some are looked at. A thread that is alone is not looked
//! at until it has gone on for long, or for a while where each of its steps counts, as others have ended and were not joined. Who
//! changed nothing at all on the way round holds the locks that it holds all the time; others are let go on to where they hold none. Not
//! handled here: threads that go round together (`rounds`), and circles on stacks that the program made (`makecontext`).

use alloc::vec::Vec;

use model::event::Range;
use model::ids::SiteKey;

use super::fiber::{Engine, Fiber};
use crate::gate::compare::word;
use crate::gate::thread::{Hope, Way};
use crate::sys::text;

/// What a thread remembers of the places that it passed since something changed.
#[derive(Default)]
pub(crate) struct Circle {
    /// What others had changed when it began to remember.
    others: u64,
    /// Places, in the order of their first pass.
    passed: Vec<Passed>,
    /// A bit for each of them, which others may have too: most places are new.
    bits: u64,
    /// The place that was passed last: loops come to the one after it, or the first.
    latest: usize,
    /// Passes while no other thread lived.
    alone: u32,
    /// How it goes round, if it was found to go in a circle: said to the model with its next request.
    found: Option<Way>,
    /// Whether it was found to go in a circle since it last changed something.
    repeats: bool,
    /// What may end the circle, as far as it has looked since.
    hope: Hope,
    /// Where the thread writes at most a word after its last pass, and what was there.
    doubt: Option<(Range, Option<u64>)>,
}

impl Circle {
    /// Forgets everything.
    pub(crate) fn begin(&mut self) {
        self.progress();
        (self.others, self.latest, self.alone, self.found) = (0, 0, 0, None);
    }

    /// The thread has written something: this is no circle.
    #[inline]
    pub(crate) fn progress(&mut self) {
        self.passed.clear();
        self.bits = 0;
        self.hope = Hope::None;
        self.doubt = None;
        self.repeats = false;
    }

    /// The thread is about to write here, or to try to, where this is now: it is progress if something else is there at the next pass.
    pub(crate) fn doubt(&mut self, range: Range, before: Option<u64>) {
        self.doubt = Some((range, before));
    }

    /// The thread has done what was in doubt, and nobody else has run since.
    fn settle(&mut self) {
        if let Some((range, before)) = self.doubt.take()
            && (before.is_none() || word(range) != before)
        {
            self.progress();
        }
    }

    /// The thread has looked at something that may end its circle.
    pub(crate) fn hope(&mut self, hope: Hope) {
        self.hope = self.hope.max(hope);
    }

    /// Whether a circle was found since this was last asked; what may end it, and how the thread goes round.
    pub(crate) fn take(&mut self) -> Option<(Hope, Way)> {
        self.found.take().map(|way| (self.hope, way))
    }

    /// Whether the thread comes back to the state in which it is now, with nothing changed, and no clock nor luck that would end that.
    pub(crate) fn repeats(&self) -> bool {
        self.repeats && self.hope == Hope::None
    }

    /// Whether a circle was found and not yet said.
    pub(crate) fn is_found(&self) -> bool {
        self.found.is_some()
    }

    /// Where a place is among those that were passed.
    #[inline(never)]
    fn find(&self, site: SiteKey) -> Option<usize> {
        let is_it = |at: &usize| self.passed.get(*at).is_some_and(|passed| passed.site == site);
        let near = [self.latest + 1, self.latest, 0].into_iter().find(is_it);
        near.or_else(|| self.passed.iter().position(|passed| passed.site == site))
    }

    fn pass(&mut self, site: SiteKey, changes: Changes, state: impl FnOnce(Option<State>) -> State) {
        if self.others != changes.others {
            self.progress();
            self.others = changes.others;
        }
        let bit = 1 << (site.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58);
        let known = if self.bits & bit == 0 { None } else { self.find(site) };
        let Some(at) = known else {
            self.bits |= bit;
            self.latest = self.passed.len();
            self.passed.push(Passed { site, times: 1, last: None, own: 0 });
            return;
        };
        self.latest = at;
        let passed = &mut self.passed[at];
        passed.times = passed.times.saturating_add(1);
        if passed.is_looked_at() {
            let now = state(passed.last);
            let own = core::mem::replace(&mut passed.own, changes.own);
            if passed.last.replace(now) == Some(now) {
                let way = if own == changes.own { Way::Idle } else { Way::Changing };
                self.found = self.found.max(Some(way));
                self.repeats = true;
            }
        }
    }
}

/// How many changes there were, of others and of the thread itself.
#[derive(Clone, Copy)]
struct Changes {
    others: u64,
    own: u64,
}

/// A place that a thread passed since something changed.
struct Passed {
    site: SiteKey,
    /// How often.
    times: u32,
    /// The state at the pass before, when it was taken.
    last: Option<State>,
    /// How many changes the thread itself had made then.
    own: u64,
}

/// Passes of a place that are all looked at.
const FIRST: u32 = 8;

impl Passed {
    /// Whether the state is taken at this pass: at each of the first, and then twice in a row, the more rarely the more there were. A loop
    /// that was no circle so far is seen to have become one when at most a quarter more turns have been made.
    fn is_looked_at(&self) -> bool {
        let apart = (self.times.next_power_of_two() / FIRST).max(2);
        self.times <= FIRST || self.times % apart < 2
    }
}

/// A thread's own state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    /// Hash of saved registers, the end of the newest frame, and its beginning.
    near: u64,
    /// Hash of the rest of the stack; not taken when the newest frame differs.
    far: Option<u64>,
}

/// Bytes at either end of the newest frame that count as near.
const NEAR: usize = 256;
/// Where the frame pointer is among the saved registers.
const FRAME_POINTER: usize = 40;
/// Where the address is behind them that the hook returns to.
const CALLER: usize = 48;
/// Passes before a thread that is alone is looked at.
const ALONE: u32 = 1000;
/// The same where others could have come later.
const LEFT_ALONE: u32 = 4;

/// In a fiber: it passes a place. `frame` is where its stack begins, saved registers included.
#[inline]
pub(crate) fn pass(engine: &Engine, fiber: &Fiber, circle: &mut Circle, site: SiteKey, frame: usize) {
    let me = engine.current();
    let (alone, changes) = {
        let model = engine.model.borrow();
        let most = if model.is_last() { ALONE } else { LEFT_ALONE };
        (model.is_alone().then_some(most), Changes { others: model.changes_by_others(me), own: model.own_changes(me) })
    };
    circle.settle();
    if !fiber.has(frame) {
        circle.progress();
        return;
    }
    if alone.is_some_and(|most| circle.alone < most) {
        circle.alone += 1;
        return;
    }
    // A call of a hook, of which a site may have several.
    let place = stack_words(frame, frame + CALLER + 8).last().copied().unwrap_or(0) ^ site.0;
    circle.pass(SiteKey(place), changes, |last| state(frame, fiber.base, last));
}

/// In a fiber: others may go on while it stands at this place, so `rounds` wants to know its state. To take it at every access would cost more than all else.
#[inline]
pub(crate) fn stand(engine: &Engine, fiber: &Fiber, site: SiteKey, frame: usize) {
    if !engine.rounds.looks_at_states() {
        return;
    }
    if fiber.has(frame) {
        fiber.stood.set(hash(frame, fiber.base) ^ site.0);
    } else {
        fiber.leave_place();
    }
}

fn state(from: usize, to: usize, last: Option<State>) -> State {
    let middle = to.min(from + NEAR);
    // Code without optimization counts its turns here, and its arrays may lie between; otherwise it is a register like others.
    let register = stack_words(from, middle).get(FRAME_POINTER / 8).copied().unwrap_or(0);
    let beginning = usize::try_from(register).unwrap_or(0) & !7;
    let begins = if (middle..=to).contains(&beginning) { hash(middle.max(beginning.saturating_sub(NEAR)), beginning) } else { 0 };
    let near = hash(from, middle) ^ begins.rotate_left(1);
    let far = last.is_none_or(|last| last.near == near).then(|| hash(middle, to));
    State { near, far }
}

/// A hash of the words between two addresses: four in one, as each step has to wait for the one before it.
fn hash(from: usize, to: usize) -> u64 {
    let mix = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let (fours, rest) = stack_words(from, to).as_chunks::<4>();
    let lanes = fours.iter().fold([1, 2, 3, 4], |lanes, words| core::array::from_fn(|lane| mix(lanes[lane], words[lane])));
    rest.iter().chain(&lanes).fold(0, |hash, &word| mix(hash, word))
}

/// A hash of the addresses of code from here on to where the running fiber's stack began: of its callers, mostly. On a stack that the program
/// made, of where that is.
pub(crate) fn callers(fiber: &Fiber, from: usize) -> u64 {
    if !fiber.has(from) {
        return from as u64;
    }
    let calls = stack_words((from + 7) & !7, fiber.base).iter().filter(|word| text::is_code(**word));
    calls.fold(0, |hash: u64, word| (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// The words between two addresses on the running fiber's stack.
fn stack_words<'a>(from: usize, to: usize) -> &'a [u64] {
    let words: *const u64 = core::ptr::with_exposed_provenance(from);
    // SAFETY: part of the running fiber's own stack, from its newest frame to where it began; frames are aligned to 8.
    unsafe { core::slice::from_raw_parts(words, to.saturating_sub(from) / 8) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Changes = Changes { others: 0, own: 0 };

    fn check(passes: &[(u64, u64, u64)], expected: bool) {
        let mut circle = Circle::default();
        for &(site, others, state) in passes {
            circle.pass(SiteKey(site), Changes { others, own: 0 }, |_| State { near: state, far: Some(0) });
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
    fn a_loop_that_becomes_a_circle_after_many_turns_is_seen_soon() {
        for turns in [7, 8, 9, 63, 1_000, 100_000] {
            let mut circle = Circle::default();
            for turn in 0..turns {
                circle.pass(SiteKey(1), NONE, |_| State { near: turn, far: Some(0) });
            }
            assert_eq!(circle.take(), None, "{turns}");
            for _ in 0..turns / 4 + 4 {
                circle.pass(SiteKey(1), NONE, |_| State { near: 7, far: Some(0) });
            }
            assert!(circle.take().is_some(), "{turns}");
        }
    }

    #[test]
    fn who_changes_nothing_on_the_way_round_is_told_from_who_takes_locks() {
        let way = |own: [u64; 4]| {
            let mut circle = Circle::default();
            for own in own {
                circle.pass(SiteKey(1), Changes { others: 0, own }, |_| State { near: 5, far: Some(0) });
            }
            circle.take().map(|(_, way)| way)
        };
        assert_eq!(way([7, 7, 7, 7]), Some(Way::Idle));
        assert_eq!(way([1, 3, 5, 7]), Some(Way::Changing));
    }

    #[test]
    fn a_write_is_progress() {
        let mut circle = Circle::default();
        for _ in 0..5 {
            circle.pass(SiteKey(1), NONE, |_| State { near: 5, far: Some(0) });
            circle.progress();
        }
        assert_eq!(circle.take(), None);
    }

    #[test]
    fn a_write_of_what_is_there_is_no_progress() {
        let check = |written: u32, expected: bool| {
            let flag = core::cell::Cell::new(1_u32);
            let range = Range { address: flag.as_ptr().expose_provenance() as u64, length: 4 };
            let mut circle = Circle::default();
            for _ in 0..4 {
                circle.settle();
                circle.pass(SiteKey(1), NONE, |_| State { near: 5, far: Some(0) });
                flag.set(1);
                circle.doubt(range, word(range));
                flag.set(written);
            }
            assert_eq!(circle.take().is_some(), expected, "{written}");
        };
        check(1, true);
        check(2, false);
    }
}
