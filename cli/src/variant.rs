//! Builds a variant of a captured program: a plan's locks in it, or hooks, or both, and the runtime archive that they call.
//!
//! Units are transformed in parallel; their order does not show in the result.

use std::path::Path;

use model::plan::Plan;
use model::program::{Gap, Uncovered};
use passes::capture::{Capture, Hardened, Relink, relink};
use passes::{Hooks, PassError, Transform};
use rayon::prelude::*;

use crate::exit::Failure;
use crate::runtime::Runtime;

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
    let transform = Transform { plan: variant.plan, hooks: variant.hooks };
    let transformed = capture
        .units
        .par_iter()
        .map(|unit| passes::transform(&unit.bitcode, &transform).map_err(|error| in_unit(error, &unit.origin)))
        .collect::<Result<Vec<_>, _>>()?;
    let refused = transformed.iter().flat_map(|unit| &unit.refused);
    let refused = refused.map(|(what, why)| Uncovered { what: what.clone(), why: why.clone(), gap: Gap::Function });
    let built = Built {
        sites: transformed.iter().map(|unit| unit.sites).sum(),
        operations: transformed.iter().map(|unit| unit.operations).sum(),
        refused: refused.collect(),
    };
    let mut extra_bitcode = Vec::new();
    if let Some(plan) = variant.plan {
        extra_bitcode.push(("the table of locks".to_owned(), passes::inject::lock_table(plan)?));
    }
    let scratch =
        tempfile::tempdir().map_err(|error| Failure::usage(format!("no temporary folder: {error}"), "set TMPDIR to a writable folder"))?;
    let archive = variant.runtime.unpack(scratch.path()).map_err(|error| {
        Failure::usage(format!("{}: {error}", scratch.path().display()), "free some space, or set TMPDIR to a writable folder")
    })?;
    let request = Relink {
        // A unit in which nothing was inserted keeps the object that the user's build made.
        bitcode: transformed.into_iter().map(|unit| (unit.operations > 0 || variant.hooks.is_some()).then_some(unit.bitcode)).collect(),
        extra_bitcode,
        archives: vec![archive],
        link_args: variant.link_args,
        hardened: variant.hardened,
        out: out.to_owned(),
    };
    relink(capture, &request)?;
    Ok(built)
}

/// The error, with the unit that it is about.
fn in_unit(error: PassError, origin: &str) -> Failure {
    let failure = Failure::from(error);
    Failure { what: format!("{origin}: {}", failure.what), ..failure }
}
