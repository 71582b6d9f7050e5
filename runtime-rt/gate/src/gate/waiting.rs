//! The models of condition variables, semaphores, barriers and `once`.

use alloc::vec::Vec;

use model::ids::ThreadId;

/// A condition variable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Condition {
    /// Who waits and is not woken, in order of arrival.
    pub(crate) waiters: Vec<ThreadId>,
    /// Whether it was signalled while nobody waited: tells a lost wake-up from a missing one.
    pub(crate) signalled_in_vain: bool,
}

impl Condition {
    /// Takes a waiter out, woken or not.
    pub(crate) fn leave(&mut self, thread: ThreadId) {
        self.waiters.retain(|&waiter| waiter != thread);
    }
}

/// A barrier.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Barrier {
    /// How many threads meet.
    pub(crate) size: u32,
    /// Who has arrived and waits.
    pub(crate) arrived: Vec<ThreadId>,
}

impl Barrier {
    /// One more arrives; those who can leave now, if it was the last.
    pub(crate) fn arrive(&mut self, thread: ThreadId) -> Option<Vec<ThreadId>> {
        self.arrived.push(thread);
        (self.arrived.len() >= self.size as usize).then(|| core::mem::take(&mut self.arrived))
    }
}

/// `pthread_once`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Once {
    /// Nobody has called it.
    New,
    /// This thread runs the routine.
    Running(ThreadId),
    /// The routine has returned.
    Done,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_barrier_opens_with_its_last_and_can_be_used_again() {
        let mut barrier = Barrier { size: 2, arrived: Vec::new() };
        for _ in 0..2 {
            assert_eq!(barrier.arrive(ThreadId(1)), None);
            assert_eq!(barrier.arrive(ThreadId(2)), Some([1, 2].map(ThreadId).to_vec()));
        }
    }
}
