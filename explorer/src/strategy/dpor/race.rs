//! Races: what is found in an execution, and what the search makes of each.

use model::event::Event;
use model::ids::ThreadId;

/// Two steps, of which the second could have come before the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Race {
    /// The first one, by its place in the history.
    pub(super) first: usize,
    /// The second one.
    pub(super) second: Second,
    /// What to make of it.
    pub(super) remedy: Remedy,
}

/// The second step of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Second {
    /// A step of the history.
    At(usize),
    /// A step that was pending, and blocked, after so many steps.
    Pending(ThreadId, Event, usize),
}

impl Second {
    /// Where it came, or would have come: steps from there on came later.
    pub(super) fn place(&self) -> usize {
        match *self {
            Self::At(at) | Self::Pending(_, _, at) => at,
        }
    }
}

impl Race {
    /// Whether a history of so many of the same steps has it.
    pub(super) fn is_within(&self, length: usize) -> bool {
        match self.second {
            Second::At(at) => at < length,
            Second::Pending(_, _, at) => at <= length,
        }
    }
}

/// What to make of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    /// Let the second step come before the first.
    Reverse,
    /// Let it come before the first and before all later ones that it conflicts with: it waits for a lock.
    Overtake,
    /// Try every order at the first step's point: whether the second was enabled there is not known.
    Expand,
}

/// Whether a race may ask for more in later executions that have it too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Not if what covers it begins with a step that comes before the second one, or is that: whatever comes later, it is explored after that.
    Settled,
    /// What covers it may not cover it where what comes later is something else.
    Open,
}
