//! Published bugs in sources that Debian 12 ships, found by exploring a small program of ours that calls the unmodified code.
//!
//! Found means that `check` reports the failure, or a data race, at the place that is published; other failures are shown, and judge
//! nothing. Each program is then profiled and hardened, and the hardened build is explored too: nothing is claimed there.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use model::report::{Build, CheckResult, Failure, FailureKind};

use super::in_process::{self, Patches};
use super::session::atomfix;
use super::{Environment, session};
use crate::kernel::words;
use crate::table::Table;

/// A bug and how to see it.
#[derive(Clone, Copy, Debug)]
pub struct Bug {
    /// Its name, which is that of the client.
    pub client: &'static str,
    /// What is explored.
    pub program: &'static str,
    /// Where it is published.
    pub published: &'static str,
    /// The failure that shows it.
    pub kind: FailureKind,
    /// The file where it shows.
    pub file: &'static str,
}

/// All of them.
pub const BUGS: [Bug; 3] = [
    Bug {
        client: "memcached-dropped",
        program: "memcached 1.6.18",
        published: "894974de30f6, in 1.6.19: a dropped entry was counted after the lock had been released",
        kind: FailureKind::Assert,
        file: "memcached-dropped.c",
    },
    Bug {
        client: "memcached-authfile",
        program: "memcached 1.6.18",
        published: "57934a1d01f7, in 1.6.42: users were looked up while their table was exchanged",
        kind: FailureKind::Assert,
        file: "memcached-authfile.c",
    },
    Bug {
        client: "xz-damaged",
        program: "liblzma 5.4.1",
        published: "CVE-2025-31115, in 5.8.1: a worker that met an error freed the input that was still being written",
        kind: FailureKind::Signal,
        file: "common.c",
    },
];

/// What came of one bug.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The original's exploration.
    pub original: CheckResult,
    /// The hardened build's.
    pub hardened: CheckResult,
    /// Data races of the original, by a search of their own.
    pub races: Vec<Failure>,
    /// That of a build with the fix, where Debian has one.
    pub fixed: Option<CheckResult>,
}

/// A bug and what came of it.
pub type Row = (Bug, Result<Seen>);

/// Explores the program that shows a bug, each build for at most `limit`.
pub fn find(environment: &Environment, bug: &Bug, limit: Duration) -> Row {
    (*bug, see(environment, bug, limit))
}

fn see(environment: &Environment, bug: &Bug, limit: Duration) -> Result<Seen> {
    let program = build(environment, bug, Patches::LeftOut)?;
    let races = explore(environment, &program, limit, &["--races"])?;
    let races = races.into_iter().next().map(|result| result.failures).unwrap_or_default();
    session::profile(environment, &program, &["--runs", "30"])?;
    let hardened = session::harden(environment, &program, &mut super::outcome::Outcome::default())?;
    let results = explore(environment, &hardened, limit, &[])?;
    let of = |build: Build| results.iter().find(|result| result.build == build).cloned();
    let fixed = if bug.client == "xz-damaged" {
        let program = build(environment, bug, Patches::Applied)?;
        explore(environment, &program, limit, &[])?.into_iter().next()
    } else {
        None
    };
    Ok(Seen {
        original: of(Build::Original).context("a report has a result for the original")?,
        hardened: of(Build::Hardened).context("a report has a result for the hardened build")?,
        races: races.into_iter().filter(|failure| failure.kind == FailureKind::DataRace).collect(),
        fixed,
    })
}

/// Debian's patches matter for liblzma alone: its bug is fixed by them.
fn build(environment: &Environment, bug: &Bug, patches: Patches) -> Result<PathBuf> {
    if bug.client == "xz-damaged" {
        let folder = environment.work.join(if patches == Patches::Applied { "bugs-xz-fixed" } else { "bugs-xz" });
        in_process::xz(environment, &folder, patches)?;
        return in_process::with_xz(environment, &folder, bug.client);
    }
    let folder = environment.work.join("bugs-memcached");
    if !folder.join("server.o").exists() {
        in_process::memcached(environment, &folder)?;
    }
    in_process::with_memcached(environment, &folder, bug.client)
}

fn explore(environment: &Environment, program: &Path, limit: Duration, more: &[&str]) -> Result<Vec<CheckResult>> {
    let folder = program.parent().context("a program lies in a folder")?;
    let name = Path::new(".").join(program.file_name().context("a program has a name")?);
    let report = folder.join("report.json");
    let _ = fs::remove_file(&report);
    let check = atomfix(environment, folder, "check").arg(name).args(["--strategy", "portfolio", "--json", "report.json"]);
    let end = check.args(["--timeout", &limit.as_secs().max(1).to_string()]).args(more).run()?;
    let report = end.report(&report)?;
    Ok(report.results)
}

impl Seen {
    /// The failure that shows the bug.
    #[must_use]
    pub fn shown<'a>(bug: &Bug, result: &'a CheckResult) -> Option<&'a Failure> {
        let file = |failure: &Failure| failure.location.split(':').next().unwrap_or_default().ends_with(bug.file);
        result.failures.iter().find(|failure| failure.kind == bug.kind && file(failure))
    }
}

/// What was found of one bug, in words.
#[must_use]
pub fn words_of((bug, seen): &Row) -> String {
    let seen = match seen {
        Ok(seen) => seen,
        Err(error) => return format!("{}: {error:#}\n", bug.client),
    };
    let mut text = format!("{}: {}\n", bug.client, bug.published);
    for violation in Seen::shown(bug, &seen.original).iter().flat_map(|failure| &failure.violations) {
        text.push_str(&format!("    pair: {violation}\n"));
    }
    for race in &seen.races {
        text.push_str(&format!("    race: {}\n", race.message));
    }
    text.push_str(&format!("    original: {}\n    hardened: {}\n", words(&seen.original), words(&seen.hardened)));
    if let Some(fixed) = &seen.fixed {
        text.push_str(&format!("    as Debian builds it: {}, {}\n", words(fixed), fixed.coverage));
    }
    text
}

/// All in a table.
#[must_use]
pub fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(["client", "of", "found as", "at", "in schedule", "of", "covering", "hardened"]);
    for (bug, seen) in rows {
        let Ok(seen) = seen else { continue };
        let failure = Seen::shown(bug, &seen.original);
        let place = failure.map_or_else(|| "-".to_owned(), |failure| failure.location.clone());
        let first = failure.and_then(|failure| failure.first).map_or_else(|| "-".to_owned(), |first| first.to_string());
        let found = failure.map_or_else(|| "not found".to_owned(), |failure| failure.kind.to_string());
        let after = Seen::shown(bug, &seen.hardened).map_or("gone", |_| "left");
        let after = format!("{after}, {}", seen.hardened.coverage);
        let (schedules, covering) = (seen.original.schedules.to_string(), seen.original.coverage.to_string());
        table.row([bug.client.to_owned(), bug.program.to_owned(), found, place, first, schedules, covering, after]);
    }
    table
}

/// What is not as it should be.
#[must_use]
pub fn problems(rows: &[Row]) -> Vec<String> {
    let problem = |(bug, seen): &Row| match seen {
        Err(error) => Some(format!("{}: {error:#}", bug.client)),
        Ok(seen) if Seen::shown(bug, &seen.original).is_none() => Some(format!("{}: not found", bug.client)),
        Ok(seen) if seen.fixed.as_ref().is_some_and(|fixed| !fixed.failures.is_empty()) => {
            Some(format!("{}: the fixed build fails", bug.client))
        }
        Ok(_) => None,
    };
    rows.iter().filter_map(problem).collect()
}
