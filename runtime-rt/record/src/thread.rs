//! What belongs to one thread: its activations, locks, and small caches in front of the shared tables.
//!
//! Counters in the tables are shared by all threads, so each thread counts by itself and adds up now and then: every one of the
//! first 64 events at once, later ones 64 at a time. A killed process loses fewer than 64 of each, never an observation.

use model::ids::SiteKey;
use model::pair::Atomicity;
use model::recording::{DROPS, Drop};

use crate::cell::{Access, ThreadNumber};
use crate::change::{Before, Store};
use crate::frame::{Frames, Serial};
use crate::give_back::Updated;
use crate::held::HeldSet;
use crate::hold::Holds;
use crate::instance::{BucketNumber, InstanceKey, MemberAccess};
use crate::joint::Recent;
use crate::made::Making;
use crate::order::Clock;
use crate::pace::{Quiet, Window};
use crate::perturb::Perturbation;
use crate::shadow::{Address, Page, StripeNumber};
use crate::sys::Zeroed;
use crate::table::{JointIndex, PairIndex, SetIndex, SiteIndex, mix};
use crate::watch::{Entry, Of};

/// A count that is added up in steps.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally(u32);

impl Tally {
    const STEP: u32 = 64;

    /// Counts one; what to add to the shared counter now.
    #[inline]
    pub(crate) fn count(&mut self) -> Option<u64> {
        self.0 = self.0.wrapping_add(1);
        if self.0 <= Self::STEP && self.0 != 0 {
            Some(1)
        } else if self.0.is_multiple_of(Self::STEP) {
            Some(u64::from(Self::STEP))
        } else {
            None
        }
    }

    /// Whether the latest that was counted is one of the few to look at closely: the first ones, then ever so many.
    #[inline]
    pub(crate) fn is_sampled(&self) -> bool {
        self.0 <= 4 * Self::STEP || self.0.is_multiple_of(Self::STEP)
    }

    /// What was counted and not yet added.
    pub(crate) fn rest(&mut self) -> u64 {
        let rest = if self.0 > Self::STEP { self.0 % Self::STEP } else { 0 };
        self.0 -= rest;
        u64::from(rest)
    }
}

/// A site as this thread last used it. A zeroed entry is not in use.
#[derive(Debug)]
pub(crate) struct SiteEntry {
    pub(crate) used: bool,
    /// The locks that were met with the site's at last.
    pub(crate) met: Option<SetIndex>,
    pub(crate) key: SiteKey,
    pub(crate) index: SiteIndex,
    pub(crate) seen: Tally,
    pub(crate) shared: Tally,
    /// Its place in the watch list, if it is there.
    pub(crate) watched: Option<Entry>,
}

/// A pair as this thread last saw it. A zeroed entry is not in use.
#[derive(Debug)]
pub(crate) struct PairEntry {
    pub(crate) used: bool,
    pub(crate) atomicity: Atomicity,
    pub(crate) sites: [SiteIndex; 4],
    pub(crate) of: Of,
    pub(crate) index: PairIndex,
    /// The locks that were met with the pair's at last, and whether on shared memory.
    pub(crate) met: (SetIndex, bool),
    pub(crate) seen: Tally,
    pub(crate) shared: Tally,
    pub(crate) near: Tally,
}

/// Two sites that ran near each other, as this thread last saw them. A zeroed entry is not in use.
#[derive(Debug)]
pub(crate) struct JointEntry {
    pub(crate) used: bool,
    pub(crate) sites: [SiteIndex; 2],
    pub(crate) index: JointIndex,
    pub(crate) apart: u64,
    pub(crate) seen: Tally,
    pub(crate) aligned: Tally,
}

/// The page that one slot of the page cache holds.
#[derive(Debug)]
pub(crate) struct PageEntry {
    pub(crate) number: usize,
    pub(crate) page: Option<&'static Page>,
}

/// A part of the address space.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Region {
    pub(crate) start: usize,
    pub(crate) length: usize,
}

impl Region {
    #[inline]
    pub(crate) fn contains(self, address: Address) -> bool {
        address.0.wrapping_sub(self.start) < self.length
    }
}

const SITES: usize = 1 << 11;
const PAIRS: usize = 1 << 11;
const EDGES: usize = 1 << 10;
const JOINTS: usize = 1 << 10;
const PAGES: usize = 1 << 6;

/// One thread's state. It lives in zeroed memory of its own.
#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) number: ThreadNumber,
    pub(crate) stack: Region,
    pub(crate) perturbation: Perturbation,
    /// What happens before now.
    pub(crate) clock: Clock,
    /// The object of the last wait, whose end has no event of its own.
    pub(crate) waited: Option<Address>,
    /// The lock that it made last.
    pub(crate) making: Option<Making>,
    pub(crate) holds: Holds,
    /// The same, as one number.
    pub(crate) held_set: HeldSet,
    /// The sets that its holds make, for reads and for writes.
    pub(crate) held: [SetIndex; 2],
    /// The stripe held for the access that is happening.
    pub(crate) pending: Option<StripeNumber>,
    /// The same for the instance of a correlated set that it accesses.
    pub(crate) pending_instance: Option<BucketNumber>,
    /// That access.
    pub(crate) pending_member: (InstanceKey, MemberAccess),
    /// The store that is happening, if others may use the memory.
    pub(crate) pending_store: Option<Store>,
    /// What stood there before it.
    pub(crate) before: Before,
    /// Its latest accesses.
    pub(crate) recent: Recent,
    /// What it updated last, each by one instruction.
    pub(crate) updated: Updated,
    /// The library call whose range was just read, so that what it writes next belongs to the same execution.
    pub(crate) range: Option<Access>,
    /// The window that it last recorded in, and since when.
    window: Option<Window>,
    since: Option<Serial>,
    pub(crate) quiet: Quiet,
    drops: [Tally; DROPS],
    sites: [SiteEntry; SITES],
    pairs: [PairEntry; PAIRS],
    edges: [u64; EDGES],
    joints: [JointEntry; JOINTS],
    pages: [PageEntry; PAGES],
    pub(crate) frames: Frames,
}

// SAFETY: integers, `false`, `Atomicity::None`, `Holding::Exclusive`, and options that are `None` when zeroed.
unsafe impl Zeroed for Thread {}

#[expect(clippy::cast_possible_truncation, reason = "a hash may lose bits")]
fn place(hash: u64, size: usize) -> usize {
    hash as usize & (size - 1)
}

impl Thread {
    /// Begins to record in a window: what was followed and accessed before does not count.
    #[inline]
    pub(crate) fn resume(&mut self, window: Window) {
        if self.window != Some(window) {
            self.window = Some(window);
            self.range = None;
            self.since = Some(self.frames.resume());
        }
    }

    /// Whether an access was made in this window.
    #[inline]
    pub(crate) fn remembers(&self, access: Access) -> bool {
        self.since.is_none_or(|since| since <= access.at)
    }

    /// The cache entry where a site would be.
    #[inline]
    pub(crate) fn site_entry(&mut self, key: SiteKey) -> &mut SiteEntry {
        &mut self.sites[place(key.0 ^ key.0 >> 32, SITES)]
    }

    /// The cache entry where a pair would be.
    #[inline]
    pub(crate) fn pair_entry(&mut self, sites: [SiteIndex; 4], of: Of) -> &mut PairEntry {
        let [head, tail, first, second] = sites.map(|site| u64::from(site.0));
        let hash = (first << 32 | second).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ (head << 32 | tail ^ u64::from(of.number())).wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
        &mut self.pairs[place(hash >> 40, PAIRS)]
    }

    /// The cache entry where two sites that ran near each other would be.
    #[inline]
    pub(crate) fn joint_entry(&mut self, [first, second]: [SiteIndex; 2]) -> &mut JointEntry {
        let hash = (u64::from(first.0) << 32 | u64::from(second.0)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        &mut self.joints[place(hash >> 40, JOINTS)]
    }

    /// Every cache entry.
    pub(crate) fn entries(&mut self) -> (&mut [SiteEntry], &mut [PairEntry], &mut [JointEntry]) {
        (&mut self.sites, &mut self.pairs, &mut self.joints)
    }

    /// Whether this edge was not just emitted.
    pub(crate) fn is_new_edge(&mut self, [a, b]: [u32; 2]) -> bool {
        let edge = u64::from(a) << 32 | u64::from(b);
        let known = &mut self.edges[place(mix(edge), EDGES)];
        // Site 0 with itself would look like a free entry, and is no edge.
        core::mem::replace(known, edge) != edge
    }

    /// The page of an address, found by `find` when it is not in the cache.
    #[inline]
    pub(crate) fn page(&mut self, address: Address, find: impl FnOnce() -> Option<&'static Page>) -> Option<&'static Page> {
        let number = address.page();
        let entry = &mut self.pages[number & (PAGES - 1)];
        if entry.number != number || entry.page.is_none() {
            *entry = PageEntry { number, page: find() };
        }
        entry.page
    }

    /// Counts a drop; what to add to the shared counter now.
    pub(crate) fn drop_count(&mut self, cause: Drop) -> Option<u64> {
        self.drops[cause as usize].count()
    }

    /// What was dropped and not yet added.
    pub(crate) fn rest_of_drops(&mut self) -> impl Iterator<Item = (Drop, u64)> {
        Drop::ALL.into_iter().zip(&mut self.drops).map(|(cause, tally)| (cause, tally.rest()))
    }

    /// In a forked child: its counts start anew, and the pairs and edges that it knew are not in its own recording.
    pub(crate) fn after_fork(&mut self) {
        for entry in &mut self.sites {
            (entry.met, entry.seen, entry.shared) = (None, Tally::default(), Tally::default());
        }
        self.pairs.iter_mut().for_each(|entry| entry.used = false);
        self.joints.iter_mut().for_each(|entry| entry.used = false);
        self.edges.fill(0);
        self.drops.fill(Tally::default());
    }
}
