//! Runs all checks and writes the certificate.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use model::certificate::{CERTIFICATE_SCHEMA, Certificate, Finding, Grounds, LockTitle, Part, Rung, Unordered};
use model::ids::{FunctionKey, LockId};
use model::plan::{Lock, Plan};
use model::program::{Place, Program};

use super::calls::{AnyLock, Asked, Effects};
use super::coverage::{Frame, violations};
use super::early::Early;
use super::machine::{Operations, by_function, operations};
use super::order::{Wait, order};
use super::spin::Touchers;

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
    let all = operations(plan);
    let effects = Effects::of(program, &all, &plan.endings);
    let early = Early::of(program, &effects);
    let users = users(program);
    let keys: BTreeMap<FunctionKey, usize> = program.functions.iter().enumerate().map(|(f, function)| (function.key, f)).collect();
    let mut wrong = Vec::new();
    let mut limits = Vec::new();
    let nothing = Operations::default();
    let mut asked = Asked::default();
    for (l, lock) in plan.locks.iter().enumerate() {
        let Some(places) = protects.get(l).filter(|_| lock.id.index() == l) else {
            let text = format!("{} is out of place, or it is unknown what it protects", lock.id);
            wrong.push(Finding { text, lock: Some(lock.id), part: Part::Whole });
            continue;
        };
        if !lock.enabled {
            continue;
        }
        let known: OnceCell<Touchers> = OnceCell::new();
        for index in concerned(&keys, lock, places, &users) {
            let function = &program.functions[index];
            let own = all.get(&(lock.id, function.key));
            let frame = Frame { index, function, lock, places, operations: own.unwrap_or(&nothing), effects: &effects, early: &early };
            match &function.refused {
                None => {
                    let touchers = || known.get_or_init(|| Touchers::of(program, &users, places));
                    wrong.extend(violations(&frame, &mut asked, touchers));
                }
                Some(why) if own.is_some() => {
                    let text = format!("{} has operations in {}, which is left alone: {why}", lock.id, function.name);
                    wrong.push(Finding { text, lock: Some(lock.id), part: Part::Whole });
                }
                Some(why) => limits.push(format!("{} does not protect {}, which is left alone: {why}", lock.id, function.name)),
            }
        }
    }
    for (lock, function) in all.keys().filter(|(_, function)| !keys.contains_key(function)) {
        let text = format!("{lock} has operations in {function}, which the program does not have");
        wrong.push(Finding { text, lock: Some(*lock), part: Part::Whole });
    }
    wrong.extend(plan.endings.iter().filter_map(|name| not_ending(program, &effects, name)));
    let order = order(program, &by_function(&all), &effects);
    wrong.extend(order.circles.iter().map(|(wait, functions)| in_a_circle(program, plan, &effects, wait, functions)));
    let checked = wrong.is_empty();
    let mut suspects: BTreeSet<LockId> = wrong.iter().filter_map(|finding| finding.lock).collect();
    suspects.extend(order.circles.keys().flat_map(|((held, _), (wanted, _))| [held, wanted]).filter_map(injected));
    let grounds = |lock: &Lock| Grounds {
        lock: lock.id,
        variable: lock.variable.clone(),
        pairs: lock.pairs.clone(),
        operations: lock.operations.len() as u64,
    };
    let certificate = Certificate {
        schema: CERTIFICATE_SCHEMA,
        build: plan.build.clone(),
        checked,
        order: order.rungs.iter().map(|(locks, why)| rung(plan, &effects, locks, *why)).collect(),
        locks: plan.locks.iter().filter(|lock| lock.enabled).map(grounds).collect(),
        refused: plan.refused.clone(),
        savings: plan.savings.clone(),
        wrong,
        limits,
    };
    Verdict { certificate, suspects }
}

/// Why locks may not be given up before calls of a function as one that never comes back.
fn not_ending(program: &Program, effects: &Effects, name: &str) -> Option<Finding> {
    let mut named = program.functions.iter().enumerate().filter(|(_, function)| function.call_name() == name).peekable();
    let why = if named.peek().is_none() { "is not in the program" } else { "may come back" };
    let is_wrong = named.peek().is_none() || named.any(|(f, _)| effects.comes_back(f));
    is_wrong.then(|| Finding { text: format!("{name} is listed among the endings, but {why}"), lock: None, part: Part::Whole })
}

fn injected(lock: &AnyLock) -> Option<LockId> {
    if let AnyLock::Injected(id) = lock { Some(*id) } else { None }
}

/// The functions that access each place.
fn users(program: &Program) -> BTreeMap<&Place, BTreeSet<usize>> {
    let mut users: BTreeMap<&Place, BTreeSet<usize>> = BTreeMap::new();
    for (f, function) in program.functions.iter().enumerate() {
        for access in function.nodes.iter().flat_map(|node| node.accesses()) {
            for place in access.places() {
                users.entry(place).or_default().insert(f);
            }
        }
    }
    users
}

/// The functions in which a lock has anything to do.
fn concerned(
    keys: &BTreeMap<FunctionKey, usize>,
    lock: &Lock,
    places: &BTreeSet<Place>,
    users: &BTreeMap<&Place, BTreeSet<usize>>,
) -> BTreeSet<usize> {
    let operations = lock.operations.iter().map(|operation| operation.function);
    let named = lock.pairs.iter().map(|pair| pair.function).chain(operations);
    let mut found: BTreeSet<usize> = places.iter().filter_map(|place| users.get(place)).flatten().copied().collect();
    found.extend(named.filter_map(|key| keys.get(&key)));
    found
}

/// What a wait that is on a circle says.
fn in_a_circle(program: &Program, plan: &Plan, effects: &Effects, wait: &Wait, functions: &BTreeSet<usize>) -> Finding {
    let ((held, held_mode), (wanted, wanted_mode)) = wait;
    let names: Vec<&str> = functions.iter().map(|&f| program.functions[f].name.as_str()).collect();
    let title = |lock: &AnyLock| title(plan, effects, lock);
    let text = format!(
        "part of a circle: {} is held in {held_mode} while {} is taken in {wanted_mode}, in {}",
        title(held),
        title(wanted),
        names.join(", ")
    );
    // The operations to look at are those of the function that takes the one while it holds the other.
    let lock = injected(wanted).or_else(|| injected(held));
    let own = functions.iter().map(|&f| program.functions[f].key);
    let in_function =
        |key: FunctionKey| plan.locks.iter().filter(|of| Some(of.id) == lock).flat_map(|of| &of.operations).find(|o| o.function == key);
    let place = own.filter_map(in_function).next().map(|operation| Part::Operations(operation.function, operation.at));
    Finding { text, lock, part: place.unwrap_or(Part::Whole) }
}

fn title(plan: &Plan, effects: &Effects, lock: &AnyLock) -> LockTitle {
    match lock {
        AnyLock::Injected(id) => LockTitle::Injected(*id, plan.locks.get(id.index()).map(|lock| lock.variable.clone()).unwrap_or_default()),
        AnyLock::Program(name) => LockTitle::Program(effects.text(*name)),
    }
}

fn rung(plan: &Plan, effects: &Effects, locks: &BTreeSet<AnyLock>, unordered: Option<Unordered>) -> Rung {
    Rung { locks: locks.iter().map(|lock| title(plan, effects, lock)).collect(), unordered }
}
