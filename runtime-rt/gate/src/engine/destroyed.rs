//! How long locks, conditions, semaphores and barriers live: using one that was destroyed is a failure, and so is destroying one that was
//! destroyed already, or that threads have or wait for. POSIX leaves all of this undefined; the C library mostly goes on.
//!
//! That an object was destroyed stands in its own storage. So it lives again when it is initialized, when an initializer is assigned to it, and
//! when its memory becomes something else.
//! Not handled: objects that were destroyed before `main`. A mutex that somebody holds is not destroyed, and the caller is told so.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use model::event::{Event, EventKind, Range};
use model::ids::{SiteKey, ThreadId};
use model::pair::Rw;
use model::report::FailureKind;

use super::fiber::Engine;
use super::lifetime;
use crate::gate::ask::Ask;
use crate::gate::model::Model;
use crate::gate::objects::State;

/// What stands at the beginning of an object that was destroyed: no state that the C library leaves there, and no count of a semaphore.
const MARK: u32 = 0xde57_0bed;

/// The objects that the execution destroyed.
#[derive(Default)]
pub(crate) struct Destroyed {
    /// Whether there are any.
    any: Cell<bool>,
    list: RefCell<Vec<One>>,
}

#[derive(Clone, Copy)]
struct One {
    address: u64,
    by: ThreadId,
    site: Option<SiteKey>,
}

impl Destroyed {
    /// An execution begins.
    pub(crate) fn begin(&self) {
        if self.any.replace(false) {
            self.list.borrow_mut().clear();
        }
    }

    /// Whether there are any.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.any.get()
    }

    /// Whether nobody is at work on it.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.list.try_borrow_mut().is_ok()
    }

    /// Who destroyed the object, and where. The site stands for its source position, which `atomfix` knows.
    fn whose(&self, address: u64) -> String {
        let list = self.list.borrow();
        match list.iter().rev().find(|one| one.address == address) {
            Some(One { by, site: Some(site), .. }) => format!("{by} destroyed it at {site}"),
            Some(One { by, .. }) => format!("{by} destroyed it"),
            None => String::from("it was destroyed before"),
        }
    }
}

/// In a fiber, right after an object was used: the execution fails if it was destroyed.
#[inline]
pub(crate) fn look(engine: &Engine, object: Range, site: Option<SiteKey>) {
    if engine.lifetimes.destroyed.any() && is_marked(object) {
        fail(engine, object, site, "a synchronization object is used that was destroyed");
    }
}

/// In a fiber: the step in which an object is destroyed that others may use.
pub(crate) fn begin(engine: &Engine, object: Range) -> Option<SiteKey> {
    let site = engine.take_site();
    lifetime::note(engine, engine.current(), object);
    engine.point_at(site, Ask::Access { range: object, rw: Rw::Write, atomic: true });
    lifetime::look(engine, object.address, site, "a synchronization object is destroyed");
    if engine.lifetimes.destroyed.any() && is_marked(object) {
        fail(engine, object, site, "a synchronization object is destroyed that was destroyed already");
    }
    site
}

/// In the same step: it is destroyed, which fails if threads have it or wait for it.
pub(crate) fn finish(engine: &Engine, object: Range, site: Option<SiteKey>) {
    if is_in_use(&engine.model.borrow(), object) {
        lifetime::fail(engine, site, FailureKind::Misuse, "a synchronization object is destroyed that threads have or wait for", None);
    }
    engine.with_current(|fiber| fiber.circle.borrow_mut().progress());
    engine.rounds.disturb();
    let is_semaphore = matches!(engine.model.borrow().objects.find(object), Some(State::Semaphore(_)));
    if is_semaphore {
        // Who waits, or comes to wait, gets as far as to find out.
        engine.model.borrow_mut().objects.replace(object, State::Semaphore(1));
    }
    let destroyed = &engine.lifetimes.destroyed;
    destroyed.any.set(true);
    destroyed.list.borrow_mut().push(One { address: object.address, by: engine.current(), site });
    let place: *mut u32 = core::ptr::with_exposed_provenance_mut(usize::try_from(object.address).unwrap_or(0));
    // SAFETY: the program passes a valid object, and all are at least this long and so aligned.
    unsafe { place.write_volatile(MARK) };
}

/// In the same step: it is not destroyed after all, and nothing has changed.
pub(crate) fn keep(engine: &Engine, object: Range) {
    let event = Event { kind: EventKind::Access { rw: Rw::Write, atomic: true }, range: Some(object), object: None, site: None };
    engine.model.borrow_mut().changed_nothing(engine.current(), &event);
}

/// In a fiber: an object is destroyed.
pub(crate) fn destroy(engine: &Engine, object: Range) {
    let site = begin(engine, object);
    finish(engine, object, site);
}

/// Whether threads have the object, or wait for it. Who waits for a semaphore finds out by itself, as before.
fn is_in_use(model: &Model, object: Range) -> bool {
    match model.objects.find(object) {
        Some(State::Lock(lock)) => lock.holders().next().is_some(),
        Some(State::Condition(condition)) => !condition.waiters.is_empty(),
        Some(State::Barrier(barrier)) => !barrier.arrived.is_empty(),
        _ => false,
    }
}

fn is_marked(object: Range) -> bool {
    let place: *const u32 = core::ptr::with_exposed_provenance(usize::try_from(object.address).unwrap_or(0));
    // SAFETY: as above: the program uses the object.
    unsafe { place.read_volatile() == MARK }
}

#[cold]
fn fail(engine: &Engine, object: Range, site: Option<SiteKey>, message: &str) -> ! {
    let detail = engine.lifetimes.destroyed.whose(object.address);
    lifetime::fail(engine, site, FailureKind::Misuse, message, Some(detail))
}
