//! Runs all checks and writes the certificate.

use std::collections::BTreeSet;

use model::certificate::Certificate;
use model::ids::LockId;
use model::plan::Plan;
use model::program::{Place, Program};

use super::calls::Effects;
use super::coverage::{Frame, violations};
use super::machine::{Operations, operations};
use super::order::{AnyLock, Wait, circles};

/// What the checker found.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// For the report.
    pub certificate: Certificate,
    /// Locks that have part in a violation: without them the rest of the plan may stand.
    pub suspects: BTreeSet<LockId>,
}

/// Checks `plan` against `program`. `protects` lists, for each lock of the plan, the places that it protects.
#[must_use]
pub fn check(program: &Program, plan: &Plan, protects: &[BTreeSet<Place>]) -> Certificate {
    judge(program, plan, protects).certificate
}

/// As `check`, and names the locks to blame.
#[must_use]
pub fn judge(program: &Program, plan: &Plan, protects: &[BTreeSet<Place>]) -> Verdict {
    let operations = operations(plan);
    let effects = Effects::of(program, &operations);
    let mut wrong = Vec::new();
    let mut suspects = BTreeSet::new();
    let mut limits = Vec::new();
    let nothing = Operations::default();
    for (l, lock) in plan.locks.iter().enumerate() {
        let Some(places) = protects.get(l).filter(|_| lock.id.index() == l) else {
            wrong.push(format!("{} is out of place, or it is unknown what it protects", lock.id));
            continue;
        };
        for (index, function) in program.functions.iter().enumerate().filter(|_| lock.enabled) {
            let own = operations.get(&(lock.id, function.key));
            if own.is_none() && !lock.pairs.iter().any(|pair| pair.function == function.key) && !touches(function, places) {
                continue;
            }
            let frame = Frame { index, function, lock, places, operations: own.unwrap_or(&nothing), effects: &effects };
            match &function.refused {
                None => {
                    let violations = violations(&frame);
                    suspects.extend((!violations.is_empty()).then_some(lock.id));
                    wrong.extend(violations);
                }
                Some(_) if own.is_some() => {
                    suspects.insert(lock.id);
                    wrong.push(format!("{} has operations in {}, which is left alone", lock.id, function.name));
                }
                Some(why) => limits.push(format!("{} does not protect {}, which is left alone: {why}", lock.id, function.name)),
            }
        }
    }
    let known: BTreeSet<_> = program.functions.iter().map(|function| function.key).collect();
    if operations.keys().any(|(_, function)| !known.contains(function)) {
        wrong.push("the plan has operations in a function that the program does not have".to_owned());
    }
    for (((held, held_mode), (wanted, wanted_mode)), functions) in circles(program, &operations, &effects) {
        let names: Vec<&str> = functions.iter().map(|&f| program.functions[f].name.as_str()).collect();
        let text = format!(
            "{} in {held_mode} is held while {} is taken in {wanted_mode}, in {}",
            name(&effects, held),
            name(&effects, wanted),
            names.join(", ")
        );
        let wait: Wait = ((held, held_mode), (wanted, wanted_mode));
        if is_the_programs(&wait) {
            limits.push(format!("the program's own order of locks, left as it is: {text}"));
        } else {
            suspects.extend([wait.0.0, wait.1.0].iter().filter_map(|lock| if let AnyLock::Injected(id) = lock { Some(*id) } else { None }));
            wrong.push(format!("part of a circle: {text}"));
        }
    }
    let checked = wrong.is_empty();
    let order = plan.locks.iter().filter(|lock| lock.enabled).map(|lock| format!("{} {}", lock.id, lock.variable)).collect();
    let certificate = Certificate { order, checked, findings: wrong.into_iter().chain(limits).collect() };
    Verdict { certificate, suspects }
}

fn touches(function: &model::program::Function, places: &BTreeSet<Place>) -> bool {
    function.nodes.iter().flat_map(|node| node.accesses()).any(|access| places.contains(&access.place))
}

fn is_the_programs(((held, _), (wanted, _)): &Wait) -> bool {
    matches!((held, wanted), (AnyLock::Program(_), AnyLock::Program(_)))
}

fn name(effects: &Effects, lock: AnyLock) -> String {
    match lock {
        AnyLock::Injected(id) => id.to_string(),
        AnyLock::Program(name) => effects.text(name),
    }
}
