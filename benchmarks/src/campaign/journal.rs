//! What a campaign found so far, in a file, so that one that was interrupted goes on with the next plan. A full campaign takes hours.
//!
//! | field of a line | content |
//! |---|---|
//! | 1 | hash of the archive, the seed and the number of runs of a plan, in hexadecimal digits |
//! | 2 | name of the program |
//! | 3 | number of the next plan |
//! | 4 to 7 | plans, unplaceable plans, operations, runs |
//! | 8 | the longest run, in seconds |
//! | 9 | events, as `cause=count` with commas between |
//! | 10 | problems, with vertical lines between |
//!
//! Fields are separated by tabulators; of several lines with the same hash and name the last one counts.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use model::ids::fnv1a;

use super::{Extent, Tally};

/// The file, and who hears of each line.
pub struct Journal<'a> {
    file: Mutex<fs::File>,
    hash: String,
    earlier: BTreeMap<String, (u64, Tally)>,
    tell: &'a (dyn Fn(&str) + Sync),
}

impl<'a> Journal<'a> {
    /// Opens the file, which is made if there is none. `archive` defines the locks.
    pub fn open(path: &Path, archive: &Path, extent: &Extent, tell: &'a (dyn Fn(&str) + Sync)) -> Result<Self> {
        let mut bytes = fs::read(archive).with_context(|| archive.display().to_string())?;
        bytes.extend(extent.seed.to_le_bytes());
        bytes.extend((extent.runs as u64).to_le_bytes());
        let hash = format!("{:016x}", fnv1a(&bytes));
        let earlier = read(&fs::read_to_string(path).unwrap_or_default(), &hash);
        let file = fs::OpenOptions::new().create(true).append(true).open(path).with_context(|| path.display().to_string())?;
        Ok(Self { file: Mutex::new(file), hash, earlier, tell })
    }

    /// What is known of a program, and the number of its next plan.
    #[must_use]
    pub fn before(&self, name: &str) -> (u64, Tally) {
        self.earlier.get(name).cloned().unwrap_or_else(|| (0, Tally { name: name.to_owned(), ..Tally::default() }))
    }

    /// What is known of a program, if nothing is left to do.
    #[must_use]
    pub fn complete(&self, name: &str, extent: &Extent) -> Option<Tally> {
        Some(self.before(name).1).filter(|tally| tally.is_complete(extent))
    }

    /// Keeps what is known of a program after a plan.
    pub fn note(&self, next: u64, tally: &Tally, extent: &Extent) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = writeln!(file, "{}\t{}", self.hash, line(next, tally)) {
            (self.tell)(&format!("results are not kept: {error}"));
        }
        let Tally { name, plans, runs, problems, .. } = tally;
        (self.tell)(&format!("{name}: {plans} of {} plans, {runs} runs, {} wrong", extent.plans, problems.len()));
    }
}

/// All fields but the first.
fn line(next: u64, tally: &Tally) -> String {
    let events: Vec<String> = tally.events.iter().map(|(cause, count)| format!("{cause}={count}")).collect();
    let problems: Vec<String> = tally.problems.iter().map(|problem| problem.replace(['\t', '\n', '|'], " ")).collect();
    let Tally { name, plans, unplaceable, operations, runs, longest, .. } = tally;
    let longest = longest.as_secs_f64();
    format!("{name}\t{next}\t{plans}\t{unplaceable}\t{operations}\t{runs}\t{longest:.3}\t{}\t{}", events.join(","), problems.join("|"))
}

/// What a file says about campaigns with this hash; lines that are none are left out.
fn read(text: &str, hash: &str) -> BTreeMap<String, (u64, Tally)> {
    let entry = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [first, name, next, plans, unplaceable, operations, runs, longest, events, problems] = fields.try_into().ok()?;
        let event = |event: &str| event.split_once('=').and_then(|(cause, count)| Some((cause.to_owned(), count.parse().ok()?)));
        let tally = Tally {
            name: name.to_owned(),
            plans: plans.parse().ok()?,
            unplaceable: unplaceable.parse().ok()?,
            operations: operations.parse().ok()?,
            runs: runs.parse().ok()?,
            events: events.split(',').filter_map(event).collect(),
            longest: Duration::try_from_secs_f64(longest.parse().ok()?).ok()?,
            problems: problems.split('|').filter(|problem| !problem.is_empty()).map(str::to_owned).collect(),
        };
        (first == hash).then_some((tally.name.clone(), (next.parse().ok()?, tally)))
    };
    text.lines().filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_reads_back_and_the_last_line_counts() {
        let mut tally = Tally { name: "pbzip2".to_owned(), plans: 1, runs: 20, ..Tally::default() };
        let first = format!("1f\t{}\n", line(3, &tally));
        tally.plans = 2;
        tally.events.insert("join".to_owned(), 7);
        tally.longest = Duration::from_millis(1_500);
        tally.problems = vec!["x: hangs".to_owned(), "y: exit status: 1".to_owned()];
        let text = format!("{first}1f\t{}\n2f\t{}\nbroken\n", line(5, &tally), line(9, &Tally::default()));
        let known = read(&text, "1f");
        let (next, read) = &known["pbzip2"];
        assert_eq!((known.len(), *next, read.plans, read.runs, read.longest), (1, 5, 2, 20, tally.longest));
        assert_eq!((&read.events, &read.problems), (&tally.events, &tally.problems));
    }
}
