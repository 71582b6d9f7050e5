//! One function with all the locks that it holds and takes: which waits may arise in it.

use std::collections::{BTreeMap, BTreeSet};

use model::ids::{LockId, NodeId};
use model::pair::Mode;
use model::plan::At;
use model::program::{Function, Program};

use super::calls::{AnyLock, Effects, Kind, ProgramHolds, acquires_at};
use super::machine::{ByFunction, Hold, Operations, arriving};
use super::order::Wait;

/// For some locks, by function: how strongly a call of it may take the lock.
pub type InCalls = BTreeMap<AnyLock, Taking>;

/// How strongly a call of each function may take a lock, by what is still held then.
pub struct Taking {
    under_injected: Vec<Option<Mode>>,
    under_program: Vec<Option<Mode>>,
}

impl Taking {
    /// Of one lock.
    #[must_use]
    pub fn of(effects: &Effects, lock: AnyLock) -> Self {
        let under = |held| effects.may_take(lock, held);
        Self { under_injected: under(Kind::Injected), under_program: under(Kind::Program) }
    }
}

/// One function, with all locks that it takes.
pub struct Scene<'a> {
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
    /// Injected locks are given up before it is taken.
    alone: bool,
}

impl<'a> Scene<'a> {
    /// Follows every lock through the function.
    #[must_use]
    pub fn of(program: &'a Program, index: usize, operations: &ByFunction<'a>, effects: &'a Effects) -> Self {
        let function = &program.functions[index];
        let own = operations.get(&function.key).into_iter().flatten();
        let injected = own.map(|&(lock, operations)| (lock, (operations, arriving(function, operations)))).collect();
        Self { index, function, injected, program: effects.program_holds(index, function), effects }
    }

    /// Everything that a node takes itself.
    fn own_at(&self, at: NodeId) -> Vec<Taken> {
        let mut taken = Vec::new();
        for (&lock, (operations, _)) in &self.injected {
            let modes = acquires_at(operations, at).into_iter();
            taken.extend(modes.map(|mode| Taken { lock: AnyLock::Injected(lock), mode, in_call: false, alone: false }));
        }
        let of_program = self.effects.takes(self.function.node(at)).filter(|(.., waits)| *waits);
        taken.extend(of_program.map(|(name, mode, _)| Taken { lock: AnyLock::Program(name), mode, in_call: true, alone: false }));
        taken
    }

    /// What of some locks a node takes, itself or in a call.
    fn taken_at(&self, at: NodeId, in_calls: &InCalls) -> Vec<Taken> {
        let mut taken: Vec<Taken> = self.own_at(at).into_iter().filter(|taken| in_calls.contains_key(&taken.lock)).collect();
        if self.effects.targets(self.index, at).is_empty() {
            return taken;
        }
        for (&lock, functions) in in_calls {
            let most = |held: Kind, modes: &[Option<Mode>]| {
                self.effects.goes_on_to(self.index, at, held).iter().filter_map(|&callee| modes[callee]).max()
            };
            let going_on = most(Kind::Injected, &functions.under_injected);
            let all = most(Kind::Program, &functions.under_program).filter(|mode| Some(*mode) != going_on);
            taken.extend(going_on.map(|mode| Taken { lock, mode, in_call: true, alone: false }));
            taken.extend(all.map(|mode| Taken { lock, mode, in_call: true, alone: true }));
        }
        taken
    }

    /// Which locks are held when the function itself takes which others.
    #[must_use]
    pub fn pairs(&self) -> BTreeSet<(AnyLock, AnyLock)> {
        let mut found = BTreeSet::new();
        for at in (0..self.function.nodes.len()).map(NodeId::new) {
            for taken in self.own_at(at).iter().filter(|taken| self.is_wanting(at, taken)) {
                found.extend(self.held_when(at, taken).into_iter().map(|(held, _)| (held, taken.lock)));
            }
        }
        found
    }

    /// Which locks are held when which functions are called.
    #[must_use]
    pub fn held_at_calls(&self) -> BTreeSet<(AnyLock, usize)> {
        let mut found = BTreeSet::new();
        for at in (0..self.function.nodes.len()).map(NodeId::new) {
            for lock in self.held_in_calls(at) {
                let targets = self.effects.goes_on_to(self.index, at, lock.kind());
                found.extend(targets.iter().map(|&callee| (lock, callee)));
            }
        }
        found
    }

    /// The locks that may be held while a call at a node runs.
    fn held_in_calls(&self, at: NodeId) -> BTreeSet<AnyLock> {
        let mut held = BTreeSet::new();
        for (&lock, (operations, arriving)) in &self.injected {
            let mut holds = arriving.get(&at).into_iter().flatten();
            held.extend(holds.any(|&hold| operations.after(At::Before(at), hold).is_some()).then_some(AnyLock::Injected(lock)));
        }
        held.extend(self.program.get(&at).into_iter().flatten().map(|&(name, _)| AnyLock::Program(name)));
        held
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
        for (&lock, (_, arriving)) in self.injected.iter().filter(|_| !taken.alone) {
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

    /// Every wait between some locks that may arise here, each lock looked at by itself.
    #[must_use]
    pub fn waits(&self, in_calls: &InCalls) -> BTreeSet<Wait> {
        let mut found = BTreeSet::new();
        if self.injected.is_empty() && self.program.values().all(BTreeSet::is_empty) {
            return found;
        }
        for at in (0..self.function.nodes.len()).map(NodeId::new) {
            for taken in self.taken_at(at, in_calls).iter().filter(|taken| self.is_wanting(at, taken)) {
                let held = self.held_when(at, taken).into_iter().filter(|(held, _)| in_calls.contains_key(held));
                found.extend(held.map(|held| (held, (taken.lock, taken.mode))));
            }
        }
        found
    }

    /// Whether a lock may not be held strongly enough already when it is taken.
    fn is_wanting(&self, at: NodeId, taken: &Taken) -> bool {
        let AnyLock::Injected(lock) = taken.lock else { return true };
        if taken.alone {
            return true;
        }
        let Some((operations, arriving)) = self.injected.get(&lock) else { return true };
        let before = |hold: Hold| if taken.in_call { operations.after(At::Before(at), hold) } else { hold };
        arriving.get(&at).into_iter().flatten().any(|&hold| before(hold).is_none_or(|(_, mode)| mode < taken.mode))
    }

    /// Whether a wait can really arise here, both locks followed together.
    #[must_use]
    pub fn can_wait(&self, wait: &Wait, in_calls: &InCalls) -> bool {
        let ((held, held_mode), (wanted, wanted_mode)) = wait;
        let AnyLock::Injected(wanted) = wanted else { return true };
        let Some((wanted_operations, _)) = self.injected.get(wanted) else { return true };
        let mut seen: BTreeSet<(NodeId, Side, Hold)> = BTreeSet::new();
        let mut work = vec![(NodeId(0), Side::Absent, None)];
        while let Some((at, side, hold)) = work.pop() {
            if !seen.insert((at, side, hold)) {
                continue;
            }
            for taken in self.taken_at(at, in_calls).iter().filter(|taken| taken.lock == wait.1.0 && taken.mode == *wanted_mode) {
                let before = if taken.in_call { wanted_operations.after(At::Before(at), hold) } else { hold };
                let bare = taken.alone || before.is_none_or(|(_, mode)| mode < taken.mode);
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
            (AnyLock::Injected(_), _) if taken.alone => Vec::new(),
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
