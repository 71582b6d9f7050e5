//! What the model knows of one thread.
//!
//! Not here: what it may do next (`model`).

use model::event::Range;
use model::ids::ObjectId;

use super::ask::{Ask, Nanoseconds, Request};
use super::ends::{Ends, Free};

/// How far a thread has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// It is about to do what it asked for.
    Alive,
    /// It has ended.
    Ended,
}

/// Whether a thread that was cancelled ends at the next point where it can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cancellation {
    /// It does.
    Enabled,
    /// Not yet.
    Disabled,
}

impl Thread {
    /// Gives it its words, which lie where the C library keeps what it knows of the thread with this identity: the program itself never
    /// touches them.
    pub(crate) fn name(&mut self, identity: libc::pthread_t) {
        self.end = Range { address: identity + 8, length: 4 };
        self.word = Range { address: identity + 16, length: 4 };
        self.called = Range { address: identity + 20, length: 4 };
    }

    /// Whether it may time out where it stands, when others have made so many changes.
    pub(super) fn may_time_out(&self, others: u64) -> bool {
        self.time_outs.may_end(self.place, others, Free::InAll, self.repeats)
    }

    /// Whether it may be woken there without a cause.
    pub(super) fn may_wake(&self, others: u64) -> bool {
        self.wake_ups.may_end(self.place, others, Free::SinceChange, self.repeats)
    }

    /// Signals that it has to take now.
    pub(crate) fn deliverable(&self) -> u64 {
        self.waiting() & !self.blocked
    }

    /// Signals that wait for it, alone or among others.
    pub(crate) fn waiting(&self) -> u64 {
        self.signals | self.for_all
    }

    /// Whether it has to end where it can.
    pub(crate) fn has_to_end(&self) -> bool {
        self.cancelled && self.cancellation == Cancellation::Enabled
    }

    /// Whether it only wants a mutex back, woken at a condition, when it asks for this.
    pub(super) fn retakes(&self, ask: Ask) -> bool {
        matches!(ask, Ask::Reacquire { .. }) || (self.woken && matches!(ask, Ask::Waiting { .. }))
    }

    /// Whether it has to end where it asks for this.
    pub(crate) fn ends_in(&self, ask: Ask) -> bool {
        self.has_to_end() && ask.is_cancellation_point() && !self.retakes(ask)
    }
}

/// One thread.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    /// How far it has come.
    pub(crate) life: Life,
    /// What it asks for.
    pub(crate) request: Request,
    /// The object that the request is about.
    pub(super) object: Option<ObjectId>,
    /// The mutex of a wait.
    pub(super) mutex: Option<ObjectId>,
    /// The word of its own that those write to who interrupt it.
    pub(crate) word: Range,
    /// The word that its end is written to, where others look.
    pub(crate) end: Range,
    /// The word that stands for its name.
    pub(crate) called: Range,
    /// Signals that it was sent and has not taken, as a set of bits: signal 1 is bit 0.
    pub(crate) signals: u64,
    /// Signals that the process was sent and no thread has taken, likewise: the same for all threads.
    pub(super) for_all: u64,
    /// Signals that it blocks, likewise.
    pub(crate) blocked: u64,
    /// Whether it was cancelled.
    pub(crate) cancelled: bool,
    /// Whether it minds that.
    pub(crate) cancellation: Cancellation,
    /// Whether a waiting thread has been woken, or may leave its barrier.
    pub(super) woken: bool,
    /// How many changes it has made itself.
    pub(super) own_changes: u64,
    /// How often it has given up a mutex to wait on a condition.
    pub(super) waits: u64,
    /// Where it stands, callers included; known when its wait may end by itself.
    pub(crate) place: u64,
    /// Whether it came there in the same state as a turn before, and nothing has changed since; likewise.
    pub(crate) repeats: bool,
    /// Whether others may interrupt it there; likewise.
    pub(crate) heeds_others: bool,
    /// Its waits that have timed out.
    pub(super) time_outs: Ends,
    /// Those that have ended without a cause.
    pub(super) wake_ups: Ends,
    /// How many changes others had made when it was found to spin: it has nothing to do until there are more.
    pub(super) spinning_at: Option<u64>,
    /// What else may end that.
    pub(super) hope: Hope,
    /// How long it has worked, as clocks of that say.
    pub(crate) worked: Nanoseconds,
    /// Whether it is about to end, as those see who do not wait for that.
    pub(crate) ending: bool,
    /// Whether another thread has waited for its end.
    pub(super) joined: bool,
}

/// How a thread goes round in a circle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    /// It has made changes on the way, as who takes a lock and gives it back does.
    Changing,
    /// It has made none.
    Idle,
}

/// What may end a thread's circle though nobody changes anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Hope {
    /// Nothing.
    #[default]
    None,
    /// The passing of time.
    Time,
    /// A random number.
    Luck,
}
