//! Queues with room for so many things, as the kernel keeps for pipes: what is in them, and which of their ends are ready.
//!
//! A call that waits for one is enabled when that end is ready. Not modelled: ends that are closed, and calls that take a part of what is there.

use std::collections::VecDeque;
use std::vec::Vec;

/// All pipes of a program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Pipes(Vec<Pipe>);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Pipe {
    room: usize,
    things: VecDeque<i64>,
}

/// One end of a pipe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Where things are put: ready when there is room.
    In(usize),
    /// Where they are taken: ready when there is something.
    Out(usize),
}

impl End {
    /// Its number among all ends.
    #[must_use]
    pub fn number(self) -> u32 {
        let number = match self {
            Self::In(pipe) => 2 * pipe,
            Self::Out(pipe) => 2 * pipe + 1,
        };
        u32::try_from(number).expect("few pipes")
    }
}

impl Pipes {
    /// Empty ones, with room for so many things each.
    pub(super) fn new(room: &[usize]) -> Self {
        Self(room.iter().map(|&room| Pipe { room, things: VecDeque::new() }).collect())
    }

    pub(super) fn is_ready(&self, end: End) -> bool {
        match end {
            End::In(pipe) => self.0[pipe].things.len() < self.0[pipe].room,
            End::Out(pipe) => !self.0[pipe].things.is_empty(),
        }
    }

    /// The ends that are ready.
    pub(super) fn ready(&self) -> Vec<End> {
        (0..self.0.len()).flat_map(|pipe| [End::In(pipe), End::Out(pipe)]).filter(|&end| self.is_ready(end)).collect()
    }

    pub(super) fn put(&mut self, pipe: usize, value: i64) {
        self.0[pipe].things.push_back(value);
    }

    /// Takes the first thing out, if there is one.
    pub(super) fn get(&mut self, pipe: usize) -> Option<i64> {
        self.0[pipe].things.pop_front()
    }

    /// Takes the first thing out of one and puts it into another, if there is one and room; whether there was.
    pub(super) fn shift(&mut self, from: usize, to: usize) -> bool {
        let both = self.is_ready(End::Out(from)) && self.is_ready(End::In(to));
        if both && let Some(thing) = self.get(from) {
            self.put(to, thing);
        }
        both
    }

    /// What is left in each.
    pub(super) fn left(&self) -> Vec<Vec<i64>> {
        self.0.iter().map(|pipe| pipe.things.iter().copied().collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::vec;

    use crate::fake::machine::Outcome;
    use crate::fake::oracle::{self, Within};
    use crate::fake::program::parse;

    use super::*;

    /// What a single thread with these operations ends with: its registers and what is left in pipes, or where it waits.
    fn check(operations: &str, expected: Result<([i64; 2], Vec<Vec<i64>>), usize>) {
        let (outcomes, _) = oracle::outcomes(&parse(&format!("main: {operations}")), Within::Everything);
        let expected = match expected {
            Ok((registers, left)) => Outcome::Ended(Vec::new(), vec![Some(registers)], left),
            Err(at) => Outcome::Deadlock(vec![Some(at)]),
        };
        assert_eq!(outcomes.into_iter().collect::<Vec<_>>(), [expected], "{operations}");
    }

    #[test]
    fn what_comes_first_goes_first_and_a_call_waits_for_room_or_for_something() {
        check("put p2 1, put p2 2, get p2 r, put p2 3, get p2 s", Ok(([1, 2], vec![vec![3]])));
        check("put p 1, put p 2", Err(1));
        check("put p2 1, put p2 2, put p2 3", Err(2));
        check("put p 1, get p r, get p r", Err(2));
        check("tryget p r, put p 4, tryget p s", Ok(([-1, 4], vec![vec![]])));
        check("put p 4, move p q r, move p q s", Ok(([1, 0], vec![vec![], vec![4]])));
        check("put p 4, put q 5, move p q r", Ok(([0, 0], vec![vec![4], vec![5]])));
        check("await p q r", Err(0));
        check("await p q r timed, put q 1, await p q s timed", Ok(([0, 2], vec![vec![], vec![1]])));
        check("put p 1, await p q r, put q 2, await p q s", Ok(([1, 3], vec![vec![1], vec![2]])));
        check("put q 2, await p q r, await p q r", Ok(([2, 0], vec![vec![2], vec![]])));
    }

    #[test]
    fn ends_are_ready_by_what_is_in_a_pipe() {
        let mut pipes = Pipes::new(&[1, 2]);
        assert_eq!(pipes.ready(), [End::In(0), End::In(1)]);
        pipes.put(0, 1);
        pipes.put(1, 1);
        assert_eq!(pipes.ready(), [End::Out(0), End::In(1), End::Out(1)]);
        assert_eq!(pipes.ready().into_iter().map(End::number).collect::<Vec<_>>(), [1, 2, 3]);
        pipes.put(1, 2);
        assert_eq!((pipes.get(0), pipes.get(0), pipes.left()), (Some(1), None, vec![vec![], vec![1, 2]]));
        assert_eq!(pipes.ready(), [End::In(0), End::Out(1)]);
    }
}
