//! Which sites run near each other: what correlated sets are mined from (`model::correlation`).
//!
//! Each thread remembers its latest `REACH` accesses to memory that several threads use, one for each site. An access is near an
//! earlier one if both lie in a common activation and fewer than `STRETCH` serials were drawn in between: some twenty calls.
//! Only shared memory is looked at, so the many accesses to memory of one thread cost nothing here.

use core::sync::atomic::Ordering;

use model::recording::Drop;

use crate::cell::Access;
use crate::frame::Serial;
use crate::mapping::Joint;
use crate::recorder::Recorder;
use crate::shadow::Address;
use crate::table::{JointIndex, SiteIndex, mix};
use crate::thread::{JointEntry, Tally, Thread};

/// Accesses that are remembered.
const REACH: usize = 8;
/// Serials between two accesses that are near each other.
const STRETCH: u64 = 64;

/// An access to memory that several threads use. Zeroed: none.
#[derive(Clone, Copy, Debug)]
struct Shared {
    used: bool,
    access: Access,
    address: usize,
}

/// The latest accesses of a thread to memory that several threads use.
#[derive(Debug)]
pub(crate) struct Recent {
    accesses: [Shared; REACH],
    next: usize,
}

impl Recent {
    /// Puts an access in the place of an earlier one by the same site, or else of the oldest.
    #[inline]
    fn add(&mut self, new: Shared) {
        let known = self.accesses.iter().position(|known| known.used && known.access.site == new.access.site);
        let place = known.unwrap_or_else(|| {
            self.next = (self.next + 1) % REACH;
            self.next
        });
        self.accesses[place] = new;
    }
}

/// Whether an access lies so near to now that the two may belong together.
#[inline]
pub(crate) fn is_near(earlier: Serial, now: Serial) -> bool {
    now.number().checked_sub(earlier.number()).is_some_and(|between| between < STRETCH)
}

impl Recorder {
    /// Counts the earlier accesses that are near this one.
    #[inline]
    pub(crate) fn mine(&self, thread: &mut Thread, now: Access, address: Address) {
        for place in 0..REACH {
            let Shared { used, access, address: other } = thread.recent.accesses[place];
            if used
                && access.site != now.site
                && is_near(access.at, now.at)
                && thread.remembers(access)
                && thread.frames.frontier(access.at).is_ok()
            {
                let apart = address.0.wrapping_sub(other) as u64;
                self.near(thread, [access.site, now.site], apart);
            }
        }
        thread.recent.add(Shared { used: true, access: now, address: address.0 });
    }

    #[inline]
    fn near(&self, thread: &mut Thread, sites: [SiteIndex; 2], apart: u64) {
        let entry = thread.joint_entry(sites);
        if !entry.used || entry.sites != sites {
            self.flush_joint(entry);
            let Some(index) = self.joint(sites, apart) else {
                return self.drop_count(thread, Drop::TableFull);
            };
            let apart = self.joints.at(index).apart.load(Ordering::Relaxed);
            *entry = JointEntry { used: true, sites, index, apart, seen: Tally::default(), aligned: Tally::default() };
        }
        let joint = self.joints.at(entry.index);
        if let Some(count) = entry.seen.count() {
            joint.seen.fetch_add(count, Ordering::Relaxed);
        }
        if entry.apart == apart
            && let Some(count) = entry.aligned.count()
        {
            joint.aligned.fetch_add(count, Ordering::Relaxed);
        }
    }

    fn joint(&self, sites: [SiteIndex; 2], apart: u64) -> Option<JointIndex> {
        let [first, second] = sites.map(|site| u64::from(site.0));
        let is = |joint: &Joint| sites.iter().zip(&joint.sites).all(|(site, stored)| site.0 == stored.load(Ordering::Relaxed));
        let fill = |joint: &Joint| {
            sites.iter().zip(&joint.sites).for_each(|(site, stored)| stored.store(site.0, Ordering::Relaxed));
            joint.apart.store(apart, Ordering::Relaxed);
        };
        self.joints.intern(mix(first << 32 | second), is, fill).map(JointIndex)
    }

    /// Adds what this thread counted and has not added.
    pub(crate) fn flush_joint(&self, entry: &mut JointEntry) {
        if entry.used {
            let joint = self.joints.at(entry.index);
            joint.seen.fetch_add(entry.seen.rest(), Ordering::Relaxed);
            joint.aligned.fetch_add(entry.aligned.rest(), Ordering::Relaxed);
        }
    }
}
