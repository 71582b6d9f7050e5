//! The model of injected locks: modes R, U and X, re-entrant, released by origin.
//!
//! A hold belongs to a thread and a frame; its origin is the label of the newest acquisition in that frame. Releasing and
//! degrading act only when the label matches. The strongest of a thread's holds counts against other threads.
//!
//! Releases are no scheduling points: nobody can see an injected lock except by waiting for it, so every schedule in
//! which others run before a release equals one in which they run after it.

use alloc::vec::Vec;

use model::cause::Cause;
use model::ids::{Label, ThreadId};
use model::pair::Mode;

/// One hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hold {
    /// Address of the lock.
    pub(crate) lock: u64,
    /// Who holds it.
    pub(crate) thread: ThreadId,
    /// The activation that acquired it.
    pub(crate) frame: u64,
    /// The newest acquisition in that frame.
    pub(crate) label: Label,
    /// How strongly.
    pub(crate) mode: Mode,
}

/// A hold that ended before its region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lost {
    /// Which.
    pub(crate) hold: Hold,
    /// Why it ended.
    pub(crate) why: Cause,
}

/// All holds of one execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Holds {
    holds: Vec<Hold>,
    /// Locks of holds that ended or weakened and were not asked for yet.
    dropped: Vec<u64>,
    /// Holds that ended early and were not asked for yet.
    lost: Vec<Lost>,
    /// Whether any hold was taken, strengthened, weakened or ended since this was last reset.
    pub(super) changed: bool,
}

impl Holds {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.holds.clear();
        self.dropped.clear();
        self.lost.clear();
    }

    /// All holds: whose, of which lock, how strong.
    pub(crate) fn all(&self) -> impl Iterator<Item = (ThreadId, u64, Mode)> {
        self.holds.iter().map(|hold| (hold.thread, hold.lock, hold.mode))
    }

    /// Whether there are any.
    #[inline]
    pub(crate) fn is_any(&self) -> bool {
        !self.holds.is_empty()
    }

    /// Whether holds have ended or weakened that were not asked for yet.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        !self.dropped.is_empty() || !self.lost.is_empty()
    }

    /// Holds that ended early since this was last asked.
    pub(crate) fn take_lost(&mut self) -> Vec<Lost> {
        core::mem::take(&mut self.lost)
    }

    /// Ends the holds that are meant, and keeps in mind that they ended early; whether there were any.
    fn lose(&mut self, why: Cause, meant: impl Fn(&Hold) -> bool) -> bool {
        let lost = &mut self.lost;
        lost.extend(self.holds.iter().filter(|hold| meant(hold)).map(|&hold| Lost { hold, why }));
        self.end(meant)
    }

    /// Locks of holds that ended or weakened since this was last asked.
    pub(crate) fn take_dropped(&mut self) -> Vec<u64> {
        core::mem::take(&mut self.dropped)
    }

    /// Ends the holds that are meant; whether there were any.
    fn end(&mut self, meant: impl Fn(&Hold) -> bool) -> bool {
        let before = self.dropped.len();
        let dropped = &mut self.dropped;
        self.holds.retain(|hold| {
            let ends = meant(hold);
            if ends {
                dropped.push(hold.lock);
            }
            !ends
        });
        let any = self.dropped.len() != before;
        self.changed |= any;
        any
    }

    /// How strongly the thread holds the lock, by all of its frames.
    pub(crate) fn strongest(&self, thread: ThreadId, lock: u64) -> Option<Mode> {
        self.holds.iter().filter(|hold| hold.lock == lock && hold.thread == thread).map(|hold| hold.mode).max()
    }

    /// Whether the thread's own holds of the lock already are as strong.
    pub(crate) fn covers(&self, thread: ThreadId, lock: u64, mode: Mode) -> bool {
        self.holds.iter().any(|hold| hold.lock == lock && hold.thread == thread && hold.mode >= mode)
    }

    /// Whether the thread can take the lock in this mode beside all other threads' holds.
    pub(crate) fn can_acquire(&self, thread: ThreadId, lock: u64, mode: Mode) -> bool {
        self.in_the_way(thread, lock, mode).next().is_none()
    }

    /// Other threads that hold the lock in a mode that is not compatible.
    pub(crate) fn in_the_way(&self, thread: ThreadId, lock: u64, mode: Mode) -> impl Iterator<Item = ThreadId> + '_ {
        self.holds
            .iter()
            .filter(move |hold| hold.lock == lock && hold.thread != thread && !hold.mode.compatible(mode))
            .map(|hold| hold.thread)
    }

    /// Takes the lock, or strengthens the frame's hold of it, when `can_acquire`.
    pub(crate) fn acquire(&mut self, new: Hold) {
        self.changed = true;
        let same = |hold: &&mut Hold| hold.lock == new.lock && hold.thread == new.thread && hold.frame == new.frame;
        match self.holds.iter_mut().find(same) {
            Some(hold) => {
                hold.label = new.label;
                hold.mode = hold.mode.max(new.mode);
            }
            None => self.holds.push(new),
        }
    }

    /// Ends the frame's hold if it comes from this label; whether it did.
    pub(crate) fn release(&mut self, thread: ThreadId, lock: u64, label: Label, frame: u64) -> bool {
        self.end(|hold| hold.lock == lock && hold.thread == thread && hold.frame == frame && hold.label == label)
    }

    /// Weakens the frame's hold to R or U, if it is stronger, under the same condition.
    pub(crate) fn degrade(&mut self, thread: ThreadId, lock: u64, label: Label, frame: u64, to: Mode) -> bool {
        let same = |hold: &&mut Hold| hold.lock == lock && hold.thread == thread && hold.frame == frame && hold.label == label;
        match self.holds.iter_mut().find(same) {
            Some(hold) if hold.mode > to => {
                hold.mode = to;
                self.changed = true;
                self.dropped.push(lock);
                true
            }
            _ => false,
        }
    }

    /// The frame is gone: ends its holds.
    pub(crate) fn unwind(&mut self, thread: ThreadId, frame: u64) -> bool {
        self.end(|hold| hold.thread == thread && hold.frame == frame)
    }

    /// The thread has ended: so do all its holds.
    pub(crate) fn end_all(&mut self, thread: ThreadId) {
        self.end(|hold| hold.thread == thread);
    }

    /// The thread is about to block, or cannot go on with them: ends all its holds; whether there were any.
    pub(crate) fn give_up(&mut self, thread: ThreadId, why: Cause) -> bool {
        self.lose(why, |hold| hold.thread == thread)
    }

    /// Ends all the thread's holds of one lock.
    pub(crate) fn end_tenure(&mut self, thread: ThreadId, lock: u64) -> bool {
        self.end(|hold| hold.thread == thread && hold.lock == lock)
    }

    /// Takes the lock from this holder; whether it had it.
    pub(crate) fn revoke(&mut self, holder: ThreadId, lock: u64, why: Cause) -> bool {
        self.lose(why, |hold| hold.lock == lock && hold.thread == holder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ThreadId = ThreadId(0);
    const B: ThreadId = ThreadId(1);

    fn hold(thread: ThreadId, frame: u64, label: u32, mode: Mode) -> Hold {
        Hold { lock: 64, thread, frame, label: Label(label), mode }
    }

    #[test]
    fn modes_exclude_other_threads_only() {
        let mut holds = Holds::default();
        holds.acquire(hold(A, 1, 0, Mode::U));
        assert!(holds.can_acquire(B, 64, Mode::R));
        assert!(!holds.can_acquire(B, 64, Mode::U));
        assert!(holds.can_acquire(A, 64, Mode::X));
        holds.acquire(hold(B, 2, 1, Mode::R));
        assert!(!holds.can_acquire(A, 64, Mode::X));
        assert_eq!(holds.in_the_way(A, 64, Mode::X).collect::<Vec<_>>(), [B]);
    }

    #[test]
    fn a_release_acts_only_for_the_newest_label_of_its_frame() {
        let mut holds = Holds::default();
        holds.acquire(hold(A, 1, 0, Mode::X));
        holds.acquire(hold(A, 1, 7, Mode::R));
        holds.release(A, 64, Label(0), 1);
        assert!(holds.covers(A, 64, Mode::X));
        holds.release(A, 64, Label(7), 2);
        assert!(holds.covers(A, 64, Mode::X));
        holds.release(A, 64, Label(7), 1);
        assert!(!holds.covers(A, 64, Mode::R));
    }

    #[test]
    fn a_degraded_hold_lets_readers_in() {
        let mut holds = Holds::default();
        holds.acquire(hold(A, 1, 0, Mode::X));
        holds.degrade(A, 64, Label(0), 1, Mode::U);
        assert!(holds.can_acquire(B, 64, Mode::R) && !holds.can_acquire(B, 64, Mode::U));
        holds.degrade(A, 64, Label(0), 1, Mode::R);
        assert!(!holds.degrade(A, 64, Label(0), 1, Mode::U), "nothing is strengthened");
        assert!(holds.can_acquire(B, 64, Mode::U));
        assert!(!holds.can_acquire(B, 64, Mode::X));
    }

    #[test]
    fn unwinding_ends_one_frame_and_giving_up_all() {
        let mut holds = Holds::default();
        holds.acquire(hold(A, 1, 0, Mode::R));
        holds.acquire(hold(A, 2, 0, Mode::X));
        assert!(holds.unwind(A, 2));
        assert!(holds.covers(A, 64, Mode::R) && !holds.covers(A, 64, Mode::X));
        holds.give_up(A, Cause::Join);
        assert!(holds.can_acquire(B, 64, Mode::X));
    }

    #[test]
    fn revoking_ends_one_tenure() {
        let mut holds = Holds::default();
        holds.acquire(hold(A, 1, 0, Mode::U));
        assert!(!holds.revoke(B, 64, Cause::Cycle));
        assert!(holds.take_lost().is_empty());
        assert!(holds.revoke(A, 64, Cause::Cycle));
        assert_eq!(holds.take_lost(), [Lost { hold: hold(A, 1, 0, Mode::U), why: Cause::Cycle }]);
        assert!(holds.can_acquire(B, 64, Mode::X));
    }
}
