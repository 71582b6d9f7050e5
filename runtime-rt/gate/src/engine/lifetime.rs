//! How long the program's blocks live: giving one back is a write to all of it, and a scheduling point where others may see that; using it
//! afterwards, giving it back twice, and giving back what is no block are failures, even if nothing else comes of them.
//!
//! An access counts by its first byte. Once a block was handed out again, who still uses it by its old name is not told from its new
//! owner: a schedule in which that comes before shows it.
//! Not handled: memory that was mapped, stacks of threads that have ended, and use by code without hooks.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use explorer::races::Party;
use model::event::Range;
use model::ids::{SiteKey, ThreadId};
use model::pair::Rw;
use model::report::FailureKind;

use super::destroyed::{self, Destroyed};
use super::endings;
use super::failure::Failed;
use super::fiber::Engine;
use super::heap::{self, Standing};
use crate::gate::ask::{Ask, Request};

/// The blocks that the execution gave back.
#[derive(Default)]
pub(crate) struct Lifetimes {
    /// Whether there are any.
    any: Cell<bool>,
    given_back: RefCell<Vec<GivenBack>>,
    /// Locks and the like that it destroyed.
    pub(crate) destroyed: Destroyed,
}

#[derive(Clone, Copy)]
struct GivenBack {
    block: Range,
    by: ThreadId,
    site: Option<SiteKey>,
}

impl Lifetimes {
    /// An execution begins.
    pub(crate) fn begin(&self) {
        if self.any.replace(false) {
            self.given_back.borrow_mut().clear();
        }
        self.destroyed.begin();
    }

    /// Whether nobody is at work on it.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.given_back.try_borrow_mut().is_ok() && self.destroyed.is_at_rest()
    }

    fn add(&self, one: GivenBack) {
        self.any.set(true);
        self.given_back.borrow_mut().push(one);
    }

    /// Who gave this memory back, and where. The site stands for its source position, which `atomfix` knows.
    fn whose(&self, address: u64) -> String {
        let byte = Range { address, length: 1 };
        let given_back = self.given_back.borrow();
        match given_back.iter().rev().find(|one| one.block.overlaps(byte)) {
            Some(GivenBack { by, site: Some(site), .. }) => format!("{by} freed it at {site}"),
            Some(GivenBack { by, .. }) => format!("{by} freed it"),
            None => String::from("it was freed before"),
        }
    }
}

/// In a fiber, right before memory is used: the execution fails if it was given back.
#[inline]
pub(crate) fn look(engine: &Engine, address: u64, site: Option<SiteKey>, what: &str) {
    if engine.lifetimes.any.get() && engine.shadow.borrow_mut().is_freed(address) {
        use_after_free(engine, address, site, what);
    }
}

/// In a fiber: it is about to use a lock, condition, semaphore or barrier. Whoever gives its memory back has to wait for others to see that.
pub(crate) fn note_object(engine: &Engine, me: ThreadId) {
    let objects = engine.model.borrow().threads[me.index()].request.ask.objects();
    objects.into_iter().flatten().for_each(|object| note(engine, me, object));
}

/// As `note_object`, of this one.
pub(crate) fn note(engine: &Engine, me: ThreadId, Range { address, .. }: Range) {
    if heap::owns(address) {
        engine.shadow.borrow_mut().touch(me, Range { address, length: 1 }, Rw::Read);
    }
}

/// As `look`, of the object that the thread has just used.
#[inline(always)]
pub(crate) fn look_at_object(engine: &Engine, me: ThreadId) {
    if engine.lifetimes.any.get() || engine.lifetimes.destroyed.any() {
        look_at_objects(engine, me);
    }
}

#[inline(never)]
fn look_at_objects(engine: &Engine, me: ThreadId) {
    let request = engine.model.borrow().threads[me.index()].request;
    for object in request.ask.objects().into_iter().flatten() {
        look(engine, object.address, request.site, "a synchronization object is used");
        destroyed::look(engine, object, request.site);
    }
}

#[cold]
fn use_after_free(engine: &Engine, address: u64, site: Option<SiteKey>, what: &str) -> ! {
    let detail = engine.lifetimes.whose(address);
    fail(engine, site, FailureKind::UseAfterFree, &format!("{what} that was freed"), Some(detail))
}

/// In a fiber: the execution fails, here.
pub(super) fn fail(engine: &Engine, site: Option<SiteKey>, kind: FailureKind, message: &str, detail: Option<String>) -> ! {
    if site.is_some() {
        engine.with_current(|fiber| fiber.last_site.set(site));
    }
    endings::fail(engine, |site| {
        let failed = Failed::new(kind, Some(engine.current()), site, message);
        Failed { details: detail.into_iter().collect(), ..failed }
    })
}

/// In a fiber: the program gives a block back.
pub(crate) fn free(engine: &Engine, block: *mut u8) {
    let called = engine.take_site();
    let standing = heap::standing(block);
    let range = match standing {
        Standing::Foreign => return,
        Standing::NoBlock => fail(engine, called, FailureKind::BadFree, "what is freed is no block of the heap", None),
        Standing::InUse => heap::asked_for(block),
        Standing::GivenBack => heap::extent(block),
    };
    let Some(range) = range else { return };
    let site = called.or_else(|| engine.with_current(|fiber| fiber.last_site.get()));
    announce(engine, range, site);
    if heap::standing(block) != Standing::InUse {
        let detail = engine.lifetimes.whose(range.address);
        fail(engine, site, FailureKind::DoubleFree, "a block is freed that was freed already", Some(detail));
    }
    engine.shadow.borrow_mut().mark(range, true);
    engine.lifetimes.add(GivenBack { block: range, by: engine.current(), site });
    heap::free(block);
}

/// Asks for the write to all of the block, or of the pages that are taken away, where others may see it.
pub(super) fn announce(engine: &Engine, block: Range, site: Option<SiteKey>) {
    let me = engine.current();
    let ordinal = engine.with_current(|fiber| {
        fiber.circle.borrow_mut().progress();
        fiber.count_access()
    });
    engine.rounds.disturb();
    let shared = engine.shadow.borrow_mut().touch_all(me, block);
    let Some(site) = site else { return };
    access_out_of_sight(engine, ordinal, (block, Rw::Write), Some(site), shared);
    engine.note_end(Party { thread: me, site, rw: Rw::Write, atomic: false }, block);
}

/// In a fiber: a function that does not come to us as an access is about to make one.
pub(crate) fn meet_out_of_sight(engine: &Engine, range: Range, rw: Rw) {
    let (ordinal, site) = engine.with_current(|fiber| (fiber.count_access(), fiber.call_site.get()));
    let shared = engine.shadow.borrow_mut().touch(engine.current(), range, rw);
    access_out_of_sight(engine, ordinal, (range, rw), site, shared);
}

/// In a fiber: asks for an access that no hook announces, the access with this number, where others may see it.
pub(crate) fn access_out_of_sight(engine: &Engine, ordinal: u64, (range, rw): (Range, Rw), site: Option<SiteKey>, shared: bool) {
    let me = engine.current();
    if engine.recorder.borrow().wants(me, ordinal).unwrap_or(shared) {
        let request = Request { ask: Ask::Access { range, rw, atomic: false }, site };
        engine.with_current(|fiber| {
            fiber.ask_for(ordinal, || {
                engine.request(me, request);
            });
        });
    }
}

/// In a fiber: a block was handed out.
pub(crate) fn begin(engine: &Engine, block: *mut u8) {
    let Some(extent) = heap::extent(block) else { return };
    if engine.lifetimes.any.get() {
        engine.shadow.borrow_mut().mark(extent, false);
    }
    engine.note_allocation(extent);
}
