//! Phase 2, continued: the program's own locks, which of them may be held where, and what calls leave held or release.
//!
//! The bitcode is from before inlining, so a `lock_guard` constructor or an `item_lock()` wrapper is a call that returns with a lock
//! held; without that in the summaries no lock would be seen at all.
//!
//! A lock is a *class*: the place of its mutex, pointers resolved (`indirect`). Not handled: two locks of one class held at once (the first
//! unlock ends both); a release on some paths only counts as a release, as in guards
//! that remember whether they own the lock.

use std::collections::{BTreeMap, BTreeSet};

use model::external::SyncOp;
use model::ids::{FunctionId, NodeId};
use model::pair::Mode;
use model::program::{Node, NodeKind, Place, Program};

use crate::flow::Flow;
use crate::summary::Calls;

/// A class of the program's locks, by its place in `ProgramLocks::names`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProgramLockId(pub u32);

/// Locks held, by class and by the node that took each.
pub type Held = BTreeMap<(ProgramLockId, NodeId), Mode>;

/// What one call of a function does to the program's locks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockSummary {
    /// May return with these held that were not held before.
    pub leaves: BTreeMap<ProgramLockId, Mode>,
    /// May release these though the caller took them.
    pub releases: BTreeSet<ProgramLockId>,
}

/// All that is known of the program's locks.
#[derive(Clone, Debug, Default)]
pub struct ProgramLocks {
    /// Sorted; indexed by `ProgramLockId`.
    pub names: Vec<Place>,
    /// By `FunctionId`: what nodes do to locks themselves.
    pub steps: Vec<BTreeMap<NodeId, Vec<LockStep>>>,
    /// By `FunctionId`.
    pub summaries: Vec<LockSummary>,
    /// By `FunctionId`: what may be held when control arrives at a node, of what the function itself or its callees took.
    pub arriving: Vec<BTreeMap<NodeId, Held>>,
}

/// What a node itself does to a lock; one that takes several waits for none with another one of these held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockStep {
    /// Waits for it, then holds it.
    Take(ProgramLockId, Mode),
    /// Holds it, or does not, without waiting.
    Try(ProgramLockId, Mode),
    /// Gives it up.
    Drop(ProgramLockId),
}

fn named(node: &Node) -> Option<(SyncOp, &[Place])> {
    let NodeKind::Call(call) = &node.kind else { return None };
    let (op, places) = call.sync.as_ref()?;
    Some((*op, places))
}

fn step(op: SyncOp, lock: ProgramLockId) -> Option<LockStep> {
    match op {
        SyncOp::Lock => Some(LockStep::Take(lock, Mode::X)),
        SyncOp::ReadLock => Some(LockStep::Take(lock, Mode::R)),
        SyncOp::TryLock => Some(LockStep::Try(lock, Mode::X)),
        SyncOp::TryReadLock => Some(LockStep::Try(lock, Mode::R)),
        SyncOp::Unlock => Some(LockStep::Drop(lock)),
        SyncOp::Wait | SyncOp::Signal | SyncOp::Create | SyncOp::Join | SyncOp::Meet | SyncOp::Manage => None,
    }
}

impl ProgramLocks {
    /// The name of a class.
    #[must_use]
    pub fn name(&self, lock: ProgramLockId) -> &Place {
        &self.names[lock.0 as usize]
    }

    /// Follows the program's locks through all functions, callees before callers.
    #[must_use]
    pub fn of(program: &Program, calls: &Calls, flows: &[Flow]) -> Self {
        let all = program.functions.iter().flat_map(|function| &function.nodes).filter_map(named);
        let names: Vec<Place> = all.flat_map(|(_, locks)| locks).cloned().collect::<BTreeSet<_>>().into_iter().collect();
        let id = |lock: &Place| names.binary_search(lock).ok().and_then(|index| u32::try_from(index).ok()).map(ProgramLockId);
        let steps = program.functions.iter().map(|function| {
            let nodes = function.nodes.iter().enumerate();
            let steps = nodes.filter_map(|(n, node)| {
                let (op, locks) = named(node)?;
                let steps: Vec<LockStep> = locks.iter().filter_map(|lock| step(op, id(lock)?)).collect();
                (!steps.is_empty()).then(|| (NodeId::new(n), steps))
            });
            steps.collect()
        });
        let steps = steps.collect();
        let mut locks =
            Self { names, steps, summaries: vec![LockSummary::default(); flows.len()], arriving: vec![BTreeMap::new(); flows.len()] };
        for component in calls.components() {
            loop {
                let mut changed = false;
                for &function in component {
                    let (summary, arriving) = locks.follow(program, calls, &flows[function.index()], function);
                    changed |= summary != locks.summaries[function.index()];
                    locks.summaries[function.index()] = summary;
                    locks.arriving[function.index()] = arriving;
                }
                if !changed || component.len() == 1 && !calls.calls_itself(component[0]) {
                    break;
                }
            }
        }
        locks
    }

    fn follow(&self, program: &Program, calls: &Calls, flow: &Flow, function: FunctionId) -> (LockSummary, BTreeMap<NodeId, Held>) {
        let body = program.function(function);
        let mut summary = self.summaries[function.index()].clone();
        let mut arriving: BTreeMap<NodeId, Held> = BTreeMap::new();
        let Some(entry) = flow.nodes().next() else { return (summary, arriving) };
        let mut seen = BTreeSet::from([entry]);
        let mut work = BTreeSet::from([(flow.rank(entry), entry)]);
        while let Some((_, node)) = work.pop_first() {
            let mut held = arriving.get(&node).cloned().unwrap_or_default();
            let steps = self.steps[function.index()].get(&node).map_or(&[][..], Vec::as_slice);
            self.effect(steps, calls.from_node(function, node), node, &mut held, &mut summary);
            if body.node(node).kind == NodeKind::Return {
                for (&(lock, _), &mode) in &held {
                    raise(&mut summary.leaves, lock, mode);
                }
            }
            for &to in flow.successors(node) {
                let into = arriving.entry(to).or_default();
                let before = into.len();
                into.extend(held.iter().map(|(&lock, &mode)| (lock, mode)));
                if into.len() != before || seen.insert(to) {
                    work.insert((flow.rank(to), to));
                }
            }
        }
        arriving.retain(|_, held| !held.is_empty());
        (summary, arriving)
    }

    fn effect(&self, steps: &[LockStep], callees: &[FunctionId], at: NodeId, held: &mut Held, summary: &mut LockSummary) {
        let summaries = || callees.iter().map(|callee| &self.summaries[callee.index()]);
        // Of several candidates for an indirect call, only what all release is released.
        let mut released = summaries().map(|callee| callee.releases.clone());
        if let Some(first) = released.next() {
            for lock in released.fold(first, |all, more| all.intersection(&more).copied().collect()) {
                release(lock, held, summary);
            }
        }
        for (&lock, &mode) in summaries().flat_map(|callee| &callee.leaves) {
            held.insert((lock, at), mode);
        }
        // What is known of the call itself counts more than what its body seems to do.
        for &step in steps {
            match step {
                LockStep::Take(lock, mode) | LockStep::Try(lock, mode) => {
                    held.insert((lock, at), mode);
                }
                LockStep::Drop(lock) => release(lock, held, summary),
            }
        }
    }
}

fn release(lock: ProgramLockId, held: &mut Held, summary: &mut LockSummary) {
    let before = held.len();
    held.retain(|(of, _), _| *of != lock);
    if held.len() == before {
        summary.releases.insert(lock);
    }
}

fn raise(modes: &mut BTreeMap<ProgramLockId, Mode>, lock: ProgramLockId, mode: Mode) {
    let known = modes.entry(lock).or_insert(mode);
    *known = (*known).max(mode);
}
