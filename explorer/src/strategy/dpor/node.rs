//! What is kept of a point of the current execution: who sleeps there, and what is planned.

use alloc::vec::Vec;

use model::event::Event;
use model::ids::ThreadId;

use super::trunk::Asked;
use super::wakeup::{Next, Plan, Plans};
use crate::strategy::path::Level;
use crate::threads::ThreadSet;

/// What is kept of a point of the current execution.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) enabled: ThreadSet,
    /// Threads that were explored from here, or whose next step is covered elsewhere, and what each is about to do.
    pub(super) asleep: Vec<(ThreadId, Event)>,
    /// Threads that others explore from here, and what each is about to do: they do not sleep, but what begins with their steps is covered.
    pub(super) elsewhere: Vec<(ThreadId, Event)>,
    /// Of both: those that cover only what they take part in. Their step ends the execution, so that nothing was explored after it.
    pub(super) narrow: ThreadSet,
    /// Threads that were planned here whatever comes after them.
    pub(super) alone: ThreadSet,
    /// What is planned from here, after what is being explored.
    pub(super) planned: Option<Plan>,
    /// How many threads were tried here before the chosen one.
    pub(super) tried: u32,
}

impl Node {
    pub(super) fn sleeps(&self, thread: ThreadId) -> bool {
        self.asleep.iter().any(|&(asleep, _)| asleep == thread)
    }

    /// Threads whose next step was or will be explored from here, apart from what is planned, and what each is about to do.
    pub(super) fn covered(&self) -> impl Iterator<Item = &(ThreadId, Event)> {
        self.asleep.iter().chain(&self.elsewhere)
    }

    /// What is planned at this level, which others are asked for.
    pub(super) fn asks(&self, level: usize, plans: &Plans) -> Option<Asked> {
        let sequences = plans.forest(self.planned, &self.enabled);
        (!sequences.is_empty()).then_some(Asked { level, sequences })
    }

    /// Those among the covered ones that cover only what they take part in. Threads that were planned alone may be independent of each
    /// other, and each would be believed to cover what the other leaves out.
    pub(super) fn narrow(&self) -> ThreadSet {
        if self.alone.is_empty() { self.narrow } else { self.covered().map(|&(thread, _)| thread).collect() }
    }
}

impl Level<Node> {
    /// Plans a thread's step, whatever comes after it.
    pub(super) fn plan_alone(&mut self, plans: &mut Plans, thread: ThreadId) {
        let node = &mut self.node;
        let known = thread == self.chosen
            || node.covered().any(|&(covered, _)| covered == thread)
            || plans.siblings(node.planned).any(|plan| plans.thread(plan) == thread);
        if !known {
            node.alone.insert(thread);
            node.planned = plans.add_alone(node.planned, thread);
        }
    }

    /// Plans every order.
    pub(super) fn expand(&mut self, plans: &mut Plans) {
        for thread in self.node.enabled.iter() {
            self.plan_alone(plans, thread);
        }
    }

    /// The next planned step, which becomes the one that is explored, and what is planned after it. So far it was this event.
    pub(super) fn next_planned(&mut self, plans: &mut Plans, event: &Event) -> Option<Next> {
        // Without one, nobody will ask who sleeps.
        self.node.planned?;
        self.node.asleep.push((self.chosen, *event));
        while let Some(next) = plans.take_first(&mut self.node.planned) {
            if self.node.sleeps(next.thread) {
                plans.forget(next.children);
                continue;
            }
            if !self.node.enabled.contains(next.thread) {
                // As in `Plans::possible`.
                self.node.planned = plans.append(next.children, self.node.planned);
                continue;
            }
            self.chosen = next.thread;
            self.what = None;
            self.node.tried += 1;
            return Some(next);
        }
        None
    }
}
