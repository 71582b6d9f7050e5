//! The instances of correlated sets: who accessed which of its variables last, and whether two threads got into each other's way.
//!
//! A set has an instance for each object, or only one. An instance remembers the last read and the last write of each variable by
//! each thread, with their order. Two accesses of one thread to different variables, one after the other, are a pair. So are two to the same
//! variable where the activation that contains both accessed another one before: what `x = 1; y = y + 1` does is not done when y was read.
//!
//! Fig. 5 of seed 002 would take any remote write between them as proof that they need not be atomic. For two variables that is too much:
//! when another thread writes both right behind a reader of both, every step comes "between", and still nobody can tell. So a pair is weakened
//! only by accesses of another thread, near each other, that come *after* its first end on that variable and *before* its
//! second end on the other one, where both conflict: then no order of the two threads explains what happened. Of a pair of one variable, to come
//! after anything before its first end is as good, if one of the two accesses lies between: a reader of the new x, and then of y before its write.
//!
//! Memory is bounded: buckets by page, in which a new instance takes the place of the oldest. With it goes its whole history, so no
//! pair spans the gap. A bucket is held from the bookkeeping until the access has happened.

use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use model::pair::{Atomicity, Rw};

use crate::cell::{Access, ThreadNumber};
use crate::change::Effect;
use crate::frame::Serial;
use crate::joint::is_near;
use crate::shadow::{Address, PAGE};
use crate::sys::{self, Spin, Zeroed};
use crate::table::{SiteIndex, mix};

/// An instance: the set, and the object's address, or none if there is only one instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InstanceKey {
    pub(crate) set: u16,
    pub(crate) object: Option<Address>,
}

impl InstanceKey {
    fn words(self) -> (u32, usize) {
        (u32::from(self.set) + 1, self.object.map_or(0, |object| object.0))
    }
}

/// Which bucket is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BucketNumber(u16);

/// An access to one variable of a set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemberAccess {
    pub(crate) thread: ThreadNumber,
    pub(crate) member: Option<u8>,
    pub(crate) address: Address,
    pub(crate) rw: Rw,
    pub(crate) access: Access,
}

/// A pair that an access completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Completed {
    pub(crate) first: Access,
    pub(crate) atomicity: Atomicity,
    /// Whether another thread has accessed the instance.
    pub(crate) shared: bool,
}

const BUCKETS: usize = 1 << 11;
const WAYS: usize = 8;
const SLOTS: usize = 16;

/// The last read or the last write of one variable by one thread. A zeroed one is free.
#[derive(Debug)]
struct Slot {
    /// When, among all accesses to the instance; 0: free.
    order: AtomicU64,
    serial: AtomicU64,
    site: AtomicU32,
    /// `thread << 16 | member << 8 | kind`; member 0: depends on the address, else 1 + member.
    who: AtomicU32,
    address: AtomicUsize,
}

#[derive(Clone, Copy)]
struct Known {
    order: u64,
    access: Access,
    thread: ThreadNumber,
    variable: Variable,
    kind: Kind,
}

/// What an access did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Read,
    /// It changed the memory.
    Write,
    /// It stored what stood there (`change`).
    Silent,
}

impl Kind {
    fn of(bits: u32) -> Self {
        match bits & 3 {
            0 => Self::Read,
            1 => Self::Write,
            _ => Self::Silent,
        }
    }

    /// Whether the order of the two matters, if this one came first. A silent store could as well have come before the write whose
    /// value it repeats.
    fn conflicts(self, later: Self) -> bool {
        matches!((self, later), (Self::Write, Self::Read | Self::Write) | (Self::Read | Self::Silent, Self::Write))
    }
}

/// All that one access did, in order.
fn kinds(rw: Rw, effect: Effect) -> impl Iterator<Item = Kind> + Clone {
    let kinds = match (rw, effect) {
        (Rw::Read, _) | (Rw::Update, Effect::Silent) => [Some(Kind::Read), None],
        (Rw::Write, Effect::Silent) => [Some(Kind::Silent), None],
        (Rw::Write, Effect::Changed) => [Some(Kind::Write), None],
        (Rw::Update, Effect::Changed) => [Some(Kind::Read), Some(Kind::Write)],
    };
    kinds.into_iter().flatten()
}

/// A variable of the set: by its number where the site says it, otherwise by its address.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Variable {
    member: Option<u8>,
    address: Address,
}

impl Variable {
    fn is(self, other: Self) -> bool {
        match (self.member, other.member) {
            (Some(member), Some(its)) => member == its,
            _ => self.address == other.address,
        }
    }
}

impl Slot {
    fn load(&self) -> Option<Known> {
        let order = self.order.load(Ordering::Relaxed);
        let who = self.who.load(Ordering::Relaxed);
        let access = Access { site: SiteIndex(self.site.load(Ordering::Relaxed)), at: Serial::new(self.serial.load(Ordering::Relaxed)) };
        #[expect(clippy::cast_possible_truncation, reason = "parts of a word are meant")]
        let (thread, member) = (ThreadNumber((who >> 16) as u16), (who >> 8) as u8);
        let variable = Variable { member: member.checked_sub(1), address: Address(self.address.load(Ordering::Relaxed)) };
        (order != 0).then_some(Known { order, access, thread, variable, kind: Kind::of(who) })
    }

    fn store(&self, known: Known) {
        let member = known.variable.member.map_or(0, |member| 1 + u32::from(member));
        let who = u32::from(known.thread.0) << 16 | member << 8 | known.kind as u32;
        self.address.store(known.variable.address.0, Ordering::Relaxed);
        self.who.store(who, Ordering::Relaxed);
        self.site.store(known.access.site.0, Ordering::Relaxed);
        self.serial.store(known.access.at.number(), Ordering::Relaxed);
        self.order.store(known.order, Ordering::Relaxed);
    }
}

#[derive(Debug)]
struct Instance {
    /// 0: free; else the set and 1.
    set: AtomicU32,
    object: AtomicUsize,
    clock: AtomicU64,
    slots: [Slot; SLOTS],
}

impl Instance {
    fn clear(&self) {
        self.set.store(0, Ordering::Relaxed);
        self.clock.store(0, Ordering::Relaxed);
        self.slots.iter().for_each(|slot| slot.order.store(0, Ordering::Relaxed));
    }

    fn known(&self) -> impl Iterator<Item = Known> + '_ {
        self.slots.iter().filter_map(Slot::load)
    }

    /// An access happens; the pair that it completes, if it does. `in_one`: whether both lie in the activation that contains the second and now.
    fn access(&self, now: MemberAccess, effect: Effect, in_one: impl Fn(Access, Access) -> bool) -> Option<Completed> {
        let order = self.clock.fetch_add(1, Ordering::Relaxed) + 1;
        let variable = Variable { member: now.member, address: now.address };
        let mine = |known: &Known| known.thread == now.thread && is_near(known.access.at, now.access.at);
        let completed = self.known().filter(mine).max_by_key(|known| known.order).and_then(|first| {
            let same = first.variable.is(variable);
            let earlier = |known: &Known| same && mine(known) && !known.variable.is(variable) && in_one(known.access, first.access);
            let goes_on = !same || self.known().any(|known| earlier(&known));
            goes_on.then(|| Completed {
                first: first.access,
                atomicity: self.weakest(first, earlier, (now, effect), variable),
                shared: self.known().any(|known| known.thread != now.thread),
            })
        });
        for kind in kinds(now.rw, effect) {
            self.remember(Known { order, access: now.access, thread: now.thread, variable, kind });
        }
        completed
    }

    /// What other threads left of a pair, of which `earlier` says what else its thread had done before.
    fn weakest(
        &self,
        first: Known,
        earlier: impl Fn(&Known) -> bool,
        (second, effect): (MemberAccess, Effect),
        variable: Variable,
    ) -> Atomicity {
        let mut weakest = Atomicity::Exclusive;
        // An update is remembered as a read and as a write.
        let begun = |known: &Known| (known.thread == first.thread && known.order == first.order) || earlier(known);
        let after = |known: &Known| {
            let is_behind = |mine: Known| known.variable.is(mine.variable) && known.order > mine.order && mine.kind.conflicts(known.kind);
            self.known().filter(begun).any(is_behind)
        };
        for behind in self.known().filter(|known| known.thread != second.thread).filter(after) {
            let before = |known: &Known| {
                let conflicts = kinds(second.rw, effect).any(|kind| known.kind.conflicts(kind));
                let near = is_near(known.access.at, behind.access.at) || is_near(behind.access.at, known.access.at);
                let between = known.order.max(behind.order) > first.order;
                known.thread == behind.thread && known.variable.is(variable) && conflicts && near && between
            };
            for other in self.known().filter(before) {
                let only_read = behind.kind == Kind::Read && other.kind == Kind::Read;
                let left = if only_read { Atomicity::Read } else { Atomicity::None };
                weakest = weakest.meet(left);
            }
        }
        weakest
    }

    fn remember(&self, new: Known) {
        let same = |known: &Known| known.thread == new.thread && known.variable.is(new.variable) && known.kind == new.kind;
        let place = self.slots.iter().position(|slot| slot.load().is_some_and(|known| same(&known)));
        let oldest = || self.slots.iter().enumerate().min_by_key(|(_, slot)| slot.order.load(Ordering::Relaxed)).map(|(n, _)| n);
        if let Some(place) = place.or_else(oldest) {
            self.slots[place].store(new);
        }
    }
}

#[derive(Debug)]
struct Bucket {
    lock: Spin,
    next: AtomicU32,
    instances: [Instance; WAYS],
}

// SAFETY: atomic integers and a free lock.
unsafe impl Zeroed for Bucket {}

#[expect(clippy::cast_possible_truncation, reason = "taken modulo the number of buckets first")]
fn bucket_of(number: u64) -> BucketNumber {
    BucketNumber((mix(number) % BUCKETS as u64) as u16)
}

/// That of the objects that begin in a page. Sets with one instance have smaller numbers.
fn bucket_of_page(page: usize) -> BucketNumber {
    bucket_of((page as u64) << 16)
}

/// All instances of all sets.
#[derive(Debug)]
pub(crate) struct Instances(&'static [Bucket]);

impl Instances {
    pub(crate) fn new() -> Option<Self> {
        Some(Self(sys::leak(BUCKETS)?))
    }

    fn number(key: InstanceKey) -> BucketNumber {
        key.object.map_or_else(|| bucket_of(u64::from(key.set)), |object| bucket_of_page(object.page()))
    }

    /// An access to an instance is about to happen: its bucket is held until it is given up.
    pub(crate) fn hold(&self, key: InstanceKey) -> BucketNumber {
        let number = Self::number(key);
        self.0[usize::from(number.0)].lock.lock();
        number
    }

    /// It has happened; the pair that it completes, if it does (`Instance::access`).
    pub(crate) fn access(
        &self,
        held: BucketNumber,
        key: InstanceKey,
        now: MemberAccess,
        effect: Effect,
        in_one: impl Fn(Access, Access) -> bool,
    ) -> Option<Completed> {
        let bucket = &self.0[usize::from(held.0)];
        let (set, object) = key.words();
        let is = |instance: &&Instance| instance.set.load(Ordering::Relaxed) == set && instance.object.load(Ordering::Relaxed) == object;
        let instance = bucket.instances.iter().find(is).unwrap_or_else(|| {
            let place = bucket.next.fetch_add(1, Ordering::Relaxed) as usize % WAYS;
            let instance = &bucket.instances[place];
            instance.clear();
            instance.object.store(object, Ordering::Relaxed);
            instance.set.store(set, Ordering::Relaxed);
            instance
        });
        instance.access(now, effect, in_one)
    }

    /// Gives a bucket up.
    pub(crate) fn give_up(&self, number: BucketNumber) {
        self.0[usize::from(number.0)].lock.unlock();
    }

    /// New objects will stand here.
    pub(crate) fn forget(&self, start: Address, length: usize) {
        let end = start.0.saturating_add(length);
        let pages = start.page()..=end / PAGE;
        // Of a large block every bucket may hold a part.
        let all = pages.clone().count() >= BUCKETS;
        let of_pages = pages.filter(|_| !all).map(|page| usize::from(bucket_of_page(page).0));
        let everything = (0..BUCKETS).filter(|_| all);
        for bucket in of_pages.chain(everything).map(|number| &self.0[number]) {
            let _taken = bucket.lock.take();
            let gone = |instance: &&Instance| (start.0..end).contains(&instance.object.load(Ordering::Relaxed));
            bucket.instances.iter().filter(gone).for_each(Instance::clear);
        }
    }

    /// In a forked child: only the thread that forked is left.
    pub(crate) fn after_fork(&self) {
        sys::zero(self.0);
    }
}

#[cfg(test)]
mod tests {
    use std::string::String;
    use std::vec::Vec;

    use super::*;

    /// Plays accesses such as `1rx` (thread 1 reads x), and says what became of the pairs they complete: `r`ead, `w`rite, `u`pdate,
    /// `s`ilent store, `c`ompare-and-swap that fails.
    fn play(text: &str) -> String {
        let instances = Instances::new().expect("memory");
        let key = InstanceKey { set: 3, object: None };
        let mut pairs = Vec::new();
        for (n, word) in text.split(' ').enumerate() {
            let [thread, kind, member] = word.as_bytes() else { panic!("not an access: {word}") };
            let rw = match kind {
                b'r' => Rw::Read,
                b'w' | b's' => Rw::Write,
                _ => Rw::Update,
            };
            let effect = if matches!(kind, b's' | b'c') { Effect::Silent } else { Effect::Changed };
            let access = Access { site: SiteIndex(0), at: Serial::new(n as u64 + 1) };
            // A capital letter is a variable that the site does not tell.
            let (name, address) = (member.to_ascii_lowercase(), Address(usize::from(member.to_ascii_lowercase())));
            let now =
                MemberAccess { thread: ThreadNumber(u16::from(*thread)), member: (name == *member).then_some(name), address, rw, access };
            let bucket = instances.hold(key);
            let completed = instances.access(bucket, key, now, effect, |_, _| true);
            instances.give_up(bucket);
            pairs.extend(completed.map(|pair| std::format!("{word} {}", pair.atomicity)));
        }
        pairs.join(", ")
    }

    #[test]
    fn a_pair_is_weakened_only_by_what_no_order_of_the_threads_explains() {
        for (accesses, expected) in [
            ("1rx 1ry", "1ry EXCLUSIVE"),
            ("1rx 1rx", ""),
            // The writer comes behind the reader on both variables.
            ("1rx 2wx 1ry 2wy", "1ry EXCLUSIVE, 2wy EXCLUSIVE"),
            ("2wx 1rx 2wy 1ry", "2wy EXCLUSIVE, 1ry EXCLUSIVE"),
            // The reader sees the old x and the new y.
            ("1rx 2wx 2wy 1ry", "2wy EXCLUSIVE, 1ry NONE"),
            ("2wy 1rx 2wx 1ry", "2wx EXCLUSIVE, 1ry NONE"),
            // Only reads get between the writes.
            ("2wx 1rx 1ry 2wy", "1ry EXCLUSIVE, 2wy READ"),
            // The other thread touches one variable alone.
            ("1rx 2wy 1ry", "1ry EXCLUSIVE"),
            ("1rx 2rx 2ry 1ry", "2ry EXCLUSIVE, 1ry EXCLUSIVE"),
            ("1rX 1rY", "1rY EXCLUSIVE"),
            ("1rX 1rX 1rx", ""),
            ("1rX 2wx 2wy 1rY", "2wy EXCLUSIVE, 1rY NONE"),
            ("1ux 2ux 2uy 1uy", "2uy EXCLUSIVE, 1uy NONE"),
            // Two that write the same: in whichever order they come.
            ("1wx 2sx 2wy 1sy", "2wy EXCLUSIVE, 1sy EXCLUSIVE"),
            ("1wx 2sx 2wy 3rx 3ry 1sy", "2wy EXCLUSIVE, 3ry EXCLUSIVE, 1sy EXCLUSIVE"),
            ("1wx 2sx 3rx 3ry 2wy 1sy", "3ry EXCLUSIVE, 2wy EXCLUSIVE, 1sy EXCLUSIVE"),
            ("1wx 3rx 3ry 1wy", "3ry EXCLUSIVE, 1wy READ"),
            // What is changed behind a silent store could not have been changed before it.
            ("1sx 2wx 2wy 1wy", "2wy EXCLUSIVE, 1wy NONE"),
            ("1rx 2cx 2cy 1wy", "2cy EXCLUSIVE, 1wy EXCLUSIVE"),
            ("1cx 2wx 2wy 1ry", "2wy EXCLUSIVE, 1ry NONE"),
            // What goes on after another variable; not what goes before it.
            ("1wx 1ry 1wy", "1ry EXCLUSIVE, 1wy EXCLUSIVE"),
            ("1rx 1wx 1ry 1ry", "1ry EXCLUSIVE, 1ry EXCLUSIVE"),
            ("1wx 1ry 2wy 1wy", "1ry EXCLUSIVE, 1wy NONE"),
            ("1wx 1wy 2ry 1wy", "1wy EXCLUSIVE, 1wy READ"),
            // Whoever reads y before it is written may have read x before that, too.
            ("1wx 1ry 2ry 1wy", "1ry EXCLUSIVE, 1wy EXCLUSIVE"),
            ("2rx 1wx 1ry 2ry 1wy", "1ry EXCLUSIVE, 2ry EXCLUSIVE, 1wy EXCLUSIVE"),
            ("1wx 2rx 1ry 2ry 1wy", "1ry EXCLUSIVE, 2ry EXCLUSIVE, 1wy READ"),
            // Between two updates of both: no part of the second.
            ("1wx 1wy 2rx 2ry 1rx 1wx", "1wy EXCLUSIVE, 2ry EXCLUSIVE, 1rx EXCLUSIVE, 1wx EXCLUSIVE"),
        ] {
            assert_eq!(play(accesses), expected, "{accesses}");
        }
    }

    #[test]
    fn a_block_that_is_freed_takes_its_instances_along() {
        let instances = Instances::new().expect("memory");
        let object = |at| InstanceKey { set: 0, object: Some(Address(at)) };
        let access = |member, serial| MemberAccess {
            thread: ThreadNumber(1),
            member: Some(member),
            address: Address(0x4010),
            rw: Rw::Read,
            access: Access { site: SiteIndex(0), at: Serial::new(serial) },
        };
        for (freed, expected) in [(0x5000_u64, true), (0x4010, false), (0x3ff0, false)] {
            let event = |member, serial| {
                let bucket = instances.hold(object(0x4010));
                let pair = instances.access(bucket, object(0x4010), access(member, serial), Effect::Changed, |_, _| true);
                instances.give_up(bucket);
                pair
            };
            event(0, 1);
            instances.forget(Address(usize::try_from(freed).expect("small")), 0x30);
            let pair = event(1, 2);
            assert_eq!(pair.is_some(), expected, "{freed:x}");
            instances.after_fork();
        }
    }
}
