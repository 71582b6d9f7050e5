//! Which EXCLUSIVE pairs need keep out writes only: those that write nothing before their second end.
//!
//! A remote read between such a pair's ends sees what it would have seen before the first, so nobody can tell the difference; and readers
//! that need not exclude each other are much cheaper (`Config::reads`).
//!
//! A pair does not stand alone. Where one that writes ends at the head of another, the two make one region (`x = 1; if (x) x = 2;`), and a
//! read in the second half would see what the first half left. So such heads keep their pairs EXCLUSIVE, and hand that on to the next pair.
//! Of correlated variables the region may have begun at another variable, so their pairs are weakened only if they only read.

use std::collections::{BTreeMap, BTreeSet};

use model::ids::{FunctionId, NodeId, VariableId};
use model::pair::Atomicity;

use crate::admit::{Facts, Place};
use crate::summary::Touching;

/// Which of these observed pairs become READ.
#[must_use]
pub fn weakened(facts: &Facts<'_>, writing: &mut Touching<'_>, observed: &BTreeMap<Place, Atomicity>) -> BTreeSet<Place> {
    let exclusive = || observed.iter().filter(|(_, atomicity)| **atomicity == Atomicity::Exclusive).map(|(place, _)| *place);
    let mut found = BTreeSet::new();
    // Where something of the variable was written that nobody else has seen yet.
    let mut begun: BTreeSet<(VariableId, FunctionId, NodeId)> = BTreeSet::new();
    let mut next: BTreeMap<(VariableId, FunctionId, NodeId), Vec<NodeId>> = BTreeMap::new();
    for place in exclusive() {
        let (variable, function, head, tail) = place;
        next.entry((variable, function, head)).or_default().push(tail);
        let mut until_end = [head].into_iter().chain(between(facts, place));
        if until_end.any(|node| facts.touches(writing, variable, function, node)) {
            begun.insert((variable, function, tail));
        } else if !is_correlated(facts, variable) || !facts.touches(writing, variable, function, tail) {
            found.insert(place);
        }
    }
    let mut work: Vec<_> = begun.iter().copied().collect();
    while let Some(at @ (variable, function, _)) = work.pop() {
        let tails = next.get(&at).into_iter().flatten();
        work.extend(tails.map(|&tail| (variable, function, tail)).filter(|&tail| begun.insert(tail)));
    }
    let goes_on = |&(variable, function, head, _): &Place| begun.contains(&(variable, function, head));
    found.retain(|place| !goes_on(place) || !facts.touches(writing, place.0, place.1, place.3));
    found
}

fn between(facts: &Facts<'_>, (variable, function, head, tail): Place) -> impl Iterator<Item = NodeId> {
    let mut barred = facts.accesses.must(function, variable);
    barred.remove(head);
    barred.remove(tail);
    let interior = facts.flows[function.index()].between(head, tail, &barred).unwrap_or_default();
    interior.iter().collect::<Vec<_>>().into_iter()
}

/// Whether a variable is a correlated set, or one of its members.
fn is_correlated(facts: &Facts<'_>, variable: VariableId) -> bool {
    let shares_a_place = |set: VariableId| facts.variables.united(variable).any(|place| facts.variables.get(set).places.contains(place));
    facts.correlated.iter().any(|correlated| shares_a_place(correlated.variable))
}
