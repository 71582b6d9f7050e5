//! Conflicts first: for every two places in the code that conflict, a schedule in which one comes right after the other.
//!
//! Most concurrency failures need one thread to be interrupted at one conflicting access, and another to go on from there
//! through one of its own. So the default schedule is run and its steps looked at; then, for each pair of conflicting
//! steps A of thread p and B of thread q, p goes on until it has done A, then q until it has done B, then either q to its end
//! or p again. New places that come up on the way make new pairs. The search ends when there are no more: after as many
//! executions as the code has conflicting pairs, however many schedules there are.
//!
//! Places are told apart by site, kind, order of the two threads, and whether they come for the first time in their thread,
//! the second, or later. Where the thread that should go on cannot, or offers the processor to others, the default one does.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use model::event::{Event, KindCode};
use model::ids::{SiteKey, ThreadId};
use model::report::Coverage;

use super::{Choice, Counts, Ending, Pick, Point, Step, Strategy};
use crate::dependence::dependent;
use crate::threads::ThreadSet;

/// The most pairs that are kept; a program with more is not explored by pairs to its end.
const MOST_PAIRS: usize = 200_000;

/// Conflicting pairs of places, each in a schedule of its own.
#[derive(Debug, Default)]
pub struct Pairs {
    /// Steps of places that were not seen before, to make pairs of.
    fresh: Vec<Seen>,
    /// The places that pairs were made of.
    known: Vec<Seen>,
    places: BTreeSet<(ThreadId, Place)>,
    made: BTreeSet<(Place, Place, Order)>,
    /// The pairs of code that targets were made for.
    spots: BTreeSet<(Spot, Spot)>,
    /// By rank: the most promising first.
    targets: [Vec<Target>; RANKS],
    /// How many targets of each rank have been tried.
    tried: [usize; RANKS],
    /// How often each thread came to each place in the current execution.
    visits: Vec<Vec<(Spot, u32)>>,
    /// What the current execution is to show; nothing in the first one.
    target: Option<Target>,
    phase: Phase,
    counts: Counts,
    begun: bool,
}

/// Ranks of targets: accesses that no target before had, by their code; other accesses; locks and other objects. Of each, those that go on
/// with the second thread, then those that return to the first.
const RANKS: usize = 6;

/// Which code does what.
type Spot = (Option<SiteKey>, KindCode);

/// A spot, and for which time its thread comes there: 0, 1, or 2 for all later ones.
type Place = (Spot, u32);

/// Which of two threads was created first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    FirstIsOlder,
    SecondIsOlder,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    thread: ThreadId,
    place: Place,
    event: Event,
}

/// One thread goes on until it has passed a place, then another until it has passed its own.
#[derive(Clone, Copy, Debug)]
struct Target {
    first: (ThreadId, Place),
    second: (ThreadId, Place),
    then: Then,
}

/// Who goes on after both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Second,
    First,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// The first place has not been passed.
    #[default]
    First,
    /// The first has, the second has not.
    Second,
    /// Both have.
    After,
}

/// From this time on, visits of a spot are alike.
const LATER: u32 = 2;

impl Pairs {
    /// The search from the start.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Which place a thread is about to pass.
    fn place(&self, thread: ThreadId, event: &Event) -> Place {
        let spot = (event.site, event.kind.code());
        let visits = self.visits.get(thread.index()).and_then(|visits| visits.iter().find(|(other, _)| *other == spot));
        (spot, visits.map_or(0, |(_, visits)| *visits).min(LATER))
    }

    fn pass(&mut self, thread: ThreadId, event: &Event) {
        let place = self.place(thread, event);
        if let Some(target) = self.target {
            self.phase = match self.phase {
                Phase::First if target.first == (thread, place) => Phase::Second,
                Phase::Second if target.second == (thread, place) => Phase::After,
                phase => phase,
            };
        }
        if self.visits.len() <= thread.index() {
            self.visits.resize(thread.index() + 1, Vec::new());
        }
        let visits = &mut self.visits[thread.index()];
        match visits.iter_mut().find(|(spot, _)| *spot == place.0) {
            Some((_, visits)) => *visits += 1,
            None => visits.push((place.0, 1)),
        }
        if self.places.insert((thread, place)) {
            self.fresh.push(Seen { thread, place, event: *event });
        }
    }

    /// Who goes on, by the target.
    fn wanted(&self, point: &Point<'_>, target: &Target) -> Option<ThreadId> {
        let (first, second) = (target.first.0, target.second.0);
        // A thread that has come to a yield waits for the others, maybe in a loop.
        let yields = |thread: ThreadId| point.current == Some(thread) && point.event(thread).is_some_and(|event| event.kind.is_yield());
        let can = |thread: ThreadId| Some(thread).filter(|&thread| point.enabled.contains(thread) && !yields(thread));
        let others = |but: &[ThreadId]| {
            let but: ThreadSet = but.iter().copied().collect();
            let rest = point.enabled.difference(&but);
            Point { enabled: &rest, ..*point }.default_thread()
        };
        match self.phase {
            Phase::First => {
                // The first thread waits at its place for the second to exist.
                let there = point.event(first).is_some_and(|event| self.place(first, event) == target.first.1);
                let ready = !there || point.event(second).is_some();
                can(first).filter(|_| ready).or_else(|| others(&[first, second]))
            }
            Phase::Second => can(second).or_else(|| others(&[])),
            Phase::After => match target.then {
                Then::First => can(first),
                Then::Second => can(second),
            },
        }
    }

    /// Makes pairs of what is new.
    fn make_pairs(&mut self) {
        for new in core::mem::take(&mut self.fresh) {
            self.known.push(new);
            for at in 0..self.known.len() {
                let old = self.known[at];
                if old.thread != new.thread && dependent(&old.event, &new.event) {
                    self.make_pair(old, new);
                    self.make_pair(new, old);
                }
            }
        }
    }

    fn make_pair(&mut self, first: Seen, second: Seen) {
        let order = if first.thread < second.thread { Order::FirstIsOlder } else { Order::SecondIsOlder };
        if self.made.len() < MOST_PAIRS && self.made.insert((first.place, second.place, order)) {
            let accesses = [first, second].iter().all(|seen| seen.event.kind.access().is_some());
            let new = self.spots.insert((first.place.0, second.place.0));
            let rank = match (accesses, new) {
                (true, true) => 0,
                (true, false) => 2,
                (false, _) => 4,
            };
            for (then, rank) in [(Then::Second, rank), (Then::First, rank + 1)] {
                self.targets[rank].push(Target { first: (first.thread, first.place), second: (second.thread, second.place), then });
            }
        }
    }
}

impl Strategy for Pairs {
    fn name(&self) -> &'static str {
        "pairs"
    }

    fn begin(&mut self) -> bool {
        for visits in &mut self.visits {
            visits.clear();
        }
        self.phase = Phase::First;
        if !self.begun {
            self.begun = true;
            return true;
        }
        self.make_pairs();
        let next = (0..RANKS).find_map(|rank| Some((rank, *self.targets[rank].get(self.tried[rank])?)));
        self.target = next.map(|(_, target)| target);
        if let Some((rank, _)) = next {
            self.tried[rank] += 1;
        }
        self.target.is_some()
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        let wanted = self.target.and_then(|target| self.wanted(point, &target));
        let Some(thread) = wanted.or_else(|| point.default_thread()) else { return Choice::Abandon };
        if let Some(event) = point.event(thread) {
            self.pass(thread, event);
        }
        Choice::Run(thread)
    }

    fn pick(&mut self, _pick: &Pick<'_>) -> u32 {
        0
    }

    fn executed(&mut self, _step: &Step) {}

    fn end(&mut self, ending: &Ending<'_>) {
        self.counts.add(ending.outcome);
    }

    fn learnt(&mut self) -> bool {
        // The default schedule shows what is new in it, and so do those to come.
        self.begun = false;
        self.target = None;
        true
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn coverage(&self) -> Coverage {
        Coverage::Sampled(self.counts.schedules)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::explore::explore;
    use crate::fake::machine::Outcome;
    use crate::fake::program::parse;
    use alloc::format;
    use alloc::string::String;

    /// The number of executions, and whether one of them failed.
    fn check(program: &str, failing: fn(&Outcome) -> bool, most: u64) {
        let mut pairs = Pairs::new();
        let seen = explore(&parse(program), &mut pairs);
        assert!(seen.outcomes.keys().any(failing), "no failure in {:?}: {program}", pairs.counts());
        assert!(pairs.counts().executions() <= most, "{:?}: {program}", pairs.counts());
    }

    fn fails(outcome: &Outcome) -> bool {
        matches!(outcome, Outcome::Failed(..))
    }

    #[test]
    fn one_thread_of_many_interrupted_between_two_writes_is_found() {
        // SCTBench's reorder: the checker must run after one setter's first write and before every second write.
        for setters in [3, 10, 20] {
            let create: String = (0..setters).map(|at| format!("create s{at}, ")).collect();
            let bodies: String = (0..setters).map(|at| format!("s{at}: write a 1, write b 1\n")).collect();
            check(
                &format!("main: {create} create c\nc: read a r, read b s, skip 1 unless r == 1, assert s == 1\n{bodies}"),
                fails,
                20 * setters * setters,
            );
        }
    }

    #[test]
    fn a_thread_that_offers_the_processor_gives_way() {
        let mut pairs = Pairs::new();
        let program = "main: create a, create b
             a: write x 1, yield, yield, yield, write y 1
             b: read y r, read x s, yield, yield, read y r, assert r == 0";
        let seen = explore(&parse(program), &mut pairs);
        assert!(seen.outcomes.keys().any(fails), "{:?}", pairs.counts());
    }

    #[test]
    fn two_stages_under_two_locks_are_found() {
        check(
            "main: create a, create b
             a: lock m, write x 1, unlock m, lock n, write y 1, unlock n
             b: lock m, read x r, unlock m, lock n, read y s, unlock n, skip 1 unless r == 1, assert s == 1",
            fails,
            100,
        );
    }

    #[test]
    fn lock_cycles_and_lost_updates_are_found() {
        check(
            "main: create a, create b\n a: lock m, lock n, unlock n, unlock m\n b: lock n, lock m, unlock m, unlock n",
            |outcome| matches!(outcome, Outcome::Deadlock(..)),
            100,
        );
        check(
            "main: create a, create b, join a, join b, read x r, assert r == 2\n a: read x r, write x r+1\n b: read x r, write x r+1",
            fails,
            100,
        );
    }
}
