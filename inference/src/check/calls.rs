//! What calls may do, as the checker sees it: whom they reach, whether they wait for a peer, which locks they take, and how the
//! program's own locks are held. Every summary is the least fixpoint of one round over the whole program, repeated.

use std::collections::{BTreeMap, BTreeSet};

use model::external::{Blocking, SyncOp};
use model::ids::{FunctionKey, LockId, NodeId};
use model::pair::Mode;
use model::plan::{Action, At};
use model::program::{Callee, Function, Node, NodeKind, Place, Program};

use super::machine::AllOperations;

/// A lock of the program: the number of the place of its object; all bare pointers are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Name {
    /// At a place, by its number among all.
    At(u32),
    /// Behind a pointer.
    Behind,
}

/// What one function may do when called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// Wait for another thread or a peer.
    pub waits: bool,
    /// Take injected locks, at most so strongly.
    pub injected: BTreeMap<LockId, Mode>,
    /// Wait for the program's locks.
    pub program: BTreeMap<Name, Mode>,
    /// Return with these held.
    pub leaves: BTreeMap<Name, Mode>,
    /// Release these of the caller's.
    pub releases: BTreeSet<Name>,
}

/// All functions' effects.
#[derive(Clone, Debug)]
pub struct Effects {
    /// By index of the function.
    pub of: Vec<Effect>,
    targets: Vec<BTreeMap<NodeId, Vec<usize>>>,
    names: Vec<Place>,
}

/// The program's locks that may be held when control arrives at a node.
pub type ProgramHolds = BTreeMap<NodeId, BTreeSet<(Name, Mode)>>;

impl Effects {
    /// Computes them.
    #[must_use]
    pub fn of(program: &Program, operations: &AllOperations) -> Self {
        let calls = program.functions.iter().map(calls).collect();
        let mut effects =
            Self { of: vec![Effect::default(); program.functions.len()], targets: resolve(program, calls), names: names(program) };
        let mut own: BTreeMap<FunctionKey, Vec<(LockId, Mode)>> = BTreeMap::new();
        for ((lock, key), of_function) in operations {
            for action in of_function.iter().flat_map(|(_, actions)| actions) {
                if let Action::Acquire(mode, _) = action {
                    own.entry(*key).or_default().push((*lock, *mode));
                }
            }
        }
        loop {
            let mut stable = true;
            for (f, function) in program.functions.iter().enumerate().rev() {
                let now = effects.once(f, function, own.get(&function.key));
                stable &= now == effects.of[f];
                effects.of[f] = now;
            }
            if stable {
                return effects;
            }
        }
    }

    /// The functions of the program that a node may call.
    #[must_use]
    pub fn targets(&self, function: usize, node: NodeId) -> &[usize] {
        self.targets[function].get(&node).map_or(&[], Vec::as_slice)
    }

    /// Whether a node may wait for another thread or a peer.
    #[must_use]
    pub fn may_wait(&self, function: usize, at: NodeId, node: &Node) -> bool {
        let NodeKind::Call(call) = &node.kind else { return false };
        call.blocking == Some(Blocking::Peer)
            || matches!(call.sync, Some((SyncOp::Wait | SyncOp::Join | SyncOp::Meet, _)))
            || self.targets(function, at).iter().any(|&callee| self.of[callee].waits)
    }

    fn once(&self, f: usize, function: &Function, own: Option<&Vec<(LockId, Mode)>>) -> Effect {
        let mut effect = self.of[f].clone();
        for &(lock, mode) in own.into_iter().flatten() {
            raise(&mut effect.injected, lock, mode);
        }
        for (n, node) in function.nodes.iter().enumerate() {
            let at = NodeId::new(n);
            effect.waits |= self.may_wait(f, at, node);
            if let Some((name, mode, true)) = self.takes(node) {
                raise(&mut effect.program, name, mode);
            }
            for &callee in self.targets(f, at) {
                for (&lock, &mode) in &self.of[callee].injected {
                    raise(&mut effect.injected, lock, mode);
                }
                for (&name, &mode) in &self.of[callee].program {
                    raise(&mut effect.program, name, mode);
                }
            }
        }
        self.program_holds_into(f, function, &mut effect);
        effect
    }

    /// The program's locks that may be held at each node.
    #[must_use]
    pub fn program_holds(&self, f: usize, function: &Function) -> ProgramHolds {
        self.program_holds_into(f, function, &mut Effect::default())
    }

    fn program_holds_into(&self, f: usize, function: &Function, effect: &mut Effect) -> ProgramHolds {
        // Sets of all locks held on one path are followed, not their union, so that a release finds what its own path took.
        let mut states: BTreeMap<NodeId, BTreeSet<BTreeSet<(Name, Mode)>>> = BTreeMap::new();
        let mut work = if function.nodes.is_empty() { Vec::new() } else { vec![(NodeId(0), BTreeSet::new())] };
        while let Some((at, mut held)) = work.pop() {
            let seen = states.entry(at).or_default();
            if seen.len() > 64 && !seen.iter().any(|known| held.is_subset(known)) {
                // Too many combinations: one that holds all of them stands for the rest.
                held.extend(seen.iter().flatten().cloned());
            }
            if !seen.insert(held.clone()) {
                continue;
            }
            let node = function.node(at);
            self.step(f, at, node, &mut held, effect);
            if node.kind == NodeKind::Return {
                for &(name, mode) in &held {
                    raise(&mut effect.leaves, name, mode);
                }
            }
            work.extend(node.successors.iter().map(|&to| (to, held.clone())));
        }
        states.into_iter().map(|(at, sets)| (at, sets.into_iter().flatten().collect())).collect()
    }

    /// The lock of the program that a node takes, how, and whether it waits for it.
    #[must_use]
    pub fn takes(&self, node: &Node) -> Option<(Name, Mode, bool)> {
        let (op, object) = sync(node)?;
        let name = self.number(object);
        match op {
            SyncOp::Lock => Some((name, Mode::X, true)),
            SyncOp::ReadLock => Some((name, Mode::R, true)),
            SyncOp::TryLock => Some((name, Mode::X, false)),
            SyncOp::TryReadLock => Some((name, Mode::R, false)),
            _ => None,
        }
    }

    fn drops(&self, node: &Node) -> Option<Name> {
        sync(node).filter(|(op, _)| *op == SyncOp::Unlock).map(|(_, object)| self.number(object))
    }

    fn number(&self, object: &Place) -> Name {
        let number = || self.names.binary_search(object).ok().and_then(|number| u32::try_from(number).ok());
        if matches!(object, Place::Pointer { .. }) { Name::Behind } else { number().map_or(Name::Behind, Name::At) }
    }

    /// What people call a lock of the program.
    #[must_use]
    pub fn text(&self, name: Name) -> String {
        match name {
            Name::At(number) => format!("the program's lock {}", self.names[number as usize]),
            Name::Behind => "a lock of the program behind a pointer".to_owned(),
        }
    }

    /// Whether, and how, one of the program's locks may be held after a node, given how it is held before.
    #[must_use]
    pub fn program_step(&self, f: usize, at: NodeId, node: &Node, name: Name, before: Option<Mode>) -> BTreeSet<Option<Mode>> {
        let mut held: BTreeSet<(Name, Mode)> = before.map(|mode| (name, mode)).into_iter().collect();
        self.step(f, at, node, &mut held, &mut Effect::default());
        let modes: BTreeSet<Option<Mode>> = held.into_iter().filter(|(of, _)| *of == name).map(|(_, mode)| Some(mode)).collect();
        // A call may return with the lock held, and may not; an own operation decides.
        let maybe = self.takes(node).is_none_or(|(_, _, waits)| !waits) && before.is_none();
        if modes.is_empty() || maybe { modes.into_iter().chain([None]).collect() } else { modes }
    }

    /// What a node does to the program's locks.
    fn step(&self, f: usize, at: NodeId, node: &Node, held: &mut BTreeSet<(Name, Mode)>, effect: &mut Effect) {
        if let Some((name, mode, _)) = self.takes(node) {
            held.insert((name, mode));
        }
        let mut released: Vec<Name> = self.drops(node).into_iter().collect();
        let callees = self.targets(f, at);
        if let Some((&first, rest)) = callees.split_first() {
            let by_all = |name: &&Name| rest.iter().all(|&callee| self.of[callee].releases.contains(*name));
            released.extend(self.of[first].releases.iter().filter(by_all).copied());
        }
        for name in released {
            let before = held.len();
            held.retain(|(of, _)| *of != name);
            if held.len() == before {
                effect.releases.insert(name);
            }
        }
        for &callee in callees {
            held.extend(self.of[callee].leaves.iter().map(|(&name, &mode)| (name, mode)));
        }
    }
}

fn raise<K: Ord>(modes: &mut BTreeMap<K, Mode>, key: K, mode: Mode) {
    let known = modes.entry(key).or_insert(mode);
    *known = (*known).max(mode);
}

/// The places of all locks of the program, sorted.
fn names(program: &Program) -> Vec<Place> {
    let objects = program.functions.iter().flat_map(|function| &function.nodes).filter_map(sync).map(|(_, object)| object.clone());
    objects.collect::<BTreeSet<_>>().into_iter().collect()
}

fn sync(node: &Node) -> Option<(SyncOp, &Place)> {
    let NodeKind::Call(call) = &node.kind else { return None };
    let (op, objects) = call.sync.as_ref()?;
    Some((*op, objects.first()?))
}

/// The calls of a function, by what they name.
fn calls(function: &Function) -> Vec<(NodeId, &Callee)> {
    let nodes = function.nodes.iter().enumerate();
    nodes.filter_map(|(n, node)| if let NodeKind::Call(call) = &node.kind { Some((NodeId::new(n), &call.callee)) } else { None }).collect()
}

fn resolve(program: &Program, calls: Vec<Vec<(NodeId, &Callee)>>) -> Vec<BTreeMap<NodeId, Vec<usize>>> {
    let mut names: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut types: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (f, function) in program.functions.iter().enumerate() {
        names.entry(function.call_name()).or_default().push(f);
        if program.taken.contains(&function.call_name()) {
            types.entry(&function.signature).or_default().push(f);
        }
    }
    let reached = |callee: &Callee| match callee {
        Callee::Direct(name) => names.get(name).cloned().unwrap_or_default(),
        Callee::Indirect(signature) => types.get(signature.as_str()).cloned().unwrap_or_default(),
        Callee::Assembly => Vec::new(),
    };
    let resolved = calls.into_iter().map(|calls| calls.into_iter().map(|(at, callee)| (at, reached(callee))).collect());
    resolved.collect()
}

/// The modes in which a node's own operations take a lock.
#[must_use]
pub fn acquires_at(operations: &super::machine::Operations, node: NodeId) -> Vec<Mode> {
    let actions = operations.at(At::Before(node)).iter();
    actions.filter_map(|action| if let Action::Acquire(mode, _) = action { Some(*mode) } else { None }).collect()
}
