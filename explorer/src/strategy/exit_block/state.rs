//! What the search keeps: blocks that are over or go on, branches to take, attempts that failed, executions led into a lock cycle.
//!
//! Not here: what is done with them (`search`).

use alloc::vec::Vec;

use model::event::{Event, EventKind};
use model::ids::ThreadId;

use super::block::Touched;
use super::locks::Lock;
use crate::strategy::{Choice, Point};

/// A block that is over.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) thread: ThreadId,
    pub(super) steps: usize,
    pub(super) picks: Vec<u32>,
}

/// A block that goes on.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) thread: ThreadId,
    /// The locks that it began with.
    pub(super) held: Vec<Lock>,
    pub(super) steps: usize,
    pub(super) events: Vec<Event>,
    pub(super) takes: Vec<Lock>,
    pub(super) picks: Vec<u32>,
    /// How many options there were, for each pick.
    pub(super) options: Vec<u32>,
    pub(super) created: Vec<ThreadId>,
    /// The locks that its exit released; `None` while it goes on.
    pub(super) exit: Option<Vec<Lock>>,
    /// What its last event was.
    pub(super) last: Option<EventKind>,
}

/// Where to go on, and who can.
#[derive(Clone, Debug, Default)]
pub(super) struct Branch {
    /// How many blocks of the path come before.
    pub(super) base: usize,
    /// Who can go on, in the order in which that came about.
    pub(super) enabled: Vec<ThreadId>,
    /// Who is to go on only after something that its block touches.
    pub(super) delayed: Vec<(ThreadId, Touched)>,
    /// Who is known not to get to its next exit.
    pub(super) blocked: Vec<Attempt>,
    /// Options to take in the first block: it was run before with others.
    pub(super) picks: Vec<u32>,
    /// The thread to go on with.
    pub(super) preferred: Option<ThreadId>,
}

/// A block that could not be completed.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    pub(super) thread: ThreadId,
    /// The locks that it takes, up to the one that it did not get.
    pub(super) takes: Vec<Lock>,
    /// What it does, up to the event that was not possible.
    pub(super) events: Vec<Event>,
    /// How many steps that is.
    pub(super) steps: usize,
}

#[derive(Debug)]
pub(super) enum Job {
    Orders,
    Cycle(Directed),
}

/// An execution that is led into a lock cycle.
#[derive(Debug)]
pub(super) struct Directed {
    /// Steps to take, as far as they are possible.
    pub(super) steps: Vec<(ThreadId, Vec<u32>)>,
    pub(super) at: usize,
    /// Then this thread goes on, so many steps.
    pub(super) last: ThreadId,
    pub(super) left: usize,
    pub(super) key: Vec<(ThreadId, Lock)>,
}

impl Running {
    pub(super) fn new(thread: ThreadId, held: Vec<Lock>) -> Self {
        Self {
            thread,
            held,
            steps: 0,
            events: Vec::new(),
            takes: Vec::new(),
            picks: Vec::new(),
            options: Vec::new(),
            created: Vec::new(),
            exit: None,
            last: None,
        }
    }
}

impl Directed {
    pub(super) fn choose(&mut self, point: &Point<'_>) -> Choice {
        while let Some((thread, _)) = self.steps.get(self.at) {
            self.at += 1;
            if point.enabled.contains(*thread) {
                return Choice::Run(*thread);
            }
        }
        if self.left > 0 && point.enabled.contains(self.last) {
            self.left -= 1;
            return Choice::Run(self.last);
        }
        point.default_thread().map_or(Choice::Abandon, Choice::Run)
    }
}
