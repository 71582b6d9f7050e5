//! Builds the runtime archives and puts them where `runtime.rs` embeds them from, so that the `atomfix` binary is one file that works.
//!
//! Stable cargo passes no archive from one crate to another, so this runs cargo itself, with a target folder of its own under `OUT_DIR`
//! (a shared one would wait for ever on cargo's lock).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const ARCHIVES: [&str; 3] = ["record", "lock", "gate"];

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let workspace = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR")).join("..");
    for folder in ["runtime-rt", "model", "explorer", "Cargo.toml", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={}", workspace.join(folder).display());
    }
    build(&workspace, &out.join("runtime"));
    for archive in ARCHIVES {
        let name = format!("libatomfix_rt_{archive}.a");
        fs::copy(out.join("runtime/runtime").join(&name), out.join(&name)).expect("the archive that cargo has just built");
    }
}

fn build(workspace: &Path, target: &Path) {
    let mut cargo = Command::new(env::var_os("CARGO").expect("cargo sets CARGO"));
    cargo.current_dir(workspace).args(["build", "--quiet", "--profile", "runtime", "--target-dir"]).arg(target);
    cargo.args(ARCHIVES.map(|archive| format!("--package=atomfix-rt-{archive}")));
    // What clippy and coverage tools set is meant for the outer build, not for code that runs inside other programs.
    for variable in ["RUSTC_WORKSPACE_WRAPPER", "RUSTC_WRAPPER", "CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS", "CLIPPY_ARGS"] {
        cargo.env_remove(variable);
    }
    let status = cargo.status().expect("cargo starts");
    assert!(status.success(), "the runtime archives do not build");
}
