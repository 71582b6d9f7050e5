//! Chooses the operations of each body and inserts them.
//!
//! At one place: releases, then degrades, then acquires by ascending lock (`model::plan`).

use std::collections::{BTreeMap, BTreeSet};

use model::abi::{LOCK_ACQUIRE, LOCK_BYTES, LOCK_DEGRADE, LOCK_DEGRADE_TO_UPDATE, LOCK_GIVE_UP, LOCK_RELEASE, LOCK_TABLE};
use model::ids::{FunctionKey, LockId};
use model::plan::{Action, At, Plan};

use super::glance::{Operation, glance_at, single_reads};
use super::place::{Rank, anchor, rank};
use crate::PassError;
use crate::extract::{Body, Places, resolve};
use crate::instrument::Declared;
use crate::llvm::{Builder, Function, Instruction, Module, Value};

/// The operations of one body, in the order of insertion.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlannedBody {
    operations: Vec<(At, LockId, Action)>,
}

impl PlannedBody {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.operations.len()
    }
}

/// The operations of the plan's enabled locks for each body. Checks every place of every known function, those of disabled
/// locks included; functions that are not in this module are none of its business.
pub(crate) fn operations_of(plan: &Plan, bodies: &[Body<'_>]) -> Result<Vec<PlannedBody>, PassError> {
    let mut wanted: BTreeMap<FunctionKey, BTreeSet<(At, LockId, Action, bool)>> = BTreeMap::new();
    for lock in &plan.locks {
        for operation in &lock.operations {
            wanted.entry(operation.function).or_default().insert((operation.at, lock.id, operation.action, lock.enabled));
        }
    }
    bodies
        .iter()
        .map(|body| {
            let Some(operations) = wanted.get(&body.key) else { return Ok(PlannedBody::default()) };
            let mut ranked: Vec<(Rank, At, u8, LockId, Action)> = Vec::new();
            for &(at, lock, action, enabled) in operations {
                let rank = rank(body, at)?;
                if enabled {
                    ranked.push((rank, at, turn(action), lock, action));
                }
            }
            if let (Some(refusal), false) = (body.refused, ranked.is_empty()) {
                return Err(PassError::Refused { function: body.function.name(), key: body.key, why: refusal.why.to_owned() });
            }
            ranked.sort_unstable();
            Ok(PlannedBody { operations: ranked.into_iter().map(|(_, at, _, lock, action)| (at, lock, action)).collect() })
        })
        .collect()
}

fn turn(action: Action) -> u8 {
    match action {
        Action::Release(_) => 0,
        Action::Degrade(_) | Action::DegradeToUpdate(_) => 1,
        Action::Acquire(..) => 2,
    }
}

/// The operations of a body, each with the instruction before which it goes.
pub(crate) struct Anchored<'m>(Vec<Operation<'m>>);

/// Finds where the operations go, and splits edges for them. Comes before anything is inserted: what stands first in a
/// block is to be the program's.
pub(crate) fn anchored<'m>(body: &Body<'m>, planned: &PlannedBody) -> Result<Anchored<'m>, PassError> {
    let mut found: Vec<Operation<'m>> = Vec::with_capacity(planned.operations.len());
    let mut last = None;
    for &(at, lock, action) in &planned.operations {
        // An edge is split for its first operation; its others stand at the same instruction.
        let instruction = match last {
            Some((place, instruction)) if place == at => instruction,
            _ => anchor(body, at)?,
        };
        last = Some((at, instruction));
        found.push(Operation { at, before: instruction, lock, action });
    }
    Ok(Anchored(found))
}

/// Calls of functions that the plan lists as ones that may wait, or that never come back.
pub(crate) fn listed_calls<'m>(module: Module<'m>, plan: &Plan, body: &Body<'m>) -> Vec<Instruction<'m>> {
    if plan.blocking.is_empty() && plan.endings.is_empty() {
        return Vec::new();
    }
    let places = Places::new(module, module.source_name());
    let is_listed = |call: &Instruction<'m>| {
        let callee = resolve(call.called()).as_function();
        callee.is_some_and(|callee| plan.blocking.contains(&callee.name()) || plan.endings.contains(&places.symbol(callee.into())))
    };
    body.function.instructions().filter(|instruction| instruction.is_call()).filter(is_listed).collect()
}

/// Gives up before each of these calls what the thread holds, whoever acquired it.
pub(crate) fn give_up_before<'m>(module: Module<'m>, function: Function<'m>, calls: &[Instruction<'m>]) {
    let declared = Declared::new(module);
    for &call in calls {
        let builder = Builder::new(module, function);
        builder.before(call);
        builder.call(declared.hook(&LOCK_GIVE_UP), &[]);
    }
}

/// Whether a glance may do for a region in R that is one load. Not where hooks follow: what explores schedules, or records them, is to
/// see the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Glances {
    /// It may.
    Yes,
    /// The lock is acquired.
    No,
}

/// Inserts the operations of one body.
pub(crate) fn apply<'m>(
    (body, anchored): (&Body<'m>, &Anchored<'m>),
    glances: Glances,
    frame: Value<'m>,
    builder: &Builder<'m>,
    declared: Declared<'m>,
) {
    let reads = if glances == Glances::Yes { single_reads(body, &anchored.0) } else { Vec::new() };
    let calls: Vec<Instruction<'m>> = anchored.0.iter().map(|&operation| insert(operation, frame, builder, declared)).collect();
    glance_at(&reads, &calls, builder, declared);
}

fn insert<'m>(operation: Operation<'m>, frame: Value<'m>, builder: &Builder<'m>, declared: Declared<'m>) -> Instruction<'m> {
    let Operation { before, lock, action, .. } = operation;
    let module = declared.module();
    builder.before(before);
    let table = module.global(LOCK_TABLE, module.array(module.integer(8), 0));
    let operand = module.constant_address(table, u64::from(lock.0) * LOCK_BYTES as u64);
    let call = match action {
        Action::Acquire(mode, label) => {
            let arguments = [operand, declared.u32(mode as u32), declared.u32(label.0), frame];
            builder.call(declared.hook(&LOCK_ACQUIRE), &arguments)
        }
        Action::Release(label) => builder.call(declared.hook(&LOCK_RELEASE), &[operand, declared.u32(label.0), frame]),
        Action::Degrade(label) => builder.call(declared.hook(&LOCK_DEGRADE), &[operand, declared.u32(label.0), frame]),
        Action::DegradeToUpdate(label) => builder.call(declared.hook(&LOCK_DEGRADE_TO_UPDATE), &[operand, declared.u32(label.0), frame]),
    };
    call.as_instruction().expect("a call is an instruction")
}
