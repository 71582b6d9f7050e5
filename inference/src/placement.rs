//! Runs phase 5 over all functions and variables, with what calls acquire taken into account.
//!
//! A hold in R around a call that acquires the same lock more strongly is an upgrade as much as one in the same function; so
//! the modes in which functions may acquire are closed over the call graph, and placing is repeated until no label is
//! newly found to be upgraded. Labels only ever move from R to U, so this ends.

use std::collections::{BTreeMap, BTreeSet};

use model::ids::{FunctionId, NodeId, VariableId};
use model::pair::Mode;

use crate::access::Accesses;
use crate::admit::AdmittedPair;
use crate::constraint::Constraints;
use crate::flow::Flow;
use crate::operation::{Demand, Placement, place};
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
    /// By function: the strongest mode in which it, or what it calls, may acquire each variable's lock.
    pub may_acquire: Vec<BTreeMap<VariableId, Mode>>,
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

/// Which modes the accesses of each protected variable need where no region covers them: reads R and writes X; where all pairs are
/// READ, reads need none.
#[must_use]
pub fn demands(
    accesses: &Accesses,
    constraints: &BTreeMap<Spot, Constraints>,
    is_open: impl Fn(FunctionId) -> bool,
    functions: impl Iterator<Item = FunctionId>,
) -> BTreeMap<Spot, BTreeMap<NodeId, Mode>> {
    let mut exclusive: BTreeMap<VariableId, bool> = BTreeMap::new();
    for (&(variable, _), spot) in constraints {
        *exclusive.entry(variable).or_default() |= spot.list.iter().any(|constraint| constraint.mode == Mode::X);
    }
    let mut all: BTreeMap<Spot, BTreeMap<NodeId, Mode>> = BTreeMap::new();
    for function in functions.filter(|&function| is_open(function)) {
        for (node, access) in accesses.of_function(function) {
            let Some(&exclusive) = exclusive.get(&access.variable) else { continue };
            let mode = if access.rw.writes() { Mode::X } else { Mode::R };
            if mode == Mode::X || exclusive {
                let known = all.entry((access.variable, function)).or_default().entry(node).or_insert(mode);
                *known = (*known).max(mode);
            }
        }
    }
    all
}

/// Places all operations of `changed` spots anew, and of those that this makes upgraded; the others stay as they are.
#[must_use]
pub fn place_all(
    flows: &[Flow],
    calls: &Calls,
    mut placements: Placements,
    demands: &BTreeMap<Spot, BTreeMap<NodeId, Mode>>,
    changed: &BTreeSet<Spot>,
) -> Placements {
    let none = BTreeMap::new();
    let mut again: BTreeSet<Spot> = changed.clone();
    placements.may_acquire.resize(flows.len(), BTreeMap::new());
    loop {
        for &spot in &again {
            let (variable, function) = spot;
            let empty = Constraints::new(function, variable);
            let modes = call_modes(calls, &placements.may_acquire, spot);
            let demand = Demand {
                flow: &flows[function.index()],
                constraints: placements.constraints.get(&spot).unwrap_or(&empty),
                accesses: demands.get(&spot).unwrap_or(&none),
                calls: &modes,
            };
            let known = placements.spots.get(&spot).map(|placement| placement.updates.clone()).unwrap_or_default();
            let placement = place(&demand, &known);
            placements.spots.insert(spot, placement);
        }
        placements.may_acquire = closed(calls, flows.len(), &placements.spots);
        let spots = placements.spots.iter();
        again = spots
            .filter(|&(&spot, placement)| needs_update(placement, &call_modes(calls, &placements.may_acquire, spot)))
            .map(|(&spot, _)| spot)
            .collect();
        if again.is_empty() {
            return placements;
        }
    }
}

/// Whether a placement holds R around a call that may acquire more.
fn needs_update(placement: &Placement, calls: &BTreeMap<NodeId, Mode>) -> bool {
    calls
        .iter()
        .filter(|&(_, &mode)| mode > Mode::R)
        .any(|(node, _)| placement.running.get(node).is_some_and(|holds| holds.labels.values().any(|strength| strength.least == Mode::R)))
}

fn call_modes(calls: &Calls, may_acquire: &[BTreeMap<VariableId, Mode>], (variable, function): Spot) -> BTreeMap<NodeId, Mode> {
    let mode = |callees: &[FunctionId]| callees.iter().filter_map(|callee| may_acquire[callee.index()].get(&variable)).max().copied();
    calls.of_function(function).filter_map(|(node, callees)| Some((node, mode(callees)?))).collect()
}

/// The strongest mode in which each function may acquire each lock, calls included.
fn closed(calls: &Calls, functions: usize, placed: &BTreeMap<Spot, Placement>) -> Vec<BTreeMap<VariableId, Mode>> {
    let mut own: Vec<BTreeMap<VariableId, Mode>> = vec![BTreeMap::new(); functions];
    for (&(variable, function), placement) in placed {
        if let Some(mode) = placement.acquires.values().map(|acquire| acquire.mode).max() {
            own[function.index()].insert(variable, mode);
        }
    }
    calls.close(own, |into, from| {
        for (&variable, &mode) in from {
            let known = into.entry(variable).or_insert(mode);
            *known = (*known).max(mode);
        }
    })
}
