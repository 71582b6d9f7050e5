//! Correlated sets under watch: each instance of one counts as one more address (`model::correlation`).
//!
//! What is known of an instance is in `instance`. An access holds the bucket of its instance until it has happened, taken after what it
//! holds of its own address; nobody takes them in the other order, so they cannot wait for each other.
//!
//! Only pairs of accesses to different variables of a set are observed, and what an activation goes on to do to the last of them: what
//! goes before is pairs of one address.
//! Not handled: a site that accesses several sets counts for the first one only.

use model::correlation::{Instance, Kinds, Watched, watched_at, watched_count};
use model::ids::SiteKey;
use model::pair::Rw;

use crate::cell::Access;
use crate::change::Effect;
use crate::instance::{BucketNumber, InstanceKey, Instances, MemberAccess};
use crate::observe::{Near, Seen};
use crate::recorder::Recorder;
use crate::shadow::Address;
use crate::thread::Thread;

/// What two accesses have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Of {
    /// Their address.
    #[default]
    Address,
    /// The instance of a correlated set.
    Set(u16),
}

impl Of {
    /// As in a recording.
    #[inline]
    pub(crate) fn number(self) -> u32 {
        match self {
            Self::Address => 0,
            Self::Set(set) => 1 + u32::from(set),
        }
    }
}

/// A place in the watch list: that of a site's first entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(usize);

/// The sets to watch, and what is known of their instances.
#[derive(Debug)]
pub(crate) struct Watch {
    list: &'static [u8],
    count: usize,
    pub(crate) instances: Instances,
}

impl Watch {
    /// Over a watch list; `None` for anything that is none, or when there is nothing to watch.
    pub(crate) fn new(list: &'static [u8]) -> Option<Self> {
        let count = watched_count(list).filter(|&count| count > 0)?;
        Some(Self { list, count, instances: Instances::new()? })
    }

    /// The first entry of a site.
    pub(crate) fn first(&self, key: SiteKey) -> Option<Entry> {
        let (mut low, mut high) = (0, self.count);
        // invariant: sites before `low` are smaller, those from `high` on are not.
        while low < high {
            let middle = low + (high - low) / 2;
            if self.site(middle).is_some_and(|site| site < key) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (self.site(low) == Some(key)).then_some(Entry(low))
    }

    fn site(&self, index: usize) -> Option<SiteKey> {
        (index < self.count).then(|| watched_at(self.list, index)).flatten().map(|entry| entry.site)
    }

    /// The entries of a site, from its first.
    fn of_site(&self, first: Entry, key: SiteKey) -> impl Iterator<Item = Watched> + '_ {
        (first.0..self.count).map_while(|index| watched_at(self.list, index)).take_while(move |entry| entry.site == key)
    }
}

impl Recorder {
    /// If the site is watched, its access is one to an instance of a set; the bucket that is then held, until `accessed_set`.
    #[inline]
    pub(crate) fn access_set(&self, thread: &mut Thread, (now, key): (Access, SiteKey), address: Address, rw: Rw) -> Option<BucketNumber> {
        let watch = self.watch.as_ref()?;
        let first = thread.site_entry(key).watched?;
        self.access_instance(watch, thread, (now, key, first), address, rw)
    }

    fn access_instance(
        &self,
        watch: &Watch,
        thread: &mut Thread,
        (now, key, first): (Access, SiteKey, Entry),
        address: Address,
        rw: Rw,
    ) -> Option<BucketNumber> {
        let meant = |entry: &Watched| match rw {
            Rw::Read => entry.kinds != Kinds::Writes,
            Rw::Write => entry.kinds != Kinds::Reads,
            Rw::Update => true,
        };
        let entry = watch.of_site(first, key).find(meant)?;
        let object = match entry.instance {
            Instance::Only => None,
            Instance::Object(offset) => Some(Address(address.0.checked_sub(offset as usize)?)),
        };
        let event = MemberAccess { thread: thread.number, member: entry.member, address, rw, access: now };
        let key = InstanceKey { set: entry.set, object };
        thread.pending_member = (key, event);
        Some(watch.instances.hold(key))
    }

    /// The access to an instance has happened: what it completes is observed, and its bucket is given up.
    pub(crate) fn accessed_set(&self, thread: &mut Thread, bucket: BucketNumber, effect: Effect) {
        let Some(watch) = &self.watch else { return };
        let (key, event) = thread.pending_member;
        let in_one = |earlier: Access, later: Access| thread.remembers(earlier) && thread.frames.in_one(earlier.at, later.at);
        let completed = watch.instances.access(bucket, key, event, effect, in_one);
        if let Some(pair) = completed.filter(|pair| thread.remembers(pair.first)) {
            // Who else was near an instance is not looked at.
            let seen = Seen { since: pair.atomicity, shared: pair.shared, near: Near::Nobody };
            self.observe(thread, (pair.first, event.access.site), event.rw, seen, Of::Set(key.set));
        }
        watch.instances.give_up(bucket);
    }
}
