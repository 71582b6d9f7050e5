//! The figures of seed 002, Table 3, for one program.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use model::ids::{FunctionId, NodeId, VariableId};
use model::pair::Atomicity;
use model::plan::Plan;
use model::program::Place;

use crate::admit::{Admission, Facts};
use crate::emit;
use crate::resolve::Resolution;

/// The row that counts the places where a lock is acquired.
pub const REGIONS: &str = "regions";
/// The row with the mean number of nodes that may run between an acquisition and the release of its hold.
pub const MEAN_REGION: &str = "mean length of a region, in nodes";

/// Counts over one inference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Name and value, in the order of the table.
    pub rows: Vec<(String, String)>,
}

impl Statistics {
    /// Counts.
    #[must_use]
    pub fn of(facts: &Facts<'_>, admission: &Admission, resolution: &Resolution, plan: &Plan, program_locks: usize) -> Self {
        let mut rows = Vec::new();
        let mut row = |name: &str, value: String| rows.push((name.to_owned(), value));
        row("functions", facts.program.functions.len().to_string());
        row("variables", facts.variables.iter().count().to_string());
        row(
            "variables that united several places",
            facts.variables.iter().filter(|&(v, _)| facts.variables.united(v).count() > 1).count().to_string(),
        );
        row("places that never ran and may be too many variables", facts.variables.ambiguous().len().to_string());
        row("accesses of shared variables that are more than one field", precision(facts, admission));
        row("shared variables", admission.shared.len().to_string());
        row("  of these not protected by one lock", admission.unprotected.len().to_string());
        row("pairs with remote writes between", admission.interleaved.to_string());
        row("pairs that the program's locks guarantee", admission.guaranteed.to_string());
        row("pairs on memory of one thread", admission.private.to_string());
        row("pairs of unrelated types, on memory used twice", admission.unrelated.to_string());
        row("pairs on memory that threads hand over", admission.handed_over.to_string());
        row("pairs on memory written only before it is read", admission.constant.to_string());
        row("pairs before any thread is started", admission.early.to_string());
        row("accesses of locked variables before any thread is started", early(facts, resolution).to_string());
        row("pairs refused", admission.refused.len().to_string());
        for (name, atomicity) in [("READ", Atomicity::Read), ("EXCLUSIVE", Atomicity::Exclusive)] {
            let pairs = admission.pairs.iter().filter(|pair| pair.atomicity == atomicity);
            let (count, between) = pairs.fold((0_u64, 0_u64), |(n, sum), pair| (n + 1, sum + pair.interior.len() as u64));
            let tenths = (between * 10).checked_div(count).unwrap_or_default();
            row(&format!("pairs admitted, {name}"), format!("{count} (mean length {}.{} nodes)", tenths / 10, tenths % 10));
        }
        row("locks", plan.locks.len().to_string());
        let counts = emit::count(plan);
        for kind in ["acquire R", "acquire U", "acquire X", "degrade", "release"] {
            row(kind, counts.get(kind).copied().unwrap_or_default().to_string());
            if kind == "degrade" {
                row("  before deadlock resolution", resolution.degrades_before.to_string());
            }
        }
        let (regions, nodes) = regions(resolution);
        row(REGIONS, regions.to_string());
        row(MEAN_REGION, format!("{}.{}", nodes / regions.max(1), nodes * 10 / regions.max(1) % 10));
        for saving in &resolution.savings {
            let value = format!("{} operations, {} executions a run", saving.operations, saving.executions);
            row(&format!("saved by optimization '{}'", saving.optimization), value);
        }
        row("acquisitions added by deadlock resolution", resolution.hoists.to_string());
        row("pairs given up by deadlock resolution", resolution.refused.len().to_string());
        row("locks tangled before modes are looked at", resolution.tangled.to_string());
        row("the program's own locks", program_locks.to_string());
        row("cycles of the program's own locks", resolution.program_cycles.len().to_string());
        Self { rows }
    }
}

/// Of all nodes that access shared variables, the share that accesses one with several fields: how coarse variables are. Fields of one
/// type, elements of one array and bytes behind one pointer count as one field each.
fn precision(facts: &Facts<'_>, admission: &Admission) -> String {
    let coarse = |variable| facts.variables.get(variable).places.iter().filter(|place| !matches!(place, Place::Pointer { .. })).count() > 1;
    let (mut all, mut several) = (0_u64, 0_u64);
    for function in (0..facts.program.functions.len()).map(FunctionId::new) {
        let mut nodes: BTreeMap<NodeId, bool> = BTreeMap::new();
        for (node, access) in facts.accesses.of_function(function).filter(|(_, access)| admission.shared.contains(access.variable)) {
            *nodes.entry(node).or_default() |= coarse(access.variable);
        }
        all += nodes.len() as u64;
        several += nodes.values().filter(|coarse| **coarse).count() as u64;
    }
    let tenths = (several * 1000).checked_div(all).unwrap_or_default();
    format!("{several} of {all} ({}.{} %)", tenths / 10, tenths % 10)
}

/// Accesses that get no lock because they come before all threads.
fn early(facts: &Facts<'_>, resolution: &Resolution) -> usize {
    let locked: BTreeSet<VariableId> = resolution.order.iter().copied().collect();
    let of_function = |function: FunctionId| facts.accesses.of_function(function).filter(move |(node, _)| facts.early.has(function, *node));
    let all = (0..facts.program.functions.len()).map(FunctionId::new).flat_map(of_function);
    all.filter(|(_, access)| locked.contains(&access.variable)).count()
}

/// How many acquisitions there are, and in how many nodes their holds may be held, added up.
fn regions(resolution: &Resolution) -> (usize, usize) {
    let spots = resolution.placements.spots.values();
    let acquisitions = spots.flat_map(|placement| placement.acquires.keys().map(move |label| (placement, label)));
    acquisitions.fold((0, 0), |(count, nodes), (placement, label)| {
        let held = placement.running.values().filter(|holds| holds.labels.contains_key(label)).count();
        (count + 1, nodes + held)
    })
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
        for (name, value) in &self.rows {
            writeln!(f, "{name:width$}  {value}")?;
        }
        Ok(())
    }
}
