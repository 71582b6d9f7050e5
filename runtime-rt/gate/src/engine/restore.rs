//! The restore driver: one process runs all executions; before each, the memory that the last ones wrote to is put back.
//!
//! Every private writable mapping is write-protected once. The first write to a page faults: its content is kept, and it
//! stays writable from then on, to be copied back before every further execution. Every so often those are protected again that the last
//! execution left as they were: what hardly any writes to is not worth copying each time. What the kernel keeps is not put back,
//! so system calls are looked at (`dispatch`): an execution that makes one which leaves traces ends, and the exploration
//! begins anew with the fork driver.
//!
//! Not restored: the engine's own stack and its shared mappings.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use explorer::strategy::Strategy;

use super::execution::{self, Ended};
use super::fiber::Engine;
use crate::sys::maps::{Mapping, mappings};
use crate::sys::memory::{Protection, protect};

const PAGE: usize = 4096;
/// With more pages than this, copying them back costs more than a fork.
const MOST_PAGES: usize = 4000;
/// To protect so many pages again, and to have them fault, takes longer than a short part of an exploration.
const FEW_PAGES: usize = 200;
/// After how many executions pages are protected again: so many that the faults of those that most write to cost nothing.
const SPELL: u32 = 1024;

/// A page that some execution has written to.
struct Dirty {
    page: usize,
    /// What was there; `None` for zeros, as on most stacks: putting these back reads nothing.
    clean: Option<Box<[u64; PAGE / 8]>>,
}

impl Dirty {
    /// Whether it is as it was.
    fn is_clean(&self) -> bool {
        let page: *const [u64; PAGE / 8] = core::ptr::with_exposed_provenance(self.page);
        // SAFETY: the page is readable, and no fiber runs.
        let now = unsafe { &*page };
        match &self.clean {
            Some(clean) => **clean == *now,
            None => now.iter().all(|&word| word == 0),
        }
    }
}

/// What is protected and what was written.
#[derive(Default)]
pub(crate) struct Restorer {
    /// Protected mappings, in ascending order; empty while nothing is.
    regions: RefCell<Vec<Mapping>>,
    dirty: RefCell<Vec<Dirty>>,
    full: Cell<bool>,
    /// Executions since pages were last protected again.
    executions: Cell<u32>,
}

impl Restorer {
    /// Protects all private writable memory, but for the mapping that contains `own`.
    pub(crate) fn snapshot(&self, own: usize) -> Result<(), &'static str> {
        let all = mappings().map_err(|_| "/proc/self/maps cannot be read")?;
        let wanted = |mapping: &Mapping| mapping.restorable && !(mapping.start..mapping.end).contains(&own);
        // The list is complete before anything is protected: making it writes to memory.
        *self.regions.borrow_mut() = all.into_iter().filter(wanted).collect();
        for region in self.regions.borrow().iter() {
            protect(region.start, region.end - region.start, Protection::Read).map_err(|_| "memory cannot be protected")?;
        }
        Ok(())
    }

    /// Whether memory is protected, so that this driver is in use.
    pub(crate) fn is_protecting(&self) -> bool {
        self.regions.try_borrow().is_ok_and(|regions| !regions.is_empty())
    }

    /// Undoes `snapshot`, with memory as it was then.
    pub(crate) fn release(&self) {
        self.put_back();
        for region in self.regions.borrow().iter() {
            // It was writable before.
            let _ = protect(region.start, region.end - region.start, Protection::ReadWrite);
        }
        self.regions.borrow_mut().clear();
        self.dirty.borrow_mut().clear();
    }

    /// The first write to a page: keeps its content and makes it writable. `false` when the page is none of ours.
    pub(crate) fn touch(&self, address: usize) -> bool {
        let page = address & !(PAGE - 1);
        let Ok(regions) = self.regions.try_borrow() else { return false };
        if !regions.iter().any(|region| (region.start..region.end).contains(&page)) {
            return false;
        }
        let Ok(mut dirty) = self.dirty.try_borrow_mut() else { return false };
        let content: *const [u64; PAGE / 8] = core::ptr::with_exposed_provenance(page);
        // SAFETY: a readable page of a mapping.
        let clean = unsafe { content.read() };
        let clean = clean.iter().any(|&word| word != 0).then(|| Box::new(clean));
        if protect(page, PAGE, Protection::ReadWrite).is_err() {
            return false;
        }
        dirty.push(Dirty { page, clean });
        self.full.set(dirty.len() > MOST_PAGES);
        true
    }

    /// Touches what the kernel is about to write to: its writes do not fault.
    pub(crate) fn touch_range(&self, address: usize, length: usize) {
        let mut page = address & !(PAGE - 1);
        while page < address.saturating_add(length) {
            let known = self.dirty.borrow().iter().any(|dirty| dirty.page == page);
            if !known {
                self.touch(page);
            }
            page += PAGE;
        }
    }

    /// With memory as it was at the snapshot, as if there had been no execution: no page of it was written to, or a few, which are put back whether they
    /// are written to again or not. Whether that was possible.
    pub(crate) fn begin_again(&self) -> bool {
        self.put_back();
        self.full.set(false);
        self.executions.set(0);
        if self.dirty.borrow().len() <= FEW_PAGES {
            return true;
        }
        self.dirty.borrow_mut().drain(..).all(|dirty| protect(dirty.page, PAGE, Protection::Read).is_ok())
    }

    /// An execution is over: protects what is hardly written to again, when it is time for that.
    fn protect_again(&self) {
        self.executions.set((self.executions.get() + 1) % SPELL);
        if self.executions.get() == 0 {
            self.dirty.borrow_mut().retain(|dirty| !dirty.is_clean() || protect(dirty.page, PAGE, Protection::Read).is_err());
        }
    }

    fn put_back(&self) {
        for dirty in self.dirty.borrow().iter() {
            let page: *mut [u64; PAGE / 8] = core::ptr::with_exposed_provenance_mut(dirty.page);
            match &dirty.clean {
                // SAFETY: the page is writable since `touch`, and no fiber runs.
                Some(clean) => unsafe { core::ptr::copy_nonoverlapping(&raw const **clean, page, 1) },
                // SAFETY: as above.
                None => unsafe { page.write_bytes(0, 1) },
            }
        }
    }
}

/// Runs one execution in this process.
pub(crate) fn execute(engine: &Engine, strategy: &mut dyn Strategy, limit: u64) -> Ended {
    let ended = execution::execute(engine, strategy, limit);
    engine.restorer.protect_again();
    engine.restorer.put_back();
    if engine.restorer.full.get() && !matches!(ended, Ended::NeedLenders | Ended::Learnt) {
        return Ended::NeedFork("executions write to too many pages");
    }
    ended
}
