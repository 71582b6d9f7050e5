//! Which sites run near each other: what correlated sets are mined from (`model::correlation`).
//!
//! Each thread remembers its latest `REACH` accesses. An access is near an earlier one if both lie in a common activation and fewer than
//! `STRETCH` serials were drawn in between: some twenty calls. Whether others use the memory does not matter here, since the first
//! of two threads cannot know that another will come; who reads the recording leaves out what nobody shares.
//!
//! Every thread *looks* at the first executions of each site, and then at few of them, so this costs next to nothing in hot code. A site
//! with itself counts the looks; all counts are to be scaled by how often the later site ran for each of its looks.

use core::sync::atomic::Ordering;

use model::ids::SiteKey;
use model::recording::Drop;

use crate::cell::Access;
use crate::frame::Serial;
use crate::mapping::Joint;
use crate::recorder::Recorder;
use crate::shadow::Address;
use crate::table::{JointIndex, SiteIndex, mix};
use crate::thread::{JointEntry, Tally, Thread};

/// Accesses that are remembered.
const REACH: usize = 16;
/// Serials between two accesses that are near each other.
const STRETCH: u64 = 64;

/// An access. Zeroed: none.
#[derive(Clone, Copy, Debug)]
struct Remembered {
    used: bool,
    access: Access,
    address: usize,
}

/// The latest accesses of a thread.
#[derive(Debug)]
pub(crate) struct Recent {
    accesses: [Remembered; REACH],
    next: usize,
}

impl Recent {
    /// Puts an access in the place of the latest if that is by the same site, or else of the oldest.
    #[inline]
    fn add(&mut self, access: Access, address: Address) {
        if self.accesses[self.next].access.site != access.site {
            self.next = (self.next + 1) % REACH;
        }
        self.accesses[self.next] = Remembered { used: true, access, address: address.0 };
    }

    /// Accesses by other sites, each site's latest.
    fn of_others(&self, site: SiteIndex) -> [Option<Remembered>; REACH] {
        let mut found: [Option<Remembered>; REACH] = [None; REACH];
        for back in 0..REACH {
            let one = self.accesses[(self.next + REACH - back) % REACH];
            let repeated = found.iter().flatten().any(|later| later.access.site == one.access.site);
            if one.used && one.access.site != site && !repeated {
                found[back] = Some(one);
            }
        }
        found
    }
}

/// Whether an access lies so near to now that the two may belong together.
#[inline]
pub(crate) fn is_near(earlier: Serial, now: Serial) -> bool {
    now.number().checked_sub(earlier.number()).is_some_and(|between| between < STRETCH)
}

impl Recorder {
    /// Remembers an access; if it is one to look at, counts the earlier ones that are near.
    #[inline]
    pub(crate) fn mine(&self, thread: &mut Thread, (now, key): (Access, SiteKey), address: Address) {
        if thread.site_entry(key).seen.is_sampled() {
            self.look(thread, now, address);
        }
        thread.recent.add(now, address);
    }

    fn look(&self, thread: &mut Thread, now: Access, address: Address) {
        self.near(thread, [now.site, now.site], 0);
        for other in thread.recent.of_others(now.site).into_iter().flatten() {
            let earlier = other.access;
            if is_near(earlier.at, now.at) && thread.remembers(earlier) && thread.frames.frontier(earlier.at).is_ok() {
                let apart = address.0.wrapping_sub(other.address) as u64;
                self.near(thread, [earlier.site, now.site], apart);
            }
        }
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
