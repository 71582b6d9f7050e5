//! What calls may do, as the checker sees it: whom they reach, whether they wait for a peer, which locks they take, and how the
//! program's own locks are held. Functions are taken callees first; those that call each other again and again until nothing changes.
//! Who may take a lock is found backwards, from those who take it to their callers, for the locks that are asked about.

use std::collections::{BTreeMap, BTreeSet};

use model::external::{Blocking, SyncOp};
use model::ids::{FunctionKey, LockId, NodeId};
use model::pair::Mode;
use model::plan::{Action, At};
use model::program::{Call, Callee, Function, Node, NodeKind, Place, Program};

use super::components::components;
use super::machine::AllOperations;
use super::ways_out::WaysOut;

/// A lock of either kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnyLock {
    /// Of the plan.
    Injected(LockId),
    /// Of the program.
    Program(Name),
}

/// Whose a lock is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The plan's.
    Injected,
    /// The program's.
    Program,
}

impl AnyLock {
    /// Whose it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Injected(_) => Kind::Injected,
            Self::Program(_) => Kind::Program,
        }
    }
}

/// A lock of the program: the number of the place of its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name(pub u32);

/// What one function may do when called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// Wait for another thread or a peer, and then return.
    pub waits: bool,
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
    callers: Vec<Vec<usize>>,
    /// Those whose calls go on with what is held of injected locks.
    callers_going_on: Vec<Vec<usize>>,
    /// The group of each function: functions that call each other, numbered with callees before callers.
    group_of: Vec<usize>,
    /// By group: the others that it calls with injected locks still held.
    groups_going_on: Vec<Vec<usize>>,
    names: Vec<Place>,
    /// The functions that take a lock themselves, at most how strongly.
    takers: BTreeMap<AnyLock, BTreeMap<usize, Mode>>,
    ways_out: WaysOut,
    /// Calls before which the thread gives up its injected locks, since they do not come back; by function.
    ending: Vec<BTreeSet<NodeId>>,
}

/// What `Effects::strongest` found last: for one batch of injected locks, by group, which of them a call may take in each mode.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    batch: Option<usize>,
    masks: Vec<Masks>,
}

/// As many locks are looked at in one pass over the calls.
const BATCH: usize = 512;

/// Some locks of a batch, for each mode.
type Masks = [[u64; BATCH / 64]; 3];

/// The program's locks that may be held when control arrives at a node.
pub type ProgramHolds = BTreeMap<NodeId, BTreeSet<(Name, Mode)>>;

impl Effects {
    /// Computes them. Before calls of `endings` the thread gives up its injected locks.
    #[must_use]
    pub fn of(program: &Program, operations: &AllOperations, endings: &[String]) -> Self {
        let targets = resolve(program, program.functions.iter().map(calls).collect());
        let called: Vec<Vec<usize>> = targets.iter().map(|of| distinct(of.values().flatten().copied())).collect();
        let (mut callers, mut callers_going_on) = (vec![Vec::new(); called.len()], vec![Vec::new(); called.len()]);
        let is_ending = |call: &Call| matches!(&call.callee, Callee::Direct(name) if endings.contains(name));
        let of_function = |function: &Function| calls(function).into_iter().filter(|(_, call)| is_ending(call)).map(|(at, _)| at).collect();
        let ending: Vec<BTreeSet<NodeId>> = program.functions.iter().map(of_function).collect();
        for (caller, of_nodes) in targets.iter().enumerate() {
            let going_on = of_nodes.iter().filter(|(at, _)| !ending[caller].contains(at)).flat_map(|(_, callees)| callees.iter().copied());
            distinct(going_on).into_iter().for_each(|callee| callers_going_on[callee].push(caller));
            called[caller].iter().for_each(|&callee| callers[callee].push(caller));
        }
        let of = vec![Effect::default(); called.len()];
        let component = components(&called);
        let mut order: Vec<usize> = (0..called.len()).collect();
        order.sort_by_key(|&f| component[f]);
        let groups: Vec<Vec<usize>> = order.chunk_by(|&a, &b| component[a] == component[b]).map(<[usize]>::to_vec).collect();
        let ways_out = WaysOut::new(program);
        let mut effects = Self {
            of,
            targets,
            callers,
            callers_going_on,
            group_of: Vec::new(),
            groups_going_on: Vec::new(),
            names: names(program),
            takers: BTreeMap::new(),
            ways_out,
            ending,
        };
        effects.takers = effects.own_takers(program, operations);
        for group in &groups {
            let alone = group.len() == 1 && !called[group[0]].contains(&group[0]);
            loop {
                let mut stable = true;
                for &f in group {
                    stable &= !effects.ways_out.look(f, &program.functions[f], &effects.targets[f]);
                    let now = effects.once(f, &program.functions[f]);
                    stable &= now == effects.of[f];
                    effects.of[f] = now;
                }
                if stable || alone {
                    break;
                }
            }
        }
        effects.group_of = vec![0; called.len()];
        for (g, group) in groups.iter().enumerate() {
            group.iter().for_each(|&f| effects.group_of[f] = g);
        }
        let going_on = groups.iter().enumerate().map(|(g, group)| {
            let callees = group.iter().flat_map(|&f| effects.goes_on_to_from(f)).map(|callee| effects.group_of[callee]);
            distinct(callees.filter(|&callee| callee != g))
        });
        effects.groups_going_on = going_on.collect();
        effects
    }

    fn own_takers(&self, program: &Program, operations: &AllOperations) -> BTreeMap<AnyLock, BTreeMap<usize, Mode>> {
        let by_key: BTreeMap<FunctionKey, usize> = program.functions.iter().enumerate().map(|(f, function)| (function.key, f)).collect();
        let mut takers: BTreeMap<AnyLock, BTreeMap<usize, Mode>> = BTreeMap::new();
        for ((lock, key), of_function) in operations {
            let Some(&function) = by_key.get(key) else { continue };
            for action in of_function.iter().flat_map(|(_, actions)| actions) {
                if let Action::Acquire(mode, _) = action {
                    raise(takers.entry(AnyLock::Injected(*lock)).or_default(), function, *mode);
                }
            }
        }
        for (f, function) in program.functions.iter().enumerate() {
            for (name, mode, _) in function.nodes.iter().flat_map(|node| self.takes(node)).filter(|(.., waits)| *waits) {
                raise(takers.entry(AnyLock::Program(name)).or_default(), f, mode);
            }
        }
        takers
    }

    /// All locks that anything takes and may wait for, sorted.
    pub fn locks(&self) -> impl Iterator<Item = AnyLock> + '_ {
        self.takers.keys().copied()
    }

    /// The functions that a function calls.
    pub fn called_by(&self, function: usize) -> impl Iterator<Item = usize> + '_ {
        self.targets[function].values().flatten().copied()
    }

    /// The functions that a node may call with a lock of this kind still held.
    #[must_use]
    pub fn goes_on_to(&self, function: usize, at: NodeId, held: Kind) -> &[usize] {
        if held == Kind::Injected && self.gives_up(function, at) { &[] } else { self.targets(function, at) }
    }

    /// The functions that a function calls with injected locks still held.
    pub fn goes_on_to_from(&self, function: usize) -> impl Iterator<Item = usize> + '_ {
        self.targets[function].iter().filter(move |(at, _)| !self.gives_up(function, **at)).flat_map(|(_, callees)| callees.iter().copied())
    }

    /// Whether the thread gives up its injected locks before this node, which calls what does not come back.
    #[must_use]
    pub fn gives_up(&self, function: usize, at: NodeId) -> bool {
        self.ending[function].contains(&at)
    }

    /// Whether control may come back from a function.
    #[must_use]
    pub fn comes_back(&self, function: usize) -> bool {
        self.ways_out.leads_out(function, NodeId(0))
    }

    /// The functions that take a lock themselves, at most how strongly.
    #[must_use]
    pub fn takers(&self, lock: AnyLock) -> Option<&BTreeMap<usize, Mode>> {
        self.takers.get(&lock)
    }

    /// Whether calls of some functions may come to one of `wanted`.
    #[must_use]
    pub fn may_come_to(&self, functions: &[usize], wanted: &BTreeSet<usize>) -> bool {
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        let mut work: Vec<usize> = if wanted.is_empty() { Vec::new() } else { functions.to_vec() };
        while let Some(function) = work.pop() {
            if wanted.contains(&function) {
                return true;
            }
            if seen.insert(function) {
                work.extend(self.called_by(function));
            }
        }
        false
    }

    /// For each function: how strongly, at most, a call of it may take a lock, if at all, with what is held of the one kind still held.
    #[must_use]
    pub fn may_take(&self, lock: AnyLock, held: Kind) -> Vec<Option<Mode>> {
        let callers = if held == Kind::Injected { &self.callers_going_on } else { &self.callers };
        let mut found = vec![None; self.of.len()];
        let Some(takers) = self.takers.get(&lock) else { return found };
        // The strongest first, so that no function is visited twice.
        for wanted in [Mode::X, Mode::U, Mode::R] {
            let mut work: Vec<usize> = takers.iter().filter(|(_, mode)| **mode == wanted).map(|(&f, _)| f).collect();
            while let Some(function) = work.pop() {
                if found[function].is_none() {
                    found[function] = Some(wanted);
                    work.extend(&callers[function]);
                }
            }
        }
        found
    }

    /// How strongly, at most, calls of any of `functions` may take an injected lock, if at all. Answers are found for a batch of locks at a time
    /// and kept in `asked`, so it is best asked in the order of locks.
    pub fn strongest(&self, asked: &mut Asked, lock: LockId, functions: &[usize]) -> Option<Mode> {
        let (batch, bit) = (lock.index() / BATCH, lock.index() % BATCH);
        if asked.batch != Some(batch) {
            self.ask(asked, batch);
        }
        let of = |function: usize| &asked.masks[self.group_of[function]];
        let takes = |mode: Mode| functions.iter().any(|&function| of(function)[level(mode)][bit / 64] >> (bit % 64) & 1 != 0);
        [Mode::X, Mode::U, Mode::R].into_iter().find(|&mode| takes(mode))
    }

    fn ask(&self, asked: &mut Asked, batch: usize) {
        asked.batch = Some(batch);
        asked.masks.clear();
        asked.masks.resize(self.groups_going_on.len(), Masks::default());
        for bit in 0..BATCH {
            let takers = self.takers.get(&AnyLock::Injected(LockId::new(batch * BATCH + bit)));
            for (&function, &mode) in takers.into_iter().flatten() {
                asked.masks[self.group_of[function]][level(mode)][bit / 64] |= 1 << (bit % 64);
            }
        }
        // Callees come before callers.
        for (g, callees) in self.groups_going_on.iter().enumerate() {
            let mut all = asked.masks[g];
            for &callee in callees {
                let more = asked.masks[callee].iter().flatten();
                all.iter_mut().flatten().zip(more).for_each(|(word, more)| *word |= more);
            }
            asked.masks[g] = all;
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

    fn once(&self, f: usize, function: &Function) -> Effect {
        let mut effect = self.of[f].clone();
        let nodes = function.nodes.iter().enumerate();
        effect.waits |=
            nodes.map(|(n, node)| (NodeId::new(n), node)).any(|(n, node)| self.may_wait(f, n, node) && self.ways_out.leads_out(f, n));
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

    /// The locks of the program that a node takes, how, and whether it waits for them: for none with another one of these held.
    pub fn takes<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = (Name, Mode, bool)> + 'a {
        objects(node).filter_map(|(op, object)| {
            let (mode, waits) = match op {
                SyncOp::Lock => (Mode::X, true),
                SyncOp::ReadLock => (Mode::R, true),
                SyncOp::TryLock => (Mode::X, false),
                SyncOp::TryReadLock => (Mode::R, false),
                _ => return None,
            };
            Some((self.number(object), mode, waits))
        })
    }

    fn drops<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = Name> + 'a {
        objects(node).filter(|(op, _)| *op == SyncOp::Unlock).map(|(_, object)| self.number(object))
    }

    fn number(&self, object: &Place) -> Name {
        let number = self.names.binary_search(object).expect("the places of all lock operations are listed");
        Name(u32::try_from(number).expect("fewer than 2^32 locks"))
    }

    /// What people call a lock of the program.
    #[must_use]
    pub fn text(&self, name: Name) -> String {
        format!("lock {}", self.names[name.0 as usize])
    }

    /// Whether, and how, one of the program's locks may be held after a node, given how it is held before.
    #[must_use]
    pub fn program_step(&self, f: usize, at: NodeId, node: &Node, name: Name, before: Option<Mode>) -> BTreeSet<Option<Mode>> {
        let mut held: BTreeSet<(Name, Mode)> = before.map(|mode| (name, mode)).into_iter().collect();
        self.step(f, at, node, &mut held, &mut Effect::default());
        let modes: BTreeSet<Option<Mode>> = held.into_iter().filter(|(of, _)| *of == name).map(|(_, mode)| Some(mode)).collect();
        // A call may return with the lock held, and may not; an own operation decides.
        let maybe = !self.takes(node).any(|(of, _, waits)| of == name && waits) && before.is_none();
        if modes.is_empty() || maybe { modes.into_iter().chain([None]).collect() } else { modes }
    }

    /// What a node does to the program's locks.
    fn step(&self, f: usize, at: NodeId, node: &Node, held: &mut BTreeSet<(Name, Mode)>, effect: &mut Effect) {
        let callees = self.targets(f, at);
        // What is called back may be called never: it releases nothing for sure.
        let is_called = !matches!(&node.kind, NodeKind::Call(call) if !call.calls_back.is_empty());
        if is_called && let Some((&first, rest)) = callees.split_first() {
            let by_all = |name: &&Name| rest.iter().all(|&callee| self.of[callee].releases.contains(*name));
            self.of[first].releases.iter().filter(by_all).for_each(|&name| release(name, held, effect));
        }
        for &callee in callees {
            held.extend(self.of[callee].leaves.iter().map(|(&name, &mode)| (name, mode)));
        }
        // The operation of a call is what all in all it does, whatever its body seems to do on the way.
        held.extend(self.takes(node).map(|(name, mode, _)| (name, mode)));
        self.drops(node).for_each(|name| release(name, held, effect));
    }
}

fn release(name: Name, held: &mut BTreeSet<(Name, Mode)>, effect: &mut Effect) {
    let before = held.len();
    held.retain(|(of, _)| *of != name);
    if held.len() == before {
        effect.releases.insert(name);
    }
}

fn level(mode: Mode) -> usize {
    match mode {
        Mode::R => 0,
        Mode::U => 1,
        Mode::X => 2,
    }
}

fn raise<K: Ord>(modes: &mut BTreeMap<K, Mode>, key: K, mode: Mode) {
    let known = modes.entry(key).or_insert(mode);
    *known = (*known).max(mode);
}

fn distinct(functions: impl Iterator<Item = usize>) -> Vec<usize> {
    functions.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The places of all locks of the program, sorted.
fn names(program: &Program) -> Vec<Place> {
    let objects = program.functions.iter().flat_map(|function| &function.nodes).flat_map(objects).map(|(_, object)| object.clone());
    objects.collect::<BTreeSet<_>>().into_iter().collect()
}

/// What a node does to each object of its operation.
fn objects(node: &Node) -> impl Iterator<Item = (SyncOp, &Place)> {
    let sync = if let NodeKind::Call(call) = &node.kind { call.sync.as_ref() } else { None };
    sync.into_iter().flat_map(|(op, objects)| objects.iter().map(|object| (*op, object)))
}

/// The calls of a function.
fn calls(function: &Function) -> Vec<(NodeId, &Call)> {
    let nodes = function.nodes.iter().enumerate();
    nodes.filter_map(|(n, node)| if let NodeKind::Call(call) = &node.kind { Some((NodeId::new(n), call)) } else { None }).collect()
}

fn resolve(program: &Program, calls: Vec<Vec<(NodeId, &Call)>>) -> Vec<BTreeMap<NodeId, Vec<usize>>> {
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
        Callee::OneOf(all) => all.iter().filter_map(|name| names.get(name)).flatten().copied().collect(),
        Callee::Assembly => Vec::new(),
    };
    let called_back = |call: &Call| call.calls_back.iter().filter_map(|name| names.get(name)).flatten().copied().collect::<Vec<usize>>();
    let all = |call: &Call| [reached(&call.callee), called_back(call)].concat();
    calls.into_iter().map(|calls| calls.into_iter().map(|(at, call)| (at, all(call))).collect()).collect()
}

/// The modes in which a node's own operations take a lock.
#[must_use]
pub fn acquires_at(operations: &super::machine::Operations, node: NodeId) -> Vec<Mode> {
    let actions = operations.at(At::Before(node)).iter();
    actions.filter_map(|action| if let Action::Acquire(mode, _) = action { Some(*mode) } else { None }).collect()
}
