//! What a plan keeps, as pairs of accesses that can be looked for in schedules (atomicity safety: seed 002, theorem 2).
//!
//! A plan's pair is of nodes, the frontier; the profile says which accesses were seen within them. Left out: accesses that were
//! also seen under another frontier which the plan does not keep, since schedules do not show activations; pairs that are not kept on ways that
//! wait; and pairs of a correlated set, whose accesses are to different memory.

use std::collections::{BTreeMap, BTreeSet};

use explorer::target::found::Interleaved;
use explorer::violation::Pairs;
use model::ids::{FunctionKey, NodeId, SiteKey};
use model::pair::Atomicity;
use model::plan::Plan;
use model::profile::Evidence;
use model::program::Program;

use crate::sources::Sources;

/// The pairs of accesses that the enabled locks of `plan` keep.
pub(crate) fn kept(program: &Program, evidence: &Evidence, plan: &Plan) -> Pairs {
    let nodes = |function: FunctionKey, node: NodeId| {
        let function = program.functions.iter().find(|known| known.key == function)?;
        function.nodes.get(node.index())?.site
    };
    let mut frontiers: BTreeMap<(SiteKey, SiteKey), Atomicity> = BTreeMap::new();
    for pair in plan.locks.iter().filter(|lock| lock.enabled).flat_map(|lock| &lock.pairs).filter(|pair| pair.except.is_none()) {
        if let (Some(head), Some(tail)) = (nodes(pair.function, pair.head), nodes(pair.function, pair.tail)) {
            let known = frontiers.entry((head, tail)).or_insert(pair.atomicity);
            *known = known.meet(pair.atomicity);
        }
    }
    let mut pairs = Pairs::new();
    let mut elsewhere: BTreeSet<(SiteKey, SiteKey)> = BTreeSet::new();
    for key in evidence.pairs.keys() {
        let accesses = (key.first, key.second);
        match frontiers.get(&(key.head, key.tail)) {
            Some(&atomicity) => {
                let known = pairs.entry(accesses).or_insert(atomicity);
                *known = known.meet(atomicity);
            }
            None => {
                elsewhere.insert(accesses);
            }
        }
    }
    pairs.retain(|accesses, _| !elsewhere.contains(accesses));
    pairs
}

/// A pair that was interleaved, in words.
pub(crate) fn sentence(found: &Interleaved, sources: &Sources<'_>) -> String {
    let place = |site| sources.position(site).unwrap_or("?");
    let variable = sources.variable(found.first).unwrap_or("memory behind a pointer");
    format!("{variable}: {} .. {}, by {}", place(found.first), place(found.second), place(found.remote))
}
