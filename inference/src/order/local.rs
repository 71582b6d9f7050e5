//! What one function holds where it takes something, the program's locks and injected ones together.

use std::collections::BTreeMap;

use model::ids::{FunctionId, NodeId, VariableId};
use model::pair::Mode;

use super::{Edge, LockKey, OrderFacts, Origin, Witness};
use crate::operation::{Holds, Placement, follow_along};
use crate::program_lock::LockStep;
use crate::sets::Set;

/// What the lock order needs to know of one function.
#[derive(Clone, Debug, Default)]
pub(super) struct Takes {
    /// Edges to what the function takes itself.
    pub(super) edges: Vec<(Edge, Witness)>,
    /// What may be held at calls into the program.
    pub(super) at_calls: Vec<(NodeId, Origin, Mode)>,
    /// Nodes that acquire several injected locks.
    pub(super) together: Vec<(NodeId, Several)>,
}

/// Locks that one node acquires: each with how it is taken, and how strongly it may be held then.
pub(super) type Several = Vec<(VariableId, Mode, Mode)>;

/// One function, while its edges are collected.
pub(super) struct Local<'a> {
    pub(super) facts: &'a OrderFacts<'a>,
    pub(super) function: FunctionId,
    pub(super) injected: &'a BTreeMap<VariableId, &'a Placement>,
}

/// When, in the course of a node, something is held.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    Arriving,
    Running,
}

/// What is held where, sparsely.
type HeldAt = BTreeMap<NodeId, Vec<(Origin, Mode)>>;

impl Local<'_> {
    /// Collects everything.
    pub(super) fn takes(&self) -> Takes {
        let mut takes = Takes::default();
        let mut known = Known::new();
        let (arriving, running) = (self.held(Moment::Arriving), self.held(Moment::Running));
        let mut acquires: BTreeMap<NodeId, Several> = BTreeMap::new();
        for (&variable, placement) in self.injected {
            for (&at, acquire) in &placement.acquires {
                let most = placement.running.get(&at).and_then(|holds| holds.labels.values().map(|strength| strength.most).max());
                acquires.entry(at).or_default().push((variable, acquire.mode, most.unwrap_or(Mode::X)));
                for &(origin, mode) in arriving.get(&at).into_iter().flatten() {
                    if !self.surely_held(&origin, variable, acquire.mode, (at, Moment::Arriving), &mut known) {
                        takes.add((origin, mode), (LockKey::Injected(variable), acquire.mode), self.function, at);
                    }
                }
            }
        }
        takes.together = acquires.into_iter().filter(|(_, several)| several.len() > 1).collect();
        let steps = self.facts.locks.steps[self.function.index()].iter();
        for (at, step) in steps.flat_map(|(&at, steps)| steps.iter().map(move |&step| (at, step))) {
            let LockStep::Take(lock, mode) = step else { continue };
            for &held in running.get(&at).into_iter().flatten() {
                takes.add(held, (LockKey::Program(lock), mode), self.function, at);
            }
        }
        let held = running.iter().flat_map(|(&at, held)| held.iter().map(move |&(origin, mode)| (at, origin, mode)));
        let stays =
            |&(at, origin, _): &(NodeId, Origin, Mode)| !self.facts.calls_under(origin.lock).from_node(self.function, at).is_empty();
        takes.at_calls = held.filter(stays).collect();
        takes
    }

    /// Everything that may be held at a moment of each node, as far as this function and its callees took it.
    fn held(&self, moment: Moment) -> HeldAt {
        let mut found = HeldAt::new();
        for (&variable, placement) in self.injected {
            let at_nodes = match moment {
                Moment::Arriving => &placement.arriving,
                Moment::Running => &placement.running,
            };
            for (&at, holds) in at_nodes {
                let origins =
                    holds.labels.iter().map(|(&from, strength)| (Origin { lock: LockKey::Injected(variable), from }, strength.most));
                found.entry(at).or_default().extend(origins);
            }
        }
        for (&at, held) in &self.facts.locks.arriving[self.function.index()] {
            let origins = held.iter().map(|(&(lock, from), &mode)| (Origin { lock: LockKey::Program(lock), from }, mode));
            found.entry(at).or_default().extend(origins);
        }
        found
    }

    /// Whether, on all paths on which `origin` is held at a moment, `variable`'s lock is held in at least `mode`.
    pub(super) fn surely_held(
        &self,
        origin: &Origin,
        variable: VariableId,
        mode: Mode,
        (at, moment): (NodeId, Moment),
        known: &mut Known,
    ) -> bool {
        let Some(placement) = self.injected.get(&variable) else { return false };
        let strong = |holds: &Holds| !holds.none && holds.labels.values().all(|strength| strength.least >= mode);
        // Most questions need no second look: held on all paths, or on none.
        match holds(placement, at, moment) {
            None => return false,
            Some(holds) if strong(holds) => return true,
            Some(_) => {}
        }
        let along = known.entry((*origin, variable)).or_insert_with(|| {
            let within = region(self.facts, self.function, self.injected, origin);
            follow_along(&self.facts.flows[self.function.index()], placement, origin.from, &within)
        });
        let holds = match moment {
            Moment::Arriving => along.0.get(&at),
            Moment::Running => along.1.get(&at),
        };
        holds.is_some_and(strong)
    }
}

impl Takes {
    /// Adds an edge, unless it leads to the lock that is held.
    fn add(&mut self, (origin, mode): (Origin, Mode), acquired: (LockKey, Mode), function: FunctionId, at: NodeId) {
        if origin.lock != acquired.0 {
            let edge = Edge { held: origin.lock, held_mode: mode, acquired: acquired.0, acquired_mode: acquired.1 };
            self.edges.push((edge, Witness { function, from: origin.from, at }));
        }
    }
}

/// One lock followed along the paths on which another is held; by the other, and the one.
pub(super) type Known = BTreeMap<(Origin, VariableId), (BTreeMap<NodeId, Holds>, BTreeMap<NodeId, Holds>)>;

fn holds(placement: &Placement, at: NodeId, moment: Moment) -> Option<&Holds> {
    match moment {
        Moment::Arriving => placement.arriving.get(&at),
        Moment::Running => placement.running.get(&at),
    }
}

/// The nodes at which control may arrive with `origin` held.
#[must_use]
pub fn region(facts: &OrderFacts<'_>, function: FunctionId, injected: &BTreeMap<VariableId, &Placement>, origin: &Origin) -> Set<NodeId> {
    match &origin.lock {
        LockKey::Injected(variable) => {
            let arriving = injected.get(variable).into_iter().flat_map(|placement| &placement.arriving);
            arriving.filter(|(_, holds)| holds.labels.contains_key(&origin.from)).map(|(&node, _)| node).collect()
        }
        LockKey::Program(lock) => {
            let key = (*lock, origin.from);
            facts.locks.arriving[function.index()].iter().filter(|(_, held)| held.contains_key(&key)).map(|(&node, _)| node).collect()
        }
    }
}
