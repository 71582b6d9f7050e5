//! A heap block that is about to be given back: a write to all of it, which whoever used it before meets as any other write.
//!
//! It is no end of a pair: what its own thread did to the block last, it does on its own account, and afterwards there is no block.
//! So only words count that another thread has accessed, and giving back what nobody else has used costs a look at its pages.
//!
//! Order by atomics is no order, with one exception: whoever counts an object's users gives it back when the count says that the others have
//! gone. So what another thread did to the block up to its last update of a count, in the block or elsewhere, does not meet the end if
//! this thread has updated the same count since, as one of its last [`UPDATES`] updates, and nobody touched it afterwards.
//!
//! Not handled: blocks of allocators other than the C library's, of which no start is known.

use core::sync::atomic::Ordering;

use model::ids::SiteKey;
use model::pair::{Atomicity, Rw};
use model::recording::{Drop, RANGE_LIMIT, SITE_CONCURRENT};

use crate::cell::{Access, Findings, Mask, Slot, Slots, ThreadNumber};
use crate::frame::Serial;
use crate::observe::{Near, Observer, Repeats};
use crate::recorder::Recorder;
use crate::shadow::{Address, Held, PAGE, Public};
use crate::table::SiteIndex;
use crate::thread::Thread;

/// How many updates a thread remembers.
const UPDATES: usize = 4;

/// Where a thread made its last updates, each by one instruction.
#[derive(Debug)]
pub(crate) struct Updated {
    at: [Address; UPDATES],
    next: usize,
}

impl Updated {
    /// It makes one here.
    #[inline]
    pub(crate) fn add(&mut self, address: Address) {
        self.at[self.next % UPDATES] = address;
        self.next = self.next.wrapping_add(1);
    }
}

/// Until when other threads used what they counted themselves off from.
#[derive(Default)]
struct Gone {
    known: usize,
    until: [Option<(ThreadNumber, Serial)>; Self::MOST],
}

impl Gone {
    const MOST: usize = 32;

    fn add(&mut self, thread: ThreadNumber, until: Serial) {
        if let Some(place) = self.until.get_mut(self.known) {
            *place = Some((thread, until));
            self.known += 1;
        }
    }

    /// Whether the access lies before its thread's leave.
    fn covers(&self, slot: &Slot) -> bool {
        self.until.iter().flatten().any(|&(thread, until)| thread == slot.thread && slot.access.at <= until)
    }
}

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
        let gone = self.gone(observer.thread, public);
        if self.meet_users(&mut observer, public, (start, length.min(limit)), &gone) {
            self.shared_access(thread, key, rw);
        }
    }

    /// Who has left a count that this thread was the last to update.
    fn gone(&self, thread: &Thread, public: &Public) -> Gone {
        let mut gone = Gone::default();
        for &count in thread.updated.at.iter().filter(|count| count.0 != 0) {
            let Some(page) = self.shadow.find(count).filter(|page| page.is_used_by_others(thread.number)) else { continue };
            let Some(held) = self.shadow.hold(page, count, thread.number, public) else { continue };
            if let Held::Stripe(page, _) = held {
                let slots = self.shadow.slots(page, count);
                let updates = || (0..slots.count()).map(|n| slots.slot(n).load()).filter(|slot| slot.bytes.0 & 1 << (count.0 % 8) != 0);
                let last = |slot: Slot| slot.thread == thread.number && slot.since == Atomicity::Exclusive;
                if updates().any(last) {
                    let others = updates().filter(|slot| slot.thread != thread.number && self.is_update(slot.access.site));
                    others.for_each(|slot| gone.add(slot.thread, slot.access.at));
                }
            }
            self.shadow.release(held, public);
        }
        gone
    }

    fn is_update(&self, site: SiteIndex) -> bool {
        let kind = self.sites.get(site.0).map(|site| site.kind.load(Ordering::Relaxed) & !SITE_CONCURRENT);
        kind == Some(Rw::Update as u32 + 1)
    }

    /// Meets the last accesses of other threads to a range, but for those who have gone. Whether there are any.
    fn meet_users(&self, observer: &mut Observer<'_>, public: &Public, (start, length): (Address, usize), gone: &Gone) -> bool {
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
                        any = true;
                        if gone.covers(&slot) {
                            self.edge(observer.thread, slot.access.site, observer.now.site, None);
                        } else {
                            observer.place = (Address(at), slot.bytes);
                            observer.remote(&slot);
                        }
                    }
                }
                at += 8;
            }
            self.shadow.release(held, public);
        }
        any
    }
}
