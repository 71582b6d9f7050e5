//! The protocol under every interleaving of a few threads, up to a bound of preemptions, with the memory of weak processors:
//! no two incompatible holds at once, what one writes the next one sees, no wake-up lost.
//!
//! `cargo test -p atomfix-rt-lock --features loom --test protocol`. Loom has no process-wide barrier: both halves of an asymmetric
//! fence are full ones here, so what is explored is the logic around them, not the barrier itself.

use atomfix_rt_lock::protocol::atomic::{AtomicU32, AtomicU64, Ordering};
use atomfix_rt_lock::protocol::domain::{Domain, MAX_THREADS};
use atomfix_rt_lock::protocol::enter::attempt;
use atomfix_rt_lock::protocol::glance::{glance, holds};
use atomfix_rt_lock::protocol::graph::Needed;
use atomfix_rt_lock::protocol::hold::{Frame, Origin, Slot};
use atomfix_rt_lock::protocol::leave::{drop_tenure, leave, weaken};
use atomfix_rt_lock::protocol::lock::{Attempt, Lock, Me, Request, tenure};
use atomfix_rt_lock::protocol::thread::{LOOKING, TOLD, Thread};
use atomfix_rt_lock::protocol::wait::{self, Order, Patience, Stamp, Turn, Waiting};
use atomfix_rt_lock::protocol::word::{LIGHT, READERS, WAITERS, Word};
use loom::cell::UnsafeCell;
use model::pair::Mode::{self, R, U, X};

/// What all threads of one execution share. `data` stands for the program's memory: loom fails an execution in which accesses to it
/// are not ordered.
#[derive(Clone, Copy)]
struct World {
    domain: &'static Domain,
    lock: &'static Lock,
    data: &'static Data,
    /// Program memory of which every access is atomic, so that loom lets two of them meet.
    number: &'static AtomicU32,
}

struct Data(UnsafeCell<()>);

fn leaked<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn world() -> World {
    let threads = std::array::from_fn::<_, MAX_THREADS, _>(|_| Thread::new());
    let waiting = std::array::from_fn::<_, MAX_THREADS, _>(|_| AtomicU64::new(0));
    for (slot, thread) in (0..).zip(&threads) {
        thread.settle_in(Slot(slot));
    }
    let domain = Domain {
        threads: leaked(threads),
        waiting: leaked(waiting),
        high: AtomicU32::new(u32::try_from(MAX_THREADS).expect("a small number")),
        barrier: || loom::sync::atomic::fence(Ordering::SeqCst),
        asymmetric: || true,
        now: || 0,
        unpark: |thread| {
            thread.park.store(TOLD, Ordering::SeqCst);
        },
        needed: |_, _, _| Needed::Unknown,
    };
    let number = leaked(AtomicU32::new(0));
    World { domain: leaked(domain), lock: leaked(Lock::new()), data: leaked(Data(UnsafeCell::new(()))), number }
}

impl World {
    fn me(self, slot: u16) -> Me {
        Me { domain: self.domain, thread: self.domain.thread(Slot(slot)) }
    }

    fn request(mode: Mode, label: u32) -> Request {
        Request { mode, origin: Origin { label, frame: Frame(1) }, turn: Turn::Passes }
    }

    fn enter(self, slot: u16, mode: Mode, label: u32) {
        while attempt(self.me(slot), self.lock, Self::request(mode, label)) != Attempt::Done {
            loom::thread::yield_now();
        }
    }

    /// Accesses the memory as a hold of this mode allows.
    fn touch(self, mode: Mode) {
        if mode == X {
            self.data.0.with_mut(|_| ());
        } else {
            self.data.0.with(|_| ());
        }
    }

    fn leave(self, slot: u16) {
        drop_tenure(self.me(slot), self.lock);
    }

    /// Weakens all that it has.
    fn weaken(self, slot: u16, to: Mode) {
        let me = self.me(slot);
        for view in me.thread.entries() {
            weaken(me, self.lock, view.origin, to);
        }
    }

    /// A region of a frame that another frame calls from a region of its own.
    fn nested(self, slot: u16, mode: Mode) {
        let me = self.me(slot);
        let request = Request { origin: Origin { label: 2, frame: Frame(2) }, ..Self::request(mode, 2) };
        while attempt(me, self.lock, request) != Attempt::Done {
            loom::thread::yield_now();
        }
        self.touch(mode);
        if let Some(view) = me.thread.entries().find(|view| view.origin.label == 2) {
            leave(me, self.lock, view);
        }
    }

    fn region(self, slot: u16, mode: Mode) {
        self.enter(slot, mode, 1);
        self.touch(mode);
        self.leave(slot);
    }
}

/// Explores `body(world, slot)` in as many threads as there are bodies, with up to two preemptions.
fn explore<const N: usize>(prepare: fn(World), bodies: [fn(World, u16); N]) {
    explore_within(2, prepare, bodies);
}

fn explore_within<const N: usize>(preemptions: usize, prepare: fn(World), bodies: [fn(World, u16); N]) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.max_branches = 20_000;
    model.check(move || {
        let world = world();
        prepare(world);
        let mut others = Vec::new();
        for (slot, body) in (0..).zip(bodies).skip(1) {
            others.push(loom::thread::spawn(move || body(world, slot)));
        }
        bodies[0](world, 0);
        for other in others {
            other.join().expect("no panic");
        }
        let word = world.lock.word();
        assert!(word.exclusive().is_none(), "somebody owns the word at the end");
    });
}

fn nothing(_: World) {}

fn light(world: World) {
    world.lock.reset(Word(LIGHT | READERS));
}

fn biased(world: World) {
    world.lock.reset(Word(0).biased(Slot(0)));
}

#[test]
fn writers_exclude_each_other() {
    explore(nothing, [|w, s| w.region(s, X), |w, s| w.region(s, X)]);
    explore(nothing, [|w, s| w.region(s, U), |w, s| w.region(s, X)]);
}

#[test]
fn readers_and_writers_exclude_each_other() {
    explore(nothing, [|w, s| w.region(s, R), |w, s| w.region(s, X)]);
    explore(
        nothing,
        [
            |w, s| {
                w.region(s, R);
                w.region(s, R);
            },
            |w, s| w.region(s, X),
        ],
    );
}

#[test]
fn light_readers_and_writers_exclude_each_other() {
    explore(light, [|w, s| w.region(s, R), |w, s| w.region(s, X)]);
    explore(
        light,
        [
            |w, s| {
                w.region(s, R);
                w.region(s, R);
            },
            |w, s| w.region(s, X),
        ],
    );
}

#[test]
fn an_upgrade_waits_for_readers_and_excludes_them() {
    fn upgrade(w: World, s: u16) {
        w.enter(s, U, 1);
        w.touch(U);
        w.enter(s, X, 2);
        w.touch(X);
        w.leave(s);
    }
    explore(nothing, [upgrade, |w, s| w.region(s, R)]);
    explore(light, [upgrade, |w, s| w.region(s, R)]);
    explore(nothing, [upgrade, upgrade]);
    explore(biased, [upgrade, |w, s| w.region(s, R)]);
}

#[test]
fn a_writer_that_lets_readers_in_for_a_while_stays_alone_with_its_writes() {
    fn admit(w: World, s: u16) {
        w.enter(s, X, 1);
        w.touch(X);
        w.weaken(s, U);
        w.touch(R);
        w.enter(s, X, 2);
        w.touch(X);
        w.leave(s);
    }
    explore(nothing, [admit, |w, s| w.region(s, X)]);
    explore(nothing, [admit, |w, s| w.region(s, R)]);
    explore(biased, [admit, |w, s| w.region(s, R)]);
}

#[test]
fn a_degraded_writer_keeps_writers_out() {
    fn degrade(w: World, s: u16) {
        w.enter(s, X, 1);
        w.touch(X);
        w.weaken(s, R);
        w.touch(R);
        w.leave(s);
    }
    explore(nothing, [degrade, |w, s| w.region(s, X)]);
    explore(nothing, [degrade, |w, s| w.region(s, R)]);
    explore(biased, [degrade, |w, s| w.region(s, X)]);
}

#[test]
fn a_bias_is_ended_without_harm_at_any_moment() {
    explore(biased, [|w, s| w.region(s, X), |w, s| w.region(s, X)]);
    explore(biased, [|w, s| w.region(s, U), |w, s| w.region(s, R)]);
    explore(
        biased,
        [
            |w, s| {
                w.region(s, X);
                w.region(s, R);
            },
            |w, s| w.region(s, X),
        ],
    );
}

#[test]
fn a_nested_hold_survives_the_end_of_a_bias() {
    explore(
        biased,
        [
            |w, s| {
                w.enter(s, U, 1);
                w.nested(s, X);
                w.touch(U);
                w.leave(s);
            },
            |w, s| w.region(s, X),
        ],
    );
}

#[test]
fn nested_holds_neither_weaken_nor_outlive_the_outer_one() {
    fn twice(w: World, s: u16, mode: Mode) {
        w.enter(s, mode, 1);
        w.touch(mode);
        w.nested(s, mode);
        w.touch(mode);
        w.leave(s);
    }
    for prepare in [nothing, biased] {
        explore(prepare, [|w, s| twice(w, s, X), |w, s| w.region(s, X)]);
        explore(prepare, [|w, s| twice(w, s, X), |w, s| w.region(s, R)]);
        explore(prepare, [|w, s| twice(w, s, U), |w, s| w.region(s, X)]);
        explore(prepare, [|w, s| twice(w, s, R), |w, s| w.region(s, X)]);
    }
    explore(light, [|w, s| twice(w, s, R), |w, s| w.region(s, X)]);
    explore(
        nothing,
        [
            |w, s| {
                w.enter(s, X, 1);
                w.touch(X);
                w.nested(s, R);
                w.touch(X);
                w.leave(s);
            },
            |w, s| w.region(s, R),
        ],
    );
}

/// A writer makes the number odd and then even again, in one region; whoever glances must not see it odd.
mod glances {
    use super::*;

    fn write(w: World) {
        for _ in 0..2 {
            w.number.store(w.number.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
    }

    fn writes(w: World, s: u16) {
        w.enter(s, X, 1);
        write(w);
        w.leave(s);
    }

    fn writes_twice(w: World, s: u16) {
        writes(w, s);
        writes(w, s);
    }

    /// Reads first, then writes; and once more after it has let readers in.
    fn upgrades(w: World, s: u16) {
        w.enter(s, U, 1);
        w.enter(s, X, 2);
        write(w);
        w.weaken(s, U);
        w.enter(s, X, 3);
        write(w);
        w.leave(s);
    }

    /// As plans do not, but calls within calls may.
    fn strengthens(w: World, s: u16) {
        for _ in 0..2 {
            w.enter(s, R, 1);
            w.enter(s, X, 2);
            write(w);
            w.weaken(s, R);
        }
        w.leave(s);
    }

    fn looks(w: World, s: u16) {
        let me = w.me(s);
        if let Some(seen) = glance(me, w.lock) {
            let number = w.number.load(Ordering::Relaxed);
            assert!(!holds(w.lock, seen) || number.is_multiple_of(2), "a glance that held saw a writer's half");
        }
    }

    fn enters(w: World, s: u16) {
        w.enter(s, R, 1);
        w.leave(s);
    }

    #[test]
    fn one_that_holds_saw_no_writer_at_work() {
        for prepare in [nothing, light, biased] {
            explore(prepare, [writes, looks]);
            explore(prepare, [writes_twice, looks]);
            explore(prepare, [upgrades, looks]);
            explore(prepare, [strengthens, looks]);
        }
        explore(nothing, [writes, writes, looks]);
    }

    #[test]
    fn nor_one_that_a_bias_came_or_went_under() {
        explore(biased, [writes_twice, looks, enters]);
        // The thread with the bias looks, while others take it away and write.
        explore(biased, [looks, writes_twice]);
    }

    #[test]
    fn nobody_looks_at_a_lock_that_is_owned_or_of_which_it_has_something() {
        explore(
            nothing,
            [|w, s| {
                assert!(glance(w.me(s), w.lock).is_some());
                for mode in [R, U, X] {
                    w.enter(s, mode, 1);
                    assert!(glance(w.me(s), w.lock).is_none(), "{mode}");
                    assert_eq!(glance(w.me(s + 1), w.lock).is_some(), mode == R, "{mode}");
                    w.leave(s);
                }
            }],
        );
    }
}

#[test]
fn a_parked_waiter_is_always_woken() {
    fn waits(w: World, s: u16, mode: Mode) {
        let me = w.me(s);
        let waiting = Waiting { lock: w.lock.address(), mode, order: Order::Bound, stamp: Stamp(u32::from(s)), patience: Patience::Fresh };
        loop {
            me.thread.park.store(LOOKING, Ordering::SeqCst);
            w.domain.waiting(Slot(s)).store(waiting.pack(), Ordering::SeqCst);
            w.lock.set(WAITERS);
            loom::sync::atomic::fence(Ordering::SeqCst);
            if attempt(me, w.lock, World::request(mode, 1)) == Attempt::Done {
                break;
            }
            // The futex: a wake-up that never comes makes loom run out of branches.
            while me.thread.park.load(Ordering::SeqCst) == LOOKING {
                loom::thread::yield_now();
            }
        }
        wait::end(me, w.lock);
        w.touch(mode);
        w.leave(s);
    }
    explore(nothing, [|w, s| w.region(s, X), |w, s| waits(w, s, X)]);
    explore(nothing, [|w, s| w.region(s, R), |w, s| waits(w, s, X)]);
    explore(light, [|w, s| w.region(s, R), |w, s| waits(w, s, X)]);
    explore(biased, [|w, s| w.region(s, X), |w, s| waits(w, s, R)]);
    // Of two readers that leave at once, neither may leave the wake-up to the other.
    explore(nothing, [|w, s| w.region(s, R), |w, s| w.region(s, R), |w, s| waits(w, s, X)]);
    // Of two waiters one may be left to the other, which wakes it when it leaves.
    explore(nothing, [|w, s| w.region(s, X), |w, s| waits(w, s, X), |w, s| waits(w, s, X)]);
    // For want of time with one preemption.
    explore_within(1, nothing, [|w, s| w.region(s, X), |w, s| waits(w, s, R), |w, s| waits(w, s, X)]);
    explore_within(1, nothing, [|w, s| w.region(s, R), |w, s| waits(w, s, R), |w, s| waits(w, s, X)]);
}

#[test]
fn a_revoked_tenure_and_its_release_do_not_disturb_the_next_owner() {
    explore(
        nothing,
        [
            |w, s| {
                w.enter(s, X, 1);
                // Whatever the revoker does, this ends the tenure at most once.
                w.leave(s);
            },
            |w, s| {
                let word = w.lock.word();
                if let Some(owner) = word.owner() {
                    w.domain.thread(owner).revoke(w.lock.address(), word.ticket());
                    (w.domain.barrier)();
                    let now = w.lock.word();
                    if now.is_owned_by(owner, word.ticket()) {
                        let _ = w.lock.swap(now, Word(now.freed().0 | READERS));
                    }
                }
                w.region(s, X);
                assert!(tenure(w.me(s), w.lock).is_none());
            },
        ],
    );
}
