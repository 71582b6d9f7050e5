//! What data races are found by: of everything that orders threads, and of every access, `explorer::races` is told.
//!
//! Nothing is told, at next to no cost, when races are not looked for.

use explorer::races::Party;
use model::event::{Event, Range};
use model::ids::ThreadId;

use super::fiber::Engine;

impl Engine {
    /// A step was performed, which may order threads.
    #[inline]
    pub(crate) fn note_step(&self, thread: ThreadId, event: &Event) {
        if self.looks_for_races.get()
            && let Some(races) = self.races.borrow_mut().as_mut()
        {
            races.perform(thread, event);
        }
    }

    /// In a fiber: an access is about to happen.
    #[inline]
    pub(crate) fn note_access(&self, party: Party, range: Range) {
        if self.looks_for_races.get()
            && let Some(race) = self.races.borrow_mut().as_mut().and_then(|races| races.access(party, range))
        {
            self.found_races.borrow_mut().push(race);
        }
    }

    /// In a fiber: a block is about to be given back.
    pub(crate) fn note_end(&self, party: Party, block: Range) {
        if let Some(race) = self.races.borrow_mut().as_mut().and_then(|races| races.gives_back(party, block)) {
            self.found_races.borrow_mut().push(race);
        }
    }

    /// In a fiber: memory was allocated, which has no past.
    pub(crate) fn note_allocation(&self, range: Range) {
        if let Some(races) = self.races.borrow_mut().as_mut() {
            races.renew(range);
        }
    }
}
