//! What a thread of a program as data is in the middle of, and what it makes of those who interrupt it.
//!
//! Not here: what it waits for (`machine`), and what its next step does (`perform`).

use super::program::{Op, REGISTERS};

/// One thread.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Thread {
    pub(super) body: usize,
    pub(super) at: usize,
    pub(super) phase: Phase,
    pub(super) registers: [i64; REGISTERS],
    pub(super) attention: Attention,
    /// A signal waits for it.
    pub(super) signalled: bool,
    /// It leaves signals where they are.
    pub(super) blocks: bool,
    /// It is to end where it can.
    pub(super) cancelled: bool,
    /// It waits on a condition, only to leave the waiters and end.
    pub(super) leaves: bool,
    /// A handler has come in the middle of the wait that it is in.
    pub(super) interrupted: bool,
}

impl Thread {
    /// Whether a signal waits that it would take.
    pub(super) fn takes_signal(&self) -> bool {
        self.signalled && !self.blocks
    }

    /// Whether it ends where it is about to do this, or in the middle of it. Who only wants a mutex back goes on.
    pub(super) fn ends_in(&self, op: Op) -> bool {
        let wants_back = self.leaves || matches!(self.phase, Phase::Woken | Phase::Expired);
        let is_point = matches!(op, Op::Wait { .. } | Op::Take(_) | Op::TimedTake { .. } | Op::SigWait { .. } | Op::Join(_));
        self.cancelled && is_point && !wants_back
    }
}

/// What a thread makes of signals before it goes on with its body.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Attention {
    /// It is to look for one.
    Due,
    /// It has seen none.
    Paid,
    /// It runs the handler of one.
    Handling,
}

/// What a thread is about to do, as far as signals matter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stand {
    /// What its body says.
    Body,
    /// To look for a signal.
    Looks,
    /// To do what the handler does.
    Handles,
    /// To take a signal in the middle of a wait.
    Interrupted,
}

/// How far it has come with what its body says.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Phase {
    Fresh,
    Running,
    Waiting,
    Woken,
    /// It timed out, which it learns when it has the mutex again.
    Expired,
    Ended,
}
