//! The tables of counts: `EXECUTIONS PATH [FLAG…] [# why it differs]`, a line each, in `counts/SUITE.txt`.

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

/// One program with one set of flags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// How many executions it has.
    pub executions: u64,
    /// The program, below the suite's folder.
    pub path: String,
    /// What the compiler is told.
    pub flags: Vec<String>,
    /// Why our count is another one, if it is.
    pub differs: Option<String>,
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
        Some((facts, why)) => (facts, Some(why.to_owned())),
        None => (line, None),
    };
    let mut words = facts.split_whitespace();
    let executions = words.next()?.parse().ok()?;
    let path = words.next()?.to_owned();
    Some(Count { executions, path, flags: words.map(str::to_owned).collect(), differs })
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
    fn a_line_has_a_count_a_path_flags_and_a_reason() {
        let read = count("6 synthetic/inc/variants/inc0.c -DN=2 -DM=1 # because").expect("a count");
        assert_eq!((read.executions, read.name().as_str()), (6, "synthetic/inc -DN=2 -DM=1"));
        assert_eq!(read.differs.as_deref(), Some("because"));
        assert_eq!(count("many a.c"), None);
    }
}
