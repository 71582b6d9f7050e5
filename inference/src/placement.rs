//! Runs phase 5 over all functions and variables, with what calls acquire taken into account.
//!
//! A hold in R around a call that acquires the same lock more strongly is an upgrade as much as one in the same function; so
//! it is computed which functions may acquire more strongly than R, calls included, and placing is repeated until no label is
//! newly found to be upgraded. Labels only ever move from R to U, so this ends.

use std::collections::{BTreeMap, BTreeSet};

use model::ids::{FunctionId, NodeId, VariableId};
use model::pair::Mode;

use crate::admit::AdmittedPair;
use crate::constraint::Constraints;
use crate::flow::Flow;
use crate::operation::{BetweenWrites, Demand, Placement, place};
use crate::optimize::Optimizations;
use crate::reach::{Reach, Slot};
use crate::summary::Calls;

/// One variable in one function.
pub type Spot = (VariableId, FunctionId);

/// The lock placement of a whole program.
#[derive(Clone, Debug, Default)]
pub struct Placements {
    /// Constraints where there are any.
    pub constraints: BTreeMap<Spot, Constraints>,
    /// Operations where there are any.
    pub spots: BTreeMap<Spot, Placement>,
    /// What they may leave out.
    pub optimizations: Optimizations,
    /// The variables that stand for correlated sets.
    pub sets: BTreeSet<VariableId>,
}

impl Placements {
    /// All operations of one variable's lock.
    pub fn of_variable(&self, variable: VariableId) -> impl Iterator<Item = (FunctionId, &Placement)> {
        let functions = (variable, FunctionId(0))..=(variable, FunctionId(u32::MAX));
        self.spots.range(functions).map(|(&(_, function), placement)| (function, placement))
    }

    /// By function: the placements of all its variables. Indexed by `FunctionId`.
    #[must_use]
    pub fn by_function(&self, functions: usize) -> Vec<BTreeMap<VariableId, &Placement>> {
        let mut found = vec![BTreeMap::new(); functions];
        for (&(variable, function), placement) in &self.spots {
            found[function.index()].insert(variable, placement);
        }
        found
    }
}

/// The constraints of the admitted pairs.
#[must_use]
pub fn constraints(pairs: &[AdmittedPair]) -> BTreeMap<Spot, Constraints> {
    let mut all: BTreeMap<Spot, Constraints> = BTreeMap::new();
    for pair in pairs {
        let spot = (pair.variable, pair.function);
        all.entry(spot).or_insert_with(|| Constraints::new(pair.function, pair.variable)).add_pair(pair);
    }
    all
}

/// Removes everything about one variable; returns in which functions there was something.
pub fn remove<T>(spots: &mut BTreeMap<Spot, T>, variable: VariableId) -> Vec<FunctionId> {
    let keys: Vec<Spot> = spots.range((variable, FunctionId(0))..=(variable, FunctionId(u32::MAX))).map(|(&spot, _)| spot).collect();
    keys.iter().for_each(|spot| drop(spots.remove(spot)));
    keys.into_iter().map(|(_, function)| function).collect()
}

/// Places all operations of `changed` spots anew, and of those that this makes upgraded; the others stay as they are.
pub fn place_all(
    flows: &[Flow],
    calls: &Calls,
    placements: &mut Placements,
    demands: &BTreeMap<Spot, BTreeMap<NodeId, Mode>>,
    changed: &BTreeSet<Spot>,
) {
    // Variables have nothing to do with each other here.
    let mut all: Vec<VariableId> = changed.iter().map(|spot| spot.0).collect();
    all.dedup();
    for variables in all.chunks(Slot::COUNT) {
        let (first, last) = (variables[0], variables[variables.len() - 1]);
        let mut again: Vec<Spot> = changed.range((first, FunctionId(0))..=(last, FunctionId(u32::MAX))).copied().collect();
        let mut strong = Strong::of(calls, placements, variables);
        loop {
            for &spot in &again {
                let placement = placed(flows, calls, placements, demands, &strong, spot);
                placements.spots.insert(spot, placement);
            }
            strong = Strong::of(calls, placements, variables);
            let spots = variables.iter().flat_map(|&variable| placements.of_variable(variable).map(move |(f, p)| ((variable, f), p)));
            let upgraded = spots.filter(|&(spot, placement)| holds_weakly_around(placement, &strong.calls(calls, spot, placement)));
            again = upgraded.map(|(spot, _)| spot).collect();
            if again.is_empty() {
                break;
            }
        }
    }
}

fn placed(
    flows: &[Flow],
    calls: &Calls,
    placements: &Placements,
    demands: &BTreeMap<Spot, BTreeMap<NodeId, Mode>>,
    strong: &Strong<'_>,
    spot: Spot,
) -> Placement {
    let (variable, function) = spot;
    let (none, empty) = (BTreeMap::new(), Constraints::new(function, variable));
    let constraints = placements.constraints.get(&spot).unwrap_or(&empty);
    let covers_calls = !constraints.list.is_empty();
    let modes = calls.of_function(function).filter(|(_, callees)| covers_calls && strong.any(callees, variable));
    let modes = modes.map(|(node, _)| (node, Mode::X)).collect();
    let accesses = demands.get(&spot).unwrap_or(&none);
    let between_writes = if placements.sets.contains(&variable) { BetweenWrites::Nobody } else { BetweenWrites::Readers };
    let (flow, optimizations) = (&flows[function.index()], placements.optimizations);
    let demand = Demand { flow, constraints, accesses, calls: &modes, between_writes, optimizations };
    let known = placements.spots.get(&spot).map(|placement| placement.updates.clone()).unwrap_or_default();
    place(&demand, &known)
}

/// Whether a placement holds R around any of these calls.
fn holds_weakly_around(placement: &Placement, calls: &[NodeId]) -> bool {
    let weak = |node: &NodeId| placement.running.get(node).is_some_and(|holds| holds.labels.values().any(|s| s.least == Mode::R));
    calls.iter().any(weak)
}

/// Which functions may, calls included, acquire the locks of some variables more strongly than R.
struct Strong<'a> {
    /// Sorted, as many as a `Reach` is about.
    variables: &'a [VariableId],
    reach: Reach<'a>,
}

impl<'a> Strong<'a> {
    fn of(calls: &'a Calls, placements: &Placements, variables: &'a [VariableId]) -> Self {
        let mut reach = Reach::new(calls);
        for (index, &variable) in variables.iter().enumerate() {
            for (function, placement) in placements.of_variable(variable) {
                if placement.acquires.values().any(|acquire| acquire.mode > Mode::R) {
                    reach.add(function, Slot::of(index));
                }
            }
        }
        reach.close();
        Self { variables, reach }
    }

    fn any(&self, callees: &[FunctionId], variable: VariableId) -> bool {
        let slot = self.variables.binary_search(&variable).ok().map(Slot::of);
        slot.is_some_and(|slot| callees.iter().any(|&callee| self.reach.has(callee, slot)))
    }

    /// The calls during which a lock is held and may be acquired more strongly than R.
    fn calls(&self, calls: &Calls, (variable, function): Spot, placement: &Placement) -> Vec<NodeId> {
        let held = placement.running.keys().copied();
        held.filter(|&node| self.any(calls.from_node(function, node), variable)).collect()
    }
}
