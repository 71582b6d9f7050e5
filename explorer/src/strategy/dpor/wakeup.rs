//! Planned beginnings: an ordered tree of sequences of steps at each point of the current execution.
//!
//! There may be as many as there are executions left, and each race follows them anew: so all trees are in one place, and what leads through
//! them apart from what steps are.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::OnceCell;
use core::iter::successors;
use core::num::NonZeroU32;

use model::event::{Event, EventKind};
use model::ids::ThreadId;

use super::forest::{Forest, Planned, PlannedStep};
use super::history::release;
use crate::dependence::Footprint;
use crate::strategy::path::Picked;
use crate::threads::ThreadSet;

/// A planned step, by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan(NonZeroU32);

impl Plan {
    fn new(at: usize) -> Self {
        Self(NonZeroU32::MIN.saturating_add(u32::try_from(at).unwrap_or(u32::MAX)))
    }

    fn at(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// Where a planned step stands.
#[derive(Clone, Copy, Debug)]
struct Link {
    thread: ThreadId,
    /// Whether options were taken in it: few have any, and what else is known of a step is far away.
    picked: bool,
    /// The first step that is planned after it. Without any it is a leaf: what follows is free.
    child: Option<Plan>,
    /// The next step that is planned beside it. Of steps that are used again: the next one of these.
    next: Option<Plan>,
}

/// The next planned step of a point.
#[derive(Debug)]
pub(super) struct Next {
    pub(super) thread: ThreadId,
    /// The options to take in it.
    pub(super) picks: Box<[u32]>,
    /// What is planned after it.
    pub(super) children: Option<Plan>,
}

/// The trees of all points. Each is known by the first of the steps that it begins with.
#[derive(Debug, Default)]
pub(super) struct Plans {
    links: Vec<Link>,
    steps: Vec<Rc<PlannedStep>>,
    free: Option<Plan>,
}

/// A step of a sequence that may be planned: a view of a step of the current execution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen<'a> {
    pub(super) thread: ThreadId,
    pub(super) event: &'a Event,
    pub(super) footprint: Footprint,
    pub(super) picks: &'a [Picked],
    pub(super) released: &'a [u64],
    /// Where it is kept once it was planned, as it may be again and again.
    pub(super) planned: Option<&'a OnceCell<Rc<PlannedStep>>>,
}

impl<'a> Seen<'a> {
    /// A thread's step, whatever was picked in it.
    pub(super) fn new(thread: ThreadId, event: &'a Event) -> Self {
        Self { thread, event, footprint: Footprint::of(event), picks: &[], released: &[], planned: None }
    }

    fn is_picked_as(&self, planned: &[u32]) -> bool {
        self.picks.len() == planned.len() && self.picks.iter().zip(planned).all(|(pick, &planned)| pick.taken == planned)
    }

    fn plan(&self) -> Rc<PlannedStep> {
        let make = || {
            let picks = self.picks.iter().map(|pick| pick.taken).collect();
            Rc::new(PlannedStep { thread: self.thread, event: Some(*self.event), picks, released: self.released.into() })
        };
        self.planned.map_or_else(make, |planned| Rc::clone(planned.get_or_init(make)))
    }
}

/// What became of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Insertion {
    /// It is planned now.
    Planned,
    /// What was planned covers it.
    Covered,
    /// It takes other options in a step that is planned already: such sequences have no place in a tree.
    Unplannable,
}

/// Whether two steps, the first before the second, may not be exchanged. Coarser than `dependent` by the orders that
/// enabledness alone gives.
fn ordered(before: &Seen<'_>, after: &Seen<'_>) -> bool {
    let by_enabledness = match (before.event.kind, after.event.kind) {
        (EventKind::Create { child }, _) if child == after.thread => true,
        (_, EventKind::Join { child }) if child == before.thread => true,
        (EventKind::Signal | EventKind::Broadcast, EventKind::WaitReacquire) => true,
        _ => false,
    };
    before.thread == after.thread || by_enabledness || before.footprint.meets(&after.footprint)
}

/// Whether a thread may come first in some continuation of `sequence`: its first step there depends on none before it, or it has none
/// there and its next step, `event`, depends on none. `false` if it has none there and that is not known.
pub(super) fn is_weak_initial<'a>(thread: ThreadId, event: impl FnOnce() -> Option<&'a Event>, sequence: &[Seen<'a>]) -> bool {
    let own = sequence.iter().position(|step| step.thread == thread);
    let (next, before) = match own {
        Some(at) => (sequence[at], &sequence[..at]),
        None => {
            let Some(event) = event() else { return false };
            (Seen::new(thread, event), sequence)
        }
    };
    // The last one, for which the sequence is planned, is the most likely to depend on others.
    before.iter().rev().all(|step| {
        let released = || step.released.iter().any(|&lock| Footprint::of(&release(lock)).meets(&next.footprint));
        !ordered(step, &next) && (step.released.is_empty() || !released())
    })
}

impl Plans {
    /// This step and those planned beside it, after it.
    pub(super) fn siblings(&self, first: Option<Plan>) -> impl Iterator<Item = Plan> + '_ {
        successors(first, |plan| self.links[plan.at()].next)
    }

    /// Who takes a planned step.
    pub(super) fn thread(&self, plan: Plan) -> ThreadId {
        self.links[plan.at()].thread
    }

    /// Plans a thread's step after those that are planned already, whatever it is and whatever comes after it.
    pub(super) fn add_alone(&mut self, first: Option<Plan>, thread: ThreadId) -> Option<Plan> {
        let alone = self.add(Rc::new(PlannedStep::alone(thread)), None);
        self.append(first, Some(alone))
    }

    /// Plans a sequence, unless the tree covers it. Also whose step it begins with there.
    pub(super) fn insert(&mut self, first: &mut Option<Plan>, mut sequence: &mut [Seen<'_>]) -> (Insertion, Option<ThreadId>) {
        let (mut parent, mut branches) = (None, *first);
        let mut begins = None;
        let last = loop {
            let branch = match self.fitting(branches, sequence) {
                Ok(branch) => branch,
                Err(last) => break last,
            };
            let Link { thread, picked, child, .. } = self.links[branch.at()];
            begins = begins.or(Some(thread));
            if let Some(own) = sequence.iter().position(|step| step.thread == thread) {
                let any_picked = picked || !sequence[own].picks.is_empty();
                if any_picked && !sequence[own].is_picked_as(&self.steps[branch.at()].picks) {
                    return (Insertion::Unplannable, begins);
                }
                sequence[..=own].rotate_right(1);
                sequence = &mut sequence[1..];
            }
            if child.is_none() {
                return (Insertion::Covered, begins);
            }
            (parent, branches) = (Some(branch), child);
        };
        begins = begins.or(sequence.first().map(|step| step.thread));
        let chain = sequence.iter().rev().fold(None, |child, step| Some(self.add(step.plan(), child)));
        match (last, parent) {
            (Some(last), _) => self.links[last.at()].next = chain,
            (None, Some(parent)) => self.links[parent.at()].child = chain,
            (None, None) => *first = chain,
        }
        (Insertion::Planned, begins)
    }

    /// The planned step, with so many sequences after it, that a sequence would be planned after.
    pub(super) fn crowded(&self, first: Option<Plan>, sequence: &[Seen<'_>], many: usize) -> Option<ThreadId> {
        let branch = self.fitting(first, sequence).ok()?;
        let mut rest = Vec::from([branch]);
        let mut leaves = 0;
        while let Some(plan) = rest.pop().filter(|_| leaves < many) {
            let child = self.links[plan.at()].child;
            leaves += usize::from(child.is_none());
            rest.extend(self.siblings(child).take(many));
        }
        (leaves >= many).then(|| self.thread(branch))
    }

    /// The first of these that may come first in some continuation of the sequence; if there is none, the last of them.
    fn fitting(&self, branches: Option<Plan>, sequence: &[Seen<'_>]) -> Result<Plan, Option<Plan>> {
        let mut last = None;
        for branch in self.siblings(branches) {
            if is_weak_initial(self.thread(branch), || self.steps[branch.at()].event.as_ref(), sequence) {
                return Ok(branch);
            }
            last = Some(branch);
        }
        Err(last)
    }

    /// Takes the first planned step.
    pub(super) fn take_first(&mut self, first: &mut Option<Plan>) -> Option<Next> {
        let plan = (*first)?;
        let Link { thread, child: children, next, .. } = self.links[plan.at()];
        *first = next;
        self.links[plan.at()].next = self.free.replace(plan);
        Some(Next { thread, picks: self.steps[plan.at()].picks.clone(), children })
    }

    /// What is planned, without steps that are not enabled. A thread that goes round in a circle is not enabled until something changes, and
    /// the plan may be from an execution in which more had changed: another turn of the circle does nothing, so what was planned after it
    /// holds without it.
    pub(super) fn possible(&mut self, mut first: Option<Plan>, enabled: &ThreadSet) -> Option<Plan> {
        let is_possible = |plans: &Self, plan| enabled.contains(plans.thread(plan));
        if self.siblings(first).all(|plan| is_possible(self, plan)) {
            return first;
        }
        let mut left = None;
        while let Some(plan) = first {
            let more = if is_possible(self, plan) {
                first = self.links[plan.at()].next.take();
                Some(plan)
            } else {
                let children = self.take_first(&mut first).and_then(|next| next.children);
                self.possible(children, enabled)
            };
            left = self.append(left, more);
        }
        left
    }

    /// Takes out the steps, with what is planned after them, of some threads.
    pub(super) fn take_out(&mut self, first: &mut Option<Plan>, is_meant: impl Fn(ThreadId) -> bool) -> Option<Plan> {
        let (mut rest, mut taken) = (core::mem::take(first), None);
        while let Some(plan) = rest {
            rest = self.links[plan.at()].next.take();
            let to = if is_meant(self.thread(plan)) { &mut taken } else { &mut *first };
            *to = self.append(*to, Some(plan));
        }
        taken
    }

    /// Forgets what is planned.
    pub(super) fn forget(&mut self, mut first: Option<Plan>) {
        while let Some(next) = self.take_first(&mut first) {
            first = self.append(next.children, first);
        }
    }

    /// Steps, and others planned beside them, after them.
    pub(super) fn append(&mut self, first: Option<Plan>, more: Option<Plan>) -> Option<Plan> {
        if more.is_none() {
            return first;
        }
        let Some(last) = self.siblings(first).last() else { return more };
        self.links[last.at()].next = more;
        first
    }

    /// What is planned, by itself, without first steps that are not enabled, as in [`Self::possible`].
    pub(super) fn forest(&self, first: Option<Plan>, enabled: &ThreadSet) -> Forest {
        let (mut steps, mut rest) = (Vec::new(), Vec::new());
        let mut next = first.map(|plan| (plan, 0));
        while let Some((plan, depth)) = next.take().or_else(|| rest.pop()) {
            let Link { thread, child, next: beside, .. } = self.links[plan.at()];
            rest.extend(beside.map(|plan| (plan, depth)));
            let impossible = depth == 0 && !enabled.contains(thread);
            if !impossible {
                steps.push(Planned { depth, step: Rc::clone(&self.steps[plan.at()]) });
            }
            next = child.map(|plan| (plan, if impossible { 0 } else { depth + 1 }));
        }
        Forest(steps)
    }

    /// Plans all of a forest.
    pub(super) fn add_forest(&mut self, forest: &Forest) -> Option<Plan> {
        let mut first = None;
        // The step that the next one may come after, at each depth.
        let mut last: Vec<Plan> = Vec::new();
        for Planned { depth, step } in &forest.0 {
            let plan = self.add(Rc::clone(step), None);
            let depth = *depth as usize;
            match (last.get(depth).copied(), depth.checked_sub(1)) {
                (Some(beside), _) => self.links[beside.at()].next = Some(plan),
                (None, Some(before)) => self.links[last[before].at()].child = Some(plan),
                (None, None) => first = Some(plan),
            }
            last.truncate(depth);
            last.push(plan);
        }
        first
    }

    fn add(&mut self, step: Rc<PlannedStep>, child: Option<Plan>) -> Plan {
        let link = Link { thread: step.thread, picked: !step.picks.is_empty(), child, next: None };
        match self.free {
            Some(plan) => {
                self.free = core::mem::replace(&mut self.links[plan.at()], link).next;
                self.steps[plan.at()] = step;
                plan
            }
            None => {
                self.links.push(link);
                self.steps.push(step);
                Plan::new(self.links.len() - 1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::{String, ToString};
    use model::event::Range;
    use model::pair::Rw;

    /// `1x` is a write of thread 1 to x, `2y?` a read of thread 2 from y.
    fn events(text: &str) -> Vec<(ThreadId, Event)> {
        let step = |word: &str| {
            let bytes = word.as_bytes();
            let rw = if word.ends_with('?') { Rw::Read } else { Rw::Write };
            let range = Some(Range { address: u64::from(bytes[1]) * 8, length: 8 });
            let event = Event { kind: EventKind::Access { rw, atomic: false }, range, object: None, site: None };
            (ThreadId(u32::from(bytes[0] - b'0')), event)
        };
        text.split_whitespace().map(step).collect()
    }

    fn sequence(events: &[(ThreadId, Event)]) -> Vec<Seen<'_>> {
        events.iter().map(|(thread, event)| Seen::new(*thread, event)).collect()
    }

    fn draw(plans: &Plans, first: Option<Plan>) -> String {
        let one = |plan: Plan| {
            let children = draw(plans, plans.links[plan.at()].child);
            let thread = plans.thread(plan).0.to_string();
            if children.is_empty() { thread } else { thread + "(" + &children + ")" }
        };
        plans.siblings(first).map(one).collect::<Vec<_>>().join(" ")
    }

    fn check(sequences: &[(&str, Insertion)], tree: &str) {
        let (plans, first) = planned(sequences);
        assert_eq!(draw(&plans, first), tree);
    }

    fn planned(sequences: &[(&str, Insertion)]) -> (Plans, Option<Plan>) {
        let (mut plans, mut first) = (Plans::default(), None);
        for (text, expected) in sequences {
            let (insertion, _) = plans.insert(&mut first, &mut sequence(&events(text)));
            assert_eq!(insertion, *expected, "{text} into {}", draw(&plans, first));
        }
        (plans, first)
    }

    #[test]
    fn sequences_share_what_they_can() {
        use Insertion::{Covered, Planned};
        check(&[("1x", Planned), ("2x", Planned)], "1 2");
        check(&[("1x", Planned), ("1x", Covered)], "1");
        // Independent steps in the other order are the same beginning.
        check(&[("1x 2y", Planned), ("2y 1x", Covered)], "1(2)");
        // A leaf allows anything after it.
        check(&[("1x", Planned), ("1x 2x", Covered)], "1");
        check(&[("1x 2x", Planned), ("1x 3x", Planned)], "1(2 3)");
        // 3 and 4 can come after 1 and 2 just as well.
        check(&[("1x 2x", Planned), ("3y 4y", Covered)], "1(2)");
    }

    #[test]
    fn steps_are_taken_in_order_and_used_again() {
        use Insertion::Planned;
        let (mut plans, mut first) = planned(&[("1x 2x", Planned), ("1x 3x", Planned), ("4x", Planned)]);
        let next = plans.take_first(&mut first).expect("a step is planned");
        assert_eq!((next.thread, draw(&plans, next.children), draw(&plans, first)), (ThreadId(1), "2 3".into(), "4".into()));
        plans.forget(next.children);
        assert_eq!(plans.insert(&mut first, &mut sequence(&events("5x 6x 5x"))), (Planned, Some(ThreadId(5))));
        assert_eq!((draw(&plans, first), plans.links.len()), ("4 5(6(5))".into(), 4));
        // It begins with a step that is planned already, though not with its own first one.
        assert_eq!(plans.insert(&mut first, &mut sequence(&events("6z 5x 7x"))), (Planned, Some(ThreadId(5))));
    }

    #[test]
    fn what_is_planned_after_an_impossible_step_takes_its_place() {
        use Insertion::Planned;
        let (mut plans, mut first) = planned(&[("1x", Planned), ("2x 3x", Planned), ("2x 4x", Planned), ("5x", Planned)]);
        let enabled = [1, 3, 4, 5].map(ThreadId).into_iter().collect();
        first = plans.possible(first, &enabled);
        assert_eq!(draw(&plans, first), "1 3 4 5");
        let taken = plans.take_out(&mut first, |thread| thread.0 % 4 == 1);
        assert_eq!((draw(&plans, first), draw(&plans, taken)), ("3 4".into(), "1 5".into()));
    }

    #[test]
    fn weak_initials_are_those_that_may_come_first() {
        let events_of = events("1x 2x? 3y");
        let steps = sequence(&events_of);
        let event = |text: &str| events(text)[0].1;
        for (thread, text, expected) in [(1, "1x", true), (2, "2x?", false), (3, "3y", true), (4, "4z", true), (4, "4y?", false)] {
            let next = event(text);
            assert_eq!(is_weak_initial(ThreadId(thread), || Some(&next), &steps), expected, "{thread} {text}");
        }
    }
}
