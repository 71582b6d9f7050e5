//! A heap block that is about to be given back: a write to all of it, which whoever used it before meets as any other write.
//!
//! It is no end of a pair: what its own thread did to the block last, it does on its own account, and afterwards there is no block.
//! So only words count that another thread has accessed, and giving back what nobody else has used costs a look at its pages.
//!
//! Not handled: blocks of allocators other than the C library's, of which no start is known.

use model::ids::SiteKey;
use model::pair::{Atomicity, Rw};
use model::recording::{Drop, RANGE_LIMIT};

use crate::cell::{Access, Findings, Mask, Slots};
use crate::observe::{Near, Observer, Repeats};
use crate::recorder::Recorder;
use crate::shadow::{Address, Held, PAGE, Public};
use crate::thread::Thread;

impl Recorder {
    /// The block that begins at `start`, if one does, is about to be given back at a site.
    pub(crate) fn give_back(
        &self,
        thread: &mut Thread,
        public: &Public,
        start: Address,
        block_size: impl Fn(Address) -> usize,
        (rw, key): (Rw, SiteKey),
    ) {
        if !self.shadow.is_start(start) {
            return;
        }
        if !thread.frames.followed() {
            return self.drop_count(thread, Drop::TooDeep);
        }
        self.settle_wait(thread);
        let Some(site) = self.accessing_site(thread, key, rw) else { return };
        let limit = usize::try_from(RANGE_LIMIT).unwrap_or(usize::MAX);
        let length = block_size(start);
        if length > limit {
            self.drop_count(thread, Drop::LongRange);
        }
        let now = Access { site, at: thread.frames.tick() };
        let witnesses = thread.site_entry(key).seen.is_sampled().then_some(&self.witnesses);
        let (leaves, repeats, near, place) = (Atomicity::None, Repeats::LibraryCall, Near::Nobody, (start, Mask::NONE));
        let mut observer = Observer { recorder: self, thread, now, rw, leaves, repeats, last: None, near, witnesses, place };
        if self.meet_users(&mut observer, public, start, length.min(limit)) {
            self.shared_access(thread, key, rw);
        }
    }

    /// Meets the last accesses of other threads to a range. Whether there are any.
    fn meet_users(&self, observer: &mut Observer<'_>, public: &Public, start: Address, length: usize) -> bool {
        let me = observer.thread.number;
        let end = start.0.saturating_add(length);
        let mut at = start.0;
        let mut any = false;
        while at < end {
            let Some(page) = self.shadow.find(Address(at)).filter(|page| page.is_used_by_others(me)) else {
                at = (at / PAGE + 1).saturating_mul(PAGE);
                continue;
            };
            let line_end = (at / 64 + 1).saturating_mul(64).min(end);
            let Some(held) = self.shadow.hold(page, Address(at), me, public) else { break };
            while at < line_end {
                if let Held::Stripe(page, _) = held {
                    let slots = self.shadow.slots(page, Address(at));
                    let known = (0..slots.count()).map(|n| slots.slot(n).load());
                    for slot in known.filter(|slot| slot.thread != me && !slot.bytes.is_empty()) {
                        observer.place = (Address(at), slot.bytes);
                        observer.remote(&slot);
                        any = true;
                    }
                }
                at += 8;
            }
            self.shadow.release(held, public);
        }
        any
    }
}
