//! The plan of a hardened program with pthread's reader-writer locks in place of ours, to measure what ours are worth.
//!
//! Never shipped: `atomfix harden` knows nothing of it. `locks/rwlocks.c` says what it does not do.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use capture::{Relink, relink};
use passes::Transform;

use crate::child::Child;

const LIMIT: Duration = Duration::from_secs(60);

/// Builds it from a program that has a plan.
pub fn build(program: &Path, out: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("locks/rwlocks.c");
    Child::new("clang-22", LIMIT).within(folder.path()).args(["-O2", "-c", "-o", "rwlocks.o"]).arg(source).run()?.succeeded()?;
    Child::new("ar", LIMIT).within(folder.path()).args(["rcs", "librwlocks.a", "rwlocks.o"]).run()?.succeeded()?;

    let mut plan = program.as_os_str().to_owned();
    plan.push(".atomfix/plan.toml");
    let plan: model::plan::Plan = toml::from_str(&fs::read_to_string(&plan).with_context(|| plan.display().to_string())?)?;
    let capture = capture::open(program)?;
    let transform = Transform { plan: Some(&plan), hooks: None, own: &BTreeSet::new() };
    let mut bitcode = Vec::new();
    for unit in &capture.units {
        let transformed = passes::transform(&unit.bitcode, &transform)?;
        bitcode.push((transformed.operations > 0).then_some(transformed.bitcode));
    }
    let request = Relink {
        bitcode,
        extra_bitcode: vec![("the table of locks".to_owned(), passes::inject::lock_table(&plan)?)],
        archives: vec![folder.path().join("librwlocks.a")],
        link_args: Vec::new(),
        hardened: None,
        out: out.to_owned(),
    };
    relink(&capture, &request)?;
    Ok(())
}
