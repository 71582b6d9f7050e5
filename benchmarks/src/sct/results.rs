//! Trials that were made so far, in a file, so that a comparison that was interrupted goes on where it was: all of it takes hours.
//!
//! The file has one JSON object a line: the build of `atomfix` (a hash), the time limit of the trial in seconds, program, strategy and seed,
//! and what came of it. A trial with another limit is another trial; of several alike the last one counts. Lines that are none are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use model::ids::fnv1a;
use serde::{Deserialize, Serialize};

use super::search::Trial;

/// Which trial.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Name {
    /// The time limit, in seconds.
    pub limit: u64,
    /// The program.
    pub program: String,
    /// The strategy.
    pub strategy: String,
    /// Its seed.
    pub seed: u32,
}

#[derive(Serialize, Deserialize)]
struct Line {
    build: String,
    #[serde(flatten)]
    name: Name,
    trial: Trial,
}

/// The trials that were made.
#[derive(Debug, Default)]
pub struct Results {
    file: Option<fs::File>,
    build: String,
    known: BTreeMap<Name, Trial>,
    builds: BTreeSet<String>,
}

impl Results {
    /// Opens the file, which is made if there is none.
    pub fn open(path: &Path, atomfix: &Path) -> Result<Self> {
        let bytes = fs::read(atomfix).with_context(|| atomfix.display().to_string())?;
        let mut results = Self { build: format!("{:016x}", fnv1a(&bytes)), ..Self::default() };
        results.take(&fs::read_to_string(path).unwrap_or_default());
        let file = fs::OpenOptions::new().create(true).append(true).open(path).with_context(|| path.display().to_string())?;
        results.file = Some(file);
        Ok(results)
    }

    fn take(&mut self, text: &str) {
        for Line { build, name, trial } in text.lines().filter_map(|line| serde_json::from_str(line).ok()) {
            self.builds.insert(build);
            self.known.insert(name, trial);
        }
    }

    /// What came of a trial, if it was made.
    #[must_use]
    pub fn get(&self, name: &Name) -> Option<Trial> {
        self.known.get(name).cloned()
    }

    /// Keeps what came of a trial.
    pub fn put(&mut self, name: Name, trial: Trial) -> Result<()> {
        let line = Line { build: self.build.clone(), name, trial };
        if let Some(file) = &mut self.file {
            writeln!(file, "{}", serde_json::to_string(&line)?).context("results are not kept")?;
        }
        self.builds.insert(line.build);
        self.known.insert(line.name, line.trial);
        Ok(())
    }

    /// How many builds of `atomfix` made the trials of the file.
    #[must_use]
    pub fn builds(&self) -> usize {
        self.builds.len()
    }
}

impl Name {
    /// A trial's name.
    #[must_use]
    pub fn new(limit: Duration, program: &str, strategy: &str, seed: u32) -> Self {
        Self { limit: limit.as_secs(), program: program.to_owned(), strategy: strategy.to_owned(), seed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::report::Coverage;

    #[test]
    fn what_was_kept_is_known_to_the_next_and_broken_lines_are_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, build) = (folder.path().join("results"), folder.path().join("atomfix"));
        fs::write(&build, "a build").expect("written");
        let name = |seed| Name::new(Duration::from_secs(10), "queue_bad", "pos", seed);
        let trial = |first| Trial { found: Some((first, 0.25)), schedules: 7, coverage: Coverage::Sampled(7), complete: false };
        let mut first = Results::open(&file, &build).expect("it opens");
        first.put(name(0), trial(3)).expect("kept");
        first.put(name(0), trial(4)).expect("kept");
        fs::write(&build, "another").expect("written");
        fs::OpenOptions::new().append(true).open(&file).and_then(|mut file| file.write_all(b"{\"build\":\n")).expect("written");
        let mut second = Results::open(&file, &build).expect("it opens");
        assert_eq!(second.get(&name(0)).and_then(|trial| trial.found), Some((4, 0.25)));
        assert!(second.get(&name(1)).is_none() && second.builds() == 1);
        assert!(second.get(&Name::new(Duration::from_secs(5), "queue_bad", "pos", 0)).is_none(), "another limit is another trial");
        second.put(name(1), trial(1)).expect("kept");
        assert_eq!(second.builds(), 2);
    }
}
