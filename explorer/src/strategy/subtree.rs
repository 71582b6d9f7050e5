//! A part of the tree of schedules: those that begin with the same steps, or turn off at one of them to what is left to try there.
//!
//! A search that is broken off leaves one; split, it is given to several searches, which together explore what the one would
//! have explored, each schedule once: what is split off knows the threads that sleep there, its elder siblings among them.
//!
//! As text, one step a line: thread, kind, site, threads left to try, threads asleep, and choices within the step as
//! `first/taken/options`. `-` stands for nothing. A search by partial order reduction keeps more: at a step, which sleeping threads cover only
//! what they take part in, which were planned alone, and what is planned in its place; then at how many steps others try other threads, from
//! which step on choices within steps are gone through, which options to take in the last step, and what is planned after it.
//!
//! ```text
//! t1 read s00112233445566aa 2,3 - -
//! narrow 2
//! alone 3
//! plan 0 t3 write 7ffff7d0+4 - -
//! t0 signal - - 1 0/1/2
//! closed 1 0
//! options 1
//! guide 0 t2 read 7ffff7d0+4 - -
//! ```

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use model::ids::ThreadId;

use super::dpor::{Forest, Read, Written};
use super::path::Picked;
use super::replay::What;
use crate::threads::{MAX_THREADS, ThreadSet};

/// A step to repeat, and what is left to try in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Repeat {
    pub(super) thread: ThreadId,
    /// What it is about to do; `None` when the step is new.
    pub(super) what: Option<What>,
    /// Threads left to try; of partial order reduction, threads that others try.
    pub(super) todo: ThreadSet,
    pub(super) asleep: ThreadSet,
    pub(super) picks: Vec<Picked>,
    /// Of partial order reduction: those who cover only what they take part in.
    pub(super) narrow: ThreadSet,
    /// Likewise: those who were planned whatever comes after them.
    pub(super) alone: ThreadSet,
    /// Likewise: what is planned in its place. What others have taken of that has no depth.
    pub(super) planned: Forest,
}

/// A part of the tree of schedules. Without steps, all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subtree {
    pub(super) steps: Vec<Repeat>,
    /// Of partial order reduction: at so many of the first steps, others try other threads.
    pub(super) closed: usize,
    /// Likewise: from this step on, choices within steps are gone through.
    pub(super) floor: usize,
    /// Likewise: options to take in the last step, if it is new.
    pub(super) options: Box<[u32]>,
    /// Likewise: what is planned after the last step.
    pub(super) guide: Forest,
}

impl Subtree {
    /// Splits off up to `most` subtrees, nearest to the root first; what remains comes first.
    #[must_use]
    pub fn split(mut self, most: usize) -> Vec<Self> {
        let mut split = Vec::new();
        for at in 0..self.steps.len() {
            // The last one: its elder siblings, which are explored before it, sleep in it.
            while split.len() < most
                && let Some(last) = self.steps[at].todo.iter().last()
            {
                self.steps[at].todo.remove(last);
                let mut steps: Vec<Repeat> = self.steps[..=at].iter().map(Repeat::fixed).collect();
                let here = &self.steps[at];
                if let Some(step) = steps.last_mut() {
                    step.asleep = here.asleep.union(&here.todo).union(&ThreadSet::one(here.thread));
                    step.thread = last;
                    step.what = None;
                    step.picks.clear();
                }
                split.push(Self { steps, ..Self::default() });
            }
        }
        split.insert(0, self);
        split
    }

    /// What begins with its steps, with nothing left to try at them.
    pub(super) fn fixed(&self) -> Self {
        Self { steps: self.steps.iter().map(Repeat::fixed).collect(), ..Self::default() }
    }

    /// Appends the text form.
    pub fn write(&self, text: &mut String) {
        let mut written = Written::default();
        for step in &self.steps {
            // Writing to a string cannot fail.
            let _ = write!(text, "{} ", step.thread);
            let _ = match step.what {
                Some(What { kind, site: Some(site) }) => write!(text, "{kind} {site}"),
                Some(What { kind, site: None }) => write!(text, "{kind} -"),
                None => write!(text, "- -"),
            };
            let _ = write!(text, " {} {}", set_text(step.todo), set_text(step.asleep));
            let picks = step.picks.iter().map(|pick| alloc::format!("{}/{}/{}", pick.first, pick.taken, pick.options));
            let picks = picks.collect::<Vec<_>>();
            let _ = writeln!(text, " {}", if picks.is_empty() { "-".into() } else { picks.join(",") });
            for (word, set) in [("narrow", step.narrow), ("alone", step.alone)] {
                if !set.is_empty() {
                    let _ = writeln!(text, "{word} {}", set_text(set));
                }
            }
            step.planned.write(text, "plan", &mut written);
        }
        if (self.closed, self.floor) != (0, 0) {
            let _ = writeln!(text, "closed {} {}", self.closed, self.floor);
        }
        if !self.options.is_empty() {
            let options = self.options.iter().map(|option| alloc::format!("{option}")).collect::<Vec<_>>();
            let _ = writeln!(text, "options {}", options.join(","));
        }
        self.guide.write(text, "guide", &mut written);
    }

    /// Reads the text form, up to a line that says `end` or the end of the text; `None` when it is not one.
    #[must_use]
    pub fn read<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut subtree = Self::default();
        let mut read = Read::default();
        for line in lines.take_while(|line| *line != "end") {
            let (word, rest) = line.split_once(' ')?;
            let steps = &mut subtree.steps;
            match word {
                "narrow" => steps.last_mut()?.narrow = read_set(rest)?,
                "alone" => steps.last_mut()?.alone = read_set(rest)?,
                "plan" => steps.last_mut()?.planned.read_line(rest, &mut read)?,
                "closed" => {
                    let (closed, floor) = rest.split_once(' ')?;
                    let within = |text: &str| text.parse().ok().filter(|&steps: &usize| steps <= subtree.steps.len());
                    (subtree.closed, subtree.floor) = (within(closed)?, within(floor)?);
                }
                "options" => subtree.options = list(rest).map(|option| option.parse().ok()).collect::<Option<_>>()?,
                "guide" => subtree.guide.read_line(rest, &mut read)?,
                _ => steps.push(Repeat::read(line)?),
            }
        }
        Some(subtree)
    }
}

impl Repeat {
    /// The same step, with nothing left to try.
    pub(super) fn fixed(&self) -> Self {
        let fixed = |pick: &Picked| Picked { first: (pick.taken + 1) % pick.options, ..*pick };
        Self { todo: ThreadSet::EMPTY, picks: self.picks.iter().map(fixed).collect(), ..self.clone() }
    }

    fn read(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split(' ').collect();
        let [thread, kind, site, todo, asleep, picks] = words[..] else { return None };
        let what = match (kind, site) {
            ("-", _) => None,
            (kind, "-") => Some(What { kind: kind.parse().ok()?, site: None }),
            (kind, site) => Some(What { kind: kind.parse().ok()?, site: Some(site.parse().ok()?) }),
        };
        let picks = list(picks).map(read_pick).collect::<Option<_>>()?;
        let thread = read_thread(thread.strip_prefix('t')?)?;
        Some(Self { todo: read_set(todo)?, asleep: read_set(asleep)?, picks, ..Self::of(thread, what) })
    }

    /// A step with nothing known of its point.
    pub(super) fn of(thread: ThreadId, what: Option<What>) -> Self {
        let none = ThreadSet::EMPTY;
        Self { thread, what, todo: none, asleep: none, picks: Vec::new(), narrow: none, alone: none, planned: Forest::default() }
    }
}

fn set_text(set: ThreadSet) -> String {
    let members = set.iter().map(|thread| alloc::format!("{}", thread.0)).collect::<Vec<_>>();
    if members.is_empty() { "-".into() } else { members.join(",") }
}

fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').filter(|word| *word != "-")
}

fn read_thread(text: &str) -> Option<ThreadId> {
    text.parse().ok().map(ThreadId).filter(|thread| thread.index() < MAX_THREADS)
}

fn read_set(text: &str) -> Option<ThreadSet> {
    list(text).map(read_thread).collect()
}

fn read_pick(text: &str) -> Option<Picked> {
    let (first, rest) = text.split_once('/')?;
    let (taken, options) = rest.split_once('/')?;
    let pick = Picked { first: first.parse().ok()?, taken: taken.parse().ok()?, options: options.parse().ok()? };
    (pick.first < pick.options && pick.taken < pick.options).then_some(pick)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::explore::explore;
    use crate::fake::generate::{Flavor, program};
    use crate::strategy::Strategy;
    use crate::strategy::budget::Budget;
    use crate::strategy::depth_first::{DepthFirst, Extent};
    use alloc::boxed::Box;
    use alloc::collections::BTreeMap;

    #[test]
    fn a_subtree_reads_back_from_its_text() {
        let plain = "t1 read s00112233445566aa 2,3 - -\nt0 signal - - 1,200 0/1/2,1/1/3\nt2 - - - - -\n";
        let reduced = "t1 read - - 2,3 -\nnarrow 2\nalone 3\nplan 0 t2 write 10+4 - -\nplan 1 t3 - - - -\nt2 - - - - -\n\
                       closed 2 1\noptions 1,0\nguide 0 t3 read 10+4 - -\n";
        for text in [plain, reduced] {
            let subtree = Subtree::read(&mut text.lines()).expect("a subtree");
            let mut written = String::new();
            subtree.write(&mut written);
            assert_eq!(written, text);
        }
        for bad in
            ["t1", "x1 - - - - -", "t1 fly - - - -", "t1 - - 999 - -", "t1 - - - - 0/3/2", "t1 - - - - 0/0/0", "closed 1 0", "alone 1"]
        {
            assert_eq!(Subtree::read(&mut bad.lines()), None, "{bad}");
        }
    }

    /// Explores in pieces of a few executions, each of which leaves subtrees.
    fn in_pieces(seed: u64, extent: Extent, executions: u64) {
        let program = program(seed, Flavor::Everything);
        let mut whole = DepthFirst::new(extent);
        let expected = explore(&program, &mut whole).outcomes;
        let (mut outcomes, mut schedules, mut abandoned) = (BTreeMap::new(), 0, 0);
        let mut todo = alloc::vec![Subtree::default()];
        while let Some(subtree) = todo.pop() {
            let mut text = String::new();
            subtree.write(&mut text);
            let subtree = Subtree::read(&mut text.lines()).expect("a subtree");
            let mut search = Budget::new(Box::new(DepthFirst::within(extent, subtree)), executions);
            for (outcome, count) in explore(&program, &mut search).outcomes {
                *outcomes.entry(outcome).or_insert(0) += count;
            }
            assert_eq!(search.counts().diverged, 0, "seed {seed}, {extent:?}");
            schedules += search.counts().schedules;
            abandoned += search.counts().abandoned;
            todo.extend(search.left().into_iter().flat_map(|left| left.split(3)));
        }
        assert_eq!(outcomes, expected, "seed {seed}, {extent:?}");
        assert_eq!((schedules, abandoned), (whole.counts().schedules, whole.counts().abandoned), "seed {seed}, {extent:?}");
    }

    #[test]
    fn a_piece_that_was_not_begun_is_left_as_it_is() {
        for extent in [Extent::SleepSets, Extent::Preemptions(1)] {
            let mut search = Budget::new(Box::new(DepthFirst::new(extent)), 3);
            explore(&program(1, Flavor::Everything), &mut search);
            for piece in search.left().into_iter().flat_map(|left| left.split(3)) {
                assert!(!piece.steps.is_empty());
                assert_eq!(DepthFirst::within(extent, piece.clone()).left(), [piece]);
            }
        }
    }

    #[test]
    fn pieces_together_are_the_whole() {
        for seed in 0..25 {
            for extent in [Extent::SleepSets, Extent::Preemptions(1), Extent::Delays(2)] {
                in_pieces(seed, extent, 7);
            }
        }
    }
}
