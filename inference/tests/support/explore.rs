//! A brute-force oracle: every interleaving of a few threads, each running one function of a small program with a plan's operations.
//!
//! Locks behave as the design says: modes by their table of compatibility, holds per frame with label and mode; releases and degrades act on
//! a matching label only. A reader passes waiting writers. A call of one of the plan's endings gives all up, and `exit` ends all threads. The oracle knows nothing of constraints or regions: it sees memory accesses happen,
//! and whether a remote one falls between the two ends of a pair.

use std::collections::{BTreeMap, BTreeSet};

use model::external::{SyncOp, ends_the_process};
use model::ids::{Label, NodeId};
use model::pair::{Atomicity, Mode, Rw};
use model::plan::{Action, At, Plan};
use model::program::{Callee, NodeKind, Place, Program};

/// What can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Trouble {
    /// No thread can go on, and not all have ended.
    Deadlock,
    /// A remote access fell into a pair.
    Interleaved,
    /// A thread ended with an injected lock held.
    Leaked,
}

/// A pair to watch: function, head, tail, the places of its variable.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    pub(crate) function: usize,
    pub(crate) head: NodeId,
    pub(crate) tail: NodeId,
    pub(crate) atomicity: Atomicity,
    pub(crate) place: Place,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Frame {
    function: usize,
    node: NodeId,
    /// Operations before the node that are already done; when all are, the node itself is next.
    done: usize,
    holds: BTreeMap<usize, (Label, Mode)>,
    /// Pairs whose head has run in this frame: whether a remote access has come since.
    open: BTreeMap<usize, bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Thread {
    frames: Vec<Frame>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    threads: Vec<Thread>,
    /// Owner of each of the program's locks.
    owners: BTreeMap<Place, usize>,
}

/// Explores everything; `None` when there are more than `limit` states.
pub(crate) fn explore(program: &Program, plan: &Plan, watched: &[Watched], starts: &[usize], limit: usize) -> Option<BTreeSet<Trouble>> {
    let world = World { program, plan, watched };
    let frame = |&function: &usize| Frame { function, node: NodeId(0), done: 0, holds: BTreeMap::new(), open: BTreeMap::new() };
    let threads = starts.iter().map(|start| Thread { frames: vec![frame(start)] }).collect();
    let mut seen = BTreeSet::new();
    let mut work = vec![State { threads, owners: BTreeMap::new() }];
    let mut troubles = BTreeSet::new();
    while let Some(state) = work.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        if seen.len() > limit {
            return None;
        }
        let mut stuck = true;
        for thread in 0..state.threads.len() {
            for next in world.steps(&state, thread, &mut troubles) {
                stuck = false;
                work.push(next);
            }
        }
        if stuck && state.threads.iter().any(|thread| !thread.frames.is_empty()) {
            troubles.insert(Trouble::Deadlock);
        }
    }
    Some(troubles)
}

/// What ended at a node. A call that is both ends of a pair has opened it anew when it began.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Access,
    Call,
}

struct World<'a> {
    program: &'a Program,
    plan: &'a Plan,
    watched: &'a [Watched],
}

impl World<'_> {
    fn operations(&self, function: usize, at: At) -> Vec<(usize, Action)> {
        let key = self.program.functions[function].key;
        let mut found = Vec::new();
        for (l, lock) in self.plan.locks.iter().enumerate() {
            found.extend(lock.operations.iter().filter(|o| o.function == key && o.at == at).map(|o| (l, o.action)));
        }
        // Releases, then degrades, then acquires by lock.
        found.sort_by_key(|&(lock, action)| (matches!(action, Action::Acquire(..)), !matches!(action, Action::Release(_)), lock));
        found
    }

    fn steps(&self, state: &State, t: usize, troubles: &mut BTreeSet<Trouble>) -> Vec<State> {
        let Some(frame) = state.threads[t].frames.last() else { return Vec::new() };
        let before = self.operations(frame.function, At::Before(frame.node));
        if let Some(&(lock, action)) = before.get(frame.done) {
            let mut next = state.clone();
            if !apply(&mut next, t, lock, action) {
                return Vec::new();
            }
            next.threads[t].frames.last_mut().expect("a frame").done += 1;
            return vec![next];
        }
        self.run(state, t, troubles)
    }

    /// Runs the node itself.
    fn run(&self, state: &State, t: usize, troubles: &mut BTreeSet<Trouble>) -> Vec<State> {
        let frame = state.threads[t].frames.last().expect("a frame");
        let (function, at) = (frame.function, frame.node);
        let node = self.program.functions[function].node(at);
        let mut next = state.clone();
        match &node.kind {
            NodeKind::Access(access) => self.touch(&mut next, t, &access.place, access.rw, troubles),
            NodeKind::Call(call) => {
                if let Some((op, places)) = &call.sync {
                    match (op, state.owners.get(&places[0])) {
                        (SyncOp::Lock, Some(_)) => return Vec::new(),
                        (SyncOp::Lock, None) => {
                            next.owners.insert(places[0].clone(), t);
                        }
                        (SyncOp::Unlock, Some(&owner)) if owner == t => {
                            next.owners.remove(&places[0]);
                        }
                        _ => {}
                    }
                }
                if matches!(&call.callee, Callee::Direct(name) if self.plan.endings.contains(name)) {
                    next.threads[t].frames.iter_mut().for_each(|frame| frame.holds.clear());
                }
                if matches!(&call.callee, Callee::Direct(name) if ends_the_process(name)) {
                    next.threads.iter_mut().for_each(|thread| thread.frames.clear());
                    return vec![next];
                }
                if let Callee::Direct(name) = &call.callee
                    && let Some(callee) = self.program.functions.iter().position(|function| function.name == *name)
                {
                    self.mark_head(&mut next, t, function, at);
                    next.threads[t].frames.push(Frame {
                        function: callee,
                        node: NodeId(0),
                        done: 0,
                        holds: BTreeMap::new(),
                        open: BTreeMap::new(),
                    });
                    return vec![next];
                }
            }
            NodeKind::Return | NodeKind::Stop => {
                let ended = next.threads[t].frames.pop().expect("a frame");
                if !ended.holds.is_empty() {
                    troubles.insert(Trouble::Leaked);
                }
                let Some(caller) = next.threads[t].frames.last() else { return vec![next] };
                let (function, at) = (caller.function, caller.node);
                self.close(&mut next, t, function, at, End::Call, troubles);
                return self.leave(&next, t);
            }
            NodeKind::Block => {}
        }
        self.leave(&next, t)
    }

    /// An access of thread `t`: it dirties the open pairs of the others, and opens and closes its own.
    fn touch(&self, state: &mut State, t: usize, place: &Place, rw: Rw, troubles: &mut BTreeSet<Trouble>) {
        for (other, thread) in state.threads.iter_mut().enumerate() {
            for frame in thread.frames.iter_mut().filter(|_| other != t) {
                for (&pair, dirty) in &mut frame.open {
                    let watched = &self.watched[pair];
                    *dirty |= watched.place == *place && (rw.writes() || watched.atomicity == Atomicity::Exclusive);
                }
            }
        }
        // An access between the two ends means that they are not consecutive: the caller's pairs survive only if it is in one of their ends.
        let frame = state.threads[t].frames.last().expect("a frame");
        let (function, at) = (frame.function, frame.node);
        self.close(state, t, function, at, End::Access, troubles);
        let frame = state.threads[t].frames.last_mut().expect("a frame");
        frame.open.retain(|&pair, _| self.watched[pair].place != *place);
        self.mark_head(state, t, function, at);
    }

    fn mark_head(&self, state: &mut State, t: usize, function: usize, at: NodeId) {
        let frame = state.threads[t].frames.last_mut().expect("a frame");
        for (p, pair) in self.watched.iter().enumerate() {
            if pair.function == function && pair.head == at {
                frame.open.insert(p, false);
            }
        }
    }

    /// The node `at` has run: pairs that end there are judged.
    fn close(&self, state: &mut State, t: usize, function: usize, at: NodeId, end: End, troubles: &mut BTreeSet<Trouble>) {
        let frame = state.threads[t].frames.last_mut().expect("a frame");
        for (p, pair) in self.watched.iter().enumerate() {
            if pair.function == function
                && pair.tail == at
                && (pair.head != at || end == End::Access)
                && frame.open.remove(&p) == Some(true)
            {
                troubles.insert(Trouble::Interleaved);
            }
        }
    }

    fn leave(&self, state: &State, t: usize) -> Vec<State> {
        let frame = state.threads[t].frames.last().expect("a frame");
        let (function, at) = (frame.function, frame.node);
        let successors = &self.program.functions[function].node(at).successors;
        let mut all = Vec::new();
        for &to in successors {
            let mut next = state.clone();
            for (lock, action) in self.operations(function, At::Edge(at, to)) {
                assert!(apply(&mut next, t, lock, action), "edges do not acquire");
            }
            let frame = next.threads[t].frames.last_mut().expect("a frame");
            (frame.node, frame.done) = (to, 0);
            all.push(next);
        }
        all
    }
}

/// Performs an operation; `false` if the thread has to wait.
fn apply(state: &mut State, t: usize, lock: usize, action: Action) -> bool {
    let others: Vec<Mode> = state
        .threads
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != t)
        .flat_map(|(_, thread)| thread.frames.iter().filter_map(|frame| frame.holds.get(&lock)).map(|&(_, mode)| mode))
        .collect();
    let own = state.threads[t].frames.iter().filter_map(|frame| frame.holds.get(&lock)).map(|&(_, mode)| mode).max();
    let frame = state.threads[t].frames.last_mut().expect("a frame");
    let held = frame.holds.get(&lock).copied();
    match action {
        Action::Acquire(mode, label) => {
            let wanted = mode.max(own.unwrap_or(Mode::R));
            if own.is_none_or(|own| own < mode) && others.iter().any(|other| !wanted.compatible(*other)) {
                return false;
            }
            frame.holds.insert(lock, (label, held.map_or(mode, |(_, held)| held.max(mode))));
        }
        Action::Release(label) => {
            if held.is_some_and(|(of, _)| of == label) {
                frame.holds.remove(&lock);
            }
        }
        Action::Degrade(label) => {
            if held.is_some_and(|(of, _)| of == label) {
                frame.holds.insert(lock, (label, Mode::R));
            }
        }
        Action::DegradeToUpdate(label) => {
            if let Some((_, mode)) = held.filter(|(of, _)| *of == label) {
                frame.holds.insert(lock, (label, mode.min(Mode::U)));
            }
        }
    }
    true
}
