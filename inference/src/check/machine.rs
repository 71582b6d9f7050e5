//! The abstract machine: one frame's hold of one lock, and what the plan's operations do to it.
//!
//! A hold is absent or has a label and a mode; operations are functions of it. So the set of holds that can exist at a node is found
//! exactly by following every one of them over every edge.

use std::collections::{BTreeMap, BTreeSet};

use model::ids::{FunctionKey, Label, LockId, NodeId};
use model::pair::Mode;
use model::plan::{Action, At, Plan};
use model::program::Function;

/// One frame's hold of one lock.
pub type Hold = Option<(Label, Mode)>;

/// The operations of one lock in one function, in the order in which they run at each place.
#[derive(Clone, Debug, Default)]
pub struct Operations {
    places: BTreeMap<At, Vec<Action>>,
}

/// The operations of an enabled plan, by lock and function.
pub type AllOperations = BTreeMap<(LockId, FunctionKey), Operations>;

/// The same by function.
pub type ByFunction<'a> = BTreeMap<FunctionKey, Vec<(LockId, &'a Operations)>>;

/// Sorts a plan's operations by function.
#[must_use]
pub fn by_function(all: &AllOperations) -> ByFunction<'_> {
    let mut found = ByFunction::new();
    for ((lock, function), operations) in all {
        found.entry(*function).or_default().push((*lock, operations));
    }
    found
}

/// Sorts a plan's operations by lock and function; switched-off locks have none.
#[must_use]
pub fn operations(plan: &Plan) -> AllOperations {
    let mut all = AllOperations::new();
    for lock in plan.locks.iter().filter(|lock| lock.enabled) {
        for operation in &lock.operations {
            let of_function = all.entry((lock.id, operation.function)).or_default();
            of_function.places.entry(operation.at).or_default().push(operation.action);
        }
    }
    for operations in all.values_mut() {
        for actions in operations.places.values_mut() {
            // Releases, then degrades, then acquires: the order of the variants.
            actions.sort();
        }
    }
    all
}

impl Operations {
    /// What runs at a place, in order.
    #[must_use]
    pub fn at(&self, place: At) -> &[Action] {
        self.places.get(&place).map_or(&[], Vec::as_slice)
    }

    /// Every place with operations.
    pub fn iter(&self) -> impl Iterator<Item = (At, &[Action])> {
        self.places.iter().map(|(&at, actions)| (at, actions.as_slice()))
    }

    /// The holds before and after each operation at a place, in order, beginning with `hold`: at least one element.
    #[must_use]
    pub fn trail(&self, place: At, hold: Hold) -> Vec<Hold> {
        let mut trail = vec![hold];
        trail.extend(self.at(place).iter().scan(hold, |hold, &action| {
            *hold = apply(*hold, action);
            Some(*hold)
        }));
        trail
    }

    /// The hold after all operations at a place.
    #[must_use]
    pub fn after(&self, place: At, hold: Hold) -> Hold {
        self.at(place).iter().fold(hold, |hold, &action| apply(hold, action))
    }
}

/// What one operation does.
#[must_use]
pub fn apply(hold: Hold, action: Action) -> Hold {
    match (action, hold) {
        (Action::Acquire(mode, label), None) => Some((label, mode)),
        (Action::Acquire(mode, label), Some((_, held))) => Some((label, held.max(mode))),
        (Action::Release(label), Some((held, _))) if held == label => None,
        (Action::Degrade(label), Some((held, _))) if held == label => Some((held, Mode::R)),
        (Action::DegradeToUpdate(label), Some((held, mode))) if held == label => Some((held, mode.min(Mode::U))),
        (Action::Release(_) | Action::Degrade(_) | Action::DegradeToUpdate(_), unchanged) => unchanged,
    }
}

/// The holds that can exist on arrival at each node that control can reach, before the operations there.
#[must_use]
pub fn arriving(function: &Function, operations: &Operations) -> BTreeMap<NodeId, BTreeSet<Hold>> {
    let mut found: BTreeMap<NodeId, BTreeSet<Hold>> = BTreeMap::new();
    if function.nodes.is_empty() {
        return found;
    }
    let mut work = vec![(NodeId(0), None)];
    while let Some((node, hold)) = work.pop() {
        if !found.entry(node).or_default().insert(hold) {
            continue;
        }
        let running = operations.after(At::Before(node), hold);
        for &to in &function.node(node).successors {
            work.push((to, operations.after(At::Edge(node, to), running)));
        }
    }
    found
}
