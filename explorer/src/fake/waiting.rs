//! Who waits for others, without any object that counts: at conditions, at barriers, and at variables, as the kernel keeps for futexes.
//!
//! All lists are in order of arrival. Not here: that threads wait for a mutex again once they are woken (`machine`).

use std::vec;
use std::vec::Vec;

use model::ids::ThreadId;

/// All waiters of a program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Waiting {
    conditions: Vec<Vec<ThreadId>>,
    barriers: Vec<Barrier>,
    variables: Vec<Vec<ThreadId>>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Barrier {
    size: usize,
    arrived: Vec<ThreadId>,
}

/// What threads wait at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// A condition.
    Condition(usize),
    /// A variable.
    Variable(usize),
}

impl Waiting {
    /// Nobody, with barriers for so many threads each.
    pub(super) fn new(conditions: usize, variables: usize, barriers: &[usize]) -> Self {
        Self {
            conditions: vec![Vec::new(); conditions],
            barriers: barriers.iter().map(|&size| Barrier { size, arrived: Vec::new() }).collect(),
            variables: vec![Vec::new(); variables],
        }
    }

    fn at(&mut self, place: Place) -> &mut Vec<ThreadId> {
        match place {
            Place::Condition(condition) => &mut self.conditions[condition],
            Place::Variable(variable) => &mut self.variables[variable],
        }
    }

    /// Those at a condition.
    pub(super) fn at_condition(&self, condition: usize) -> &[ThreadId] {
        &self.conditions[condition]
    }

    pub(super) fn join(&mut self, place: Place, thread: ThreadId) {
        self.at(place).push(thread);
    }

    pub(super) fn leave(&mut self, place: Place, thread: ThreadId) {
        self.at(place).retain(|&waiter| waiter != thread);
    }

    /// Takes out the one at this place in the list; nobody when the list is empty.
    pub(super) fn wake(&mut self, place: Place, which: usize) -> Option<ThreadId> {
        let waiters = self.at(place);
        (!waiters.is_empty()).then(|| waiters.remove(which))
    }

    /// Takes out the first so many.
    pub(super) fn wake_first(&mut self, place: Place, most: usize) -> Vec<ThreadId> {
        let waiters = self.at(place);
        waiters.drain(..most.min(waiters.len())).collect()
    }

    /// Arrives at a barrier: those who may leave, if it was the last.
    pub(super) fn arrive(&mut self, barrier: usize, thread: ThreadId) -> Vec<ThreadId> {
        let barrier = &mut self.barriers[barrier];
        barrier.arrived.push(thread);
        if barrier.arrived.len() < barrier.size { Vec::new() } else { core::mem::take(&mut barrier.arrived) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::fake::machine::Outcome;
    use crate::fake::oracle::{self, Within};
    use crate::fake::program::parse;

    use super::*;

    /// What a program can end with: the registers of all threads by body, or where those stand who wait.
    fn check(program: &str, expected: &[&str]) {
        let (outcomes, _) = oracle::outcomes(&parse(program), Within::Everything);
        let text = |outcome: Outcome| match outcome {
            Outcome::Ended(_, registers, _) => registers.iter().flatten().map(|[r, s]| format!("{r} {s}")).collect::<Vec<_>>().join(" | "),
            Outcome::Deadlock(at) => {
                format!("waits {}", at.iter().map(|at| at.map_or("-".into(), |at| at.to_string())).collect::<String>())
            }
            Outcome::Exited(..) | Outcome::Failed(..) => panic!("{outcome:?}: {program}"),
        };
        let found: BTreeSet<String> = outcomes.into_iter().map(text).collect();
        assert_eq!(found, expected.iter().map(ToString::to_string).collect(), "{program}");
    }

    #[test]
    fn a_barrier_opens_with_its_last_who_is_told_so() {
        check("main: create a, meet b2 r\n a: meet b2 r", &["0 0 | 1 0", "1 0 | 0 0"]);
        check("main: meet b2 r", &["waits 0"]);
        check("main: meet b r, meet b s", &["1 1"]);
        // What is written before the second round is seen after it.
        let twice = "main: create a, meet b2 r, meet b2 r, load x s\n a: meet b2 r, store x 1, meet b2 r";
        check(twice, &["0 1 | 1 0", "1 1 | 0 0"]);
    }

    #[test]
    fn a_futex_waits_while_the_value_is_as_expected() {
        check("main: futex x 1 r, wake x 5 s", &["0 0"]);
        check("main: futex x 0 r", &["waits 0"]);
        check("main: futex x 0 r timed", &["2 0"]);
        check("main: create a, store x 1, wake x 1 s\n a: futex x 0 r", &["0 0 | 0 0", "0 1 | 1 0"]);
        // One of two is woken, who wakes the other, if that waits by then.
        let two = "main: create a, create b, wake x 1 r\n a: futex x 0 r, wake x 1 s\n b: futex x 0 r, wake x 1 s";
        check(two, &["1 0 | 1 0 | 1 1", "1 0 | 1 1 | 1 0", "waits --0", "waits -0-", "waits -00"]);
        let both = "main: create a, create b\n a: futex x 0 r\n b: store x 1, wake x 9 s";
        check(both, &["0 0 | 0 0 | 0 0", "0 0 | 1 0 | 0 1"]);
    }

    #[test]
    fn a_time_limit_ends_a_wait_for_what_is_not_there() {
        check("main: timedtake n r, post n, timedtake n s", &["1 0"]);
        check("main: trytake n r, post n, trytake n s", &["0 1"]);
        check("main: timedlock m r, timedlock m s", &["0 1"]);
    }

    #[test]
    fn who_blocks_signals_takes_them_later_or_where_it_waits_for_them() {
        // The handler comes before the first look at what it changes, between both, or not before the second.
        let blocked = "main: create a, kill a\n a: block, load x r, unblock, load x s";
        check(blocked, &["0 0 | 0 0", "0 0 | 0 4", "0 0 | 4 4"]);
        check("main: create a, kill a\n a: block, load x r, load x s", &["0 0 | 0 0", "0 0 | 4 4"]);
        check("main: create a, kill a\n a: block, sigwait r", &["0 0 | 1 0", "waits -1"]);
        // Who is created blocks what its creator blocks.
        check("main: block, create a, kill a\n a: sigwait r, load x s", &["0 0 | 1 0"]);
        check("main: block, create a, kill a\n a: sigwait r timed, unblock, load x s", &["0 0 | 0 0", "0 0 | 0 4", "0 0 | 1 0"]);
        // A wait is not interrupted by what is blocked.
        check("main: block, create a, kill a, join a\n a: take n", &["waits 30"]);
    }

    #[test]
    fn who_is_cancelled_ends_where_it_waits_with_what_it_has() {
        check("main: create a, cancel a, join a\n a: load x r, store x 1", &["0 0 | 0 0"]);
        check("main: create a, cancel a, join a, load x r\n a: take n, store x 1", &["0 0 | 0 0"]);
        // Who is in the middle of a wait may have what it waits for before it is told.
        check("main: create a, cancel a, post n, join a, load x r\n a: take n, store x 1", &["0 0 | 0 0", "1 0 | 0 0"]);
        check("main: create a, post n, cancel a, join a, load x r\n a: take n, store x 1", &["0 0 | 0 0", "1 0 | 0 0"]);
        check("main: create a, cancel a, join a, trylock m r\n a: lock m, take n", &["0 0 | 0 0"]);
        // In a wait on a condition it gets the mutex back; woken first, it goes on.
        check("main: create a, cancel a, join a, trylock m r\n a: lock m, wait c m, unlock m", &["0 0 | 0 0"]);
        let woken = "main: create a, cancel a, lock m, signal c, unlock m, join a, load x r\n a: lock m, wait c m, store x 1, unlock m";
        check(woken, &["0 0 | 0 0", "1 0 | 0 0", "waits 2-"]);
        // A signal that waits for it is not taken by who is to end.
        check("main: block, create a, kill a, cancel a, join a\n a: take n, sigwait r", &["0 0 | 0 0"]);
    }

    #[test]
    fn the_first_to_enter_runs_the_routine_and_others_wait_for_it() {
        let body = "enter o r, skip 2 unless r == 1, store x 1, leave o, load x s";
        check(&format!("main: create a, {body}\n a: {body}"), &["0 1 | 1 1", "1 1 | 0 1"]);
    }
}
