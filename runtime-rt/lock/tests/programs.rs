//! C and C++ programs linked with the archive, each run 20 times under a time limit, with counters as expected. What they say of
//! themselves is explained in `runner`.

mod runner;

use std::fs;
use std::path::{Path, PathBuf};
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
    fs::write(&path, archives::LOCK).expect("the scratch folder is writable");
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
}
