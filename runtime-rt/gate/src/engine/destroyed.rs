//! How long locks, conditions, semaphores and barriers live: using one that was destroyed is a failure, and so is destroying one that was
//! destroyed already, or that threads have or wait for. POSIX leaves all of this undefined; the C library mostly goes on.
//!
//! Which addresses were destroyed is kept here, and their storage is filled with a mark. An object lives again when it is initialized by a call, or
//! when its storage is like that of one to which an initializer was assigned: nothing but zeros and small numbers. Code without hooks may do
//! that, such as the constructors of the C++ library. What else comes to stand there brings nothing back to life: often the object was
//! on a stack whose frame is gone, and any code may run over it.
//!
//! invariant: while an execution is explored nobody locks or waits in earnest, so the storage of an object that lives stays as it was initialized.
//! Not handled: objects that were destroyed before `main`, and those of a dead frame over which just zeros and small numbers were written. A mutex
//! that somebody holds is not destroyed, and the caller is told so.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
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

/// What fills an object that was destroyed: no small number, and the kind of an ordinary lock to who looks for that.
const MARK: u32 = 0xde57_0b00;

/// What the words of a living object are below: flags, and counts of what was initialized by no call. Any part of an address is mostly above.
const SMALL: u32 = 1 << 12;

/// The objects that the execution destroyed.
#[derive(Default)]
pub(crate) struct Destroyed {
    /// Whether there are any.
    any: Cell<bool>,
    /// By address.
    list: RefCell<BTreeMap<u64, By>>,
}

/// Who destroyed an object, and where.
#[derive(Clone, Copy)]
struct By {
    thread: ThreadId,
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

    /// Who destroyed what is used as this object now, if it does not live again.
    fn has(&self, object: Range) -> Option<By> {
        if !self.any.get() || is_alive(object) {
            return None;
        }
        self.list.borrow().get(&object.address).copied()
    }
}

/// In a fiber: an object is initialized.
pub(crate) fn initialize(engine: &Engine, object: Range, state: State) {
    engine.take_site();
    engine.model.borrow_mut().objects.replace(object, state);
    if engine.lifetimes.destroyed.any() {
        engine.lifetimes.destroyed.list.borrow_mut().remove(&object.address);
    }
}

/// In a fiber, right after an object was used: the execution fails if it was destroyed.
#[inline]
pub(crate) fn look(engine: &Engine, object: Range, site: Option<SiteKey>) {
    if let Some(by) = engine.lifetimes.destroyed.has(object) {
        fail(engine, by, site, "a synchronization object is used that was destroyed");
    }
}

/// In a fiber: the step in which an object is destroyed that others may use.
pub(crate) fn begin(engine: &Engine, object: Range) -> Option<SiteKey> {
    let site = engine.take_site();
    lifetime::note(engine, engine.current(), object);
    engine.point_at(site, Ask::Access { range: object, rw: Rw::Write, atomic: true });
    lifetime::look(engine, object.address, site, "a synchronization object is destroyed");
    if let Some(by) = engine.lifetimes.destroyed.has(object) {
        fail(engine, by, site, "a synchronization object is destroyed that was destroyed already");
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
    destroyed.list.borrow_mut().insert(object.address, By { thread: engine.current(), site });
    for word in words(object) {
        // SAFETY: the program passes a valid object, and these are words of it.
        unsafe { word.write_volatile(MARK) };
    }
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

/// The words of an object that whatever initializes it writes to: not the last one, which may be no part of any field. Of semaphores and
/// barriers, which are told apart by nothing here, three.
fn words(Range { address, length }: Range) -> impl Iterator<Item = *mut u32> {
    const SEMAPHORE: u32 = 32;
    let count = if length == SEMAPHORE { 3 } else { (length / 4).saturating_sub(1).max(1) };
    let first: *mut u32 = core::ptr::with_exposed_provenance_mut(usize::try_from(address).unwrap_or(0));
    (0..count as usize).map(move |index| first.wrapping_add(index))
}

/// Whether an object is as one that was initialized and, for all that the storage says, not used.
fn is_alive(object: Range) -> bool {
    // SAFETY: as above: the program uses the object.
    words(object).all(|word| unsafe { word.read_volatile() } < SMALL)
}

#[cold]
fn fail(engine: &Engine, By { thread, site: place }: By, site: Option<SiteKey>, message: &str) -> ! {
    let place = place.map_or_else(String::new, |place| format!(" at {place}"));
    // The site stands for its source position, which `atomfix` knows.
    lifetime::fail(engine, site, FailureKind::Misuse, message, Some(format!("{thread} destroyed it{place}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn storage<T>(object: &T) -> Range {
        Range { address: (&raw const *object).expose_provenance() as u64, length: u32::try_from(size_of::<T>()).expect("small") }
    }

    /// An object lives as it was initialized, and does not when it is marked, or when all but one word of it is as it was.
    fn check<T>(mut object: T) {
        let range = storage(&object);
        assert!(is_alive(range));
        let place = (&raw mut object).cast::<u32>();
        for index in 0..words(range).count() {
            let word = place.wrapping_add(index);
            // SAFETY: a word of the object.
            let before = unsafe { word.read() };
            // SAFETY: as above.
            unsafe { word.write(MARK) };
            assert!(!is_alive(range), "{index}");
            // SAFETY: as above.
            unsafe { word.write(before) };
        }
    }

    #[test]
    fn an_object_lives_that_was_initialized_by_no_call() {
        check(libc::PTHREAD_MUTEX_INITIALIZER);
        check(libc::PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP);
        check(libc::PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP);
        check(libc::PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP);
        check(libc::PTHREAD_COND_INITIALIZER);
        check(libc::PTHREAD_RWLOCK_INITIALIZER);
        check(1_u32);
    }
}
