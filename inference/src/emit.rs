//! From placements to the plan: lock ids in lock order, labels dense over the plan, reasons and source lines for people.

use std::collections::BTreeMap;

use model::ids::{FunctionId, Label, LockId, NodeId, VariableId};
use model::pair::Mode;
use model::plan::{Action, At, Lock, Operation, PLAN_SCHEMA, Plan, PlannedPair};

use crate::admit::{Admission, AdmittedPair, Facts, node_text};
use crate::operation::{EdgeAction, Placement};
use crate::placement::Placements;

/// Writes the plan. `order` lists the variables that get a lock, in lock order.
#[must_use]
pub fn plan(facts: &Facts<'_>, admission: &Admission, placements: &Placements, order: &[VariableId], build: &str) -> Plan {
    let mut labels = Labels::default();
    let mut pairs: BTreeMap<VariableId, Vec<&AdmittedPair>> = BTreeMap::new();
    for pair in &admission.pairs {
        pairs.entry(pair.variable).or_default().push(pair);
    }
    let locks = order
        .iter()
        .enumerate()
        .map(|(l, &variable)| {
            let mut operations = Vec::new();
            let mut cost = 0;
            for (function, placement) in placements.of_variable(variable) {
                operations.extend(operations_of(facts, function, placement, &mut labels));
                cost += cost_of(facts, function, placement);
            }
            operations.sort();
            Lock {
                id: LockId::new(l),
                enabled: true,
                variable: facts.variables.get(variable).to_string(),
                cost,
                pairs: pairs.get(&variable).into_iter().flatten().map(|pair| planned(facts, pair)).collect(),
                operations,
            }
        })
        .collect();
    Plan {
        schema: PLAN_SCHEMA,
        build: build.to_owned(),
        blocking: Vec::new(),
        endings: Vec::new(),
        locks,
        refused: admission.refused.clone(),
        savings: Vec::new(),
    }
}

fn planned(facts: &Facts<'_>, pair: &AdmittedPair) -> PlannedPair {
    PlannedPair {
        function: facts.program.function(pair.function).key,
        head: pair.head,
        tail: pair.tail,
        atomicity: pair.atomicity,
        seen: pair.seen,
        near: pair.near,
        threads: pair.threads,
        runs: pair.runs,
        from: node_text(facts, pair.function, pair.head),
        to: node_text(facts, pair.function, pair.tail),
        except: pair.except.clone(),
    }
}

/// Dense labels, in the order in which they are asked for.
#[derive(Default)]
struct Labels {
    next: usize,
}

impl Labels {
    fn fresh(&mut self) -> Label {
        self.next += 1;
        Label::new(self.next - 1)
    }
}

fn operations_of(facts: &Facts<'_>, function: FunctionId, placement: &Placement, labels: &mut Labels) -> Vec<Operation> {
    let key = facts.program.function(function).key;
    let of_node: BTreeMap<NodeId, Label> = placement.acquires.keys().map(|&node| (node, labels.fresh())).collect();
    let operation =
        |at: At, action: Action, node: NodeId| Operation { function: key, at, action, source: node_text(facts, function, node) };
    let acquires =
        placement.acquires.iter().map(|(&node, acquire)| operation(At::Before(node), Action::Acquire(acquire.mode, of_node[&node]), node));
    let edges =
        placement.edges.iter().flat_map(|(&(from, to), actions)| actions.iter().map(move |(label, action)| ((from, to), label, action)));
    let edges = edges.map(|((from, to), label, action)| {
        let action = match action {
            EdgeAction::Release => Action::Release(of_node[label]),
            EdgeAction::Degrade => Action::Degrade(of_node[label]),
            EdgeAction::DegradeToUpdate => Action::DegradeToUpdate(of_node[label]),
        };
        operation(At::Edge(from, to), action, from)
    });
    acquires.chain(edges).collect()
}

/// How often the acquiring sites ran in all profiled runs.
fn cost_of(facts: &Facts<'_>, function: FunctionId, placement: &Placement) -> u64 {
    let body = facts.program.function(function);
    let runs = u64::from(facts.evidence.runs.max(1));
    let seen = |node: &NodeId| body.node(*node).site.and_then(|site| facts.evidence.sites.get(&site)).map_or(0, |site| site.seen);
    placement.acquires.keys().map(seen).sum::<u64>() / runs
}

/// How many operations of each kind a plan has.
#[must_use]
pub fn count(plan: &Plan) -> BTreeMap<&'static str, u64> {
    let mut counts = BTreeMap::new();
    for operation in plan.locks.iter().flat_map(|lock| &lock.operations) {
        let kind = match operation.action {
            Action::Acquire(Mode::R, _) => "acquire R",
            Action::Acquire(Mode::U, _) => "acquire U",
            Action::Acquire(Mode::X, _) => "acquire X",
            Action::Release(_) => "release",
            Action::Degrade(_) | Action::DegradeToUpdate(_) => "degrade",
        };
        *counts.entry(kind).or_default() += 1;
    }
    counts
}
