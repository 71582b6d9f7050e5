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

use super::atomic::{Ordering, compiler_fence, fence, fence_after_swap};
use super::bias;
use super::hold::{Bits, Here, Origin, Place, Share, Ticket};
use super::last;
use super::leave::{Keep, disown, drop_tenure, leave_reading, settle, tell};
use super::lock::{Attempt, Cause, Lock, Me, Obstacle, Request, others_inside, tenure};
use super::wait;
use super::word::{BIASED, Exclusive, FAIR, LIGHT, OFF, READERS, UPGRADING, WAITERS, Word};

/// Tries to make this thread hold the lock as requested: enters, re-enters or strengthens.
pub fn attempt(me: Me, lock: &Lock, request: Request) -> Attempt {
    if lock.word().has(OFF) {
        return Attempt::Done;
    }
    let share = me.thread.share(lock, request.origin.frame).or_else(|| {
        // Clears away what was revoked.
        let _ = tenure(me, lock);
        me.thread.share(lock, request.origin.frame)
    });
    // Revoked a moment ago: the next attempt starts afresh.
    let Some(share) = share else { return Attempt::Wait(Obstacle::Holders) };
    if share.mode() != Bits::NONE {
        return again(me, lock, request, share);
    }
    let Some(place) = me.thread.vacancy() else {
        lock.count(Cause::Full);
        return Attempt::Done;
    };
    enter(me, lock, request, place)
}

/// Adds the hold of another frame to a tenure that is at least as strong, or a label to a frame's own; whether it did. Who looks at this
/// thread finds the tenure as strong with the entry as without, so there is nothing to look at afterwards: not even whether a bias stands.
#[inline(always)]
pub fn join(me: Me, lock: &Lock, mode: Bits, origin: Origin, share: Share) -> bool {
    if let Some(here) = share.here {
        if mode <= here.mode {
            me.thread.relabel(here.place, origin.label);
        }
        return mode <= here.mode;
    }
    let Some(place) = me.thread.vacancy().filter(|_| mode <= share.rest) else { return false };
    me.thread.publish(place, lock, mode, origin, share.ticket);
    true
}

/// Takes more of a lock of which this thread has this share.
fn again(me: Me, lock: &Lock, request: Request, share: Share) -> Attempt {
    if join(me, lock, Bits::of(request.mode), request.origin, share) {
        return Attempt::Done;
    }
    if me.thread.is_favored_by(lock.word()) {
        return note_biased(me, lock, request, share);
    }
    if request.mode == Mode::X && upgrade_alone(me, lock, request.origin.label, share) {
        return Attempt::Done;
    }
    if Bits::of(request.mode) > share.mode() {
        match strengthen(me, lock, share, request.mode) {
            Strengthened::Done => {}
            Strengthened::Wait => return Attempt::Wait(Obstacle::Holders),
            Strengthened::Impossible => {
                lock.count(Cause::Strengthened);
                drop_tenure(me, lock);
                return attempt(me, lock, request);
            }
        }
    }
    note(me, lock, request, share);
    Attempt::Done
}

/// Under a bias entries are all there is to change, as long as it stands.
fn note_biased(me: Me, lock: &Lock, request: Request, share: Share) -> Attempt {
    let fresh = note(me, lock, request, share);
    compiler_fence(Ordering::SeqCst);
    if me.thread.is_favored_by(lock.word()) {
        return Attempt::Done;
    }
    if let Some(Here { place, label, mode }) = share.here {
        me.thread.set_mode(place, mode);
        me.thread.relabel(place, label);
    } else if let Some(place) = fresh {
        me.thread.withdraw(place);
    }
    Attempt::Wait(Obstacle::Holders)
}

/// Records the origin of a hold that is in force: one entry a frame, the newest label, the stronger mode. The entry, if it is a new one.
fn note(me: Me, lock: &Lock, request: Request, share: Share) -> Option<Place> {
    if let Some(here) = share.here {
        me.thread.relabel(here.place, request.origin.label);
        if Bits::of(request.mode) > here.mode {
            me.thread.set_mode(here.place, Bits::of(request.mode));
        }
        return None;
    }
    let vacancy = me.thread.vacancy();
    match vacancy {
        Some(place) => me.thread.publish(place, lock, Bits::of(request.mode), request.origin, share.ticket),
        // The outer frame's hold stays as strong as it is; only this frame's own share goes unrecorded. The exclusive part, if
        // this request took it, must not stay behind without an entry.
        None => {
            lock.count(Cause::Full);
            settle(me, lock, share.ticket);
        }
    }
    vacancy
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
    me.thread.publish(place, lock, Bits::of(request.mode), request.origin, ticket);
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
    me.thread.publish(place, lock, Bits::of(Mode::R), request.origin, ticket);
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
    me.thread.publish(place, lock, Bits::of(request.mode), request.origin, ticket);
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
        fence_after_swap();
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
fn strengthen(me: Me, lock: &Lock, share: Share, wanted: Mode) -> Strengthened {
    if !share.mode().is_read() {
        return upgrade(me, lock, share.ticket);
    }
    // A bias that fell while this tenure was about to grow may have left it the word.
    settle(me, lock, share.ticket);
    let exclusive = if wanted == Mode::X { Exclusive::X } else { Exclusive::U };
    claimed(claim(me, lock, exclusive, share.ticket, None))
}

/// A reader never waits for the exclusive part: two that did would wait for each other.
fn claimed(obstacle: Option<Obstacle>) -> Strengthened {
    if obstacle.is_none() { Strengthened::Done } else { Strengthened::Impossible }
}

/// U to X of a frame's own entry when nobody reads or waits: one compare-and-swap. Whether it was; if not, nothing has changed.
#[inline(always)]
pub fn upgrade_alone(me: Me, lock: &Lock, label: u32, share: Share) -> bool {
    let word = lock.word();
    let Some(here) = share.here.filter(|here| here.mode == Bits::of(Mode::U)) else { return false };
    let alone = word.is_owned_by(me.slot(), share.ticket) && !word.has(READERS | LIGHT | WAITERS);
    if !(alone && lock.swap(word, word.owned(Exclusive::X, me.slot(), share.ticket))) {
        return false;
    }
    me.thread.relabel(here.place, label);
    me.thread.set_mode(here.place, Bits::of(Mode::X));
    true
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
