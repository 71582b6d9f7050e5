//! Applies a plan that no checker has seen, which the `atomfix` command refuses to do: for programs that must end, with the results
//! of the original, whatever locks are in them.
//!
//! The output carries the same record as a hardened program, so `atomfix check` explores it with its plan.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use capture::{Capture, Hardened, Relink, relink};
use model::plan::Plan;
use model::program::Program;
use passes::{Transform, transform};

/// A program that was built with `atomfix cc`, taken apart.
#[derive(Debug)]
pub struct Door {
    original: PathBuf,
    capture: Capture,
    archive: PathBuf,
    /// Its functions, for making plans.
    pub program: Program,
}

impl Door {
    /// Opens a program. `archive` defines the locks.
    pub fn open(original: &Path, archive: &Path) -> Result<Self> {
        let capture = capture::open(original).with_context(|| original.display().to_string())?;
        let modules = capture.units.iter().map(|unit| passes::extract::extract(&unit.bitcode)).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { original: std::fs::canonicalize(original)?, capture, archive: archive.to_owned(), program: Program::link(modules) })
    }

    /// The build that a plan must be made for.
    #[must_use]
    pub fn build(&self) -> &str {
        &self.capture.build
    }

    /// The program with the plan's locks, at `out`; how many operations were injected.
    pub fn harden(&self, plan: &Plan, out: &Path) -> Result<u64> {
        let what = Transform { plan: Some(plan), hooks: None, own: &BTreeSet::new() };
        let units = self.capture.units.iter().map(|unit| transform(&unit.bitcode, &what)).collect::<Result<Vec<_>, _>>()?;
        let operations = units.iter().map(|unit| unit.operations).sum();
        let plan_text = toml::to_string(plan).context("a plan has a TOML form")?;
        let hardened =
            Hardened { original: self.original.clone(), original_hash: self.capture.build.clone(), plan: plan_text, certificate: None };
        let request = Relink {
            bitcode: units.into_iter().map(|unit| (unit.operations > 0).then_some(unit.bitcode)).collect(),
            extra_bitcode: vec![("the table of locks".to_owned(), passes::inject::lock_table(plan)?)],
            archives: vec![self.archive.clone()],
            link_args: Vec::new(),
            hardened: Some(hardened),
            out: out.to_owned(),
        };
        relink(&self.capture, &request)?;
        Ok(operations)
    }
}
