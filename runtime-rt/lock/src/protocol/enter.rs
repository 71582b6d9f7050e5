//! How a thread enters a lock, and takes more of one that it has. Nothing here blocks or makes a system call other than the
//! domain's barrier; `Attempt::Wait` says that waiting is needed, and `block` does it.
//!
//! - U and X: the word is changed from open to owned by compare-and-swap, and back by the owner or by a revoker; the ticket in it
//!   makes sure that each gives up only the very tenure it means.
//! - R: publish the entry, then read the word; X: own the word, then read all entries. The fence between is a full one on both
//!   sides, or with `LIGHT` none for the reader and the domain's barrier for the writer. The reader judges by a word that it
//!   read *after* publishing: a `LIGHT` seen there makes every later claim do the barrier.
//! - Whoever gets the exclusive part writes `last` before it does anything else; threads that only glance look at that (`glance`).
//! - The thread that a lock is biased to publishes its entry, in any mode, and reads the word: as long as the bias stands, nobody
//!   else enters. What happens when it falls meanwhile is told in `bias`.

use model::pair::Mode;

use super::atomic::{Ordering, compiler_fence, fence};
use super::bias;
use super::hold::{Place, Ticket, View};
use super::last;
use super::leave::{Keep, disown, drop_tenure, leave_reading, settle, tell};
use super::lock::{Attempt, Cause, Lock, Me, Obstacle, Request, Tenure, mine, others_inside, tenure};
use super::wait;
use super::word::{BIASED, Exclusive, FAIR, LIGHT, OFF, READERS, UPGRADING, WAITERS, Word};

/// Tries to make this thread hold the lock as requested: enters, re-enters or strengthens.
pub fn attempt(me: Me, lock: &Lock, request: Request) -> Attempt {
    if lock.word().has(OFF) {
        return Attempt::Done;
    }
    let Some(held) = tenure(me, lock) else {
        let Some(place) = me.thread.vacancy() else {
            lock.count(Cause::Full);
            return Attempt::Done;
        };
        return enter(me, lock, request, place);
    };
    if me.thread.is_favored_by(lock.word()) {
        return note_biased(me, lock, held.ticket, request);
    }
    if request.mode > held.mode {
        match strengthen(me, lock, held, request.mode) {
            Strengthened::Done => {}
            Strengthened::Wait => return Attempt::Wait(Obstacle::Holders),
            Strengthened::Impossible => {
                lock.count(Cause::Strengthened);
                drop_tenure(me, lock);
                return attempt(me, lock, request);
            }
        }
    }
    note(me, lock, held.ticket, request);
    Attempt::Done
}

/// Under a bias entries are all there is to change, as long as it stands.
fn note_biased(me: Me, lock: &Lock, ticket: Ticket, request: Request) -> Attempt {
    let before = mine(me, lock).find(|view| view.origin.frame == request.origin.frame);
    note(me, lock, ticket, request);
    compiler_fence(Ordering::SeqCst);
    if me.thread.is_favored_by(lock.word()) {
        return Attempt::Done;
    }
    match before {
        Some(View { place, mode, origin, .. }) => {
            me.thread.set_mode(place, mode);
            me.thread.relabel(place, origin.label);
        }
        None => {
            if let Some(view) = mine(me, lock).find(|view| view.origin.frame == request.origin.frame) {
                me.thread.withdraw(view.place);
            }
        }
    }
    Attempt::Wait(Obstacle::Holders)
}

/// Records the origin of a hold that is in force: one entry a frame, the newest label, the stronger mode.
fn note(me: Me, lock: &Lock, ticket: Ticket, request: Request) {
    if let Some(view) = mine(me, lock).find(|view| view.origin.frame == request.origin.frame) {
        me.thread.relabel(view.place, request.origin.label);
        if request.mode > view.mode {
            me.thread.set_mode(view.place, request.mode);
        }
        return;
    }
    match me.thread.vacancy() {
        Some(place) => me.thread.publish(place, lock, request.mode, request.origin, ticket),
        // The outer frame's hold stays as strong as it is; only this frame's own share goes unrecorded. The exclusive part, if
        // this request took it, must not stay behind without an entry.
        None => {
            lock.count(Cause::Full);
            settle(me, lock, ticket);
        }
    }
}

/// Enters a lock of which this thread has nothing.
#[inline(always)]
pub fn enter(me: Me, lock: &Lock, request: Request, place: Place) -> Attempt {
    let word = lock.word();
    if me.thread.is_favored_by(word) {
        return enter_biased(me, lock, request, place);
    }
    match request.mode {
        Mode::R => enter_reading(me, lock, word, request, place),
        Mode::U => enter_exclusive(me, lock, request, place, Exclusive::U),
        Mode::X => enter_exclusive(me, lock, request, place, Exclusive::X),
    }
}

#[inline(always)]
fn enter_biased(me: Me, lock: &Lock, request: Request, place: Place) -> Attempt {
    let ticket = me.thread.next_ticket();
    me.thread.publish(place, lock, request.mode, request.origin, ticket);
    compiler_fence(Ordering::SeqCst);
    if me.thread.is_favored_by(lock.word()) {
        return Attempt::Done;
    }
    me.thread.withdraw(place);
    tell(me, lock, request.mode, ticket);
    Attempt::Wait(Obstacle::Holders)
}

#[inline(always)]
fn enter_reading(me: Me, lock: &Lock, word: Word, request: Request, place: Place) -> Attempt {
    if !word.welcomes_readers()
        && let Some(obstacle) = keeps_out(me, lock, word, request)
    {
        return Attempt::Wait(obstacle);
    }
    let ticket = me.thread.next_ticket();
    me.thread.publish(place, lock, Mode::R, request.origin, ticket);
    if reader_may_stay(me, lock) {
        return Attempt::Done;
    }
    leave_reading(me, lock, place, ticket);
    Attempt::Wait(Obstacle::Holders)
}

/// What, in this word, keeps a reader out.
#[cold]
#[inline(never)]
fn keeps_out(me: Me, lock: &Lock, word: Word, request: Request) -> Option<Obstacle> {
    if word.has(BIASED) {
        bias::end(me, lock);
        return lock.word().bars_readers().then_some(Obstacle::Holders);
    }
    if word.bars_readers() {
        return Some(Obstacle::Holders);
    }
    (!wait::is_first(me, lock, request)).then_some(Obstacle::Queue)
}

/// Whether an entry that was just published is a read hold.
#[inline(always)]
pub fn reader_may_stay(me: Me, lock: &Lock) -> bool {
    compiler_fence(Ordering::SeqCst);
    let mut word = lock.word();
    if !word.has(LIGHT) {
        bias::fenced(me, lock);
        fence(Ordering::SeqCst);
        word = lock.word();
    }
    if !word.has(READERS) {
        word = lock.set(READERS);
    }
    !word.bars_readers()
}

#[inline(always)]
fn enter_exclusive(me: Me, lock: &Lock, request: Request, place: Place, exclusive: Exclusive) -> Attempt {
    let ticket = me.thread.next_ticket();
    if let Some(obstacle) = claim(me, lock, exclusive, ticket, Some(request)) {
        return Attempt::Wait(obstacle);
    }
    me.thread.publish(place, lock, request.mode, request.origin, ticket);
    Attempt::Done
}

/// Makes this tenure own the open word; for X, only when no other thread reads. `None`: done.
#[inline(always)]
fn claim(me: Me, lock: &Lock, exclusive: Exclusive, ticket: Ticket, queued: Option<Request>) -> Option<Obstacle> {
    let word = lock.word();
    let simple = word.is_open() && !word.has(FAIR) && (exclusive == Exclusive::U || !word.has(READERS));
    if simple && lock.swap(word, word.owned(exclusive, me.slot(), ticket)) {
        last::count(me, lock, ticket);
        return None;
    }
    claim_among_others(me, lock, exclusive, ticket, queued)
}

/// Enters a lock whose word is open and says nothing that asks for a closer look. The entry is the caller's to publish.
#[inline(always)]
pub fn take_open(me: Me, lock: &Lock, mode: Mode, ticket: Ticket) -> bool {
    let exclusive = if mode == Mode::X { Exclusive::X } else { Exclusive::U };
    let word = lock.word();
    let taken = word.is_plain() && lock.swap(word, word.owned(exclusive, me.slot(), ticket));
    if taken {
        last::count(me, lock, ticket);
    }
    taken
}

#[cold]
#[inline(never)]
fn claim_among_others(me: Me, lock: &Lock, exclusive: Exclusive, ticket: Ticket, queued: Option<Request>) -> Option<Obstacle> {
    loop {
        let word = lock.word();
        if word.biased_to().is_some_and(|favored| favored != me.slot()) {
            bias::end(me, lock);
            continue;
        }
        if !word.is_open() {
            return Some(Obstacle::Holders);
        }
        let readers_matter = exclusive == Exclusive::X && word.has(READERS);
        // Barring readers for nothing makes them park and wakes them again: with waiters about, look first.
        if readers_matter && word.has(WAITERS) && others_inside(me, lock) {
            return Some(Obstacle::Holders);
        }
        if word.has(FAIR) && queued.is_some_and(|request| !wait::is_first(me, lock, request)) {
            return Some(Obstacle::Queue);
        }
        let mut claimed = word.owned(exclusive, me.slot(), ticket);
        if exclusive == Exclusive::X {
            claimed = Word(claimed.0 & !(LIGHT | READERS));
        }
        if !lock.swap(word, claimed) {
            continue;
        }
        if readers_matter && !readers_are_gone(me, lock, word) {
            disown(me, lock, ticket, Keep::Readers);
            return Some(Obstacle::Holders);
        }
        last::count(me, lock, ticket);
        return None;
    }
}

/// How often a writer looks for readers that are about to leave, while it bars new ones.
const LOOKS: u32 = if cfg!(feature = "loom") { 1 } else { 30 };

/// Whether no other thread's entry is left, now that none can be added. `before` is the word before readers were barred.
#[cold]
#[inline(never)]
fn readers_are_gone(me: Me, lock: &Lock, before: Word) -> bool {
    if before.has(LIGHT) {
        bias::barrier(me, lock);
    } else {
        fence(Ordering::SeqCst);
    }
    (0..LOOKS).any(|look| {
        if look != 0 {
            core::hint::spin_loop();
        }
        !others_inside(me, lock)
    })
}

enum Strengthened {
    Done,
    Wait,
    Impossible,
}

/// Takes more of a lock that this thread has.
fn strengthen(me: Me, lock: &Lock, held: Tenure, wanted: Mode) -> Strengthened {
    if held.mode == Mode::R {
        // A bias that fell while this tenure was about to grow may have left it the word.
        settle(me, lock, held.ticket);
    }
    match (held.mode, wanted) {
        (Mode::U, Mode::X) => upgrade(me, lock, held.ticket),
        (Mode::R, Mode::U) => claimed(claim(me, lock, Exclusive::U, held.ticket, None)),
        (Mode::R, Mode::X) => claimed(claim(me, lock, Exclusive::X, held.ticket, None)),
        _ => Strengthened::Done,
    }
}

/// A reader never waits for the exclusive part: two that did would wait for each other.
fn claimed(obstacle: Option<Obstacle>) -> Strengthened {
    if obstacle.is_none() { Strengthened::Done } else { Strengthened::Impossible }
}

/// U to X: bars new readers, and is done when the last one has left.
fn upgrade(me: Me, lock: &Lock, ticket: Ticket) -> Strengthened {
    loop {
        let word = lock.word();
        if !word.is_owned_by(me.slot(), ticket) {
            // Revoked since `tenure` looked; the next attempt starts afresh.
            return Strengthened::Wait;
        }
        if word.has(READERS) {
            let barred = Word((word.0 | UPGRADING) & !LIGHT);
            if word != barred && !lock.swap(word, barred) {
                continue;
            }
            if !readers_are_gone(me, lock, word) {
                return Strengthened::Wait;
            }
        }
        // A reader that shows itself only now sets `READERS` after this, and finds X.
        let word = if word.has(READERS) { lock.word() } else { word };
        let exclusive = Word(word.owned(Exclusive::X, me.slot(), ticket).0 & !(LIGHT | READERS));
        if word.is_owned_by(me.slot(), ticket) && lock.swap(word, exclusive) {
            return Strengthened::Done;
        }
    }
}
