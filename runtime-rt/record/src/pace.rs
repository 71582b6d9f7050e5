//! Pauses: where hot code shows nothing new, recording stops for a while, so that a profiling run ends in bearable time.
//!
//! Windows of recording and pauses alternate for the whole process. A window ends when one thread has made `QUIET` accesses, or in later ones `LATER`,
//! during which no thread met a new key or pair, or weakened one. The pause lasts for `PAUSE` of the
//! process's own time, some times what `QUIET` accesses cost to record, so programs that mostly wait hardly pause; it ends at once when
//! any code runs that was never seen before: then a new path is recorded from its first step. Each further window without any news
//! doubles the pause, up to `LONGEST` times: long runs of the same hot code are hardly slower than the hooks.
//! At a window's beginning every thread forgets its activations and does not pair with earlier accesses (`Thread::resume`),
//! so what a window tells is exact. Locks and allocations are followed through pauses.
//!
//! `window` is odd while recording, even in a pause. Instrumented code compares it with a word of the place's own, in which the slow way
//! through a hook (`doors`) leaves the number of the pause when the place's key was met before: so in a pause each place comes here once.
//! Not exact: an access that is under way when a window opens.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::sys;

/// Accesses of one thread without news that end the first window of a process, which so sees what lies far apart, ..
const QUIET: u32 = 1 << 17;
/// .. and any later one.
const LATER: u32 = 1 << 15;
/// A pause, in nanoseconds of the processors' time: twenty times `QUIET` accesses at 110 each.
const PAUSE: u64 = 286_000_000;
/// How often a pause is doubled at most.
const LONGEST: u32 = 3;
/// Bits for keys.
pub(crate) const KEYS: usize = 1 << 19;

/// Whether the process is recording now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window(pub(crate) u32);

impl Window {
    #[inline]
    pub(crate) fn is_open(self) -> bool {
        self.0 % 2 == 1
    }
}

/// Whether an event in a pause looks at the clock: every 65,536th entry of a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    Look,
    Ignore,
}

/// The process's windows and pauses.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Pace {
    pub(crate) window: AtomicU32,
    news: AtomicU32,
    resume: AtomicU64,
    /// The news when the last pause began, and how many windows before it had the same.
    last_news: AtomicU32,
    streak: AtomicU32,
    /// The number of the recording's first window.
    first: AtomicU32,
    /// A bit for each key that was met, by its low bits: keys are hashes.
    pub(crate) keys: [AtomicU32; KEYS / 32],
}

// SAFETY: atomic integers.
unsafe impl sys::Zeroed for Pace {}

/// How long a thread has met nothing new.
#[derive(Debug)]
pub(crate) struct Quiet {
    accesses: u32,
    news: u32,
}

impl Pace {
    /// Recording, with nothing met.
    pub(crate) const fn new() -> Self {
        Self {
            window: AtomicU32::new(1),
            news: AtomicU32::new(0),
            resume: AtomicU64::new(0),
            last_news: AtomicU32::new(0),
            streak: AtomicU32::new(0),
            first: AtomicU32::new(1),
            keys: [const { AtomicU32::new(0) }; KEYS / 32],
        }
    }

    /// A recording begins: in a forked child, what the parent met is new again.
    pub(crate) fn begin(&self) {
        self.keys.iter().filter(|word| word.load(Ordering::Relaxed) != 0).for_each(|word| word.store(0, Ordering::Relaxed));
        let window = self.window.load(Ordering::Relaxed);
        let first = window.wrapping_add(1) | 1;
        self.first.store(first, Ordering::Relaxed);
        self.window.store(first, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn window(&self) -> Window {
        Window(self.window.load(Ordering::Relaxed))
    }

    /// Something new was met.
    pub(crate) fn news(&self) {
        self.news.fetch_add(1, Ordering::Relaxed);
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "taken modulo the number of bits first")]
    fn bit(&self, key: u64) -> (&AtomicU32, u32) {
        let bit = key as usize % KEYS;
        (&self.keys[bit / 32], 1 << (bit % 32))
    }

    /// Remembers a key.
    #[inline]
    pub(crate) fn meet(&self, key: u64) {
        let (word, bit) = self.bit(key);
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
            self.news();
        }
    }

    /// In a pause, at an event with this key: whether to record again. `clock`: whether it is time to look at it.
    #[inline]
    pub(crate) fn wakes(&self, key: u64, clock: Clock) -> bool {
        let (word, bit) = self.bit(key);
        let known = word.load(Ordering::Relaxed) & bit != 0;
        if known && (clock == Clock::Ignore || sys::processor_time() < self.resume.load(Ordering::Relaxed)) {
            return false;
        }
        self.open();
        true
    }

    #[cold]
    fn open(&self) {
        let window = self.window.load(Ordering::Relaxed);
        if window.is_multiple_of(2) {
            // Where another thread was faster, it is open.
            let _ = self.window.compare_exchange(window, window.wrapping_add(1), Ordering::AcqRel, Ordering::Relaxed);
        }
    }

    /// Counts accesses of one thread. Whether a pause begins now.
    #[inline]
    pub(crate) fn count(&self, quiet: &mut Quiet, accesses: u32) -> bool {
        quiet.accesses += accesses;
        quiet.accesses >= LATER && self.pause(quiet)
    }

    #[cold]
    fn pause(&self, quiet: &mut Quiet) -> bool {
        if quiet.accesses < QUIET && self.window.load(Ordering::Relaxed) == self.first.load(Ordering::Relaxed) {
            return false;
        }
        quiet.accesses = 0;
        let news = self.news.load(Ordering::Relaxed);
        if news != quiet.news {
            quiet.news = news;
            return false;
        }
        let window = self.window.load(Ordering::Relaxed);
        if window.is_multiple_of(2) {
            return false;
        }
        self.resume.store(sys::processor_time() + self.length(news), Ordering::Relaxed);
        self.window.compare_exchange(window, window.wrapping_add(1), Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// How long the pause is to be that begins with so many news.
    fn length(&self, news: u32) -> u64 {
        let same = self.last_news.swap(news, Ordering::Relaxed) == news;
        let streak = if same { LONGEST.min(self.streak.load(Ordering::Relaxed) + 1) } else { 0 };
        self.streak.store(streak, Ordering::Relaxed);
        PAUSE << streak
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_ends_after_quiet_and_a_new_key_opens_the_next() {
        let pace = Pace::new();
        let mut quiet = Quiet { accesses: 0, news: 0 };
        pace.meet(1);
        assert!(!pace.count(&mut quiet, QUIET), "there was news");
        assert!(!pace.count(&mut quiet, QUIET - 1));
        assert!(pace.count(&mut quiet, 1));
        assert!(!pace.window().is_open());
        pace.resume.store(u64::MAX, Ordering::Relaxed);
        assert!(!pace.wakes(1, Clock::Look), "nothing new, and the pause is not over");
        assert!(pace.wakes(2, Clock::Ignore));
        assert!(pace.window().is_open());
        assert!(!pace.count(&mut quiet, LATER - 1));
        assert!(pace.count(&mut quiet, 1), "later windows are shorter");
    }

    #[test]
    fn pauses_double_while_there_is_no_news() {
        let pace = Pace::new();
        let lengths = [1, 1, 1, 1, 1, 2, 2].map(|news| pace.length(news) / PAUSE);
        assert_eq!(lengths, [1, 2, 4, 8, 8, 1, 2]);
    }

    #[test]
    fn a_pause_ends_with_time() {
        let pace = Pace::new();
        pace.meet(1);
        let mut quiet = Quiet { accesses: 0, news: 1 };
        assert!(pace.count(&mut quiet, QUIET));
        pace.resume.store(0, Ordering::Relaxed);
        assert!(!pace.wakes(1, Clock::Ignore), "the clock is not looked at each time");
        assert!(pace.wakes(1, Clock::Look));
    }
}
