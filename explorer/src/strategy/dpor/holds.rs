//! Who holds a lock: what happened to it, step by step, so that its state before any step can be had again.
//!
//! Mutexes are held in mode X, reader-writer locks in R or X, injected locks in R, U or X; one rule of compatibility.

use alloc::vec::Vec;

use model::event::{Event, EventKind};
use model::ids::ThreadId;
use model::pair::Mode;

/// One hold of one lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hold {
    thread: ThreadId,
    mode: Mode,
}

/// What one step did to a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Nothing: no lock operation, or one without effect.
    Nothing,
    /// Took it.
    Took(Hold),
    /// Gave it up.
    Gave(Hold),
    /// Holds it in another mode.
    Turned { from: Hold, to: Mode },
}

/// The holds of one lock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Holds(Vec<Hold>);

/// The mode in which an event wants the lock and waits for it; `None` for events that wait for none.
pub(super) fn wanted(event: &Event) -> Option<Mode> {
    match event.kind {
        EventKind::Lock | EventKind::WaitReacquire => Some(Mode::X),
        EventKind::ReadLock => Some(Mode::R),
        EventKind::Acquire { mode } => Some(mode),
        _ => None,
    }
}

impl Holds {
    /// Whether a thread could take it in this mode.
    pub(super) fn allow(&self, thread: ThreadId, mode: Mode) -> bool {
        self.0.iter().all(|hold| hold.thread == thread || hold.mode.compatible(mode))
    }

    /// Performs what an event does to a lock that it names in this role, and says what that is.
    pub(super) fn perform(&mut self, thread: ThreadId, event: &Event, role: Role) -> Change {
        let change = self.change(thread, event, role);
        self.apply(change);
        change
    }

    /// Leaves a thread only this much of what it holds, and says what that changed.
    pub(super) fn weaken(&mut self, thread: ThreadId, left: Option<Mode>) -> Change {
        let own = self.0.iter().rev().find(|hold| hold.thread == thread).copied();
        let change = match (own, left) {
            (Some(own), None) => Change::Gave(own),
            (Some(from), Some(to)) if to < from.mode => Change::Turned { from, to },
            _ => Change::Nothing,
        };
        self.apply(change);
        change
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::Nothing => {}
            Change::Took(hold) => self.0.push(hold),
            Change::Gave(hold) => self.take_out(hold),
            Change::Turned { from, to } => self.replace(from, to),
        }
    }

    fn change(&self, thread: ThreadId, event: &Event, role: Role) -> Change {
        let own = self.0.iter().rev().find(|hold| hold.thread == thread).copied();
        let give = || own.or(self.0.last().copied()).map_or(Change::Nothing, Change::Gave);
        match event.kind {
            EventKind::WaitRelease { .. } if role == Role::Mutex => give(),
            EventKind::Unlock => give(),
            EventKind::Release | EventKind::Revoke => own.map_or(Change::Nothing, Change::Gave),
            EventKind::Lock | EventKind::TimedLock | EventKind::WaitReacquire => Change::Took(Hold { thread, mode: Mode::X }),
            EventKind::ReadLock => Change::Took(Hold { thread, mode: Mode::R }),
            EventKind::TryLock if self.0.is_empty() => Change::Took(Hold { thread, mode: Mode::X }),
            EventKind::TryReadLock if self.allow(thread, Mode::R) => Change::Took(Hold { thread, mode: Mode::R }),
            EventKind::Acquire { mode } => match own {
                None => Change::Took(Hold { thread, mode }),
                Some(from) if from.mode < mode => Change::Turned { from, to: mode },
                Some(_) => Change::Nothing,
            },
            EventKind::Degrade => own.map_or(Change::Nothing, |from| Change::Turned { from, to: Mode::R }),
            _ => Change::Nothing,
        }
    }

    /// Takes a change back. Changes are taken back in reverse order.
    pub(super) fn undo(&mut self, change: Change) {
        match change {
            Change::Nothing => {}
            Change::Took(hold) => self.take_out(hold),
            Change::Gave(hold) => self.0.push(hold),
            Change::Turned { from, to } => self.replace(Hold { mode: to, ..from }, from.mode),
        }
    }

    fn take_out(&mut self, hold: Hold) {
        if let Some(at) = self.0.iter().rposition(|&other| other == hold) {
            self.0.remove(at);
        }
    }

    fn replace(&mut self, from: Hold, to: Mode) {
        if let Some(hold) = self.0.iter_mut().rev().find(|hold| **hold == from) {
            hold.mode = to;
        }
    }
}

/// As what an event names a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Its object.
    Object,
    /// The mutex of a condition wait.
    Mutex,
}
