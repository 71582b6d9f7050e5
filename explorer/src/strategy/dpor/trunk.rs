//! Where a search by partial order reduction was divided: the steps that its parts begin with, and what was given to them.
//!
//! A search that is broken off leaves its path and what is planned at each step of it. What is planned nearest to the root is given
//! away, each planned step with all that begins with it; the search itself goes on below. So at the first steps of a part, others try
//! other threads. A race that the part finds may ask for a thread there all the same: it *asks* for a sequence. The trunk takes that in
//! unless what was given away covers it, as a search on its own would have done: whatever was given away will have been explored in full.
//!
//! Why nothing is lost. Who got a step explores all that begins with it, but for what also begins with a step that was given away before it,
//! and that by what it finds itself: the sequences that others find do not come into its plans. So those asleep where it begins
//! cover only sequences that they take part in (source sets, Abdulla et al., JACM 2017, section 5). Of a schedule that begins with
//! none of the steps that were given away at a point, take the step that is independent of its longest beginning: who got that explores
//! it before that beginning, meets what comes next as a race, and asks for the beginning with that in front, which no step given away covers.
//! No class of schedules is explored twice; but a search may come to where all sleep, and gives that execution up.
//!
//! Not here: who does which part when (`parts::campaign`). What is asked for is taken in in an order that does not depend on that.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use model::event::EventKind;
use model::ids::ThreadId;

use super::forest::{self, Forest, Planned, PlannedStep, Written};
use super::wakeup::{Seen, is_weak_initial};
use crate::strategy::path::Picked;
use crate::strategy::subtree::{Repeat, Subtree};
use crate::threads::ThreadSet;

/// Of how many sequences that have their first step in common a part tells whom it asks. One is enough to explore all of them; more tell whether
/// what was given away covers them. There may be as many as the part has executions.
pub(super) const TOLD: usize = 4;

/// What a part asks others for: sequences at one of the steps that it begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// In place of which step, from 0.
    pub(super) level: usize,
    /// The sequences.
    pub(super) sequences: Forest,
}

/// Where a search was divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trunk {
    /// The steps. What is `planned` in place of one is what was asked for and given away since, as far as events are known; `todo` are
    /// those who were given away without sleeping there.
    subtree: Subtree,
}

impl Trunk {
    /// Divides what a search leaves: gives away at least so much of what is planned, nearest to the root first, if there is as much. What the
    /// search itself goes on with comes first. No trunk when there is nothing to give away.
    #[must_use]
    pub fn divide(left: Subtree, most: usize) -> (Option<Self>, Vec<Subtree>) {
        let given: Vec<Vec<&[Planned]>> = left
            .steps
            .iter()
            .map(|step| step.planned.trees().filter(|tree| !step.asleep.contains(tree[0].step.thread)).collect())
            .collect();
        let mut count = 0;
        // Not at the last step: it may be new, and nobody knows what it does.
        let open = left.closed..left.steps.len().saturating_sub(1);
        let divided = open.clone().filter(|&at| !given[at].is_empty()).take_while(|&at| {
            let before = count;
            count += given[at].len();
            before < most
        });
        let Some(cut) = divided.last().map(|at| at + 1) else { return (None, [left].into()) };
        let mut trunk: Vec<Repeat> = left.steps[..cut].to_vec();
        for (step, given) in trunk.iter_mut().zip(&given).skip(left.closed) {
            step.planned = Forest::default();
            given.iter().for_each(|tree| step.give(&tree[0].step));
        }
        let rest = trunk.iter().chain(&left.steps[cut..]).cloned().collect();
        let mut parts = Vec::from([Subtree { steps: rest, closed: cut, ..left.clone() }]);
        let trunk: Vec<Repeat> = trunk.iter().map(Repeat::taken).collect();
        for (at, given) in given.iter().enumerate().take(cut).skip(left.closed) {
            let here = &trunk[at];
            let mut asleep = here.asleep.union(&ThreadSet::one(here.thread));
            for tree in given {
                let todo = here.todo.difference(&asleep);
                parts.push(part(&trunk[..at], Repeat { todo, asleep, ..here.clone() }, tree));
                asleep.insert(tree[0].step.thread);
            }
        }
        (Some(Self { subtree: Subtree { steps: trunk, closed: left.closed, ..Subtree::default() } }), parts)
    }

    /// Whether something that is asked for is for this trunk to take in, and not for one that its search was given away from.
    #[must_use]
    pub fn is_asked(&self, asked: &Asked) -> bool {
        (self.subtree.closed..self.subtree.steps.len()).contains(&asked.level)
    }

    /// Takes in what is asked for: what is to be explored besides.
    #[must_use]
    pub fn take_in(&mut self, asked: &Asked) -> Vec<Subtree> {
        asked.sequences.trees().filter_map(|tree| self.take_in_tree(asked.level, tree)).collect()
    }

    /// Takes in sequences that have their first step in common: who explores one of them explores them all. Of many only some are told.
    fn take_in_tree(&mut self, at: usize, tree: &[Planned]) -> Option<Subtree> {
        let (before, rest) = self.subtree.steps.split_at_mut(at);
        let (here, first) = (rest.first_mut()?, &tree.first()?.step);
        if here.knows(first.thread) {
            return None;
        }
        let sequences = Forest::sequences(tree);
        let untold = sequences.first().filter(|_| sequences.len() >= TOLD);
        let sequence = sequences.iter().find(|sequence| !here.covers(sequence)).or(untold)?;
        let asleep = here.asleep.union(&here.todo).union(&ThreadSet::one(here.thread));
        here.give(first);
        here.planned.0.extend(first.event.map(|_| Planned { depth: 0, step: Rc::clone(first) }));
        let tree: Vec<Planned> = (0..).zip(sequence).map(|(depth, planned)| planned.at(depth)).collect();
        Some(part(before, Repeat { asleep, todo: ThreadSet::EMPTY, ..here.clone() }, &tree))
    }

    /// Appends the text form.
    pub fn write(&self, text: &mut String) {
        self.subtree.write(text);
        text.push_str("end\n");
    }

    /// Reads the text form up to `end`; `None` when it is not one.
    #[must_use]
    pub fn read<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Option<Self> {
        Some(Self { subtree: Subtree::read(lines)? })
    }
}

/// What begins with some steps and then a planned one, which is given away at this point.
fn part(before: &[Repeat], point: Repeat, tree: &[Planned]) -> Subtree {
    let planned = |step: &Repeat| Repeat { planned: Forest::default(), ..step.clone() };
    let first = &tree[0].step;
    let todo = point.todo.difference(&ThreadSet::one(first.thread));
    let step = Repeat { thread: first.thread, what: None, todo, picks: Vec::new(), ..planned(&point) };
    let steps: Vec<Repeat> = before.iter().map(planned).chain([step]).collect();
    let at = before.len();
    Subtree { steps, closed: at + 1, floor: at, options: first.picks.clone(), guide: Forest::after(tree) }
}

impl Repeat {
    /// Notes that what begins with a planned step in place of this one is given away.
    fn give(&mut self, first: &PlannedStep) {
        self.todo.insert(first.thread);
        match first.event.map(|event| event.kind) {
            None => self.alone.insert(first.thread),
            // Nothing will be explored after it.
            Some(EventKind::Fail) => self.narrow.insert(first.thread),
            Some(_) => {}
        }
    }

    fn knows(&self, thread: ThreadId) -> bool {
        self.thread == thread || self.asleep.contains(thread) || self.todo.contains(thread)
    }

    /// Whether something that was asked for and given away covers a sequence that begins with none of it.
    fn covers(&self, sequence: &[&Planned]) -> bool {
        let picks: Vec<Vec<Picked>> = sequence
            .iter()
            .map(|planned| planned.step.picks.iter().map(|&taken| Picked { first: taken, taken, options: taken + 1 }).collect())
            .collect();
        let seen: Option<Vec<Seen<'_>>> = sequence
            .iter()
            .zip(&picks)
            .map(|(planned, picks)| (&planned.step, picks))
            .map(|(step, picks)| Some(Seen { picks, released: &step.released, ..Seen::new(step.thread, step.event.as_ref()?) }))
            .collect();
        let Some(seen) = seen else { return false };
        let is_narrow = |thread| !self.alone.is_empty() || self.narrow.contains(thread);
        let takes_part = |thread| seen.iter().any(|step| step.thread == thread);
        self.planned.0.iter().map(|planned| &planned.step).any(|given| {
            (takes_part(given.thread) || !is_narrow(given.thread)) && is_weak_initial(given.thread, || given.event.as_ref(), &seen)
        })
    }

    /// The same step as it was taken, with no other choice in it.
    fn taken(&self) -> Self {
        Self { todo: self.todo, ..self.fixed() }
    }
}

impl Asked {
    /// Appends the text form.
    pub fn write(&self, text: &mut String) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "asked {}", self.level);
        self.sequences.write(text, "plan", &mut Written::default());
        text.push_str("end\n");
    }

    /// Reads the text form, whose first line has lost its first word, up to `end`; `None` when it is not one.
    #[must_use]
    pub fn read<'a>(first: &str, lines: &mut impl Iterator<Item = &'a str>) -> Option<Self> {
        let (mut sequences, mut read) = (Forest::default(), forest::Read::default());
        for line in lines.take_while(|line| *line != "end") {
            sequences.read_line(line.strip_prefix("plan ")?, &mut read)?;
        }
        Some(Self { level: first.parse().ok()?, sequences })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::explore::explore;
    use crate::fake::generate::{FLAVORS, Flavor, program};
    use crate::fake::machine::Outcome;
    use crate::fake::program::{Program, parse};
    use crate::strategy::Strategy;
    use crate::strategy::budget::Budget;
    use crate::strategy::dpor::Dpor;
    use alloc::boxed::Box;
    use alloc::collections::{BTreeMap, VecDeque};
    use alloc::format;
    use alloc::string::ToString;
    use model::report::Coverage;

    /// What is found by searches of a few executions each, which are divided again and again: outcomes, schedules and abandoned executions.
    fn divided(program: &Program, executions: u64, most: usize) -> (BTreeMap<Outcome, u64>, u64, u64) {
        let mut trunks: Vec<Trunk> = Vec::new();
        // Each part with the trunks that it may ask, the nearest first.
        let mut parts = VecDeque::from([(Subtree::default(), Vec::new())]);
        let (mut outcomes, mut schedules, mut abandoned) = (BTreeMap::new(), 0, 0);
        while let Some((subtree, above)) = parts.pop_front() {
            let mut text = String::new();
            subtree.write(&mut text);
            let subtree = Subtree::read(&mut text.lines()).expect("a subtree");
            let mut search = Budget::new(Box::new(Dpor::within(subtree)), executions);
            for (outcome, count) in explore(program, &mut search).outcomes {
                *outcomes.entry(outcome).or_insert(0) += count;
            }
            assert_eq!((search.coverage(), search.counts().diverged), (Coverage::All, 0), "{text}");
            schedules += search.counts().schedules;
            abandoned += search.counts().abandoned;
            for asked in search.asked() {
                let mut text = String::new();
                asked.write(&mut text);
                let (first, rest) = text.split_once('\n').expect("lines");
                let asked = Asked::read(first.strip_prefix("asked ").expect("a number"), &mut rest.lines()).expect("sequences");
                assert!(asked.sequences.trees().all(|tree| Forest::sequences(tree).len() <= TOLD), "{text}");
                let at = above.iter().position(|&trunk: &usize| trunks[trunk].is_asked(&asked)).expect("somebody is asked");
                let more = trunks[above[at]].take_in(&asked);
                parts.extend(more.into_iter().map(|part| (part, above[at..].to_vec())));
            }
            for left in search.left() {
                let (trunk, more) = Trunk::divide(left, most);
                let mut above = above.clone();
                if let Some(trunk) = trunk {
                    let mut text = String::new();
                    trunk.write(&mut text);
                    let trunk = Trunk::read(&mut text.lines()).expect("a trunk");
                    above.insert(0, trunks.len());
                    trunks.push(trunk);
                }
                parts.extend(more.into_iter().map(|part| (part, above.clone())));
            }
        }
        (outcomes, schedules, abandoned)
    }

    #[test]
    fn a_divided_search_is_the_whole() {
        let (mut all, mut given_up) = (0, 0);
        for (seed, flavor) in (0..100).flat_map(|seed| FLAVORS.map(|flavor| (seed, flavor))) {
            let program = program(seed, flavor);
            let mut whole = Dpor::new();
            let expected = explore(&program, &mut whole).outcomes;
            for (executions, most) in [(1, 1), (2, 3), (7, 48)] {
                let (outcomes, schedules, abandoned) = divided(&program, executions, most);
                let name = format!("{flavor:?} {seed}, {executions} executions, {most} given away");
                assert!(outcomes.keys().eq(expected.keys()), "{name}:\n{outcomes:?}\n{expected:?}");
                // An execution that a failure ends may stand for several classes, or a class for several such executions.
                let failing = expected.keys().any(|outcome| matches!(outcome, Outcome::Failed(..)));
                if matches!(flavor, Flavor::Accesses | Flavor::Locks | Flavor::Records) && !failing {
                    assert_eq!(schedules, whole.counts().schedules, "{name}");
                    (all, given_up) = (all + schedules, given_up + abandoned);
                }
            }
        }
        assert!(given_up * 200 < all, "{given_up} executions abandoned beside {all} schedules");
    }

    #[test]
    fn what_is_not_told_is_explored_though_what_is_told_is_covered() {
        let write = |address: u32| format!("write {address:x}+4 - -");
        // In place of the step, t1 was given away, which is about to write to 10: independent of all that is asked for.
        let text = format!("t0 start - 1 - -\nplan 0 t1 {}\nt0 start - - - -\nend\n", write(0x10));
        let asked = |sequences: usize| {
            let last = (0..sequences).map(|at| format!("plan 1 t{} {}\n", 3 + at, write(0x20))).collect::<String>();
            let text = format!("plan 0 t2 {}\n{last}end\n", write(0x20));
            Asked::read("0", &mut text.lines()).expect("sequences")
        };
        for (sequences, parts) in [(1, 0), (TOLD - 1, 0), (TOLD, 1)] {
            let mut trunk = Trunk::read(&mut text.lines()).expect("a trunk");
            assert_eq!(trunk.take_in(&asked(sequences)).len(), parts, "{sequences} sequences");
            // Once taken in, it is known.
            assert!(trunk.take_in(&asked(TOLD)).len() + parts <= 1);
        }
    }

    #[test]
    fn what_begins_with_a_plan_that_turns_out_to_be_impossible_is_explored() {
        for text in [
            "main: create a, create b, create c
             a: put q2 2, get p r
             b: exit
             c: get q2 r, write y 0",
            "main: create a, create b, create c
             a: tryget q2 s, skip 1 unless s == -1, put q2 2
             b: write x r+1, await p q2 s, skip 1 unless s == 1, get p r
             c: put p r+1, store x r+1",
        ] {
            let program = parse(text);
            let expected = explore(&program, &mut Dpor::new()).outcomes;
            let (outcomes, ..) = divided(&program, 1, 1);
            assert!(outcomes.keys().eq(expected.keys()), "{text}:\n{outcomes:?}\n{expected:?}");
        }
    }

    #[test]
    fn readers_are_explored_once_each() {
        let readers = 6;
        let create: Vec<String> = (0..=readers).map(|reader| format!("create t{reader}")).collect();
        let read: Vec<String> = (1..=readers).map(|reader| format!("t{reader}: load x r")).collect();
        let text =
            ["main: ".to_string() + &create.join(", "), "t0: store x 1".into()].into_iter().chain(read).collect::<Vec<_>>().join("\n");
        let (_, schedules, abandoned) = divided(&parse(&text), 3, 4);
        assert_eq!((schedules, abandoned), (64, 0));
    }
}
