//! Builds a program of a suite, explores it with `dpor`, and says how many executions that took.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use model::report::{CheckResult, FailureKind, Report};

use super::suite::{Count, Suite};
use crate::child::Child;

const LIMIT: Duration = Duration::from_secs(60);

/// What one program took.
#[derive(Clone, Debug, PartialEq)]
pub struct Explored {
    /// Executions that ran to their end.
    pub executions: u64,
    /// Those in which a thread waits for ever, as where an assumption does not hold.
    pub blocked: u64,
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
        check.args(["check", "./app", "--strategy", strategy, "--timeout", &seconds, "--json", "app.json"]).run()
    };
    // The first one builds what is explored.
    check()?;
    let end = check()?;
    let text = fs::read_to_string(folder.path().join("app.json"));
    let report: Report = serde_json::from_str(&text.with_context(|| format!("`{}` wrote no report: {}", end.shown, end.stderr))?)?;
    let result = report.results.into_iter().next().context("a report has a result")?;
    Ok(explored(&result, end.wall))
}

fn explored(result: &CheckResult, wall: Duration) -> Explored {
    let waits = |kind: FailureKind| matches!(kind, FailureKind::DeadlockCondition | FailureKind::DeadlockJoin | FailureKind::Livelock);
    let blocked = result.failures.iter().filter(|failure| waits(failure.kind)).map(|failure| failure.count).sum();
    Explored {
        executions: result.schedules - blocked,
        blocked,
        abandoned: result.abandoned,
        complete: result.complete,
        seconds: wall.as_secs_f64(),
    }
}

/// The head of a table in Markdown.
pub const HEAD: &str = "| program | published | dpor | blocked | seconds | |\n|---|---|---|---|---|---|";

/// A row of it.
#[must_use]
pub fn row((count, explored): &Row) -> String {
    let (name, published) = (count.name(), count.executions);
    match explored {
        Ok(found) => {
            let explained = count.differs.as_ref().map_or_else(|| "DIFFERS".to_owned(), |why| format!("explained: {why}"));
            let verdict = if agrees(count, found) { "equal".to_owned() } else { explained };
            format!("| {name} | {published} | {} | {} | {:.2} | {verdict} |", found.executions, found.blocked, found.seconds)
        }
        Err(error) => format!("| {name} | {published} | - | - | - | {} |", format!("{error:#}").replace('\n', " ")),
    }
}

fn agrees(count: &Count, explored: &Explored) -> bool {
    explored.complete && explored.executions == count.executions
}

/// How many counts are equal, explained and different, and how many programs agree in all their counts.
#[must_use]
pub fn summary(rows: &[Row]) -> String {
    let agree = |(count, explored): &Row| explored.as_ref().is_ok_and(|explored| agrees(count, explored));
    let mut programs = std::collections::BTreeMap::<&str, bool>::new();
    for row in rows {
        *programs.entry(&row.0.path).or_insert(true) &= agree(row);
    }
    let equal = programs.values().filter(|&&equal| equal).count();
    let (counts, all) = (rows.iter().filter(|row| agree(row)).count(), rows.len());
    let explained = rows.iter().filter(|row| !agree(row) && row.1.is_ok() && row.0.differs.is_some()).count();
    format!(
        "{counts} of {all} counts are equal, {explained} differ for a reason given, {} otherwise; {equal} of {} programs agree in all",
        all - counts - explained,
        programs.len()
    )
}

/// What is neither equal nor explained.
#[must_use]
pub fn problems(rows: &[Row]) -> Vec<String> {
    let problem = |(count, explored): &Row| match explored {
        Err(error) => Some(format!("{}: {error:#}", count.name())),
        Ok(found) if agrees(count, found) || count.differs.is_some() => None,
        Ok(found) => Some(format!("{}: {} executions, not {}", count.name(), found.executions, count.executions)),
    };
    rows.iter().filter_map(problem).collect()
}
