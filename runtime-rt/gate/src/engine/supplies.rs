//! Which descriptors system calls leave not ready that were, and who has to wait for these: a call that waits may have come too late.
//!
//! A queue that is full, or empty, has threads wait one after the other; that the second could have come before the first shows in no order
//! of steps once somebody has let it go on. So strategies are told. What a call has taken is not guessed from what it is: the kernel is asked
//! of all descriptors before and after it. One that is not open counts as ready, since calls on it fail at once.
//!
//! Not needed: for what the kernel cannot be asked (`Readiness::Calls`, `Readiness::Queue`), as such calls are tried first, which is a step of its own.
//! Not handled: descriptors that the program did not open and that lie above the others.

use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use explorer::strategy::Supply;

use super::outside;
use crate::gate::readiness::Readiness;
use crate::sys::poll::{self, States};

/// How many descriptors are looked at first, and how many more where these are not enough.
const MANY: usize = 64;

/// What the step that is being taken leaves others, and what its thread is about to wait for.
#[derive(Default)]
pub(crate) struct Supplies {
    /// Beyond the first ones: how many more descriptors are looked at.
    more: Cell<usize>,
    before: RefCell<Option<States>>,
    has_taken: Cell<bool>,
    has_news: Cell<bool>,
    news: RefCell<Vec<Supply>>,
}

impl Supplies {
    /// An execution begins.
    pub(crate) fn begin(&self) {
        self.news.borrow_mut().clear();
        self.has_taken.set(false);
        self.has_news.set(false);
    }

    /// Whether no hook is in the middle of something.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.before.try_borrow_mut().is_ok() && self.news.try_borrow_mut().is_ok()
    }

    /// The program may use this descriptor.
    pub(crate) fn reach(&self, descriptor: i32) {
        let descriptor = usize::try_from(descriptor).unwrap_or(0);
        self.more.set(self.more.get().max(descriptor / MANY * MANY));
    }

    /// A thread is about to make a system call.
    #[cold]
    pub(crate) fn call_begins(&self) {
        self.before.replace(Some(self.states()));
    }

    /// It has come to its next point.
    #[cold]
    pub(crate) fn call_ended(&self) {
        let Some(before) = self.before.take() else { return };
        let after = self.states();
        for descriptor in after.lost_since(&before) {
            self.has_taken.set(true);
            self.tell(Supply::Emptied(descriptor));
        }
    }

    fn states(&self) -> States {
        let states = poll::states(MANY + self.more.get());
        if states.are_all_open() {
            // New ones get the lowest free number, so there may be some behind these.
            self.more.set(self.more.get() + MANY);
            return self.states();
        }
        states
    }

    /// A thread is about to wait for this: tells of it where that is not there.
    pub(crate) fn is_awaited(&self, ready: Readiness) {
        if !self.has_taken.get() || ready == Readiness::Always || ready.holds() {
            return;
        }
        for descriptor in outside::watched(ready) {
            self.tell(Supply::Lacked(descriptor.cast_unsigned()));
        }
    }

    fn tell(&self, supply: Supply) {
        self.has_news.set(true);
        self.news.borrow_mut().push(supply);
    }

    /// Whether there is something to tell.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        self.has_news.get()
    }

    /// What is to be told.
    pub(crate) fn take_news(&self) -> Vec<Supply> {
        self.has_news.set(false);
        core::mem::take(&mut *self.news.borrow_mut())
    }
}
