//! Waiting for a lock: spin a little, then park, and inspect the holders from time to time.
//!
//! An inspection happens when a waiter has parked for the inspection interval (`inspect_ms`, 100). Per tenure that is in the way:
//!
//! | the holder | what happens |
//! |---|---|
//! | its thread is dead | revoked |
//! | waits, directly or not, for this thread or itself | revoked |
//! | waits for something unknown, directly or not | revoked |
//! | ran for an inspection interval on the processor since this wait for it began | revoked: it spins for us |
//! | anything else | revoked after 50 inspections (5 s): until then it may be descheduled, swapped out or stopped |
//!
//! Inspections are counted, not seconds: while the whole process is stopped nobody's patience runs out.
//! A waiter that only the order of arrival keeps out passes at its first inspection.

use model::pair::Mode;

use crate::options;
use crate::protocol::atomic::{Ordering, fence};
use crate::protocol::enter::attempt;
use crate::protocol::graph::{Fate, fate};
use crate::protocol::hold::Origin;
use crate::protocol::leave::{Keep, disown};
use crate::protocol::lock::{Attempt, Cause, Lock, Me, Obstacle, Obstructor, Request, obstructors, tenure};
use crate::protocol::thread::LOOKING;
use crate::protocol::wait::{self, Order, Patience, Stamp, Turn, Waiting};
use crate::protocol::word::{FAIR, OFF, WAITERS};
use crate::revoke::revoke;
use crate::sys;
use crate::sys::clock::{Nanoseconds, cpu_of, now};

/// Rounds of spinning, at most.
const SPIN_MOST: u32 = 100;
/// A parked waiter looks again after this long, whatever happens; and is overdue.
const MOMENT: Nanoseconds = Nanoseconds::milliseconds(5);
/// Rounds of a pause after which stores of other processors have arrived: a microsecond or so.
const DRAIN: u32 = 25;
/// How many inspections a holder survives with which nothing is wrong.
const PATIENCE: u32 = 50;

/// What a waiter knows of the tenure in its way.
#[derive(Clone, Copy)]
struct Watch {
    of: Obstructor,
    cpu: Option<Nanoseconds>,
    inspections: u32,
}

/// Enters, whatever it takes.
#[cold]
pub fn acquire(me: Me, lock: &Lock, mode: Mode, origin: Origin) {
    if lock.word().has(OFF) {
        return;
    }
    let order = if me.thread.holds_nothing() { Order::Bound } else { Order::Free };
    let turn = if order == Order::Bound { Turn::Last } else { Turn::Passes };
    if spin(me, lock, Request { mode, origin, turn }) {
        return;
    }
    let stamp = Stamp(lock.stamp.fetch_add(1, Ordering::Relaxed));
    let turn = if order == Order::Bound { Turn::After(stamp) } else { Turn::Passes };
    let waiting = Waiting { lock: lock.address(), mode, order, stamp, patience: Patience::Fresh };
    park(me, lock, Request { mode, origin, turn }, waiting);
    wait::end(me, lock);
}

/// Tries for a short while. How long is the average of what was enough lately, as in glibc's adaptive mutex.
fn spin(me: Me, lock: &Lock, request: Request) -> bool {
    if options::processors() < 2 {
        return false;
    }
    let average = u32::from(lock.spin.load(Ordering::Relaxed));
    let limit = SPIN_MOST.min(average * 2 + 10);
    let mut rounds = 0;
    let entered = loop {
        if rounds == limit {
            break false;
        }
        rounds += 1;
        core::hint::spin_loop();
        let word = lock.word();
        let closed = if request.mode == Mode::R { word.bars_readers() } else { !word.is_open() };
        let mine = word.owner() == Some(me.slot());
        if (!closed || mine) && attempt(me, lock, request) == Attempt::Done {
            break true;
        }
    };
    lock.spin.store(u16::try_from((average * 7 + rounds) / 8).unwrap_or(u16::MAX), Ordering::Relaxed);
    entered
}

fn park(me: Me, lock: &Lock, mut request: Request, mut waiting: Waiting) {
    let shown = me.domain.waiting(me.slot());
    let began = now();
    let mut inspected = began;
    let mut watches: [Option<Watch>; 4] = [None; 4];
    let mut obstacle = Obstacle::Holders;
    watch(me, lock, request.mode, &mut watches);
    loop {
        me.thread.park.store(LOOKING, Ordering::SeqCst);
        shown.store(waiting.pack(), Ordering::SeqCst);
        let flags = if waiting.patience == Patience::Overdue { WAITERS | FAIR } else { WAITERS };
        lock.set(flags);
        fence(Ordering::SeqCst);
        for look in 0..2 {
            match attempt(me, lock, request) {
                Attempt::Done => return,
                Attempt::Wait(now) => obstacle = now,
            }
            if look == 1 || lock.word().exclusive().is_some() && lock.word().owner() != Some(me.slot()) {
                // Its release changes the word, and so sees the flag.
                break;
            }
            // Readers leave without a fence: one whose last store is still on its way does not see the flag, and seems to be inside.
            // A pause is enough for that, and where it is not, this thread looks again after a moment. A barrier would
            // interrupt everybody each time that somebody parks.
            (0..DRAIN).for_each(|_| core::hint::spin_loop());
        }
        sys::futex::wait(&me.thread.park, LOOKING, MOMENT);
        let interval = options::inspection();
        let time = now();
        if time.since(began) >= MOMENT {
            waiting.patience = Patience::Overdue;
        }
        if time.since(inspected) >= interval {
            inspected = time;
            if obstacle == Obstacle::Queue {
                request.turn = Turn::Passes;
                waiting.order = Order::Free;
            } else {
                inspect(me, lock, request.mode, &mut watches);
            }
        }
    }
}

/// Begins to watch the tenures that are in the way and not yet watched.
fn watch(me: Me, lock: &Lock, mode: Mode, watches: &mut [Option<Watch>]) {
    let before = |watches: &[Option<Watch>], of: Obstructor| {
        watches.iter().flatten().copied().find(|watch| watch.of.slot == of.slot && watch.of.ticket == of.ticket)
    };
    let mut fresh: [Option<Watch>; 4] = [None; 4];
    for (place, of) in fresh.iter_mut().zip(obstructors(me.domain, lock, me.slot(), mode)) {
        let tid = me.domain.thread(of.slot).tid.load(Ordering::Relaxed);
        *place = before(watches, of).or_else(|| Some(Watch { of, cpu: cpu_of(tid), inspections: 0 }));
    }
    for (place, fresh) in watches.iter_mut().zip(fresh) {
        *place = fresh;
    }
}

fn inspect(me: Me, lock: &Lock, mode: Mode, watches: &mut [Option<Watch>]) {
    let word = lock.word();
    if word.owner() == Some(me.slot()) && tenure(me, lock).is_none() {
        // A signal handler runs this, and interrupted its thread between two steps of leaving.
        disown(me, lock, word.ticket(), Keep::Readers);
    }
    watch(me, lock, mode, watches);
    for watch in watches.iter_mut().flatten() {
        watch.inspections += 1;
        if let Some(cause) = verdict(me, *watch) {
            revoke(me.domain, lock, watch.of, cause);
        }
    }
}

/// Why this tenure has to end now, if it has to.
fn verdict(me: Me, watch: Watch) -> Option<Cause> {
    let tid = me.domain.thread(watch.of.slot).tid.load(Ordering::Relaxed);
    if tid == 0 || !sys::thread::lives(tid) {
        return Some(Cause::DeadThread);
    }
    let fate = fate(me.domain, watch.of.slot, me.slot());
    let ran = || cpu_of(tid).zip(watch.cpu).is_some_and(|(now, then)| now.since(then) >= options::inspection());
    match fate {
        Fate::Cycle => Some(Cause::Cycle),
        Fate::Blocked => Some(Cause::Blocked),
        Fate::Runs if ran() => Some(Cause::Spinning),
        Fate::Runs | Fate::Waits if watch.inspections >= PATIENCE => Some(Cause::Timeout),
        Fate::Runs | Fate::Waits => None,
    }
}
