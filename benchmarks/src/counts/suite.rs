//! The tables of counts, in `counts/SUITE.txt`: `COUNT [of UNIT] PATH [FLAG…] [# OURS: why it differs]`, a line each.
//!
//! Where ours is another count, that must be exactly the one that the reason explains; a hyphen in its place: none is expected, as no
//! exploration ends.

use anyhow::{Context, Result};

/// A suite with published counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suite {
    /// MPI-SWS/genmc, `tests/correct`, as `expected.sc.mo.in` has them.
    Genmc,
    /// nidhugg/nidhugg, `tests/smoke`, as `reference.results.txt` has them for sequential consistency.
    Nidhugg,
}

impl Suite {
    /// The folder of its programs in a checkout.
    #[must_use]
    pub fn folder(self) -> &'static str {
        match self {
            Self::Genmc => "tests/correct",
            Self::Nidhugg => "tests/smoke/C-tests",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Genmc => include_str!("../../counts/genmc.txt"),
            Self::Nidhugg => include_str!("../../counts/nidhugg.txt"),
        }
    }

    /// Its counts.
    pub fn counts(self) -> Result<Vec<Count>> {
        let lines = self.text().lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.map(|line| count(line).with_context(|| format!("not a count: {line}"))).collect()
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Executions that run to their end. Usual.
    Ended,
    /// Executions, those too in which an assumption blocks a thread.
    Executions,
    /// Classes of these that differ in what reads read from.
    ReadsFrom,
}

/// Why our count is another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Our count; `None`: no exploration ends.
    pub ours: Option<u64>,
    /// In words.
    pub reason: String,
}

/// One program with one set of flags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// How many there are.
    pub published: u64,
    /// Of what.
    pub unit: Unit,
    /// The program, below the suite's folder.
    pub path: String,
    /// What the compiler is told.
    pub flags: Vec<String>,
    /// Why our count is another one, if it is.
    pub differs: Option<Difference>,
}

impl Count {
    /// The program's name and flags.
    #[must_use]
    pub fn name(&self) -> String {
        let folder = self.path.split("/variants/").next().unwrap_or(&self.path);
        [folder].into_iter().chain(self.flags.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
    }
}

fn count(line: &str) -> Option<Count> {
    let (facts, differs) = match line.split_once(" # ") {
        Some((facts, why)) => (facts, Some(difference(why)?)),
        None => (line, None),
    };
    let mut words = facts.split_whitespace().peekable();
    let published = words.next()?.parse().ok()?;
    let unit = match words.next_if_eq(&"of").and_then(|_| words.next()) {
        None => Unit::Ended,
        Some("executions") => Unit::Executions,
        Some("reads-from") => Unit::ReadsFrom,
        Some(_) => return None,
    };
    let path = words.next()?.to_owned();
    Some(Count { published, unit, path, flags: words.map(str::to_owned).collect(), differs })
}

fn difference(text: &str) -> Option<Difference> {
    let (ours, reason) = text.split_once(": ")?;
    let ours = if ours == "-" { None } else { Some(ours.parse().ok()?) };
    Some(Difference { ours, reason: reason.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_well_formed() {
        for (suite, least) in [(Suite::Genmc, 40), (Suite::Nidhugg, 20)] {
            let counts = suite.counts().expect("a table");
            assert!(counts.iter().filter(|count| count.differs.is_none()).count() >= least, "{suite:?}");
        }
    }

    #[test]
    fn a_line_has_a_count_a_unit_a_path_flags_and_a_reason() {
        let read = count("6 synthetic/inc/variants/inc0.c -DN=2 -DM=1 # 7: because").expect("a count");
        assert_eq!((read.published, read.unit, read.name().as_str()), (6, Unit::Ended, "synthetic/inc -DN=2 -DM=1"));
        assert_eq!(read.differs, Some(Difference { ours: Some(7), reason: "because".to_owned() }));
        let read = count("3 of reads-from a.c # -: it runs for ever").expect("a count");
        assert_eq!((read.unit, read.path.as_str(), read.differs.and_then(|differs| differs.ours)), (Unit::ReadsFrom, "a.c", None));
        for bad in ["many a.c", "3 of some a.c", "3 a.c # because", "3 a.c # more: because"] {
            assert_eq!(count(bad), None, "{bad}");
        }
    }
}
