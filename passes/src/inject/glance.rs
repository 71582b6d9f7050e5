//! Regions in R that are one load: a glance at the lock does for them (`runtime-rt/lock`, `glance`), as long as nobody writes.
//!
//! Not here: volatile loads, which are not to be done twice; library calls that read; loads that several locks are taken for.

use std::collections::{HashMap, HashSet};

use model::abi::{LOCK_GLANCE, LOCK_LAST};
use model::ids::LockId;
use model::pair::Mode;
use model::plan::{Action, At};

use crate::extract::Body;
use crate::instrument::Declared;
use crate::llvm::{Builder, Instruction, Opcode};

/// An operation of the plan, with the instruction before which it goes.
#[derive(Clone, Copy)]
pub(super) struct Operation<'m> {
    pub(super) at: At,
    pub(super) before: Instruction<'m>,
    pub(super) lock: LockId,
    pub(super) action: Action,
}

/// A region that is one load, with which of the body's operations begin and end it.
pub(super) struct SingleRead<'m> {
    load: Instruction<'m>,
    acquire: usize,
    releases: Vec<usize>,
}

/// The regions that are one load: nothing else is acquired for it, and every edge out of its node releases.
pub(super) fn single_reads<'m>(body: &Body<'m>, operations: &[Operation<'m>]) -> Vec<SingleRead<'m>> {
    let mut acquires: HashMap<Instruction<'m>, usize> = HashMap::new();
    let mut released: HashMap<(LockId, Action, At), usize> = HashMap::new();
    for (index, operation) in (0..).zip(operations) {
        match operation.action {
            Action::Acquire(..) => *acquires.entry(operation.before).or_default() += 1,
            Action::Release(_) => drop(released.insert((operation.lock, operation.action, operation.at), index)),
            Action::Degrade(_) | Action::DegradeToUpdate(_) => {}
        }
    }
    let single = |(acquire, &Operation { at, before: load, lock, action }): (usize, &Operation<'m>)| {
        let (Action::Acquire(Mode::R, label), At::Before(node)) = (action, at) else { return None };
        if load.opcode() != Opcode::LLVMLoad || load.is_volatile() || acquires.get(&load) != Some(&1) {
            return None;
        }
        let ends: HashSet<At> = body.points[node.index()].successors.iter().map(|&next| At::Edge(node, next)).collect();
        let releases: Option<Vec<usize>> =
            ends.into_iter().map(|end| released.get(&(lock, Action::Release(label), end)).copied()).collect();
        releases.filter(|releases| !releases.is_empty()).map(|releases| SingleRead { load, acquire, releases })
    };
    (0..).zip(operations).filter_map(single).collect()
}

/// Lets glances do for these regions. `calls` are what the operations were inserted as.
pub(super) fn glance_at<'m>(reads: &[SingleRead<'m>], calls: &[Instruction<'m>], builder: &Builder<'m>, declared: Declared<'m>) {
    for SingleRead { load, acquire, releases } in reads {
        let Some((&release, others)) = releases.split_first() else { continue };
        builder.read_at_a_glance(declared.hook(&LOCK_GLANCE), *load, [calls[*acquire], calls[release]], LOCK_LAST as u64);
        others.iter().for_each(|&other| calls[other].erase());
    }
}
