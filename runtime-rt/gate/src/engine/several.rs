//! Threads that take several locks at once by a function of the library, which tries and backs off (`std::lock`): since when each does.
//!
//! Two of them may make each other back off for ever. The standard promises of such functions that they do not deadlock, so whoever calls them is
//! not to blame. Rounds (`rounds`) that lie within them are therefore no failures: what threads may do after a round, they may do before it, so the execution ends
//! there and is left out. A round is within them when each thread that changes something on the way round has been in one and the same call all
//! the time. Others may look on, as who waits for those threads does: they would see what they wait for if the round were left.
//!
//! Not handled: locks of the program's own that go round in themselves, within such a call, are taken for a part of it.

use core::cell::Cell;

use explorer::threads::ThreadSet;
use model::ids::ThreadId;

use super::fiber::Engine;
use super::rounds::Round;

/// Whether a thread takes several locks at once.
#[derive(Default)]
pub(crate) struct TakesSeveral(Cell<Option<Activation>>);

/// The outermost call.
#[derive(Clone, Copy)]
struct Activation {
    /// The address that hooks name it by.
    frame: u64,
    /// The number of the step that it began in.
    since: u64,
}

impl TakesSeveral {
    /// A call begins in the step with this number.
    pub(crate) fn begin(&self, frame: u64, since: u64) {
        if self.0.get().is_none() {
            self.0.set(Some(Activation { frame, since }));
        }
    }

    /// A call has ended.
    pub(crate) fn end(&self, frame: u64) {
        if self.0.get().is_some_and(|call| call.frame == frame) {
            self.0.set(None);
        }
    }

    /// Whether it has been in one call since this step.
    fn has_since(&self, step: u64) -> bool {
        self.0.get().is_some_and(|call| call.since <= step)
    }
}

/// Whether threads go round within the library: at least two get in each other's way there, and nobody else does.
pub(crate) fn go_round(engine: &Engine, round: &Round) -> bool {
    let fibers = engine.fibers.borrow();
    let within = |thread: &ThreadId| fibers[thread.index()].takes_several.has_since(round.first);
    let within: ThreadSet = round.took.iter().filter(within).collect();
    within.len() > 1 && round.changed.difference(&within).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outermost_call_counts_until_it_ends() {
        let thread = TakesSeveral::default();
        assert!(!thread.has_since(9));
        thread.begin(100, 4);
        thread.begin(50, 6);
        thread.end(50);
        assert_eq!([3, 4, 9].map(|step| thread.has_since(step)), [false, true, true]);
        thread.end(100);
        thread.begin(100, 8);
        assert_eq!([4, 8].map(|step| thread.has_since(step)), [false, true], "another call of the same function");
    }
}
