//! The lock archive, built here with the profile that the tool embeds, in a target folder of its own (a shared one would wait for
//! cargo's lock).

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Builds the archive below `folder`, unless that was done before, and says where it is.
pub fn lock(folder: &Path) -> Result<PathBuf> {
    let target = folder.join("target");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(env!("CARGO_MANIFEST_DIR")).args(["build", "--quiet", "--profile", "runtime", "--package", "atomfix-rt-lock"]);
    cargo.arg("--target-dir").arg(&target);
    // What clippy and coverage tools set is meant for the outer build, not for code that runs inside other programs.
    for variable in ["RUSTC_WORKSPACE_WRAPPER", "RUSTC_WRAPPER", "CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS", "CLIPPY_ARGS"] {
        cargo.env_remove(variable);
    }
    ensure!(cargo.status().context("cannot start cargo")?.success(), "the lock archive does not build");
    Ok(target.join("runtime/libatomfix_rt_lock.a"))
}
