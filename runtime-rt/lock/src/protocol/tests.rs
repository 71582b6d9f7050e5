//! The protocol with threads as data: scripts of operations, with what each comes to.
//!
//! One step a line, `#` begins a comment. `t0 X l1 f2` asks for X from label 1 in frame 2 and expects it; `… : wait` expects to be
//! kept out, `… : queue` to be kept out by earlier waiters alone. `t0 release l1 f2`, `t0 degrade l1 f2` (`admit`: to U) and `t0 unwind f2` are the
//! other hooks, `t0 park X s3` shows a waiter that is overdue, `revoke t0` ends t0's tenure, `t0 has X` asks what is in force.

use std::boxed::Box;
use std::string::ToString;
use std::vec::Vec;

use model::pair::Mode;

use super::atomic::{AtomicU32, AtomicU64, Ordering};
use super::domain::{Domain, MAX_THREADS};
use super::enter::attempt;
use super::graph::{Blocked, Fate, Needed, fate};
use super::hold::{Frame, Origin, Slot};
use super::leave::{leave, weaken};
use super::lock::{Attempt, Lock, Me, Obstacle, Request, holders, tenure};
use super::thread::{TOLD, Thread};
use super::wait::{Order, Patience, Stamp, Turn, Waiting};
use super::word::{FAIR, READERS, WAITERS, Word};

fn domain() -> &'static Domain {
    let threads: Vec<Thread> = (0..MAX_THREADS).map(|_| Thread::new()).collect();
    let waiting: Vec<AtomicU64> = (0..MAX_THREADS).map(|_| AtomicU64::new(0)).collect();
    // Mutexes and joins name the thread that they wait for by its number.
    let needed = |_: &'static Domain, blocked, go: &mut dyn FnMut(Slot)| match blocked {
        Blocked::Mutex(owner) | Blocked::Join(owner) => {
            go(Slot(u16::try_from(owner).expect("a small number")));
            Needed::Threads
        }
        _ => Needed::Unknown,
    };
    Box::leak(Box::new(Domain {
        threads: <&_>::try_from(&*Box::leak(threads.into_boxed_slice())).expect("as many as the type says"),
        waiting: <&_>::try_from(&*Box::leak(waiting.into_boxed_slice())).expect("as many as the type says"),
        high: AtomicU32::new(4),
        barrier: || {},
        asymmetric: || true,
        now: || 0,
        unpark: |thread| {
            thread.park.store(TOLD, Ordering::Relaxed);
        },
        needed,
    }))
}

fn thread(domain: &'static Domain, number: u16) -> Me {
    let thread = domain.thread(Slot(number));
    thread.settle_in(Slot(number));
    Me { domain, thread }
}

fn lock() -> &'static Lock {
    Box::leak(Box::new(Lock::new()))
}

fn mode(word: &str) -> Option<Mode> {
    match word {
        "R" => Some(Mode::R),
        "U" => Some(Mode::U),
        "X" => Some(Mode::X),
        _ => None,
    }
}

/// A number behind a letter.
fn number(word: Option<&&str>) -> usize {
    word.and_then(|word| word.get(1..)).and_then(|digits| digits.parse().ok()).expect("a letter and a number")
}

fn revoke(me: Me, lock: &Lock) {
    let held = tenure(me, lock).expect("a tenure to revoke");
    me.thread.revoke(lock.address(), held.ticket);
    let word = lock.word();
    if word.is_owned_by(me.slot(), held.ticket) {
        lock.reset(Word(word.freed().0 | READERS));
    }
}

fn step(domain: &'static Domain, lock: &Lock, line: &str) {
    let (action, expected) = line.split_once(" : ").unwrap_or((line, ""));
    let words: Vec<&str> = action.split_whitespace().collect();
    let number_of = |at: usize| number(words.get(at));
    let me = |at: usize| thread(domain, u16::try_from(number_of(at)).expect("a small number"));
    let origin = |at: usize| Origin { label: u32::try_from(number_of(at)).expect("a label"), frame: Frame(number_of(at + 1)) };
    let entry = |me: Me, origin: Origin| me.thread.entries().find(|view| view.origin == origin);
    match (words.first().copied(), words.get(1).copied()) {
        (Some("revoke"), _) => revoke(me(1), lock),
        (_, Some("release")) => {
            if let Some(view) = entry(me(0), origin(2)) {
                leave(me(0), lock, view);
            }
        }
        (_, Some("degrade")) => {
            if let Some(view) = entry(me(0), origin(2)) {
                weaken(me(0), lock, view.origin, Mode::R);
            }
        }
        (_, Some("admit")) => {
            if let Some(view) = entry(me(0), origin(2)) {
                weaken(me(0), lock, view.origin, Mode::U);
            }
        }
        (_, Some("unwind")) => {
            for view in me(0).thread.entries().filter(|view| view.origin.frame == Frame(number_of(2))) {
                leave(me(0), lock, view);
            }
        }
        (_, Some("has")) => {
            let found = tenure(me(0), lock).map_or_else(|| "nothing".to_string(), |tenure| tenure.mode.to_string());
            assert_eq!(Some(&found.as_str()), words.get(2), "{line}");
        }
        (_, Some("park")) => {
            let mode = mode(words.get(2).copied().unwrap_or_default()).expect("a mode");
            let stamp = Stamp(u32::try_from(number_of(3)).expect("a stamp"));
            let waiting = Waiting { lock: lock.address(), mode, order: Order::Bound, stamp, patience: Patience::Overdue };
            domain.waiting(me(0).slot()).store(waiting.pack(), Ordering::Relaxed);
            lock.set(FAIR | WAITERS);
        }
        (_, Some(wanted)) => {
            let mode = mode(wanted).expect("a mode or an operation");
            let turn = if me(0).thread.holds_nothing() { Turn::Last } else { Turn::Passes };
            let came = match attempt(me(0), lock, Request { mode, origin: origin(2), turn }) {
                Attempt::Done => "",
                Attempt::Wait(Obstacle::Holders) => "wait",
                Attempt::Wait(Obstacle::Queue) => "queue",
            };
            assert_eq!(came, expected, "{line}");
        }
        _ => panic!("{line}"),
    }
    let inside: Vec<_> = (0..4).filter_map(|number| tenure(thread(domain, number), lock).map(|tenure| tenure.mode)).collect();
    for (at, first) in inside.iter().enumerate() {
        assert!(inside.iter().skip(at + 1).all(|second| first.compatible(*second)), "incompatible holds after {line}: {inside:?}");
    }
    let owner = lock.word().owner();
    let strong = holders(domain, lock).find(|(_, view)| view.mode != Mode::R).map(|(slot, _)| slot);
    assert_eq!(owner, strong, "the word's owner after {line}");
}

fn check(script: &str) {
    let (domain, lock) = (domain(), lock());
    for line in script.lines().map(|line| line.split('#').next().unwrap_or_default().trim()).filter(|line| !line.is_empty()) {
        step(domain, lock, line);
    }
}

#[test]
fn modes_keep_each_other_out_as_the_model_says() {
    for (first, second) in ["R", "U", "X"].iter().flat_map(|first| ["R", "U", "X"].map(|second| (*first, second))) {
        let compatible = mode(first).zip(mode(second)).is_some_and(|(first, second)| first.compatible(second));
        let outcome = if compatible { "" } else { " : wait" };
        check(&std::format!("t0 {first} l1 f1\n t1 {second} l1 f1{outcome}\n t0 release l1 f1\n t1 {second} l1 f1"));
    }
}

#[test]
fn only_the_newest_label_of_a_frame_releases() {
    check(
        "t0 X l1 f1
         t0 X l2 f1
         t0 release l1 f1   # an older origin
         t1 R l1 f9 : wait
         t0 release l2 f2   # another frame
         t1 R l1 f9 : wait
         t0 release l2 f1   # acquired twice, released once
         t0 has nothing
         t1 R l1 f9",
    );
}

#[test]
fn frames_stack() {
    check(
        "t0 R l1 f5
         t0 R l1 f4         # a callee, or the same function again
         t0 release l1 f4
         t1 X l1 f1 : wait
         t0 release l1 f5
         t1 X l1 f1",
    );
}

#[test]
fn the_stronger_mode_of_nested_frames_counts_and_ends_with_its_frame() {
    check(
        "t0 U l1 f5
         t0 X l2 f4
         t1 R l1 f1 : wait
         t0 release l2 f4
         t0 has U
         t1 R l1 f1
         t0 X l2 f4 : wait  # upgrading waits for the reader,
         t2 R l1 f1 : wait  # and bars new ones
         t1 release l1 f1
         t0 X l2 f4
         t0 degrade l2 f4   # the outer U stays
         t0 has U
         t2 R l1 f1",
    );
}

#[test]
fn degrading_lets_readers_in_and_keeps_writers_out() {
    check(
        "t0 X l1 f1
         t0 degrade l9 f1   # not its origin
         t1 R l1 f1 : wait
         t0 degrade l1 f1
         t1 R l1 f1
         t2 X l1 f1 : wait
         t2 U l1 f1
         t0 release l1 f1
         t1 release l1 f1
         t2 X l2 f1",
    );
    // Also where no other reader says that there are any.
    check("t0 X l1 f1 \n t0 degrade l1 f1 \n t1 X l1 f1 : wait \n t0 release l1 f1 \n t1 X l1 f1");
}

#[test]
fn degrading_to_update_lets_readers_in_keeps_others_out_and_can_be_taken_back() {
    check(
        "t0 X l1 f1
         t0 admit l9 f1   # not its origin
         t1 R l1 f1 : wait
         t0 admit l1 f1
         t0 has U
         t1 R l1 f1
         t2 U l1 f1 : wait
         t2 X l1 f1 : wait
         t0 X l2 f1 : wait   # for the reader
         t1 release l1 f1
         t0 X l2 f1
         t1 R l1 f1 : wait
         t0 admit l2 f1
         t0 degrade l2 f1
         t0 admit l2 f1     # strengthens nothing
         t0 has R
         t2 U l1 f1",
    );
    check("t0 X l1 f5 \n t0 X l2 f4 \n t0 admit l2 f4 \n t0 has X   # the outer one stays \n t0 release l2 f4 \n t0 has X");
}

#[test]
fn a_weaker_acquire_keeps_the_stronger_mode() {
    check("t0 X l1 f1 \n t0 R l2 f1 \n t0 has X \n t0 release l2 f1 \n t0 has nothing");
}

#[test]
fn a_lone_reader_may_become_a_writer() {
    check("t0 R l1 f1 \n t0 X l2 f1 \n t0 has X \n t1 R l1 f1 : wait");
    check("t0 R l1 f5 \n t0 X l2 f4 \n t0 release l2 f4 \n t0 has R \n t1 R l1 f1");
}

#[test]
fn readers_that_want_to_write_give_their_holds_up_instead_of_waiting_for_each_other() {
    check(
        "t0 R l1 f1
         t1 R l1 f1
         t0 X l2 f1 : wait
         t0 has nothing
         t1 X l2 f1
         t1 release l2 f1
         t0 X l2 f1",
    );
    check("t0 R l1 f1 \n t1 U l1 f1 \n t0 U l2 f1 : wait \n t0 has nothing \n t1 X l2 f1");
}

#[test]
fn unwinding_ends_the_holds_of_one_frame() {
    check("t0 X l1 f5 \n t0 X l2 f4 \n t0 unwind f4 \n t0 has X \n t0 unwind f5 \n t0 has nothing \n t1 X l1 f1");
}

#[test]
fn a_revoked_hold_is_over_and_its_release_does_nothing() {
    for mode in ["R", "U", "X"] {
        check(&std::format!(
            "t0 {mode} l1 f1
             revoke t0
             t1 X l1 f1
             t0 release l1 f1   # must not release t1's
             t2 R l1 f1 : wait
             t1 degrade l1 f1
             t0 R l2 f1
             t0 has R"
        ));
        check(&std::format!("t0 {mode} l1 f1 \n revoke t0 \n t1 X l1 f1 \n t0 {mode} l1 f1 : wait \n t1 release l1 f1 \n t0 {mode} l1 f1"));
    }
}

#[test]
fn newcomers_queue_behind_an_overdue_waiter_but_readers_do_not_mind_readers() {
    check(
        "t0 R l1 f1
         t1 park X s1
         t2 R l1 f1 : queue
         t2 X l1 f1 : wait",
    );
    check("t0 R l1 f1 \n t1 park R s1 \n t2 R l1 f1");
}

#[test]
fn a_thread_that_holds_another_lock_passes_the_queue() {
    let (domain, locks) = (domain(), [lock(), lock()]);
    let [lock, other] = locks;
    step(domain, other, "t2 R l1 f1");
    step(domain, lock, "t0 R l1 f1");
    step(domain, lock, "t1 park X s1");
    step(domain, lock, "t2 R l1 f1");
    step(domain, lock, "t3 R l1 f1 : queue");
}

#[test]
fn a_thread_with_a_full_held_set_goes_without() {
    let domain = domain();
    let locks: Vec<_> = (0..17).map(|_| lock()).collect();
    for lock in &locks {
        step(domain, lock, "t0 X l1 f1");
    }
    step(domain, locks[16], "t0 has nothing");
    step(domain, locks[16], "t1 X l1 f1");
    step(domain, locks[15], "t1 X l1 f1 : wait");
}

#[test]
fn waking_goes_to_the_first_writer_or_to_the_readers_before_it() {
    let woken = |parked: &[&str]| {
        let (domain, lock) = (domain(), lock());
        for line in parked {
            step(domain, lock, line);
        }
        super::wait::wake(domain, lock);
        (0..4).filter(|&slot| domain.thread(Slot(slot)).park.load(Ordering::Relaxed) == TOLD).collect::<Vec<_>>()
    };
    assert_eq!(woken(&["t0 park X s2", "t1 park X s1", "t2 park R s3"]), [1]);
    assert_eq!(woken(&["t0 park R s1", "t1 park X s2", "t2 park R s3", "t3 park R s0"]), [0, 3]);
    assert_eq!(woken(&["t0 park R s2", "t1 park R s1"]), [0, 1]);
    assert_eq!(woken(&["t0 park U s2", "t1 park U s1"]), [1]);
}

#[test]
fn the_fate_of_a_holder_follows_locks_mutexes_and_joins() {
    let park = |domain: &'static Domain, slot: u16, lock: &Lock, mode: Mode| {
        let waiting = Waiting { lock: lock.address(), mode, order: Order::Free, stamp: Stamp(0), patience: Patience::Fresh };
        domain.waiting(Slot(slot)).store(waiting.pack(), Ordering::Relaxed);
    };
    let block = |domain: &'static Domain, slot: u16, blocked: Blocked| {
        domain.thread(Slot(slot)).blocked.store(blocked.pack(), Ordering::Relaxed);
    };
    // t1 holds `first`, t2 holds `second`; t0 asks about t1.
    let set = || {
        let (domain, first, second) = (domain(), lock(), lock());
        step(domain, first, "t1 X l1 f1");
        step(domain, second, "t2 R l1 f1");
        (domain, first, second)
    };
    let (domain, _, second) = set();
    assert_eq!(fate(domain, Slot(1), Slot(0)), Fate::Runs);
    park(domain, 1, second, Mode::X);
    assert_eq!(fate(domain, Slot(1), Slot(0)), Fate::Waits);
    block(domain, 2, Blocked::Condition);
    assert_eq!(fate(domain, Slot(1), Slot(0)), Fate::Blocked);
    block(domain, 2, Blocked::Join(0));
    assert_eq!(fate(domain, Slot(1), Slot(0)), Fate::Cycle);
    block(domain, 2, Blocked::Mutex(1));
    assert_eq!(fate(domain, Slot(1), Slot(0)), Fate::Cycle);
    block(domain, 2, Blocked::Mutex(3));
    assert_eq!(fate(domain, Slot(1), Slot(0)), Fate::Waits);
    let (domain, _, second) = set();
    park(domain, 1, second, Mode::U);
    assert_eq!(fate(domain, Slot(1), Slot(2)), Fate::Waits, "a reader does not keep U out");
}

#[test]
fn what_a_thread_is_blocked_in_reads_back() {
    use Blocked::{Condition, Join, Meet, Mutex, Poll, Rwlock, Sleep, Stream};
    for blocked in [Condition, Meet, Sleep, Poll, Stream, Join(0x7fff_ffff_fff8), Mutex(8), Rwlock(16)] {
        assert_eq!(Blocked::unpack(blocked.pack()), Some(blocked));
    }
    assert_eq!(Blocked::unpack(0), None);
}
