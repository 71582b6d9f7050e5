//! Events in, observations out: what the hooks and the interposed functions do, as ordinary functions of the recorder and
//! one thread.

use core::sync::atomic::{AtomicU32, Ordering};

use model::ids::{FunctionKey, SiteKey};
use model::pair::{Atomicity, Rw};
use model::recording::{Drop, RANGE_LIMIT, SITE_CONCURRENT, Section};

use crate::cell::{Access, Mask, Now, Room, ThreadNumber, access_owned, access_shared, owned_accesses};
use crate::change::{Effect, LONGEST, Store};
use crate::frame::{Serial, StackAddress};
use crate::held::HeldSets;
use crate::hold::Names;
use crate::made::Made;
use crate::mapping::{Edge, Joint, Lock, Mapping, Pair, Set, Site};
use crate::observe::{Near, Observer, Repeats};
use crate::order::Order;
use crate::pace::Pace;
use crate::quarantine::{End, Quarantine};
use crate::shadow::{Address, Held, Public, Shadow};
use crate::sys;
use crate::table::{LockIndex, SetIndex, SiteIndex, Table, mix};
use crate::thread::{Region, SiteEntry, Tally, Thread};
use crate::watch::Watch;
use crate::witness::Witnesses;

/// Bytes of a range whose words are looked at closely.
const LONGEST_WITNESSED: u64 = 256;

/// One process's recording in the making.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) mapping: Mapping,
    pub(crate) sites: Table<Site>,
    pub(crate) pairs: Table<Pair>,
    pub(crate) edges: Table<Edge>,
    pub(crate) locks: Table<Lock>,
    pub(crate) sets: Table<Set>,
    pub(crate) joints: Table<Joint>,
    /// The correlated sets to watch, if there are any.
    pub(crate) watch: Option<Watch>,
    pub(crate) shadow: Shadow,
    pub(crate) order: Order,
    pub(crate) held: HeldSets,
    pub(crate) witnesses: Witnesses,
    pub(crate) made: Made,
    pub(crate) quarantine: &'static Quarantine,
    pub(crate) pace: &'static Pace,
    /// The executable's data, in which locks have names.
    pub(crate) executable: Region,
    pub(crate) slide: usize,
    threads: AtomicU32,
}

impl Recorder {
    /// Over a fresh recording.
    pub(crate) fn new(mapping: Mapping, executable: Region, slide: usize, pace: &'static Pace, watch: Option<Watch>) -> Option<Self> {
        pace.begin();
        let recorder = Self {
            mapping,
            sites: Table::new(mapping.sites(), mapping.count_of(Section::Sites))?,
            pairs: Table::new(mapping.pairs(), mapping.count_of(Section::Pairs))?,
            edges: Table::new(mapping.edges(), mapping.count_of(Section::Edges))?,
            locks: Table::new(mapping.locks(), mapping.count_of(Section::Locks))?,
            sets: Table::new(mapping.sets(), mapping.count_of(Section::Sets))?,
            joints: Table::new(mapping.joints(), mapping.count_of(Section::Joints))?,
            watch,
            shadow: Shadow::new()?,
            order: Order::new()?,
            held: HeldSets::new()?,
            witnesses: Witnesses::new()?,
            made: Made::new()?,
            quarantine: &sys::leak::<Quarantine>(1)?[0],
            pace,
            executable,
            slide,
            threads: AtomicU32::new(0),
        };
        recorder.set(&Names::NONE);
        Some(recorder)
    }

    /// A number for one more thread; `None` when all are used up.
    pub(crate) fn add_thread(&self, public: &'static Public) -> Option<ThreadNumber> {
        let number = self.threads.fetch_add(1, Ordering::Relaxed);
        let number = u16::try_from(number).ok().filter(|&number| usize::from(number) < ThreadNumber::COUNT).map(ThreadNumber)?;
        self.shadow.add_thread(number, public);
        Some(number)
    }

    /// Counts something that is not recorded.
    #[cold]
    pub(crate) fn drop_count(&self, thread: &mut Thread, cause: Drop) {
        if let Some(count) = thread.drop_count(cause) {
            self.mapping.drop_count(cause, count);
        }
    }

    /// An access is about to happen; the right to touch its line is held until `end`, which must follow `Some`.
    #[inline]
    pub(crate) fn begin(
        &self,
        thread: &mut Thread,
        public: &Public,
        (address, size): (Address, usize),
        rw: Rw,
        key: SiteKey,
        stack: StackAddress,
    ) -> Option<()> {
        thread.frames.unwind(stack);
        self.settle_wait(thread);
        let site = self.accessing_site(thread, key, rw)?;
        if !thread.frames.followed() {
            self.drop_count(thread, Drop::TooDeep);
            return None;
        }
        let now = Access { site, at: thread.frames.now() };
        if rw == Rw::Update {
            thread.updated.add(address);
        }
        let witnesses = thread.site_entry(key).seen.is_sampled().then_some(&self.witnesses);
        let place = (address, Mask::NONE);
        let first_line = size.min(64 - address.0 % 64);
        let is_compared = rw.writes() && size == first_line && size <= LONGEST;
        let leaves = match rw {
            Rw::Write if is_compared => Atomicity::Exclusive,
            Rw::Update if is_compared => Atomicity::Read,
            Rw::Read => Atomicity::Read,
            Rw::Write | Rw::Update => Atomicity::None,
        };
        let (repeats, near) = (Repeats::Instruction, Near::Nobody);
        let mut observer = Observer { recorder: self, thread, now, rw, leaves, repeats, last: None, near, witnesses, place };
        let mut shared = false;
        if size > first_line {
            shared = self.lines(&mut observer, public, Address(address.0 + first_line), size - first_line);
        }
        let held = self.hold(&mut observer, public, address);
        if let Some(held) = held {
            shared |= self.words(&mut observer, held, address, first_line);
        }
        if shared {
            self.shared_access(thread, key, rw);
        }
        self.mine(thread, (now, key), address);
        if held.is_some() {
            thread.pending_instance = self.access_set(thread, (now, key), address, rw);
        }
        thread.pending_store = match held {
            Some(Held::Stripe(page, _)) if is_compared => Some(Store { page, address, length: size }),
            _ => None,
        };
        if self.pace.count(&mut thread.quiet, 1) {
            self.drop_count(thread, Drop::Paused);
        }
        held?;
        public.accessing.store(stack.0, Ordering::Relaxed);
        thread.pending = match held {
            Some(Held::Stripe(_, number)) => Some(number),
            _ => None,
        };
        Some(())
    }

    /// The access has happened.
    #[inline]
    pub(crate) fn end(&self, thread: &mut Thread, public: &Public, effect: Effect) {
        if let Some(store) = thread.pending_store.take().filter(|_| effect == Effect::Changed)
            && self.shadow.weaken(store, thread.number) == Room::Full
        {
            self.drop_count(thread, Drop::WordFull);
        }
        if let Some(number) = thread.pending_instance.take() {
            self.accessed_set(thread, number, effect);
        }
        self.shadow.release_pending(thread.pending.take(), public);
        public.accessing.store(0, Ordering::Relaxed);
    }

    /// A library call touches a range.
    pub(crate) fn range(&self, thread: &mut Thread, public: &Public, (address, length): (Address, u64), rw: Rw, key: SiteKey) {
        if !thread.frames.followed() {
            return self.drop_count(thread, Drop::TooDeep);
        }
        self.settle_wait(thread);
        let Some(site) = self.accessing_site(thread, key, rw) else { return };
        if length > RANGE_LIMIT {
            self.drop_count(thread, Drop::LongRange);
        }
        // What a call writes after it has read is the same execution of it.
        let continued = thread.range.take().filter(|read| rw.writes() && read.site == site);
        let now = continued.unwrap_or_else(|| Access { site, at: thread.frames.tick() });
        thread.range = Some(now).filter(|_| !rw.writes());
        let witnesses = (length <= LONGEST_WITNESSED && thread.site_entry(key).seen.is_sampled()).then_some(&self.witnesses);
        let place = (address, Mask::NONE);
        let leaves = if rw.writes() { Atomicity::None } else { Atomicity::Read };
        let (repeats, near) = (Repeats::LibraryCall, Near::Nobody);
        let mut observer = Observer { recorder: self, thread, now, rw, leaves, repeats, last: None, near, witnesses, place };
        let length = usize::try_from(length.min(RANGE_LIMIT)).unwrap_or(usize::MAX);
        if self.lines(&mut observer, public, address, length) {
            self.shared_access(thread, key, rw);
        }
        self.mine(thread, (now, key), address);
        if let Some(number) = self.access_set(thread, (now, key), address, rw) {
            self.accessed_set(thread, number, Effect::Changed);
        }
        if self.pace.count(&mut thread.quiet, u32::try_from(length / 8).unwrap_or(u32::MAX)) {
            self.drop_count(thread, Drop::Paused);
        }
    }

    /// Accesses line by line, each held for its bookkeeping only. Whether any byte is shared.
    fn lines(&self, observer: &mut Observer<'_>, public: &Public, address: Address, length: usize) -> bool {
        let end = address.0.saturating_add(length);
        let mut at = address.0;
        let mut shared = false;
        while at < end {
            let Some(held) = self.hold(observer, public, Address(at)) else { break };
            let unit = match held {
                Held::Owned(_) => 4096,
                Held::Stripe(..) => 64,
            };
            let next = (at / unit + 1).saturating_mul(unit).min(end);
            shared |= self.words(observer, held, Address(at), next - at);
            self.shadow.release(held, public);
            at = next;
        }
        shared
    }

    #[inline]
    fn hold(&self, observer: &mut Observer<'_>, public: &Public, address: Address) -> Option<Held> {
        let page = observer.thread.page(address, || self.shadow.page(address));
        let held = page.and_then(|page| self.shadow.hold(page, address, observer.thread.number, public));
        if held.is_none() {
            self.drop_count(observer.thread, Drop::OutOfMemory);
        } else if page.and_then(|page| page.starts.get()).is_some_and(|starts| starts.is_freed(address)) {
            self.touches_freed(observer, address);
        }
        held
    }

    #[cold]
    fn touches_freed(&self, observer: &Observer<'_>, address: Address) {
        if self.quarantine.freed_by_other(address, observer.thread.number) {
            self.mapping.used_after_free(observer.now.site);
        }
    }

    /// Accesses words that are held. Whether any byte is shared.
    #[inline]
    fn words(&self, observer: &mut Observer<'_>, held: Held, address: Address, length: usize) -> bool {
        let (mut at, mut left, mut shared) = (address, length, false);
        let own_stack = observer.thread.stack.contains(address);
        while left > 0 {
            let (bytes, count) = at.bytes(left);
            if own_stack {
                self.forget_dead_object(observer.thread, held, at);
            }
            observer.near = Near::Nobody;
            observer.place = (at, bytes);
            let room = match held {
                Held::Owned(block) => {
                    let now = observer.now;
                    access_owned(block.word(at), bytes, now, |earlier| {
                        crate::cell::Findings::own(observer, earlier, Atomicity::Exclusive, false);
                    })
                }
                Held::Stripe(page, _) => {
                    let (thread, locks) = (observer.thread.number, observer.thread.held_set);
                    let now = Now { bytes, thread, access: observer.now, locks, leaves: observer.leaves };
                    let (touched, room) = access_shared(&mut self.shadow.slots(page, at), now, observer);
                    shared |= touched != Mask::NONE;
                    room
                }
            };
            if room == Room::Full {
                self.drop_count(observer.thread, Drop::WordFull);
            }
            if let Some(witnesses) = observer.witnesses {
                witnesses.consider(at, observer.slot());
            }
            at.0 += count;
            left -= count;
        }
        shared
    }

    /// On the thread's own stack another object may have stood at this address.
    #[cold]
    fn forget_dead_object(&self, thread: &Thread, held: Held, address: Address) {
        let dead = |at: Serial| !thread.frames.lived_since(StackAddress(address.0), at);
        let any_dead = match held {
            Held::Owned(block) => owned_accesses(block.word(address)).any(|(_, access)| dead(access.at)),
            Held::Stripe(page, _) => {
                let slots = self.shadow.slots(page, address);
                (0..crate::cell::Slots::count(&slots))
                    .map(|n| crate::cell::Slots::slot(&slots, n).load())
                    .any(|slot| slot.bytes != Mask::NONE && slot.thread == thread.number && dead(slot.access.at))
            }
        };
        if any_dead {
            self.shadow.clear_word(held, address);
        }
    }

    /// The site of an access, counted.
    #[inline]
    pub(crate) fn accessing_site(&self, thread: &mut Thread, key: SiteKey, rw: Rw) -> Option<SiteIndex> {
        let index = self.site(thread, key)?;
        let entry = thread.site_entry(key);
        if let Some(count) = entry.seen.count() {
            let site = self.sites.at(index);
            site.seen.fetch_add(count, Ordering::Relaxed);
            // A library call may read and write.
            let new = rw as u32 + 1;
            let known = site.kind.load(Ordering::Relaxed);
            if known & !SITE_CONCURRENT != new {
                let _ = site.kind.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |old| {
                    let kind = match old & !SITE_CONCURRENT {
                        0 => new,
                        same if same == new => same,
                        _ => Rw::Update as u32 + 1,
                    };
                    Some(kind | old & SITE_CONCURRENT)
                });
            }
        }
        Some(index)
    }

    /// The site of a call that contains accesses.
    pub(crate) fn call_site(&self, thread: &mut Thread, key: SiteKey) -> Option<SiteIndex> {
        self.site(thread, key)
    }

    #[inline]
    fn site(&self, thread: &mut Thread, key: SiteKey) -> Option<SiteIndex> {
        let entry = thread.site_entry(key);
        if entry.used && entry.key == key {
            return Some(entry.index);
        }
        self.load_site(thread, key)
    }

    #[cold]
    fn load_site(&self, thread: &mut Thread, key: SiteKey) -> Option<SiteIndex> {
        self.flush_site(thread.site_entry(key));
        self.pace.meet(key.0);
        let found = self.sites.intern(
            mix(key.0),
            |site| site.key.load(Ordering::Relaxed) == key.0,
            |site| site.key.store(key.0, Ordering::Relaxed),
        );
        let Some(index) = found.map(SiteIndex) else {
            self.drop_count(thread, Drop::TableFull);
            return None;
        };
        let watched = self.watch.as_ref().and_then(|watch| watch.first(key));
        *thread.site_entry(key) =
            SiteEntry { used: true, met: None, key, index, seen: Tally::default(), shared: Tally::default(), watched };
        Some(index)
    }

    fn flush_site(&self, entry: &mut SiteEntry) {
        if entry.used {
            let site = self.sites.at(entry.index);
            site.seen.fetch_add(entry.seen.rest(), Ordering::Relaxed);
            site.shared.fetch_add(entry.shared.rest(), Ordering::Relaxed);
        }
    }

    /// Adds up what the thread has counted by itself.
    pub(crate) fn flush(&self, thread: &mut Thread) {
        let (sites, pairs, joints) = thread.entries();
        sites.iter_mut().for_each(|entry| self.flush_site(entry));
        pairs.iter_mut().for_each(|entry| self.flush_pair(entry));
        joints.iter_mut().for_each(|entry| self.flush_joint(entry));
        for (cause, count) in thread.rest_of_drops() {
            self.mapping.drop_count(cause, count);
        }
    }

    /// An activation begins.
    #[inline]
    pub(crate) fn enter(&self, thread: &mut Thread, frame: StackAddress, function: FunctionKey, stack: StackAddress) {
        self.pace.meet(function.0);
        if thread.frames.restart_if_exhausted() {
            self.drop_count(thread, Drop::SerialRestart);
            if let Some(history) = self.shadow.history(thread.number) {
                history.restart();
            }
        }
        thread.frames.enter(frame, stack);
    }

    /// The activation is about to call.
    #[inline]
    pub(crate) fn call(&self, thread: &mut Thread, frame: StackAddress, site: SiteKey, stack: StackAddress) {
        self.pace.meet(site.0);
        thread.frames.call(frame, stack, site);
    }

    /// The index of a set of names. A full table gives the empty set: weaker, never stronger.
    pub(crate) fn set(&self, names: &Names) -> SetIndex {
        let names = names.as_slice();
        let hash = names.iter().fold(u64::try_from(names.len()).unwrap_or(0), |hash, name| mix(hash ^ u64::from(name.0) << 20));
        #[expect(clippy::cast_possible_truncation, reason = "fewer than 2^16 locks and 16 in a set")]
        let words = || core::iter::once(names.len() as u16).chain(names.iter().map(|name| name.0 as u16));
        let is = |set: &Set| words().zip(&set.0).all(|(word, stored)| stored.load(Ordering::Relaxed) == word);
        let fill = |set: &Set| words().zip(&set.0).for_each(|(word, stored)| stored.store(word, Ordering::Relaxed));
        self.sets.intern(hash, is, fill).map_or(SetIndex::EMPTY, SetIndex)
    }

    /// The names in a set.
    pub(crate) fn names(&self, set: SetIndex) -> Names {
        let mut names = Names::NONE;
        if let Some(Set([count, locks @ ..])) = self.sets.get(set.0) {
            let count = usize::from(count.load(Ordering::Relaxed));
            locks.iter().take(count).for_each(|lock| names.add(LockIndex(u32::from(lock.load(Ordering::Relaxed)))));
        }
        names
    }

    /// A heap block begins a new object.
    pub(crate) fn allocate(&self, thread: &mut Thread, caller: Option<SiteKey>, start: Address) {
        let site = caller.and_then(|caller| self.call_site(thread, caller));
        self.shadow.add_start(start, site);
    }

    /// A heap block ends. Whether it is kept for a while; `give_back` is for those that there is no more room for.
    pub(crate) fn free(
        &self,
        thread: &Thread,
        public: &Public,
        (start, length): (Address, usize),
        end: End,
        give_back: impl Fn(Address),
    ) -> bool {
        let lives = self.shadow.is_start(start);
        if !lives && self.quarantine.take_out(&self.shadow, start) {
            // It had ended before: whatever the C library has to say to that, it is to say.
            give_back(start);
            return false;
        }
        // First of all: whoever comes to the block after it was forgotten finds it kept.
        let kept = lives && end == End::Freed && self.quarantine.keep(&self.shadow, (start, length), thread.number, give_back);
        self.shadow.remove_start(start);
        self.shadow.forget(start, length, thread.number, public);
        if let Some(watch) = &self.watch {
            watch.instances.forget(start, length);
        }
        kept
    }

    /// The thread ends: its stack will be another thread's.
    pub(crate) fn end_thread(&self, thread: &mut Thread, public: &Public) {
        self.flush(thread);
        self.shadow.forget(Address(thread.stack.start), thread.stack.length, thread.number, public);
    }

    /// In a forked child, after the mapping was replaced by `replace`: everything it knows that other threads of the parent
    /// held is free, sites, locks and sets keep their numbers, pairs and edges start anew.
    pub(crate) fn after_fork(&self, thread: &mut Thread, replace: impl FnOnce() -> bool) -> bool {
        let kept = [Section::Sites, Section::Locks, Section::Sets].map(|section| (section, self.mapping.copy_out(section)));
        if !replace() {
            return false;
        }
        for (section, words) in kept {
            if !words.is_some_and(|words| self.mapping.copy_in(section, words)) {
                return false;
            }
        }
        let sites = (0..self.sites.count()).map(|number| self.sites.at(number));
        for site in sites {
            site.seen.store(0, Ordering::Relaxed);
            site.shared.store(0, Ordering::Relaxed);
            site.locks.store(0, Ordering::Relaxed);
        }
        self.sites.after_fork();
        self.locks.after_fork();
        self.sets.after_fork();
        self.pairs.after_fork();
        self.edges.after_fork();
        self.joints.after_fork();
        if let Some(watch) = &self.watch {
            watch.instances.after_fork();
        }
        self.order.after_fork();
        self.held.after_fork();
        self.quarantine.after_fork();
        self.pace.begin();
        self.pairs.clear_index();
        self.edges.clear_index();
        self.joints.clear_index();
        thread.after_fork();
        self.shadow.after_fork(thread.number);
        true
    }
}
