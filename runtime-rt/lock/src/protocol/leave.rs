//! How a thread leaves a lock, or keeps less of it.
//!
//! Making room and then looking for waiters has no fence, so a thread that leaves may overlook a waiter that has just come: which is
//! why waiters look twice with a pause in between, and again a moment later (`block`).

use model::pair::Mode;

use super::atomic::{Ordering, compiler_fence};
use super::bias;
use super::hold::{Bits, Origin, Place, Ticket, View};
use super::lock::{Lock, Me, mine};
use super::wait;
use super::word::{Exclusive, READERS, WAITERS, Word};

/// What stays of a word that its owner gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Nothing.
    Nothing,
    /// That readers may be inside: writers must come looking for them.
    Readers,
    /// The weaker exclusive part.
    Update,
}

/// Gives the exclusive part of this tenure up, and wakes whom that makes room for. Does nothing when the word is not this tenure's
/// (revoked, or biased).
#[inline(never)]
pub fn disown(me: Me, lock: &Lock, ticket: Ticket, keep: Keep) {
    loop {
        let word = lock.word();
        if !word.is_owned_by(me.slot(), ticket) {
            return;
        }
        let left = match keep {
            Keep::Nothing => word.freed(),
            Keep::Readers => Word(word.freed().0 | READERS),
            Keep::Update => word.owned(Exclusive::U, me.slot(), ticket),
        };
        if lock.swap(word, left) {
            if word.has(WAITERS) {
                wait::wake(me.domain, lock);
            }
            return;
        }
    }
}

/// Brings the word down to what this tenure's entries still need.
#[inline(never)]
pub fn settle(me: Me, lock: &Lock, ticket: Ticket) {
    let strongest = mine(me, lock).filter(|view| view.ticket == ticket).map(|view| view.mode).max();
    match strongest {
        Some(Mode::X) => {}
        Some(Mode::U) => disown(me, lock, ticket, Keep::Update),
        Some(Mode::R) => disown(me, lock, ticket, Keep::Readers),
        None => disown(me, lock, ticket, Keep::Nothing),
    }
}

/// Ends one entry of this thread.
#[inline(always)]
pub fn leave(me: Me, lock: &Lock, view: View) {
    if !view.in_force {
        me.thread.withdraw(view.place);
        return;
    }
    let mode = Bits::of(view.mode);
    let rest = me.thread.rest(view.lock, view.ticket, Some(view.place));
    if !slip_out(me, lock, (view.place, mode), rest) {
        follow(me, lock, mode, view.ticket, rest);
    }
}

/// Ends an entry that is in force, beside which its tenure has `rest`. Whether that is all; if not, `follow` is to follow.
#[inline(always)]
pub fn slip_out(me: Me, lock: &Lock, (place, mode): (Place, Bits), rest: Bits) -> bool {
    me.thread.withdraw(place);
    compiler_fence(Ordering::SeqCst);
    let word = lock.word();
    // A tenure that is as strong as before makes no room for anybody.
    rest >= mode || mode.is_read() && word.is_unwatched() || me.thread.is_favored_by(word)
}

/// After `slip_out`: does to the word, and for the waiters, what that asks for.
#[inline(always)]
pub fn follow(me: Me, lock: &Lock, mode: Bits, ticket: Ticket, rest: Bits) {
    let last = rest == Bits::NONE && !mode.is_read();
    if !(last && give_back(me, lock, ticket)) {
        tell(me, lock, mode.mode(), ticket);
    }
}

/// Ends a reader's entry, and wakes whom that makes room for.
#[inline(always)]
pub fn leave_reading(me: Me, lock: &Lock, place: Place, ticket: Ticket) {
    me.thread.withdraw(place);
    tell(me, lock, Mode::R, ticket);
}

/// Gives the word up when that is simple: it is this tenure's, which has no entry left, and nobody waits. Whether it was.
#[inline(always)]
pub fn give_back(me: Me, lock: &Lock, ticket: Ticket) -> bool {
    let word = lock.word();
    word.is_owned_by(me.slot(), ticket) && !word.has(WAITERS) && lock.swap(word, bias::left(me, lock, word))
}

/// After an entry was withdrawn: does to the word, and for the waiters, what that asks for.
#[inline(never)]
pub fn tell(me: Me, lock: &Lock, mode: Mode, ticket: Ticket) {
    compiler_fence(Ordering::SeqCst);
    let word = lock.word();
    if word.is_owned_by(me.slot(), ticket) {
        // Of U or X; or of R nested in them, or what a bias that fell left behind.
        settle(me, lock, ticket);
    }
    if mode == Mode::R && word.has(WAITERS) {
        wait::wake(me.domain, lock);
    }
}

/// Weakens the entry of this origin to R or U, if it is stronger and nobody has revoked it.
#[inline(always)]
pub fn weaken(me: Me, lock: &Lock, origin: Origin, to: Mode) {
    let Some(share) = me.thread.share(lock, origin.frame) else { return };
    let Some(here) = share.here.filter(|here| here.label == origin.label && here.mode > Bits::of(to)) else { return };
    me.thread.set_mode(here.place, Bits::of(to));
    compiler_fence(Ordering::SeqCst);
    let word = lock.word();
    if me.thread.is_favored_by(word) {
        return;
    }
    let next = if to == Mode::R { Word(word.freed().0 | READERS) } else { word.owned(Exclusive::U, me.slot(), share.ticket) };
    let simple = share.rest == Bits::NONE && word.is_owned_by(me.slot(), share.ticket) && !word.has(WAITERS);
    if !(simple && lock.swap(word, next)) {
        settle(me, lock, share.ticket);
    }
}

/// Ends everything that this thread has of a lock.
pub fn drop_tenure(me: Me, lock: &Lock) {
    for view in mine(me, lock) {
        leave(me, lock, view);
    }
}
