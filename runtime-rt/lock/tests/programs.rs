//! C and C++ programs linked with the archive, each run 20 times under a time limit, with counters as expected. What they say of
//! themselves is explained in `runner`.
//!
//! The archive is built here, with the profile that the tool embeds, in a target folder of its own.

mod runner;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use runner::{Extent, Outcome, Place, compile, run_all};

const RUNS: usize = 20;
const PARALLEL: usize = 6;

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn scratch() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

fn place() -> Place {
    Place { programs: here().join("tests/programs"), scratch: scratch().to_owned(), archive: archive() }
}

/// The archive, as the tool embeds it.
fn archive() -> PathBuf {
    let target = scratch().join("archive");
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .current_dir(here())
        .args(["build", "--quiet", "--profile", "runtime", "--package", "atomfix-rt-lock", "--target-dir"])
        .arg(&target);
    for variable in ["RUSTC_WORKSPACE_WRAPPER", "RUSTC_WRAPPER", "CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS"] {
        cargo.env_remove(variable);
    }
    assert!(cargo.status().expect("cargo starts").success(), "the archive builds");
    target.join("runtime/libatomfix_rt_lock.a")
}

#[test]
fn programs_end_with_the_right_result_and_counters() {
    let only = std::env::var("PROGRAM").unwrap_or_default();
    let runs = std::env::var("RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(RUNS);
    let outcomes = run_all(&place(), &Extent { runs, parallel: PARALLEL, only });
    let wrong = outcomes.iter().filter_map(|outcome| {
        let Outcome { name, runs, took, wrong } = outcome;
        wrong.as_ref().map(|wrong| format!("{name}, run {runs} after {took:.1?}: {wrong}"))
    });
    let complaints: Vec<String> = wrong.collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Bytes of machine code in an executable.
fn code(binary: &Path) -> u64 {
    let output = Command::new("llvm-size-22").arg("-A").arg(binary).output().expect("llvm-size-22 starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find(|line| line.starts_with(".text ")).expect("an executable with code");
    line.split_whitespace().nth(1).and_then(|size| size.parse().ok()).expect("a size")
}

#[test]
fn the_archive_adds_at_most_64_kib_of_code() {
    let mut place = place();
    place.scratch = scratch().join("size");
    fs::create_dir_all(&place.scratch).expect("the scratch folder is writable");
    let program = runner::read(here().join("tests/programs/constructor.cpp")).remove(0);
    let with = compile(&program, &place).expect("it compiles");
    let without = scratch().join("without");
    let source = scratch().join("without.c");
    fs::write(&source, "int main(void) { return 0; }\n").expect("the scratch folder is writable");
    let compiled = Command::new("clang-22").args(["-O2", "-o"]).arg(&without).arg(&source).status().expect("clang-22 starts");
    assert!(compiled.success());
    let added = code(&with) - code(&without);
    assert!(added > 4096, "the archive is linked in");
    assert!(added <= 64 * 1024, "{added} bytes");
}
