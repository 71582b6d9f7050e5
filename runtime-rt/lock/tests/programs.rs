//! C and C++ programs linked with the archive, each run 20 times under a time limit, with counters as expected. What they say of
//! themselves is explained in `runner`.

mod runner;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use runner::{Extent, Journal, Outcome, Place, Program, run_all};

const RUNS: usize = 20;
const PARALLEL: usize = 6;
const LIMIT: Duration = Duration::from_secs(60);

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
    let path = scratch().join("libatomfix_rt_lock.a");
    fs::write(&path, archives::LOCK.content).expect("the scratch folder is writable");
    path
}

/// Keeps nothing from one test to the next.
struct Forgetful;

impl Journal for Forgetful {
    fn before(&self, program: &Program) -> Outcome {
        Outcome { name: program.name.clone(), ..Outcome::default() }
    }

    fn note(&self, _: &Program, _: &Outcome) {}
}

#[test]
fn programs_end_with_the_right_result_and_counters() {
    let only = std::env::var("PROGRAM").unwrap_or_default();
    let runs = std::env::var("RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(RUNS);
    let outcomes = run_all(&place(), &Extent { runs, parallel: PARALLEL, only, limit: LIMIT }, &Forgetful);
    let wrong = outcomes.iter().filter_map(|outcome| {
        let Outcome { name, runs, took, wrong } = outcome;
        wrong.as_ref().map(|wrong| format!("{name}, run {runs} after {took:.1?}: {wrong}"))
    });
    let complaints: Vec<String> = wrong.collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    if std::env::var_os("PROGRAM").is_none() {
        let objects: Vec<PathBuf> = outcomes.iter().map(|outcome| scratch().join(format!("{}.o", outcome.name))).collect();
        let called = symbols(&["--undefined-only"], &objects);
        let uncalled: Vec<String> = symbols(&["--defined-only", "--extern-only"], &[archive()])
            .into_iter()
            .filter(|door| {
                !door.ends_with(':') && !called.contains(door) && !door.starts_with("__atomfix_") && !UNCALLED.contains(&door.as_str())
            })
            .collect();
        assert!(uncalled.is_empty(), "no program calls {}", uncalled.join(", "));
    }
}

/// Functions that stand in front of ones which not every libc has that these tests run with.
const UNCALLED: [&str; 4] = ["__isoc23_scanf", "__isoc23_fscanf", "__isoc23_vscanf", "__isoc23_vfscanf"];

/// The symbols of these files.
fn symbols(which: &[&str], files: &[PathBuf]) -> BTreeSet<String> {
    let listed =
        Command::new("llvm-nm-22").args(["--format=just-symbols", "--quiet"]).args(which).args(files).output().expect("llvm-nm-22 starts");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    String::from_utf8_lossy(&listed.stdout).lines().map(str::to_owned).collect()
}
