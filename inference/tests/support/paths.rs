//! A brute-force oracle for one lock in one function: every path, with the hold and the pairs that are open along it.
//!
//! Unlike the checker, which asks of each pair where its paths lead, this goes forward only: a pair is open from its head, remembers
//! whether its lock was ever too weak, and is judged when its tail runs.

use std::collections::{BTreeMap, BTreeSet};

use model::ids::{Label, NodeId};
use model::pair::{Atomicity, Mode, Rw};
use model::plan::{Action, At, Lock};
use model::program::Function;

type Hold = Option<(Label, Mode)>;
type State = (NodeId, Hold, BTreeMap<usize, bool>);

/// Whether the lock's operations in `function` keep every promise. Every access of the function must be to the lock's one variable.
pub(crate) fn keeps_promises(function: &Function, lock: &Lock) -> bool {
    let mut seen: BTreeSet<State> = BTreeSet::new();
    let mut held: BTreeMap<NodeId, BTreeSet<NodeId>> = BTreeMap::new();
    let mut work: Vec<State> = vec![(NodeId(0), None, BTreeMap::new())];
    while let Some((at, arriving, mut open)) = work.pop() {
        if !seen.insert((at, arriving, open.clone())) {
            continue;
        }
        let mut hold = arriving;
        for action in actions(function, lock, At::Before(at)) {
            if matches!((action, hold), (Action::Acquire(Mode::U | Mode::X, _), Some((_, Mode::R)))) {
                return false;
            }
            hold = perform(hold, action);
            weaken(lock, hold, &mut open);
        }
        let node = function.node(at);
        if hold.is_some() && node.successors.is_empty() {
            return false;
        }
        if let Some(access) = node.accesses().first() {
            let exclusive = lock.pairs.iter().any(|pair| pair.atomicity == Atomicity::Exclusive);
            let need = if access.rw.writes() { Some(Mode::X) } else { exclusive.then_some(Mode::R) };
            if need.is_some_and(|need| hold.is_none_or(|(_, mode)| mode < need)) {
                return false;
            }
            if open.iter().any(|(&pair, &kept)| lock.pairs[pair].tail == at && !kept) {
                return false;
            }
            // All accesses are must accesses of the one variable: each ends what is open, and begins its own.
            open.clear();
            for (p, _) in lock.pairs.iter().enumerate().filter(|(_, pair)| pair.head == at) {
                open.insert(p, true);
            }
            weaken(lock, hold, &mut open);
        }
        for &to in &node.successors {
            let (mut next, mut still) = (hold, open.clone());
            for action in actions(function, lock, At::Edge(at, to)) {
                next = perform(next, action);
                weaken(lock, next, &mut still);
            }
            if hold.is_some() && next.is_some() {
                held.entry(at).or_default().insert(to);
            }
            work.push((to, next, still));
        }
    }
    !held.keys().any(|&at| waits_at(function, at, &held))
}

/// Whether a node reads, and on no way around, with the lock held all along, anything is written.
fn waits_at(function: &Function, at: NodeId, held: &BTreeMap<NodeId, BTreeSet<NodeId>>) -> bool {
    let reached_from = |start: NodeId| {
        let mut found = BTreeSet::new();
        let mut work = vec![start];
        while let Some(node) = work.pop() {
            work.extend(held.get(&node).into_iter().flatten().filter(|to| found.insert(**to)));
        }
        found
    };
    let around: Vec<NodeId> = reached_from(at).into_iter().filter(|&node| reached_from(node).contains(&at)).collect();
    let does = |node: NodeId, what: fn(Rw) -> bool| function.node(node).accesses().iter().any(|access| what(access.rw));
    does(at, |rw| rw != Rw::Write) && !around.is_empty() && !around.iter().any(|&node| does(node, Rw::writes))
}

/// Open pairs whose lock is too weak now are broken.
fn weaken(lock: &Lock, hold: Hold, open: &mut BTreeMap<usize, bool>) {
    for (&pair, kept) in open {
        let need = if lock.pairs[pair].atomicity == Atomicity::Exclusive { Mode::X } else { Mode::R };
        *kept &= hold.is_some_and(|(_, mode)| mode >= need);
    }
}

fn actions(function: &Function, lock: &Lock, at: At) -> Vec<Action> {
    let of_place = lock.operations.iter().filter(|operation| operation.function == function.key && operation.at == at);
    let mut actions: Vec<Action> = of_place.map(|operation| operation.action).collect();
    actions.sort_by_key(|action| match action {
        Action::Release(_) => 0,
        Action::Degrade(_) | Action::DegradeToUpdate(_) => 1,
        Action::Acquire(..) => 2,
    });
    actions
}

fn perform(hold: Hold, action: Action) -> Hold {
    match action {
        Action::Acquire(mode, label) => Some((label, hold.map_or(mode, |(_, held)| held.max(mode)))),
        Action::Release(label) => hold.filter(|(of, _)| *of != label),
        Action::Degrade(label) => hold.map(|(of, mode)| (of, if of == label { Mode::R } else { mode })),
        Action::DegradeToUpdate(label) => hold.map(|(of, mode)| (of, if of == label { mode.min(Mode::U) } else { mode })),
    }
}
