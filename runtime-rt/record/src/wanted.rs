//! Orders to bring about because no passing run has shown them (`profiler::wanted`): one thread's access at one site, just before another
//! thread's at a second one.
//!
//! A thread that comes to the second site is held there until another one passes the first at the same memory, and one that comes to the
//! first is held until another one is held at the second, as in race-directed testing (Sen, PLDI 2008). Nobody is held for long: what an
//! order may cost is bounded for the whole process, and each time in vain halves what is left to the next.
//! Not handled: orders of more than two accesses.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use model::ids::SiteKey;
use model::wanted::{MOST_WANTED, Wanted};

use crate::shadow::Address;
use crate::sys;

/// The part of memory that an access is about to touch: its address, and its length in the lowest bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place(u64);

impl Place {
    const LENGTH: u32 = 16;

    fn new(address: Address, length: u32) -> Self {
        Self((address.0 as u64) << Self::LENGTH | u64::from(length.clamp(1, (1 << Self::LENGTH) - 2)))
    }

    fn overlaps(self, other: Self) -> bool {
        let (start, end) = (|place: Self| place.0 >> Self::LENGTH, |place: Self| (place.0 >> Self::LENGTH) + (place.0 & 0xffff));
        start(self) < end(other) && start(other) < end(self)
    }
}

/// One order to bring about.
#[derive(Debug)]
pub(crate) struct Order {
    wanted: Wanted,
    /// Who is held at the second site: `FREE` nobody; `PASSED` somebody whom another thread's access came before; else somebody at this `Place`.
    held: AtomicU64,
    /// How many steps the next thread is held at most.
    patience: AtomicU32,
}

const FREE: u64 = 0;
const PASSED: u64 = u64::MAX;

/// How long one step is: the kernel wakes a sleeper some 50 µs late.
const STEP: u32 = 50_000;
/// Steps at first: a new thread may take 3 ms to come to its first access.
const PATIENCE: u32 = 160;
/// Steps after another thread has passed: its access is about to happen, and so is what it does because of it.
const GRACE: u32 = 10;

impl Order {
    fn new(wanted: Wanted) -> Self {
        Self { wanted, held: AtomicU64::new(FREE), patience: AtomicU32::new(PATIENCE) }
    }

    /// Before an access at one of the two sites: holds the thread back, by `step` after `step`.
    fn bring_about(&self, site: SiteKey, place: Place, mut step: impl FnMut()) {
        if site == self.wanted.second {
            let is_both = site == self.wanted.between;
            if !(is_both && self.pass(place)) {
                self.hold(place, step);
            }
            return;
        }
        for _ in 0..self.patience.load(Ordering::Relaxed) {
            if self.pass(place) {
                return;
            }
            step();
        }
        if !self.pass(place) {
            self.in_vain();
        }
    }

    /// Whether somebody was held at this place, who may now go on, after this thread's access.
    fn pass(&self, place: Place) -> bool {
        let held = self.held.load(Ordering::Relaxed);
        let is_met = held != FREE && held != PASSED && Place(held).overlaps(place);
        is_met && self.held.compare_exchange(held, PASSED, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    fn hold(&self, place: Place, mut step: impl FnMut()) {
        let patience = self.patience.load(Ordering::Relaxed);
        if patience == 0 || self.held.compare_exchange(FREE, place.0, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return;
        }
        for _ in 0..patience {
            step();
            if self.held.load(Ordering::Relaxed) == PASSED {
                break;
            }
        }
        if self.held.swap(FREE, Ordering::Relaxed) == PASSED {
            self.patience.store(0, Ordering::Relaxed);
            (0..GRACE).for_each(|_| step());
        } else {
            self.in_vain();
        }
    }

    fn in_vain(&self) {
        self.patience.store(self.patience.load(Ordering::Relaxed) / 2, Ordering::Relaxed);
    }
}

/// The orders that one process is to bring about. No site is in two of them.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    count: usize,
    orders: [Option<Order>; MOST_WANTED],
}

impl Orders {
    /// One more, if there is room for it.
    pub(crate) fn add(&mut self, wanted: Wanted) {
        if let Some(place) = self.orders.get_mut(self.count) {
            (*place, self.count) = (Some(Order::new(wanted)), self.count + 1);
        }
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Before an access: holds the thread back if an order is to come about there.
    #[cold]
    pub(crate) fn bring_about(&self, site: SiteKey, address: Address, length: u32) {
        if let Some(order) = self.of(site) {
            order.bring_about(site, Place::new(address, length), || sys::sleep(STEP));
        }
    }

    /// The order that this site is in.
    pub(crate) fn of(&self, site: SiteKey) -> Option<&Order> {
        self.orders[..self.count].iter().flatten().find(|order| order.wanted.is_at(site))
    }

    /// In a forked child: who was held is not here.
    pub(crate) fn after_fork(&self) {
        self.orders.iter().flatten().for_each(|order| order.held.store(FREE, Ordering::Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const FIRST: SiteKey = SiteKey(1);
    const SECOND: SiteKey = SiteKey(2);

    fn order(between: SiteKey, second: SiteKey) -> Order {
        Order::new(Wanted { between, second })
    }

    fn place(address: usize, length: u32) -> Place {
        Place::new(Address(address), length)
    }

    /// How many steps a thread is held, where `others` do something in each.
    fn held(order: &Order, site: SiteKey, place: Place, mut others: impl FnMut(u32)) -> u32 {
        let mut steps = 0;
        order.bring_about(site, place, || {
            steps += 1;
            others(steps);
        });
        steps
    }

    #[test]
    fn places_overlap_by_their_bytes() {
        for (a, b, expected) in
            [((8, 8), (8, 8), true), ((8, 8), (12, 1), true), ((8, 4), (12, 4), false), ((8, 1 << 20), (0x8000, 1), true)]
        {
            let [a, b] = [a, b].map(|(address, length)| place(address, length));
            assert_eq!((a.overlaps(b), b.overlaps(a)), (expected, expected), "{a:?} {b:?}");
        }
    }

    #[test]
    fn who_comes_to_the_second_site_is_held_until_another_passes_the_first() {
        let order = order(FIRST, SECOND);
        let steps = held(&order, SECOND, place(8, 8), |step| match step {
            2 => assert_eq!(held(&order, SECOND, place(8, 8), |_| ()), 0, "one at a time"),
            3 => assert_eq!(held(&order, FIRST, place(12, 4), |_| ()), 0),
            _ => {}
        });
        assert_eq!(steps, 3 + GRACE);
        assert_eq!([FIRST, SECOND].map(|site| held(&order, site, place(8, 8), |_| ())), [0, 0], "once is enough");
    }

    #[test]
    fn who_comes_to_the_first_site_waits_for_one_at_the_second() {
        let order = order(FIRST, SECOND);
        let steps = held(&order, FIRST, place(8, 8), |step| {
            let at = if step == 2 { 16 } else { 8 };
            order.held.store(if step == 1 { FREE } else { place(at, 8).0 }, Ordering::Relaxed);
        });
        assert_eq!(steps, 3, "not one at other memory");
        assert_eq!(order.held.load(Ordering::Relaxed), PASSED);
    }

    #[test]
    fn two_threads_at_one_site_go_one_after_the_other() {
        let order = order(SECOND, SECOND);
        let steps = held(&order, SECOND, place(8, 8), |step| {
            if step == 1 {
                assert_eq!(held(&order, SECOND, place(8, 8), |_| ()), 0);
            }
        });
        assert_eq!(steps, 1 + GRACE);
    }

    #[test]
    fn nobody_is_held_for_long() {
        for site in [FIRST, SECOND] {
            let order = order(FIRST, SECOND);
            let steps: Vec<u32> = (0..20).map(|_| held(&order, site, place(8, 8), |_| ())).collect();
            assert_eq!(steps[..3], [PATIENCE, PATIENCE / 2, PATIENCE / 4]);
            assert!(steps.iter().sum::<u32>() < 2 * PATIENCE, "{steps:?}");
        }
    }

    #[test]
    fn a_forked_child_waits_for_no_thread_of_its_parent() {
        let mut orders = Orders::default();
        orders.add(Wanted { between: FIRST, second: SECOND });
        let order = orders.of(SECOND).expect("its order");
        order.held.store(place(8, 8).0, Ordering::Relaxed);
        orders.after_fork();
        assert_eq!(held(order, FIRST, place(8, 8), |_| ()), PATIENCE);
        assert!(orders.of(SiteKey(3)).is_none() && Orders::default().of(FIRST).is_none());
    }
}
