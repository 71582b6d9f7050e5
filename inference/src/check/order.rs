//! Whether threads can wait for each other in a circle, injected and program locks taken together.
//!
//! An edge is (lock held, its mode, lock waited for, its mode). Edges that can wait for no other edge are struck out until none can be;
//! what is left is the circles. An edge on one is struck out too if following both its locks *together* shows that
//! the second is always held already where it would be waited for; only then is there anything to fear.

use std::collections::{BTreeMap, BTreeSet};

use model::ids::{LockId, NodeId};
use model::pair::Mode;
use model::plan::At;
use model::program::{Function, Program};

use super::calls::{Effects, Name, ProgramHolds, acquires_at};
use super::machine::{AllOperations, Hold, Operations, arriving};

/// A lock of either kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnyLock {
    /// Of the plan.
    Injected(LockId),
    /// Of the program.
    Program(Name),
}

/// A thread may hold the first and wait for the second.
pub type Wait = ((AnyLock, Mode), (AnyLock, Mode));

/// The waits that can form circles, each with the functions in which it arises.
#[must_use]
pub fn circles(program: &Program, operations: &AllOperations, effects: &Effects) -> BTreeMap<Wait, BTreeSet<usize>> {
    let mut waits: BTreeMap<Wait, BTreeSet<usize>> = BTreeMap::new();
    let functions: Vec<Scene<'_>> = (0..program.functions.len()).map(|f| Scene::of(program, f, operations, effects)).collect();
    for scene in &functions {
        for wait in scene.waits() {
            waits.entry(wait).or_default().insert(scene.index);
        }
    }
    let mut confirmed: BTreeSet<(Wait, usize)> = BTreeSet::new();
    loop {
        strike_out(&mut waits);
        let suspects: Vec<(Wait, usize)> = waits
            .iter()
            .filter(|(wait, _)| matches!(wait.1.0, AnyLock::Injected(_)))
            .flat_map(|(wait, places)| places.iter().map(|&f| (*wait, f)))
            .filter(|suspect| !confirmed.contains(suspect))
            .collect();
        let mut refuted = false;
        for (wait, f) in suspects {
            if functions[f].can_wait(&wait) {
                confirmed.insert((wait, f));
            } else {
                refuted = true;
                if let Some(places) = waits.get_mut(&wait) {
                    places.remove(&f);
                }
            }
        }
        waits.retain(|_, places| !places.is_empty());
        if !refuted {
            // What lies between two circles is not on one.
            let all: Vec<Wait> = waits.keys().copied().collect();
            waits.retain(|wait, _| leads_back(wait, &all));
            return waits;
        }
    }
}

/// Whether following waits from `start` comes back to it.
fn leads_back(start: &Wait, all: &[Wait]) -> bool {
    let next = |wait: &Wait| {
        let (lock, mode) = wait.1;
        all.iter().filter(move |(held, _)| held.0 == lock && !held.1.compatible(mode))
    };
    let mut seen: BTreeSet<&Wait> = BTreeSet::new();
    let mut work: Vec<&Wait> = next(start).collect();
    while let Some(wait) = work.pop() {
        if wait == start {
            return true;
        }
        if seen.insert(wait) {
            work.extend(next(wait));
        }
    }
    false
}

/// Takes away, again and again, every wait that cannot be followed by another.
fn strike_out(waits: &mut BTreeMap<Wait, BTreeSet<usize>>) {
    loop {
        let held: BTreeSet<(AnyLock, Mode)> = waits.keys().map(|(held, _)| *held).collect();
        let wanted: BTreeSet<(AnyLock, Mode)> = waits.keys().map(|(_, wanted)| *wanted).collect();
        let clash = |(lock, mode): &(AnyLock, Mode), others: &BTreeSet<(AnyLock, Mode)>| {
            [Mode::R, Mode::U, Mode::X].into_iter().any(|other| !mode.compatible(other) && others.contains(&(*lock, other)))
        };
        let before = waits.len();
        waits.retain(|(holds, wants), _| clash(wants, &held) && clash(holds, &wanted));
        if waits.len() == before {
            return;
        }
    }
}

/// One function, with all locks that it takes.
struct Scene<'a> {
    index: usize,
    function: &'a Function,
    injected: BTreeMap<LockId, (&'a Operations, BTreeMap<NodeId, BTreeSet<Hold>>)>,
    program: ProgramHolds,
    effects: &'a Effects,
}

/// A lock that is taken at a node, how strongly, and by whom.
struct Taken {
    lock: AnyLock,
    mode: Mode,
    in_call: bool,
}

impl<'a> Scene<'a> {
    fn of(program: &'a Program, index: usize, operations: &'a AllOperations, effects: &'a Effects) -> Self {
        let function = &program.functions[index];
        let own = operations.iter().filter(|((_, key), _)| *key == function.key);
        let injected = own.map(|((lock, _), operations)| (*lock, (operations, arriving(function, operations)))).collect();
        Self { index, function, injected, program: effects.program_holds(index, function), effects }
    }

    /// Everything that a node takes, itself or in a call.
    fn taken_at(&self, at: NodeId) -> Vec<Taken> {
        let mut taken = Vec::new();
        for (&lock, (operations, _)) in &self.injected {
            let modes = acquires_at(operations, at).into_iter();
            taken.extend(modes.map(|mode| Taken { lock: AnyLock::Injected(lock), mode, in_call: false }));
        }
        if let Some((name, mode, true)) = self.effects.takes(self.function.node(at)) {
            taken.push(Taken { lock: AnyLock::Program(name), mode, in_call: true });
        }
        for &callee in self.effects.targets(self.index, at) {
            let effect = &self.effects.of[callee];
            let injected = effect.injected.iter().map(|(&lock, &mode)| (AnyLock::Injected(lock), mode));
            let program = effect.program.iter().map(|(&name, &mode)| (AnyLock::Program(name), mode));
            taken.extend(injected.chain(program).map(|(lock, mode)| Taken { lock, mode, in_call: true }));
        }
        taken
    }

    /// The holds of an injected lock at the moment when something else is taken at a node.
    fn hold_when(&self, lock: LockId, at: NodeId, hold: Hold, taken: &Taken) -> Hold {
        let (operations, _) = self.injected.get(&lock)?;
        let sooner = match &taken.lock {
            AnyLock::Injected(other) if !taken.in_call => lock < *other,
            _ => true,
        };
        if sooner { operations.after(At::Before(at), hold) } else { hold }
    }

    /// The locks, with modes, that may be held when something is taken at a node.
    fn held_when(&self, at: NodeId, taken: &Taken) -> BTreeSet<(AnyLock, Mode)> {
        let mut held: BTreeSet<(AnyLock, Mode)> = BTreeSet::new();
        for (&lock, (_, arriving)) in &self.injected {
            for &hold in arriving.get(&at).into_iter().flatten() {
                if let Some((_, mode)) = self.hold_when(lock, at, hold, taken) {
                    held.insert((AnyLock::Injected(lock), mode));
                }
            }
        }
        held.extend(self.program.get(&at).into_iter().flatten().map(|&(name, mode)| (AnyLock::Program(name), mode)));
        held.retain(|(lock, _)| *lock != taken.lock);
        held
    }

    /// Every wait that may arise here, each lock looked at by itself.
    fn waits(&self) -> BTreeSet<Wait> {
        let mut found = BTreeSet::new();
        for n in 0..self.function.nodes.len() {
            let at = NodeId::new(n);
            for taken in self.taken_at(at).iter().filter(|taken| self.is_wanting(at, taken)) {
                found.extend(self.held_when(at, taken).into_iter().map(|held| (held, (taken.lock, taken.mode))));
            }
        }
        found
    }

    /// Whether a lock may not be held strongly enough already when it is taken.
    fn is_wanting(&self, at: NodeId, taken: &Taken) -> bool {
        let AnyLock::Injected(lock) = taken.lock else { return true };
        let Some((operations, arriving)) = self.injected.get(&lock) else { return true };
        let before = |hold: Hold| if taken.in_call { operations.after(At::Before(at), hold) } else { hold };
        arriving.get(&at).into_iter().flatten().any(|&hold| before(hold).is_none_or(|(_, mode)| mode < taken.mode))
    }

    /// Whether a wait can really arise here, both locks followed together.
    fn can_wait(&self, wait: &Wait) -> bool {
        let ((held, held_mode), (wanted, wanted_mode)) = wait;
        let AnyLock::Injected(wanted) = wanted else { return true };
        let Some((wanted_operations, _)) = self.injected.get(wanted) else { return true };
        let mut seen: BTreeSet<(NodeId, Side, Hold)> = BTreeSet::new();
        let mut work = vec![(NodeId(0), Side::Absent, None)];
        while let Some((at, side, hold)) = work.pop() {
            if !seen.insert((at, side, hold)) {
                continue;
            }
            for taken in self.taken_at(at).iter().filter(|taken| taken.lock == wait.1.0 && taken.mode == *wanted_mode) {
                let before = if taken.in_call { wanted_operations.after(At::Before(at), hold) } else { hold };
                let bare = before.is_none_or(|(_, mode)| mode < taken.mode);
                if bare && self.side_mode(held, at, side, taken).contains(held_mode) {
                    return true;
                }
            }
            let running = wanted_operations.after(At::Before(at), hold);
            for &to in &self.function.node(at).successors {
                let next = wanted_operations.after(At::Edge(at, to), running);
                work.extend(self.side_after(held, at, to, side).into_iter().map(|side| (to, side, next)));
            }
        }
        false
    }

    /// The modes in which the other lock is held when something is taken.
    fn side_mode(&self, held: &AnyLock, at: NodeId, side: Side, taken: &Taken) -> Vec<Mode> {
        match (held, side) {
            (AnyLock::Injected(lock), side) => self.hold_when(*lock, at, side.hold(), taken).map(|(_, mode)| mode).into_iter().collect(),
            (AnyLock::Program(_), Side::Program(mode)) => vec![mode],
            (AnyLock::Program(_), _) => Vec::new(),
        }
    }

    /// The other lock's states after an edge.
    fn side_after(&self, held: &AnyLock, at: NodeId, to: NodeId, side: Side) -> Vec<Side> {
        match held {
            AnyLock::Injected(lock) => {
                let Some((operations, _)) = self.injected.get(lock) else { return vec![Side::Absent] };
                let running = operations.after(At::Before(at), side.hold());
                vec![Side::of(operations.after(At::Edge(at, to), running))]
            }
            AnyLock::Program(name) => {
                // Before and after one node: what may be held at the next, given whether it is held here.
                self.effects
                    .program_step(self.index, at, self.function.node(at), *name, side.program())
                    .into_iter()
                    .map(Side::from)
                    .collect()
            }
        }
    }
}

/// The other lock of a wait, while both are followed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Absent,
    Injected(model::ids::Label, Mode),
    Program(Mode),
}

impl Side {
    fn of(hold: Hold) -> Self {
        hold.map_or(Self::Absent, |(label, mode)| Self::Injected(label, mode))
    }

    fn hold(self) -> Hold {
        match self {
            Self::Injected(label, mode) => Some((label, mode)),
            Self::Absent | Self::Program(_) => None,
        }
    }

    fn program(self) -> Option<Mode> {
        match self {
            Self::Program(mode) => Some(mode),
            Self::Absent | Self::Injected(..) => None,
        }
    }
}

impl From<Option<Mode>> for Side {
    fn from(mode: Option<Mode>) -> Self {
        mode.map_or(Self::Absent, Self::Program)
    }
}
