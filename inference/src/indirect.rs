//! What points-to analysis says about calls and locks, written into the program, so that all phases and the checker read the same:
//! - an indirect call names the functions that it may reach, among those of its type whose address is taken;
//! - a call of a library function names those that it calls back, such as the comparison of `qsort`;
//! - a lock behind a pointer gets the place of the lock that it is. Where the pointer may be several that have names, as in a wrapper that
//!   all callers share, it stays a class of its own, which the names are not: such locks are told apart rather than made one.
//!
//! Not here: which variables accesses mean (`variable`).

use std::collections::{BTreeMap, BTreeSet};

use model::external::SyncOp;
use model::program::{Call, Callee, NodeKind, Place, Program};

use crate::points_to::PointsTo;

/// The program with calls and locks resolved.
#[must_use]
pub fn resolved(program: &Program, points_to: &PointsTo) -> Program {
    let mut program = program.clone();
    let signatures: BTreeMap<String, BTreeSet<String>> =
        program.functions.iter().fold(BTreeMap::new(), |mut known: BTreeMap<String, BTreeSet<String>>, function| {
            known.entry(function.call_name()).or_default().insert(function.signature.clone());
            known
        });
    let locks = locks(&program, points_to);
    for node in program.functions.iter_mut().flat_map(|function| &mut function.nodes) {
        let NodeKind::Call(call) = &mut node.kind else { continue };
        if let (Callee::Indirect(signature), Some(site)) = (&call.callee, node.site)
            && let Some(names) = points_to.callees(site)
        {
            let fits =
                |name: &&String| program.taken.contains(*name) && signatures.get(*name).is_some_and(|known| known.contains(signature));
            let names: Vec<String> = names.iter().filter(fits).cloned().collect();
            if !names.is_empty() {
                call.callee = Callee::OneOf(names);
            }
        }
        call.calls_back = node.site.into_iter().flat_map(|site| points_to.called_back(site)).cloned().collect();
        if !locks_of(call).is_empty()
            && let Some((_, places)) = &mut call.sync
        {
            for place in places {
                if let Some(leader) = locks.get(place) {
                    place.clone_from(leader);
                }
            }
        }
    }
    program
}

fn locks_of(call: &Call) -> &[Place] {
    match &call.sync {
        Some((SyncOp::Lock | SyncOp::TryLock | SyncOp::ReadLock | SyncOp::TryReadLock | SyncOp::Unlock, places)) => places,
        _ => &[],
    }
}

/// For the place of a lock, that of its class: the least, names before pointers. Pointers of which the analysis knows nothing are one class.
fn locks(program: &Program, points_to: &PointsTo) -> BTreeMap<Place, Place> {
    let calls = program.functions.iter().flat_map(|function| &function.nodes).flat_map(|node| match &node.kind {
        NodeKind::Call(call) => locks_of(call),
        _ => &[],
    });
    let used: BTreeSet<&Place> = calls.collect();
    let mut leaders: BTreeMap<Place, Place> = BTreeMap::new();
    let pointers = || used.iter().copied().filter(|place| matches!(place, Place::Pointer { .. }));
    let unknown: Vec<&Place> = pointers().filter(|&place| points_to.of_place(place).next().is_none()).collect();
    for pointer in pointers() {
        let same = points_to.of_place(pointer).flat_map(|class| &class.places).filter(|place| used.contains(place));
        let same = same.chain(unknown.iter().copied().filter(|_| unknown.contains(&pointer)));
        let all: BTreeSet<Place> = same.chain([pointer]).map(|place| leader(&leaders, place).clone()).collect();
        let is_named = |place: &&Place| !matches!(place, Place::Pointer { .. });
        let several = all.iter().filter(is_named).count() > 1;
        let all: BTreeSet<Place> = all.into_iter().filter(|place| !several || !is_named(&place)).collect();
        // Pointers sort behind names.
        if let Some(least) = all.first() {
            for other in all.iter().filter(|other| *other != least) {
                leaders.insert(other.clone(), least.clone());
            }
        }
    }
    let flat: Vec<Place> = leaders.keys().cloned().collect();
    flat.into_iter().map(|place| (place.clone(), leader(&leaders, &place).clone())).collect()
}

fn leader<'a>(leaders: &'a BTreeMap<Place, Place>, mut place: &'a Place) -> &'a Place {
    while let Some(next) = leaders.get(place) {
        place = next;
    }
    place
}
