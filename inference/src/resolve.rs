//! Phase 7: deadlock resolution (seed 002, section 8).
//!
//! Injected locks get one total order, in front of all program locks (`order::choose`). In every cycle of waits, acquisitions that violate the order
//! are hoisted (`hoist`). This is repeated until no cycle is left; every round adds constraints over finitely many nodes.
//!
//! Where hoisting cannot help, because the longer region could wait for a peer or lies in a function that is left alone, or where one
//! lock would need more extra acquisitions than `Config::hoists`, pairs are refused instead: those that span most acquisitions on
//! cycles, those of the lock whose region takes the other one, and in the end all pairs of the variable; then everything
//! begins again without them. Locks are never merged: a merged lock is held over both regions and taken at every access of either
//! variable, and where hoisting fails because of a wait or a program lock it fails for the merged lock as well.
//! Cycles of program locks alone are reported and left as they are.
//!
//! In the end acquisitions are lifted out of loops (`lift`) and regions that follow each other made one (`sequence`), as far as that closes no
//! cycle.

use std::collections::{BTreeMap, BTreeSet};

use model::ids::{FunctionId, NodeId, VariableId};
use model::pair::Mode;
use model::plan::Saving;

use crate::admit::{AdmittedPair, Facts};
use crate::constraint::Constraints;
use crate::hoist::{Stuck, hoists, stuck_at, takes_part, too_dear, violates};
use crate::lift::{Lift, lifts};
use crate::operation::EdgeAction;
use crate::optimize::{Counts, Optimization, savings};
use crate::order::{Detail, Heat, LockKey, Order, OrderFacts, OrderGraph, Rank, Spans, Tangle, rank};
use crate::pipeline::Config;
use crate::placement::{Placements, Spot, constraints, place_all, remove};
use crate::program_cycle::ProgramCycle;
use crate::sequence::sequences;
use crate::spin::held_around;

/// Deadlock-free placements, and what it took.
#[derive(Clone, Debug, Default)]
pub struct Resolution {
    /// The operations.
    pub placements: Placements,
    /// Injected locks in lock order.
    pub order: Vec<VariableId>,
    /// The pairs that are kept.
    pub pairs: Vec<AdmittedPair>,
    /// Pairs given up, with why.
    pub refused: Vec<(AdmittedPair, String)>,
    /// How many constraints were added.
    pub hoists: usize,
    /// How many operations there were before.
    pub operations_before: usize,
    /// How many of them were degrades.
    pub degrades_before: usize,
    /// Program locks that are taken in more than one order, cycle by cycle.
    pub program_cycles: Vec<ProgramCycle>,
    /// Locks, injected and program ones, that may be on one cycle as far as the skeleton of the order tells; how many there are.
    pub tangled: usize,
    /// What optimizations saved.
    pub savings: Vec<Saving>,
}

/// Why an attempt has to begin again with fewer pairs.
enum Setback {
    /// Hoisting cannot resolve these.
    Stuck(Vec<Stuck>),
    /// These pairs have most to do with what is too much.
    Dear(Vec<AdmittedPair>, String),
}

/// Where accesses are, and what they need.
type Uses = BTreeMap<VariableId, Vec<(FunctionId, NodeId, Mode)>>;

/// Pairs, and the placements made from them.
struct State<'a> {
    facts: &'a Facts<'a>,
    order: Order<'a>,
    uses: Uses,
    pairs: BTreeMap<VariableId, Vec<AdmittedPair>>,
    placements: Placements,
    demands: BTreeMap<Spot, BTreeMap<NodeId, Mode>>,
    /// How many acquisitions were added for each variable.
    added: BTreeMap<VariableId, usize>,
    heat: Heat,
    refused: Vec<(AdmittedPair, String)>,
}

/// Places locks for `pairs` and resolves the deadlocks that they could cause.
#[must_use]
pub fn resolve(facts: &Facts<'_>, order_facts: &OrderFacts<'_>, pairs: &[AdmittedPair], config: &Config) -> Resolution {
    let mut by_variable: BTreeMap<VariableId, Vec<AdmittedPair>> = BTreeMap::new();
    for pair in pairs {
        by_variable.entry(pair.variable).or_default().push(pair.clone());
    }
    let sets = facts.correlated.iter().map(|correlated| correlated.variable).collect();
    let placements = Placements { optimizations: config.optimizations, sets, ..Placements::default() };
    let mut state = State {
        facts,
        order: Order::of(order_facts, &placements),
        uses: uses(facts, &by_variable),
        pairs: by_variable,
        placements,
        demands: BTreeMap::new(),
        added: BTreeMap::new(),
        heat: Heat::of(facts.evidence),
        refused: Vec::new(),
    };
    state.place(state.pairs.keys().copied().collect());
    loop {
        let operations_before = state.operations();
        let degrades_before = state.degrades();
        match state.attempt(config) {
            Ok((rank, tangled)) => {
                let savings = state.optimize(&rank, config);
                let mut order: Vec<VariableId> = rank.keys().copied().filter(|variable| state.pairs.contains_key(variable)).collect();
                order.sort_by_key(|variable| rank[variable]);
                let program_cycles = state.program_cycles(&rank);
                return Resolution {
                    order,
                    pairs: state.pairs.into_values().flatten().collect(),
                    refused: state.refused,
                    hoists: state.added.values().sum(),
                    operations_before,
                    degrades_before,
                    program_cycles,
                    tangled,
                    savings,
                    placements: state.placements,
                };
            }
            Err(setback) => state.give_up(setback),
        }
    }
}

/// The accesses of the variables that have pairs, but for transfers and what comes before all threads, in functions that are not left alone.
fn uses(facts: &Facts<'_>, pairs: &BTreeMap<VariableId, Vec<AdmittedPair>>) -> Uses {
    let mut uses = Uses::new();
    for (f, _) in facts.program.functions.iter().enumerate().filter(|(_, function)| function.refused.is_none()) {
        let accesses = facts.accesses.of_function(FunctionId::new(f));
        let accesses = accesses.filter(|(node, _)| !facts.early.has(FunctionId::new(f), *node));
        for (node, access) in accesses.filter(|(_, access)| pairs.contains_key(&access.variable) && !access.transfer) {
            let mode = if access.rw.writes() { Mode::X } else { Mode::R };
            uses.entry(access.variable).or_default().push((FunctionId::new(f), node, mode));
        }
    }
    uses
}

impl State<'_> {
    fn operations(&self) -> usize {
        self.placements.spots.values().map(|placement| placement.acquires.len() + placement.edges.len()).sum()
    }

    fn degrades(&self) -> usize {
        let edges = self.placements.spots.values().flat_map(|placement| placement.edges.values());
        edges.flat_map(BTreeMap::values).filter(|action| **action != EdgeAction::Release).count()
    }

    /// Places the locks of some variables anew, from their pairs alone.
    fn place(&mut self, variables: BTreeSet<VariableId>) {
        let mut changed: BTreeSet<Spot> = BTreeSet::new();
        let mut functions: BTreeSet<FunctionId> = BTreeSet::new();
        for &variable in &variables {
            self.added.remove(&variable);
            remove(&mut self.placements.constraints, variable);
            remove(&mut self.demands, variable);
            functions.extend(remove(&mut self.placements.spots, variable));
            let Some(pairs) = self.pairs.get(&variable) else { continue };
            let mut constraints = constraints(pairs);
            // Where all pairs are READ, reads alone need no lock.
            let exclusive = constraints.values().flat_map(|spot| &spot.list).any(|constraint| constraint.mode == Mode::X);
            for (&(_, own), spot) in &mut constraints {
                let uses = || self.uses.get(&variable).into_iter().flatten();
                spot.hasten(|tail| uses().any(|&(function, node, mode)| function == own && node == tail && mode == Mode::X));
            }
            changed.extend(constraints.keys());
            self.placements.constraints.extend(constraints);
            for &(function, node, mode) in self.uses.get(&variable).into_iter().flatten().filter(|(.., mode)| exclusive || *mode == Mode::X)
            {
                let known = self.demands.entry((variable, function)).or_default().entry(node).or_insert(mode);
                *known = (*known).max(mode);
                changed.insert((variable, function));
            }
        }
        functions.extend(changed.iter().map(|spot| spot.1));
        place_all(self.facts.flows, self.order.facts().going_on, &mut self.placements, &self.demands, &changed);
        self.order.look_at(&self.placements, &functions);
    }

    /// Hoists until no cycle of waits has part in our locks.
    fn attempt(&mut self, config: &Config) -> Result<(Rank, usize), Setback> {
        let all = self.order.tangles(&self.placements, None);
        let graph = self.detail(None, &ours(&all))?;
        let rank = rank(self.facts, &self.heat, &all, &graph);
        loop {
            let tangles = ours(&self.order.tangles(&self.placements, Some(&rank)));
            let tangled = tangles.iter().map(|tangle| tangle.locks.len()).sum();
            let graph = self.detail(Some(&rank), &tangles)?;
            let cycles: Vec<_> = graph.cycles().into_iter().filter(|cycle| cycle.iter().any(takes_part)).collect();
            if cycles.is_empty() {
                if let Some(setback) = self.spinning() {
                    return Err(setback);
                }
                return Ok((rank, tangled));
            }
            let dear = too_dear(&graph, &cycles, &rank, &self.added, config);
            if !dear.is_empty() {
                return Err(self.too_much(&spans(&graph, &cycles), 4, config).unwrap_or(Setback::Stuck(dear)));
            }
            let (found, stuck) = hoists(self.facts, self.order.facts(), &self.placements, &graph, &cycles, &rank);
            if !stuck.is_empty() {
                return Err(Setback::Stuck(stuck));
            }
            let mut changed: BTreeSet<Spot> = BTreeSet::new();
            for (spot, constraint) in found {
                let list = self.placements.constraints.entry(spot).or_insert_with(|| Constraints::new(spot.1, spot.0));
                if list.add(constraint) {
                    *self.added.entry(spot.0).or_default() += 1;
                    changed.insert(spot);
                }
            }
            if changed.is_empty() {
                let culprit = cycles.iter().flatten().find_map(|edge| violates(edge, &rank)).or_else(|| self.pairs.keys().next().copied());
                let why = "an earlier acquisition leaves the cycle in place".to_owned();
                return Err(Setback::Stuck(culprit.into_iter().map(|variable| stuck_at(&graph, &cycles, variable, why.clone())).collect()));
            }
            self.place_again(&changed);
        }
    }

    /// Lifts what can be lifted, and counts what all optimizations saved.
    fn optimize(&mut self, rank: &Rank, config: &Config) -> Vec<Saving> {
        let counts = Counts::of(self.facts.evidence);
        let mut all = savings(self.facts.program, &counts, &self.placements);
        for optimization in [Optimization::Loops, Optimization::Sequences] {
            let mut saving = Saving { optimization: optimization.to_string(), operations: 0, executions: 0 };
            if config.optimizations.has(optimization) {
                let find = if optimization == Optimization::Loops { lifts } else { sequences };
                let before = self.operations();
                saving.executions = self.lift(find(self.facts, &counts, &self.placements), rank);
                saving.operations = before.saturating_sub(self.operations()) as u64;
            }
            all.push(saving);
        }
        all
    }

    /// Lifts, and takes back what would close a cycle of waits until there is none; how many executions that saved.
    fn lift(&mut self, mut lifts: Vec<Lift>, rank: &Rank) -> u64 {
        let before = self.placements.clone();
        while !lifts.is_empty() {
            let changed: BTreeSet<Spot> = lifts.iter().map(|lift| lift.spot).collect();
            for lift in &lifts {
                let (variable, function) = lift.spot;
                let list = self.placements.constraints.entry(lift.spot).or_insert_with(|| Constraints::new(function, variable));
                for constraint in &lift.constraints {
                    list.add(constraint.clone());
                }
            }
            self.place_again(&changed);
            let tangles = ours(&self.order.tangles(&self.placements, Some(rank)));
            let waiting: BTreeSet<VariableId> = match self.detail(Some(rank), &tangles) {
                Ok(graph) => {
                    let cycles = graph.cycles().into_iter().filter(|cycle| cycle.iter().any(takes_part));
                    let locks = cycles.flatten().flat_map(|edge| [edge.held, edge.acquired]);
                    locks.filter_map(|lock| if let LockKey::Injected(variable) = lock { Some(variable) } else { None }).collect()
                }
                Err(_) => tangles.iter().flat_map(Tangle::variables).collect(),
            };
            if waiting.is_empty() {
                return lifts.iter().map(|lift| lift.executions).sum();
            }
            let guilty = |lift: &Lift| waiting.contains(&lift.spot.0);
            // Where none of the locks on the cycle was lifted, some that was has had another's mode changed.
            let all = !lifts.iter().any(guilty);
            lifts.retain(|lift| !all && !guilty(lift));
            self.placements = before.clone();
            self.look_again(&changed);
        }
        0
    }

    /// Places spots anew, with what follows from them.
    fn place_again(&mut self, changed: &BTreeSet<Spot>) {
        place_all(self.facts.flows, self.order.facts().going_on, &mut self.placements, &self.demands, changed);
        self.look_again(changed);
    }

    /// Looks at all functions of the locks of these spots: placing may have upgraded them elsewhere.
    fn look_again(&mut self, changed: &BTreeSet<Spot>) {
        let variables: BTreeSet<VariableId> = changed.iter().map(|spot| spot.0).collect();
        let functions =
            variables.iter().flat_map(|&variable| self.placements.of_variable(variable).map(|(function, _)| function)).collect();
        self.order.look_at(&self.placements, &functions);
    }

    /// The full graph of some tangles, or which pairs to give up since it is too large.
    fn detail(&self, rank: Option<&Rank>, tangles: &[Tangle]) -> Result<OrderGraph, Setback> {
        match self.order.detail(&self.placements, rank, tangles) {
            Detail::Graph(graph) => Ok(graph),
            Detail::TooMany(spans) => {
                let why = "it is held over calls that may take too many other locks to put them all in order";
                let some = self.blamed(&spans, 2);
                let pairs = if some.is_empty() {
                    let variables = tangles.iter().flat_map(Tangle::variables);
                    variables.filter_map(|variable| self.pairs.get(&variable)).flatten().cloned().collect()
                } else {
                    some
                };
                Err(Setback::Dear(pairs, why.to_owned()))
            }
        }
    }

    /// The pairs whose lock would be held around a loop that may wait for its variable.
    fn spinning(&self) -> Option<Setback> {
        let mut gone = Vec::new();
        for ((variable, function), around) in held_around(self.facts, &self.placements) {
            let pairs = self.pairs.get(&variable).map_or(&[][..], Vec::as_slice);
            let guilty = |pair: &&AdmittedPair| pair.function == function && around.iter().any(|node| pair.covers(node));
            // Where none of the function's own is, another one's was hoisted.
            let any = pairs.iter().any(|pair| guilty(&pair));
            gone.extend(pairs.iter().filter(|pair| !any || guilty(pair)).cloned());
        }
        let why = "its lock would be held around a loop that only reads the variable and may wait for it";
        (!gone.is_empty()).then(|| Setback::Dear(gone, why.to_owned()))
    }

    fn too_much(&self, spans: &Spans, part: usize, config: &Config) -> Option<Setback> {
        let worst = self.blamed(spans, part);
        let limit = config.hoists;
        let why = format!("it spans too many other locks: freedom from deadlock would take more than {limit} extra acquisitions");
        (!worst.is_empty()).then_some(Setback::Dear(worst, why))
    }

    /// Of the pairs that hold their locks where others are taken, the `part`th part that do so most, at least one; none if no pair does.
    fn blamed(&self, spans: &Spans, part: usize) -> Vec<AdmittedPair> {
        let blame = |pair: &AdmittedPair| -> usize {
            let at = spans.get(&(pair.variable, pair.function)).into_iter().flatten();
            at.filter(|(node, _)| pair.covers(**node)).map(|(_, count)| count).sum()
        };
        let variables: BTreeSet<VariableId> = spans.keys().map(|spot| spot.0).collect();
        let pairs = variables.iter().filter_map(|variable| self.pairs.get(variable)).flatten();
        let mut blamed: Vec<(usize, &AdmittedPair)> = pairs.map(|pair| (blame(pair), pair)).filter(|(blame, _)| *blame > 0).collect();
        blamed.sort_by_key(|(blame, pair)| (core::cmp::Reverse(*blame), pair.seen, pair.variable, pair.function, pair.head, pair.tail));
        let count = blamed.len().div_ceil(part);
        blamed.into_iter().take(count).map(|(_, pair)| pair.clone()).collect()
    }

    /// Refuses pairs, and takes back all that was hoisted.
    fn give_up(&mut self, setback: Setback) {
        let mut gone: Vec<(AdmittedPair, String)> = match setback {
            Setback::Dear(pairs, why) => pairs.into_iter().map(|pair| (pair, why.clone())).collect(),
            Setback::Stuck(stuck) => stuck.iter().flat_map(|stuck| self.stuck_pairs(stuck)).collect(),
        };
        gone.sort_by_key(|(pair, _)| pair.key());
        gone.dedup_by_key(|(pair, _)| pair.key());
        let mut dirty: BTreeSet<VariableId> = self.added.keys().copied().collect();
        let keys: BTreeSet<_> = gone.iter().map(|(pair, _)| pair.key()).collect();
        for variable in gone.iter().map(|(pair, _)| pair.variable) {
            dirty.insert(variable);
            if let Some(pairs) = self.pairs.get_mut(&variable) {
                pairs.retain(|pair| !keys.contains(&pair.key()));
            }
        }
        self.pairs.retain(|_, pairs| !pairs.is_empty());
        self.refused.extend(gone);
        self.place(dirty);
    }

    /// The pairs that span the other locks, or else all of the variable.
    fn stuck_pairs(&self, stuck: &Stuck) -> Vec<(AdmittedPair, String)> {
        let pairs = self.pairs.get(&stuck.variable).map_or(&[][..], Vec::as_slice);
        let spans = |pair: &&AdmittedPair| stuck.spans.iter().any(|&(function, node)| function == pair.function && pair.covers(node));
        let why = format!("its lock could take part in a deadlock that hoisting cannot resolve: {}", stuck.why);
        let any = pairs.iter().any(|pair| spans(&pair));
        pairs.iter().filter(|pair| !any || spans(pair)).map(|pair| (pair.clone(), why.clone())).collect()
    }

    /// The program's own locks that are taken in more than one order.
    fn program_cycles(&self, rank: &Rank) -> Vec<ProgramCycle> {
        let all = self.order.tangles(&self.placements, Some(rank));
        let cyclic: Vec<Tangle> = all.into_iter().filter(Tangle::is_cyclic).collect();
        match self.order.detail(&self.placements, Some(rank), &cyclic) {
            Detail::Graph(graph) => graph.cycles().iter().map(|cycle| ProgramCycle::of(&graph, cycle)).collect(),
            Detail::TooMany(_) => cyclic.iter().map(|tangle| ProgramCycle::of_tangle(&tangle.locks)).collect(),
        }
    }
}

/// The tangles in which injected locks could wait.
fn ours(tangles: &[Tangle]) -> Vec<Tangle> {
    tangles.iter().filter(|tangle| tangle.is_cyclic() && tangle.variables().next().is_some()).cloned().collect()
}

/// Where acquisitions on cycles happen under injected locks.
fn spans(graph: &OrderGraph, cycles: &[Vec<crate::order::Edge>]) -> Spans {
    let mut spans = Spans::new();
    for edge in cycles.iter().flatten() {
        let LockKey::Injected(held) = edge.held else { continue };
        for witness in &graph.edges[edge] {
            *spans.entry((held, witness.function)).or_default().entry(witness.at).or_default() += 1;
        }
    }
    spans
}
