//! The programs that test every wait and every way out (`runtime-rt/lock/tests/programs`), as often as wanted: what `cargo test` does
//! twenty times.
//!
//! A full pass takes hours, so it can be interrupted: what is done is kept in a file, and counts again as long as archive and program
//! are the same.
//!
//! | field of a line | content |
//! |---|---|
//! | 1 | hash of the archive, the program and what programs share, in hexadecimal digits |
//! | 2 | name of the program |
//! | 3 | runs that were made, those of earlier lines included |
//! | 4 | seconds, likewise |
//! | 5 | what was wrong with the last of these runs; empty: nothing |
//!
//! Fields are separated by tabulators; of several lines with the same hash and name the last one counts.

#[path = "../../runtime-rt/lock/tests/runner/mod.rs"]
mod runner;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use model::ids::fnv1a;

use crate::archive;
use crate::table::Table;
use runner::{Extent, Journal, Outcome, Place, Program};

/// How often, and how.
#[derive(Clone, Debug)]
pub struct Pass {
    /// Runs of each program.
    pub runs: usize,
    /// Programs at a time.
    pub parallel: usize,
    /// The longest that a run may take.
    pub limit: Duration,
    /// Only programs whose name contains this.
    pub only: String,
    /// What to do with what earlier passes found.
    pub earlier: Earlier,
}

/// What to do with what earlier passes found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Earlier {
    /// Go on from there.
    Counts,
    /// Begin anew.
    Forgotten,
}

/// What came out.
#[derive(Debug)]
pub struct Outcomes(Vec<Outcome>);

/// Runs the programs; `tell` hears a line each time that one of them had a turn.
pub fn run(work: &Path, pass: &Pass, tell: &(dyn Fn(&str) + Sync)) -> Result<Outcomes> {
    let folder = work.join("robust");
    let scratch = tempfile::tempdir()?;
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime-rt/lock/tests/programs");
    let place = Place { programs, scratch: scratch.path().to_owned(), archive: archive::lock(&folder)? };
    let results = Results::open(&folder.join("results.tsv"), &place, pass, tell)?;
    let Pass { runs, parallel, limit, ref only, .. } = *pass;
    Ok(Outcomes(runner::run_all(&place, &Extent { runs, parallel, only: only.clone(), limit }, &results)))
}

/// The file of results.
struct Results<'a> {
    file: Mutex<fs::File>,
    earlier: BTreeMap<(String, String), Outcome>,
    /// The hash of what all programs share.
    shared: u64,
    wanted: usize,
    tell: &'a (dyn Fn(&str) + Sync),
}

impl<'a> Results<'a> {
    fn open(path: &Path, place: &Place, pass: &Pass, tell: &'a (dyn Fn(&str) + Sync)) -> Result<Self> {
        let earlier = match pass.earlier {
            Earlier::Counts => read(&fs::read_to_string(path).unwrap_or_default()),
            Earlier::Forgotten => BTreeMap::new(),
        };
        let file = fs::OpenOptions::new().create(true).append(true).open(path).with_context(|| path.display().to_string())?;
        let mut shared: Vec<PathBuf> = fs::read_dir(&place.programs)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
        shared.retain(|path| path.extension().is_some_and(|kind| kind == "h") || is_part(path));
        shared.sort();
        shared.insert(0, place.archive.clone());
        let mut bytes = Vec::new();
        for path in shared {
            bytes.extend(fs::read(&path).with_context(|| path.display().to_string())?);
        }
        Ok(Self { file: Mutex::new(file), earlier, shared: fnv1a(&bytes), wanted: pass.runs, tell })
    }

    fn key(&self, program: &Program) -> (String, String) {
        let source = fs::read(&program.source).unwrap_or_default();
        (format!("{:016x}", self.shared ^ fnv1a(&source)), program.name.clone())
    }
}

impl Journal for Results<'_> {
    fn before(&self, program: &Program) -> Outcome {
        let fresh = || Outcome { name: program.name.clone(), ..Outcome::default() };
        self.earlier.get(&self.key(program)).cloned().unwrap_or_else(fresh)
    }

    fn note(&self, program: &Program, outcome: &Outcome) {
        let (hash, name) = self.key(program);
        let (runs, seconds) = (outcome.runs, outcome.took.as_secs_f64());
        let wrong = outcome.wrong.as_deref().unwrap_or_default().replace(['\t', '\n'], " ");
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = writeln!(file, "{hash}\t{name}\t{runs}\t{seconds:.3}\t{wrong}") {
            (self.tell)(&format!("results are not kept: {error}"));
        }
        let word = if wrong.is_empty() { "right".to_owned() } else { format!("WRONG: {wrong}") };
        (self.tell)(&format!("{name}: {runs} of {} runs, {:.3} s each, {word}", self.wanted, each(outcome)));
    }
}

/// Tables and libraries, which are parts of programs.
fn is_part(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name == "table.c" || name.starts_with("lib")
}

/// What a file of results says; lines that are none are left out.
fn read(text: &str) -> BTreeMap<(String, String), Outcome> {
    let entry = |line: &str| {
        let [hash, name, runs, seconds, wrong] = line.split('\t').collect::<Vec<_>>().try_into().ok()?;
        let took = Duration::try_from_secs_f64(seconds.parse().ok()?).ok()?;
        let wrong = (!wrong.is_empty()).then(|| wrong.to_owned());
        Some(((hash.to_owned(), name.to_owned()), Outcome { name: name.to_owned(), runs: runs.parse().ok()?, took, wrong }))
    };
    text.lines().filter_map(entry).collect()
}

/// Seconds a run.
fn each(outcome: &Outcome) -> f64 {
    outcome.took.as_secs_f64() / f64::from(u32::try_from(outcome.runs).unwrap_or(u32::MAX)).max(1.0)
}

impl Outcomes {
    /// One line a program.
    #[must_use]
    pub fn table(&self) -> Table {
        let mut table = Table::new(["program", "runs", "seconds a run", "outcome"]);
        for outcome in &self.0 {
            let word = if outcome.wrong.is_some() { "WRONG" } else { "right" };
            table.row([outcome.name.clone(), outcome.runs.to_string(), format!("{:.3}", each(outcome)), word.to_owned()]);
        }
        table
    }

    /// How many programs there are, and how many runs they made together.
    #[must_use]
    pub fn size(&self) -> (usize, usize) {
        (self.0.len(), self.0.iter().map(|outcome| outcome.runs).sum())
    }

    /// What was wrong.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let wrong = |outcome: &Outcome| outcome.wrong.as_ref().map(|wrong| format!("{}, run {}: {wrong}", outcome.name, outcome.runs));
        self.0.iter().filter_map(wrong).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn the_last_line_of_a_program_and_build_counts() {
        let text = "1f\tsleep_c\t50\t2.500\t\n2f\tsleep_c\t50\t1.000\tdid not end in time\n1f\tsleep_c\t100\t5.000\t\nbroken\n";
        let results = read(text);
        let of = |hash: &str| &results[&(hash.to_owned(), "sleep_c".to_owned())];
        assert_eq!((results.len(), of("1f").runs, of("1f").wrong.as_deref()), (2, 100, None));
        assert_eq!((of("2f").runs, of("2f").wrong.as_deref()), (50, Some("did not end in time")));
    }
}
