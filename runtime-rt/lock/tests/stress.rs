//! The protocol under real threads on the real memory of this machine: updates under U and X are never lost, pairs of reads under any
//! mode agree. Under Miri the same on its model of weak memory, with its detector of races, but few rounds.
//!
//! Not here: parking and revocation (`programs`), every interleaving (`protocol`).

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;

use atomfix_rt_lock::protocol::domain::{Domain, MAX_THREADS};
use atomfix_rt_lock::protocol::enter::attempt;
use atomfix_rt_lock::protocol::glance::{glance, holds};
use atomfix_rt_lock::protocol::graph::Needed;
use atomfix_rt_lock::protocol::hold::{Frame, Origin, Slot};
use atomfix_rt_lock::protocol::leave::{drop_tenure, weaken};
use atomfix_rt_lock::protocol::lock::{Attempt, Lock, Me, Request};
use atomfix_rt_lock::protocol::thread::Thread;
use atomfix_rt_lock::protocol::wait::Turn;
use atomfix_rt_lock::sys::membarrier::{self, Support};
use model::pair::Mode::{self, R, U, X};

const THREADS: u16 = 4;
const ROUNDS: u32 = if cfg!(miri) { 25 } else { 20_000 };

/// One lock, and two counters that always agree under it.
struct World {
    domain: &'static Domain,
    lock: Lock,
    one: AtomicU64,
    other: AtomicU64,
}

fn world() -> &'static World {
    let threads = (0..MAX_THREADS).map(|_| Thread::new()).collect::<Vec<_>>().leak();
    let waiting = (0..MAX_THREADS).map(|_| AtomicU64::new(0)).collect::<Vec<_>>().leak();
    let domain = Domain {
        threads: (&*threads).try_into().expect("as many as the type says"),
        waiting: (&*waiting).try_into().expect("as many as the type says"),
        high: AtomicU32::new(u32::from(THREADS)),
        barrier: membarrier::barrier,
        asymmetric: || !cfg!(miri) && membarrier::support() == Support::Ready,
        now: || 0,
        unpark: |_| (),
        needed: |_, _, _| Needed::Unknown,
    };
    let domain = Box::leak(Box::new(domain));
    Box::leak(Box::new(World { domain, lock: Lock::new(), one: AtomicU64::new(0), other: AtomicU64::new(0) }))
}

impl World {
    fn enter(&self, me: Me, mode: Mode, label: u32) {
        let request = Request { mode, origin: Origin { label, frame: Frame(1) }, turn: Turn::Passes };
        while attempt(me, &self.lock, request) != Attempt::Done {
            thread::yield_now();
        }
    }

    /// What only X allows, in steps that another thread's would spoil.
    fn write(&self) {
        let next = self.one.load(Ordering::Relaxed) + 1;
        self.one.store(next, Ordering::Relaxed);
        self.other.store(next, Ordering::Relaxed);
    }

    fn read(&self) {
        let one = self.one.load(Ordering::Relaxed);
        assert_eq!(self.other.load(Ordering::Relaxed), one, "a writer came between");
    }
}

/// Four threads that do this each round; the number of writes that it made.
fn stress(round: impl Fn(&World, Me, u32) -> u64 + Sync) {
    let world = world();
    let work = |slot| {
        let thread = world.domain.thread(Slot(slot));
        thread.settle_in(Slot(slot));
        let me = Me { domain: world.domain, thread };
        (0..ROUNDS).map(|number| round(world, me, number.wrapping_mul(7919) >> 3)).sum::<u64>()
    };
    let writes: u64 = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|slot| scope.spawn(move || work(slot))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    });
    assert_eq!(world.one.load(Ordering::Relaxed), writes);
    assert!(world.lock.word().exclusive().is_none(), "somebody owns the word at the end");
}

fn write(world: &World, me: Me) -> u64 {
    world.enter(me, X, 1);
    world.write();
    drop_tenure(me, &world.lock);
    1
}

fn read(world: &World, me: Me) -> u64 {
    world.enter(me, R, 1);
    world.read();
    drop_tenure(me, &world.lock);
    0
}

#[test]
fn no_write_is_lost_among_writers() {
    stress(|world, me, _| write(world, me));
}

#[test]
fn readers_never_see_half_a_write() {
    stress(|world, me, random| if random % 10 == 0 { write(world, me) } else { read(world, me) });
    // Long enough without writers for readers to do without fences.
    stress(|world, me, random| if random % 1000 == 0 { write(world, me) } else { read(world, me) });
}

#[test]
fn upgraded_and_degraded_holds_exclude_as_they_say() {
    stress(|world, me, random| match random % 4 {
        0 => {
            world.enter(me, U, 1);
            world.read();
            world.enter(me, X, 2);
            world.write();
            drop_tenure(me, &world.lock);
            1
        }
        1 => {
            world.enter(me, X, 1);
            world.write();
            for view in me.thread.entries() {
                weaken(me, &world.lock, view.origin, R);
            }
            world.read();
            drop_tenure(me, &world.lock);
            1
        }
        2 => {
            world.enter(me, X, 1);
            world.write();
            for view in me.thread.entries() {
                weaken(me, &world.lock, view.origin, U);
            }
            world.read();
            world.enter(me, X, 2);
            world.write();
            drop_tenure(me, &world.lock);
            2
        }
        _ => read(world, me),
    });
}

#[test]
fn glances_that_hold_never_see_half_a_write() {
    // Odd only between the two steps of a writer.
    let twice = |world: &World, me| {
        world.enter(me, X, 1);
        for _ in 0..2 {
            world.one.store(world.one.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            world.other.store(world.other.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
        drop_tenure(me, &world.lock);
        2
    };
    let look = |world: &World, me| {
        if let Some(seen) = glance(me, &world.lock) {
            let number = world.one.load(Ordering::Relaxed);
            assert!(!holds(&world.lock, seen) || number.is_multiple_of(2), "a glance that held saw half a write");
        }
        0
    };
    stress(|world, me, random| if random % 10 == 0 { twice(world, me) } else { look(world, me) });
    // Long enough alone for a bias, which others end.
    stress(|world, me, random| {
        if me.slot() == Slot(0) {
            twice(world, me)
        } else if random % 1000 == 0 {
            read(world, me)
        } else {
            look(world, me)
        }
    });
}
