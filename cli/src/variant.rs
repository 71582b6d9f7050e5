//! Builds a variant of a captured program: a plan's locks in it, or hooks, or both, and the runtime archive that they call.
//!
//! Units are transformed in parallel (`units`); their order does not show in the result.

use std::path::Path;

use capture::{Capture, Hardened, Relink, relink};
use model::pass::Hooks;
use model::plan::Plan;
use model::program::{Gap, Uncovered};

use crate::exit::Failure;
use crate::runtime::Runtime;
use crate::units;

/// What to build.
pub(crate) struct Variant<'a> {
    /// Locks to inject.
    pub(crate) plan: Option<&'a Plan>,
    /// Hooks to call.
    pub(crate) hooks: Option<Hooks>,
    /// What defines them.
    pub(crate) runtime: Runtime,
    /// What the output's link record says of its origin.
    pub(crate) hardened: Option<Hardened>,
    /// More arguments for the link.
    pub(crate) link_args: Vec<String>,
}

/// What was built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Built {
    /// Sites of all units, inline functions once for each unit that carries them.
    pub(crate) sites: u64,
    /// Operations of the plan that were inserted.
    pub(crate) operations: u64,
    /// Functions into which nothing was inserted.
    pub(crate) refused: Vec<Uncovered>,
}

/// Builds it at `out`, whole or not at all.
pub(crate) fn build(capture: &Capture, variant: Variant<'_>, out: &Path) -> Result<Built, Failure> {
    let (transformed, table) = units::transform(capture, variant.plan, variant.hooks)?;
    let refused = transformed.iter().flat_map(|unit| &unit.refused);
    let refused = refused.map(|(what, why)| Uncovered { what: what.clone(), why: why.clone(), gap: Gap::Function });
    let built = Built {
        sites: transformed.iter().map(|unit| unit.sites).sum(),
        operations: transformed.iter().map(|unit| unit.operations).sum(),
        refused: refused.collect(),
    };
    let scratch =
        tempfile::tempdir().map_err(|error| Failure::usage(format!("no temporary folder: {error}"), "set TMPDIR to a writable folder"))?;
    let archive = variant.runtime.unpack(scratch.path()).map_err(|error| {
        Failure::usage(format!("{}: {error}", scratch.path().display()), "free some space, or set TMPDIR to a writable folder")
    })?;
    let request = Relink {
        // A unit in which nothing was inserted keeps the object that the user's build made.
        bitcode: transformed.into_iter().map(|unit| (unit.operations > 0 || variant.hooks.is_some()).then_some(unit.bitcode)).collect(),
        extra_bitcode: table.map(|table| ("the table of locks".to_owned(), table)).into_iter().collect(),
        archives: vec![archive],
        link_args: variant.link_args,
        hardened: variant.hardened,
        out: out.to_owned(),
    };
    relink(capture, &request)?;
    Ok(built)
}
