//! Builds a program of a suite, explores it with `dpor`, and says how many executions that took.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use model::report::{CheckResult, FailureKind};

use super::suite::{Count, Suite, Unit};
use crate::child::Child;

const LIMIT: Duration = Duration::from_secs(60);

/// What one program took.
#[derive(Clone, Debug, PartialEq)]
pub struct Explored {
    /// Executions that ran to their end.
    pub executions: u64,
    /// Those in which a thread waits for ever, as where an assumption does not hold.
    pub blocked: u64,
    /// Classes of both that differ in what reads read from, where these are to be counted.
    pub classes: Option<u64>,
    /// Those that were begun in vain, because others cover them.
    pub abandoned: u64,
    /// Whether all were explored.
    pub complete: bool,
    /// Seconds of the whole command, start included, when all is built.
    pub seconds: f64,
}

/// A count and what was found.
pub type Row = (Count, Result<Explored>);

/// Explores one program of the checkout, giving up after `limit`.
pub fn explore(atomfix: &Path, checkout: &Path, suite: Suite, count: &Count, strategy: &str, limit: Duration) -> Result<Explored> {
    let source = checkout.join(suite.folder()).join(&count.path);
    let source = fs::canonicalize(&source).with_context(|| format!("{}: not in the checkout", source.display()))?;
    let checkout = fs::canonicalize(checkout)?;
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("genmc.h"), include_str!("../../counts/genmc.h"))?;
    fs::write(folder.path().join("entry.c"), include_str!("../../counts/entry.c"))?;
    let run = |child: Child| child.within(folder.path()).run()?.succeeded();
    // In C++ the renamed `main` needs the linkage of C.
    fs::write(folder.path().join("entry.hpp"), "extern \"C\" int program_main();\n")?;
    let is_cpp = source.extension().is_some_and(|extension| extension == "cpp");
    let (driver, linkage) = if is_cpp { ("c++", &["-include", "entry.hpp"][..]) } else { ("cc", &[][..]) };
    let flags = count.flags.iter().map(|flag| flag.replace("./tests", &format!("{}/tests", checkout.display())));
    let compile = Child::new(atomfix, LIMIT).args([driver, "-c", "-g", "-w", "-pthread", "-I.", "-Dmain=program_main"]);
    let compile = compile.args(linkage).args(flags);
    run(compile.arg(&source).args(["-o", "program.o"]))?;
    run(Child::new(atomfix, LIMIT).args(["cc", "-c", "-g", "entry.c"]))?;
    run(Child::new(atomfix, LIMIT).args(["c++", "-pthread", "program.o", "entry.o", "-o", "app"]))?;
    let seconds = limit.as_secs().max(1).to_string();
    let check = || {
        let check = Child::new(atomfix, limit + LIMIT).within(folder.path());
        let check = check.args(["check", "./app", "--strategy", strategy, "--timeout", &seconds, "--json", "app.json"]);
        check.args((count.unit == Unit::ReadsFrom).then_some("--reads-from")).run()
    };
    // The first one builds what is explored.
    check()?;
    let end = check()?;
    let report = end.report(&folder.path().join("app.json"))?;
    let result = report.results.into_iter().next().context("a report has a result")?;
    Ok(explored(&result, end.wall))
}

fn explored(result: &CheckResult, wall: Duration) -> Explored {
    let waits = |kind: FailureKind| matches!(kind, FailureKind::DeadlockCondition | FailureKind::DeadlockJoin | FailureKind::Livelock);
    let blocked = result.failures.iter().filter(|failure| waits(failure.kind)).map(|failure| failure.count).sum();
    Explored {
        executions: result.schedules - blocked,
        blocked,
        classes: result.reads_from,
        abandoned: result.abandoned,
        complete: result.complete,
        seconds: wall.as_secs_f64(),
    }
}

impl Explored {
    /// How many there are of a unit.
    #[must_use]
    pub fn count(&self, unit: Unit) -> Option<u64> {
        match unit {
            Unit::Ended => Some(self.executions),
            Unit::Executions => Some(self.executions + self.blocked),
            Unit::ReadsFrom => self.classes,
        }
    }
}

/// How a count compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is the published one.
    Equal,
    /// It is the one that a given reason explains.
    Explained,
    /// It is neither.
    Differs,
}

/// Judges what was found.
#[must_use]
pub fn verdict(count: &Count, explored: &Explored) -> Verdict {
    let ours = explored.count(count.unit).filter(|_| explored.complete);
    match &count.differs {
        _ if ours == Some(count.published) => Verdict::Equal,
        Some(difference) if ours == difference.ours => Verdict::Explained,
        _ => Verdict::Differs,
    }
}

/// The head of a table in Markdown.
pub const HEAD: &str = "| program | published | ours | executions | blocked | seconds | |\n|---|---|---|---|---|---|---|";

/// A row of it.
#[must_use]
pub fn row((count, explored): &Row) -> String {
    let (name, published) = (count.name(), count.published);
    match explored {
        Ok(found) => {
            let word = match (verdict(count, found), &count.differs) {
                (Verdict::Equal, _) => "equal".to_owned(),
                (Verdict::Explained, Some(difference)) => format!("explained: {}", difference.reason),
                _ => "DIFFERS".to_owned(),
            };
            let ours = found.count(count.unit).filter(|_| found.complete).map_or_else(|| "unfinished".to_owned(), |ours| ours.to_string());
            format!("| {name} | {published} | {ours} | {} | {} | {:.2} | {word} |", found.executions, found.blocked, found.seconds)
        }
        Err(error) => format!("| {name} | {published} | - | - | - | - | {} |", format!("{error:#}").replace('\n', " ")),
    }
}

/// How many counts are equal, explained and different, and how many programs agree in all their counts.
#[must_use]
pub fn summary(rows: &[Row]) -> String {
    let verdict = |(count, explored): &Row| explored.as_ref().map_or(Verdict::Differs, |explored| verdict(count, explored));
    let of = |wanted| rows.iter().filter(|row| verdict(row) == wanted).count();
    let mut programs = std::collections::BTreeMap::<&str, bool>::new();
    for row in rows {
        *programs.entry(&row.0.path).or_insert(true) &= verdict(row) == Verdict::Equal;
    }
    let agree = programs.values().filter(|&&agrees| agrees).count();
    format!(
        "{} of {} counts are equal, {} differ for a reason given, {} otherwise; {agree} of {} programs agree in all",
        of(Verdict::Equal),
        rows.len(),
        of(Verdict::Explained),
        of(Verdict::Differs),
        programs.len()
    )
}

/// What is neither equal nor explained.
#[must_use]
pub fn problems(rows: &[Row]) -> Vec<String> {
    let problem = |(count, explored): &Row| match explored {
        Err(error) => Some(format!("{}: {error:#}", count.name())),
        Ok(found) if verdict(count, found) != Verdict::Differs => None,
        Ok(found) => Some(format!("{}: {:?}, not {}", count.name(), found.count(count.unit), count.published)),
    };
    rows.iter().filter_map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::suite::Difference;

    #[test]
    fn a_count_is_equal_or_the_one_that_is_explained() {
        let found = |complete| Explored { executions: 6, blocked: 2, classes: Some(3), abandoned: 0, complete, seconds: 0.1 };
        let count = |published, unit, ours: Option<Option<u64>>| {
            let differs = ours.map(|ours| Difference { ours, reason: "because".to_owned() });
            Count { published, unit, path: "a.c".to_owned(), flags: Vec::new(), differs }
        };
        for (count, complete, expected) in [
            (count(6, Unit::Ended, None), true, Verdict::Equal),
            (count(8, Unit::Executions, None), true, Verdict::Equal),
            (count(3, Unit::ReadsFrom, None), true, Verdict::Equal),
            (count(6, Unit::Ended, None), false, Verdict::Differs),
            (count(5, Unit::Ended, None), true, Verdict::Differs),
            (count(5, Unit::Ended, Some(Some(6))), true, Verdict::Explained),
            (count(5, Unit::Ended, Some(Some(7))), true, Verdict::Differs),
            (count(5, Unit::Ended, Some(None)), true, Verdict::Differs),
            (count(5, Unit::Ended, Some(None)), false, Verdict::Explained),
            (count(6, Unit::Ended, Some(Some(7))), true, Verdict::Equal),
        ] {
            assert_eq!(verdict(&count, &found(complete)), expected, "{count:?}");
        }
    }
}
