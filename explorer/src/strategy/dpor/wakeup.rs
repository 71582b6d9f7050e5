//! Planned beginnings: an ordered tree of sequences of steps at each point of the current execution.

use alloc::boxed::Box;
use alloc::vec::Vec;

use model::event::{Event, EventKind};
use model::ids::ThreadId;

use super::history::release;
use crate::dependence::dependent;
use crate::strategy::path::Picked;

/// A step that is planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Planned {
    pub(super) thread: ThreadId,
    /// What it was about to do where it was seen; `None` when it is planned alone, whatever that is.
    pub(super) event: Option<Event>,
    /// The options taken in it there.
    pub(super) picks: Box<[u32]>,
}

impl Planned {
    /// A thread's step, whatever that is and whatever comes after it.
    pub(super) fn alone(thread: ThreadId) -> Self {
        Self { thread, event: None, picks: Box::default() }
    }
}

/// A step of a sequence that may be planned: a view of a step of the current execution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen<'a> {
    pub(super) thread: ThreadId,
    pub(super) event: &'a Event,
    pub(super) picks: &'a [Picked],
    pub(super) released: &'a [u64],
}

impl Seen<'_> {
    fn is_picked_as(&self, planned: &[u32]) -> bool {
        self.picks.len() == planned.len() && self.picks.iter().zip(planned).all(|(pick, &planned)| pick.taken == planned)
    }

    fn plan(&self) -> Planned {
        let picks = self.picks.iter().map(|pick| pick.taken).collect();
        Planned { thread: self.thread, event: Some(*self.event), picks }
    }
}

/// A planned step, and what is planned after it. Without children it is a leaf: what follows it is free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Branch {
    pub(super) step: Planned,
    pub(super) children: Vec<Self>,
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
pub(super) fn ordered(before: (ThreadId, &Event), after: (ThreadId, &Event)) -> bool {
    let ((first, a), (second, b)) = (before, after);
    let by_enabledness = match (a.kind, b.kind) {
        (EventKind::Create { child }, _) if child == second => true,
        (_, EventKind::Join { child }) if child == first => true,
        (EventKind::Signal | EventKind::Broadcast, EventKind::WaitReacquire) => true,
        _ => false,
    };
    first == second || by_enabledness || dependent(a, b)
}

/// Whether a thread may come first in some continuation of `sequence`: its first step there depends on none before it, or it has none
/// there and its next step, `event`, depends on none. `false` if it has none there and that is not known.
pub(super) fn is_weak_initial(thread: ThreadId, event: Option<&Event>, sequence: &[Seen<'_>]) -> bool {
    let own = sequence.iter().position(|step| step.thread == thread);
    let Some(event) = own.map_or(event, |at| Some(sequence[at].event)) else { return false };
    let before = &sequence[..own.unwrap_or(sequence.len())];
    // The last one, for which the sequence is planned, is the most likely to depend on others.
    before.iter().rev().all(|step| {
        let released = step.released.iter().any(|&lock| dependent(&release(lock), event));
        !released && !ordered((step.thread, step.event), (thread, event))
    })
}

/// Plans a sequence, unless the tree covers it.
pub(super) fn insert(mut branches: &mut Vec<Branch>, mut sequence: &mut [Seen<'_>]) -> Insertion {
    loop {
        let fitting = branches.iter().position(|branch| is_weak_initial(branch.step.thread, branch.step.event.as_ref(), sequence));
        let Some(at) = fitting else { break };
        let branch = &mut branches[at];
        if let Some(own) = sequence.iter().position(|step| step.thread == branch.step.thread) {
            if !sequence[own].is_picked_as(&branch.step.picks) {
                return Insertion::Unplannable;
            }
            sequence[..=own].rotate_right(1);
            sequence = &mut sequence[1..];
        }
        if branch.children.is_empty() {
            return Insertion::Covered;
        }
        branches = &mut branch.children;
    }
    let chain = sequence.iter().rev().fold(Vec::new(), |children, step| alloc::vec![Branch { step: step.plan(), children }]);
    branches.extend(chain);
    Insertion::Planned
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
        events.iter().map(|(thread, event)| Seen { thread: *thread, event, picks: &[], released: &[] }).collect()
    }

    fn draw(branches: &[Branch]) -> String {
        let one = |branch: &Branch| {
            let children = draw(&branch.children);
            let thread = branch.step.thread.0.to_string();
            if children.is_empty() { thread } else { thread + "(" + &children + ")" }
        };
        branches.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    fn check(sequences: &[(&str, Insertion)], tree: &str) {
        let mut branches = Vec::new();
        for (text, expected) in sequences {
            assert_eq!(insert(&mut branches, &mut sequence(&events(text))), *expected, "{text} into {}", draw(&branches));
        }
        assert_eq!(draw(&branches), tree);
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
    fn weak_initials_are_those_that_may_come_first() {
        let events_of = events("1x 2x? 3y");
        let steps = sequence(&events_of);
        let event = |text: &str| events(text)[0].1;
        for (thread, next, expected) in [(1, "1x", true), (2, "2x?", false), (3, "3y", true), (4, "4z", true), (4, "4y?", false)] {
            assert_eq!(is_weak_initial(ThreadId(thread), Some(&event(next)), &steps), expected, "{thread} {next}");
        }
    }
}
