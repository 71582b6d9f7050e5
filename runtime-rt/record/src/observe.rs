//! Fig. 5 of seed 002: two consecutive accesses of one thread to one address, and what came between, become an observation
//! of a pair. Over all observations the weakest atomicity wins, and only locks common to all remain.

use core::sync::atomic::Ordering;

use model::pair::{Atomicity, Meeting, Rw};
use model::recording::{Drop, MEETING_SHIFT, PAIR_LOCKS_SHARED, SITE_CONCURRENT};

use crate::cell::{Access, Findings, Mask, Slot};
use crate::frame::End;
use crate::hold::{Names, Protects};
use crate::mapping::{Pair, Site};
use crate::recorder::Recorder;
use crate::shadow::Address;
use crate::table::{PairIndex, SetIndex, SiteIndex, mix};
use crate::thread::{PairEntry, Thread};
use crate::watch::Of;
use crate::witness::Witnesses;

/// Whether two accesses by one site with one serial are two executions of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeats {
    /// An instruction: each access is an execution.
    Instruction,
    /// A library call: what it reads and writes with one serial is one execution.
    LibraryCall,
}

/// One access as it meets earlier ones.
pub(crate) struct Observer<'a> {
    pub(crate) recorder: &'a Recorder,
    pub(crate) thread: &'a mut Thread,
    pub(crate) now: Access,
    pub(crate) rw: Rw,
    /// What it leaves of others' pairs, as far as it is known before it has happened.
    pub(crate) leaves: Atomicity,
    pub(crate) repeats: Repeats,
    /// The last observation, which a wide access meets again in its next word.
    pub(crate) last: Option<(Access, Seen)>,
    /// Whether another thread has accessed the present word at a time that nothing puts before now.
    pub(crate) near: Near,
    /// The witnesses, if this access is one of those to look at closely.
    pub(crate) witnesses: Option<&'a Witnesses>,
    /// The word that is accessed now, and which of its bytes.
    pub(crate) place: (Address, Mask),
}

/// How one pair of accesses was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// What came between.
    pub(crate) since: Atomicity,
    /// Whether on memory that more than one thread used.
    pub(crate) shared: bool,
    /// Whether another thread was near enough.
    pub(crate) near: Near,
}

/// Whether an access of another thread to the same memory could have come between the two of a pair: its last one, before or
/// between them, neither happens before the second, nor is in its place otherwise than by the chance of who got a lock first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Near {
    /// Nobody's, or nobody looked.
    Nobody,
    /// Some thread's.
    Somebody,
}

impl Findings for Observer<'_> {
    #[inline]
    fn own(&mut self, earlier: Access, since: Atomicity, shared: bool) {
        let same_execution = self.repeats == Repeats::LibraryCall && earlier == self.now;
        let seen = Seen { since, shared, near: self.near };
        let observation = Some((earlier, seen));
        if !same_execution && self.last != observation && self.thread.remembers(earlier) {
            self.last = observation;
            self.recorder.observe(self.thread, (earlier, self.now.site), self.rw, seen, Of::Address);
        }
    }

    fn remote(&mut self, slot: &Slot) {
        self.recorder.edge(self.thread, slot.access.site, self.now.site, None);
        let meeting = self.meeting(slot);
        self.meet(slot, meeting);
        if meeting.is_some() {
            self.near = Near::Somebody;
        }
        let (word, bytes) = self.place;
        let Some(witness) = self.witnesses.and_then(|witnesses| witnesses.of(word, slot.thread)) else { return };
        if witness.access != slot.access && witness.access.at <= slot.access.at && !witness.bytes.and(bytes).is_empty() {
            // Where the last access came first by chance only, nothing is known of the order of earlier ones.
            let of_witness = self.meeting(&witness).or_else(|| meeting.map(|_| Meeting::Unordered).filter(|_| self.by_chance(slot)));
            self.meet(&witness, of_witness);
        }
    }
}

impl Observer<'_> {
    /// Under one lock, order is by chance: the other thread could have had it first.
    fn by_chance(&self, slot: &Slot) -> bool {
        self.recorder.held.meet(slot.locks, self.thread.held_set)
    }

    /// The access that happens now, as a word would remember it.
    pub(crate) fn slot(&self) -> Slot {
        let (thread, locks) = (self.thread.number, self.thread.held_set);
        Slot { bytes: self.place.1, thread, access: self.now, locks, since: Atomicity::Exclusive }
    }

    /// How another thread's access meets the one that happens now; `None`: it came before, and could not have come later.
    fn meeting(&self, slot: &Slot) -> Option<Meeting> {
        if self.by_chance(slot) {
            return Some(Meeting::UnderOneLock);
        }
        (!self.thread.clock.covers(slot.thread, slot.access.at)).then_some(Meeting::Unordered)
    }

    fn meet(&mut self, slot: &Slot, meeting: Option<Meeting>) {
        if meeting.is_none() {
            return;
        }
        self.recorder.concurrent(slot.access.site);
        self.recorder.concurrent(self.now.site);
        if self.rw.writes() || self.recorder.writes(slot.access.site) {
            self.recorder.edge(self.thread, slot.access.site, self.now.site, meeting);
        }
    }
}

impl Recorder {
    /// One observation of the pair of an earlier access and one that happens now.
    #[inline]
    pub(crate) fn observe(&self, thread: &mut Thread, (earlier, site): (Access, SiteIndex), rw: Rw, seen: Seen, of: Of) {
        let Seen { since, shared, near } = seen;
        let ends = thread.frames.frontier(earlier.at).and_then(|(head, tail)| {
            let node = |thread: &mut Thread, end, access| match end {
                End::Access => Ok(access),
                End::Call(key) => self.call_site(thread, key).ok_or(Drop::TableFull),
            };
            Ok((node(thread, head, earlier.site)?, node(thread, tail, site)?))
        });
        let (head, tail) = match ends {
            Ok(ends) => ends,
            Err(_) if of != Of::Address => return,
            Err(cause) => {
                self.drop_count(thread, cause);
                self.edge(thread, earlier.site, site, None);
                return;
            }
        };
        let locks = self.common_locks(thread, earlier, rw);
        let sites = [head, tail, earlier.site, site];
        let number = thread.number;
        let entry = thread.pair_entry(sites, of);
        if !entry.used || entry.sites != sites || entry.of != of {
            self.flush_pair(entry);
            let Some(index) = self.pair(sites, of, locks) else {
                return self.drop_count(thread, Drop::TableFull);
            };
            let pair = self.pairs.at(index);
            pair.threads.fetch_or(1 << (number.0 % 64), Ordering::Relaxed);
            *entry = PairEntry {
                used: true,
                atomicity: Atomicity::Exclusive,
                sites,
                of,
                index,
                met: (locks, shared),
                seen: crate::thread::Tally::default(),
                shared: crate::thread::Tally::default(),
                near: crate::thread::Tally::default(),
            };
            self.meet_pair_locks(pair, locks, shared);
        }
        let pair = self.pairs.at(entry.index);
        if since < entry.atomicity {
            if pair.atomicity.fetch_min(since as u32, Ordering::Relaxed) > since as u32 {
                self.pace.news();
            }
            entry.atomicity = since;
        }
        if (locks, shared) != entry.met {
            self.meet_pair_locks(pair, locks, shared);
            entry.met = (locks, shared);
        }
        if let Some(count) = entry.seen.count() {
            pair.seen.fetch_add(count, Ordering::Relaxed);
        }
        if shared && let Some(count) = entry.shared.count() {
            pair.shared.fetch_add(count, Ordering::Relaxed);
        }
        if near == Near::Somebody
            && let Some(count) = entry.near.count()
        {
            pair.near.fetch_add(count, Ordering::Relaxed);
        }
    }

    /// The locks whose same instance is held at both accesses.
    #[inline]
    fn common_locks(&self, thread: &Thread, earlier: Access, rw: Rw) -> SetIndex {
        if thread.holds.is_empty() {
            return SetIndex::EMPTY;
        }
        let protects = if rw.writes() || self.writes(earlier.site) { Protects::Writes } else { Protects::Reads };
        self.set(&thread.holds.names_since(earlier.at, protects))
    }

    /// Whether a site is known to write.
    fn writes(&self, site: SiteIndex) -> bool {
        self.sites.get(site.0).is_some_and(|site| site.kind.load(Ordering::Relaxed) & !SITE_CONCURRENT > 1)
    }

    fn pair(&self, sites: [SiteIndex; 4], of: Of, locks: SetIndex) -> Option<PairIndex> {
        let [head, tail, first, second] = sites.map(|site| u64::from(site.0));
        let hash = mix(mix(head << 32 | tail ^ u64::from(of.number())).wrapping_add(first << 32 | second));
        let is = |pair: &Pair| {
            let same = sites.iter().zip(&pair.sites).all(|(site, stored)| site.0 == stored.load(Ordering::Relaxed));
            same && pair.of.load(Ordering::Relaxed) == of.number()
        };
        let fill = |pair: &Pair| {
            self.pace.news();
            sites.iter().zip(&pair.sites).for_each(|(site, stored)| stored.store(site.0, Ordering::Relaxed));
            pair.atomicity.store(Atomicity::Exclusive as u32, Ordering::Relaxed);
            pair.locks.store(locks.0, Ordering::Relaxed);
            pair.of.store(of.number(), Ordering::Relaxed);
        };
        self.pairs.intern(hash, is, fill).map(PairIndex)
    }

    /// Adds what this thread counted and has not added.
    pub(crate) fn flush_pair(&self, entry: &mut PairEntry) {
        if entry.used {
            let pair = self.pairs.at(entry.index);
            pair.seen.fetch_add(entry.seen.rest(), Ordering::Relaxed);
            pair.shared.fetch_add(entry.shared.rest(), Ordering::Relaxed);
            pair.near.fetch_add(entry.near.rest(), Ordering::Relaxed);
        }
    }

    /// Keeps only those locks of a site that are in this set too.
    fn meet_site_locks(&self, site: &Site, locks: SetIndex) {
        let _ = site.locks.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |old| {
            let common = old.checked_sub(1).map_or(locks, |known| self.intersection(SetIndex(known), locks));
            Some(common.0 + 1)
        });
    }

    /// The same for a pair, where what is held on shared memory replaces what was held before there was any: a program need not
    /// lock what it has not shared yet.
    fn meet_pair_locks(&self, pair: &Pair, locks: SetIndex, shared: bool) {
        let _ = pair.locks.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |old| {
            let known = SetIndex(old & !PAIR_LOCKS_SHARED);
            match (old & PAIR_LOCKS_SHARED != 0, shared) {
                (true, true) => Some(self.intersection(known, locks).0 | PAIR_LOCKS_SHARED),
                (false, true) => Some(locks.0 | PAIR_LOCKS_SHARED),
                (true, false) => None,
                (false, false) => Some(self.intersection(known, locks).0),
            }
        });
    }

    fn intersection(&self, a: SetIndex, b: SetIndex) -> SetIndex {
        if a == b || a == SetIndex::EMPTY {
            return a;
        }
        let other = self.names(b);
        let mut common = Names::NONE;
        self.names(a).as_slice().iter().filter(|name| other.as_slice().contains(name)).for_each(|&name| common.add(name));
        self.set(&common)
    }

    /// The site met an access of another thread that could have come at another time.
    #[inline]
    fn concurrent(&self, site: SiteIndex) {
        if let Some(site) = self.sites.get(site.0)
            && site.kind.load(Ordering::Relaxed) & SITE_CONCURRENT == 0
        {
            site.kind.fetch_or(SITE_CONCURRENT, Ordering::Relaxed);
        }
    }

    /// Two sites touched the same memory, and may have met there.
    pub(crate) fn edge(&self, thread: &mut Thread, a: SiteIndex, b: SiteIndex, meeting: Option<Meeting>) {
        let (a, b) = (a.min(b), a.max(b));
        let ends = [a.0, b.0 | meeting.map_or(0, |meeting| meeting as u32) << MEETING_SHIFT];
        if (a == b && meeting.is_none()) || !thread.is_new_edge(ends) {
            return;
        }
        let hash = mix(u64::from(ends[0]) << 32 | u64::from(ends[1]));
        let entry = self.edges.intern(
            hash,
            |edge| edge.0.iter().zip(ends).all(|(stored, end)| stored.load(Ordering::Relaxed) == end),
            |edge| edge.0.iter().zip(ends).for_each(|(stored, end)| stored.store(end, Ordering::Relaxed)),
        );
        if entry.is_none() {
            self.drop_count(thread, Drop::TableFull);
        }
    }

    /// An access at this site was to memory that several threads use.
    pub(crate) fn shared_access(&self, thread: &mut Thread, key: model::ids::SiteKey, rw: Rw) {
        let held = thread.held[usize::from(rw.writes())];
        let entry = thread.site_entry(key);
        let site: &Site = self.sites.at(entry.index);
        if let Some(count) = entry.shared.count() {
            site.shared.fetch_add(count, Ordering::Relaxed);
        }
        if entry.met != Some(held) {
            self.meet_site_locks(site, held);
            entry.met = Some(held);
        }
    }
}
