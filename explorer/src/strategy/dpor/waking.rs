//! Whom a signal, an arrival at a barrier, or a wake-up at a futex wakes, from whom a step takes that it was interrupted, and whose wait ends so: no step says so,
//! what threads are about to do before and after it does.

use alloc::vec::Vec;

use model::event::{Event, EventKind};
use model::ids::ThreadId;

use super::holds::wanted;
use crate::threads::ThreadSet;

/// The threads that wait to be woken.
pub(super) fn waiting(pending: &[Option<Event>]) -> ThreadSet {
    let waits = |event: &Event| {
        use EventKind::{Interrupted, WaitSpurious, WaitTimeout, Waiting};
        matches!(event.kind, Waiting | WaitTimeout { .. } | WaitSpurious { .. } | Interrupted { .. })
    };
    (0..).map(ThreadId).zip(pending).filter(|(_, event)| event.as_ref().is_some_and(waits)).map(|(thread, _)| thread).collect()
}

/// Those of them that wait no more.
pub(super) fn woken(waiting: &ThreadSet, pending: &[Option<Event>]) -> ThreadSet {
    let woken = |thread: &ThreadId| {
        let event = pending.get(thread.index()).and_then(Option::as_ref);
        event.is_some_and(|event| matches!(event.kind, EventKind::WaitReacquire | EventKind::BarrierLeave | EventKind::FutexReturn))
    };
    waiting.iter().filter(woken).collect()
}

/// Who waits, and is to see to an interruption first.
#[derive(Debug, Default)]
pub(super) struct Interrupted {
    /// Whether threads of the program may interrupt each other: before each step they look whether they were, at a word that no code of the program names.
    possible: bool,
    /// Those who were to before the current step.
    before: ThreadSet,
    /// Those who were not, and what they were about to do, if they may have to wait for that.
    waiting: Vec<(ThreadId, Event)>,
}

/// What a step has changed in that. No later step tells of it.
#[derive(Debug)]
pub(super) struct Changed {
    /// From whom it took the interruption, as what they wait for is there now.
    pub(super) freed: ThreadSet,
    /// Who sees to one now, instead of this: others may have come before that, by whom the thread is interrupted in the end.
    pub(super) given_up: Vec<(ThreadId, Event)>,
}

impl Interrupted {
    /// A step is about to be taken.
    pub(super) fn step(&mut self, event: &Event, pending: &[Option<Event>]) {
        self.possible |= event.site.is_none() && event.kind.access().is_some();
        if self.possible {
            self.before = interrupted(pending);
            self.waiting.clear();
            self.waiting.extend(by_thread(pending).filter(|(_, event)| waits_in_competition(event) || event.kind.is_timeout()));
        }
    }

    /// It was taken: what it has changed, if anything.
    pub(super) fn changed(&mut self, pending: &[Option<Event>]) -> Option<Changed> {
        if !self.possible {
            return None;
        }
        let now = interrupted(pending);
        let freed = core::mem::take(&mut self.before).difference(&now);
        let given_up: Vec<_> = self.waiting.drain(..).filter(|&(thread, _)| now.contains(thread)).collect();
        (!freed.is_empty() || !given_up.is_empty()).then_some(Changed { freed, given_up })
    }
}

/// Whether it is about what others may take before.
pub(super) fn waits_in_competition(event: &Event) -> bool {
    wanted(event).is_some() || matches!(event.kind, EventKind::SemWait | EventKind::OnceEnter)
}

fn interrupted(pending: &[Option<Event>]) -> ThreadSet {
    by_thread(pending).filter(|(_, event)| matches!(event.kind, EventKind::Interrupted { .. })).map(|(thread, _)| thread).collect()
}

fn by_thread(pending: &[Option<Event>]) -> impl Iterator<Item = (ThreadId, Event)> {
    (0..).map(ThreadId).zip(pending).filter_map(|(thread, event)| Some((thread, (*event)?)))
}
