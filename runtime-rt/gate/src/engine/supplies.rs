//! What system calls leave nothing of, and which have to wait for what is not there: a call that waits may have come too late.
//!
//! A queue that is full, or empty, has threads wait one after the other; that the second could have come before the first shows in no order
//! of steps once somebody has let it go on. So strategies are told. Numbers stand for the kernel's objects in the order in which an
//! execution comes to them. Not handled: what calls do to several descriptors at once, and those of which the kernel does not say what they take.

use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use explorer::strategy::Supply;

use super::outside;
use crate::gate::readiness::Readiness;
use crate::sys::poll;

/// An object of the kernel, and for what it is waited for.
type What = ((u64, u64), i16);

/// What calls have taken or put last, and what the step that is being taken says of that.
#[derive(Default)]
pub(crate) struct Supplies {
    emptied: RefCell<Vec<What>>,
    has_news: Cell<bool>,
    news: RefCell<Vec<Supply>>,
}

impl Supplies {
    /// An execution begins.
    pub(crate) fn begin(&self) {
        self.emptied.borrow_mut().clear();
        self.news.borrow_mut().clear();
        self.has_news.set(false);
    }

    /// Whether no hook is in the middle of something.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.emptied.try_borrow_mut().is_ok() && self.news.try_borrow_mut().is_ok()
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

    fn tell(&self, supply: Supply) {
        self.has_news.set(true);
        self.news.borrow_mut().push(supply);
    }

    /// A call was made on a descriptor: whether the next one would have to wait.
    pub(crate) fn was_used(&self, descriptor: i32, events: i16) {
        if poll::is_ready(descriptor, events) {
            return;
        }
        let Some(object) = poll::object(descriptor) else { return };
        let what = (object, events);
        let mut emptied = self.emptied.borrow_mut();
        let index = emptied.iter().position(|&known| known == what).unwrap_or_else(|| {
            emptied.push(what);
            emptied.len() - 1
        });
        drop(emptied);
        self.tell(Supply::Emptied(number(index)));
    }

    /// A thread is about to wait for this: tells of it where somebody has left nothing.
    pub(crate) fn is_awaited(&self, ready: Readiness) {
        if self.emptied.borrow().is_empty() || ready == Readiness::Always || ready.holds() {
            return;
        }
        let objects: Vec<(u64, u64)> = outside::watched(ready).into_iter().filter_map(poll::object).collect();
        let found: Vec<u32> = self
            .emptied
            .borrow()
            .iter()
            .enumerate()
            .filter(|(_, (object, _))| objects.contains(object))
            .map(|(index, _)| number(index))
            .collect();
        for what in found {
            self.tell(Supply::Lacked(what));
        }
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
