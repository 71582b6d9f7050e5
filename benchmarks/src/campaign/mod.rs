//! The fault campaign: random plans, which nobody would apply, in real programs. Taking injected locks away is always safe and holding
//! them only forbids schedules, so every run must end, with a result that the original has too.
//!
//! `random` makes plans, `kernels` and `real` say what a right result is, `journal` keeps what is done; this file builds, runs and counts.

pub mod journal;
pub mod kernels;
pub mod random;
pub mod real;
pub mod whole;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use capture::CaptureError;
use model::ids::fnv1a;
use passes::PassError;

use crate::door::Door;
use crate::table::Table;
use journal::Journal;
use random::{Random, Variables};

/// The longest that one run may take. A holder may keep its lock for five seconds, and several may do so in turn.
pub const LIMIT: Duration = Duration::from_secs(60);

/// How much is done with one program.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Random plans.
    pub plans: usize,
    /// Runs of each.
    pub runs: usize,
    /// Where plans come from.
    pub seed: u64,
    /// Runs at a time.
    pub workers: usize,
}

/// Runs a build once with these `ATOMFIX_OPTIONS`: what is wrong with its result, if anything is.
pub type Judge<'a> = dyn Fn(&Path, &str) -> Result<Option<String>> + Sync + 'a;

/// A program to inject plans into.
pub struct Subject<'a> {
    /// What it is called.
    pub name: String,
    /// Its build by `atomfix cc`.
    pub original: PathBuf,
    /// What judges a run.
    pub judge: &'a Judge<'a>,
}

/// What came out for one program.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// What it is called.
    pub name: String,
    /// Plans that were applied.
    pub plans: usize,
    /// Plans with a place that nothing can be inserted at; another was made for each.
    pub unplaceable: usize,
    /// Operations of all plans.
    pub operations: u64,
    /// Runs.
    pub runs: usize,
    /// Holds that ended early or never began, by cause.
    pub events: BTreeMap<String, u64>,
    /// The longest run.
    pub longest: Duration,
    /// Runs that hung, or whose results the original does not have.
    pub problems: Vec<String>,
}

impl Tally {
    /// Whether nothing is left to do; so many unplaceable plans are enough.
    #[must_use]
    pub fn is_complete(&self, extent: &Extent) -> bool {
        self.plans >= extent.plans || self.unplaceable > extent.plans
    }
}

/// Injects random plans into a program and runs each build, but for those that the journal knows. What belongs to a problem is left in
/// `folder`.
pub fn examine(subject: &Subject<'_>, archive: &Path, folder: &Path, extent: &Extent, journal: &Journal<'_>) -> Result<Tally> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let door = Door::open(&subject.original, archive)?;
    let variables = Variables::of(&door.program);
    let (first, mut tally) = journal.before(&subject.name);
    let own = fnv1a(subject.name.as_bytes());
    for number in first.. {
        if tally.is_complete(extent) {
            break;
        }
        let seed = own.wrapping_add(extent.seed.wrapping_mul(1 << 32)).wrapping_add(number);
        let plan = random::plan(&variables, door.build(), Random(seed));
        let program = folder.join(format!("{}-{seed:016x}", subject.name));
        match door.harden(&plan, &program) {
            Ok(operations) => tally.operations += operations,
            Err(error) if is_unplaceable(&error) => {
                tally.unplaceable += 1;
                continue;
            }
            Err(error) => return Err(error.context(format!("{}, plan {seed:016x}", subject.name))),
        }
        tally.plans += 1;
        let before = tally.problems.len();
        // Mostly short inspection intervals, so that many happen; now and then the one that users get.
        let options = if number % 8 == 7 { "" } else { ":inspect_ms=2" };
        run(subject, &program, options, extent, &mut tally);
        if tally.problems.len() == before {
            fs::remove_file(&program)?;
        } else {
            fs::write(program.with_extension("toml"), toml::to_string(&plan)?)?;
        }
        journal.note(number + 1, &tally, extent);
    }
    Ok(tally)
}

fn is_unplaceable(error: &anyhow::Error) -> bool {
    let unplaceable = |error: &PassError| matches!(error, PassError::Unplaceable { .. });
    error.downcast_ref::<PassError>().is_some_and(unplaceable) && error.downcast_ref::<CaptureError>().is_none()
}

/// Runs one build as often as asked for, several at a time.
fn run(subject: &Subject<'_>, program: &Path, options: &str, extent: &Extent, tally: &mut Tally) {
    let next = AtomicUsize::new(0);
    let shared = Mutex::new(tally);
    std::thread::scope(|scope| {
        for _ in 0..extent.workers {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= extent.runs {
                        break;
                    }
                    let log = program.with_extension(format!("{number}.log"));
                    let began = Instant::now();
                    let judged = (subject.judge)(program, &format!("stats=1:log={}{options}", log.display()));
                    let took = began.elapsed();
                    let counted = counters(&fs::read_to_string(&log).unwrap_or_default());
                    let _ = fs::remove_file(&log);
                    let mut tally = shared.lock().expect("no worker panics with it");
                    tally.runs += 1;
                    tally.longest = tally.longest.max(took);
                    for (cause, count) in counted {
                        *tally.events.entry(cause).or_default() += count;
                    }
                    let problem = match judged {
                        Ok(None) => continue,
                        Ok(Some(problem)) => problem,
                        Err(error) => format!("{error:#}"),
                    };
                    tally.problems.push(format!("{}: {problem}", program.display()));
                }
            });
        }
    });
}

/// The counters in a log, over all processes: lines such as `atomfix: 12: lock0 first: join 1`.
#[must_use]
pub fn counters(log: &str) -> BTreeMap<String, u64> {
    let mut counters = BTreeMap::new();
    for line in log.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if let [_, _, lock, .., cause, count] = words[..]
            && lock.starts_with("lock")
            && words[3] != "at"
            && let Ok(count) = count.parse::<u64>()
        {
            *counters.entry(cause.to_owned()).or_default() += count;
        }
    }
    counters
}

/// One line a program, and one for all.
#[must_use]
pub fn table(tallies: &[Tally]) -> Table {
    let mut table = Table::new(["program", "plans", "operations", "runs", "wrong", "holds ended early", "longest run, s"]);
    let row = |tally: &Tally| {
        [
            tally.name.clone(),
            tally.plans.to_string(),
            tally.operations.to_string(),
            tally.runs.to_string(),
            tally.problems.len().to_string(),
            tally.events.values().sum::<u64>().to_string(),
            format!("{:.2}", tally.longest.as_secs_f64()),
        ]
    };
    tallies.iter().for_each(|tally| table.row(row(tally)));
    table.row(row(&total(tallies)));
    table
}

fn total(tallies: &[Tally]) -> Tally {
    let mut total = Tally { name: "all".to_owned(), ..Tally::default() };
    for tally in tallies {
        total.plans += tally.plans;
        total.operations += tally.operations;
        total.runs += tally.runs;
        total.longest = total.longest.max(tally.longest);
        total.problems.extend(tally.problems.iter().cloned());
        for (cause, count) in &tally.events {
            *total.events.entry(cause.clone()).or_default() += count;
        }
    }
    total
}

/// Why holds ended early, over all programs.
#[derive(Clone, Debug)]
pub struct Causes(BTreeMap<String, u64>);

impl Causes {
    /// Those of these programs.
    #[must_use]
    pub fn of(tallies: &[Tally]) -> Self {
        Self(total(tallies).events)
    }
}

impl fmt::Display for Causes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each: Vec<String> = self.0.iter().map(|(cause, count)| format!("{cause} {count}")).collect();
        write!(f, "ended early, by cause: {}", each.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::counters;

    #[test]
    fn counters_of_all_processes_are_added_and_places_are_not_counted() {
        let log =
            "atomfix: 7: 2 locks, 3 events\natomfix: 7: lock0 a b: join 2\natomfix: 8: lock1 c: join 1\natomfix: 8: lock1 at l3: join 1\n";
        assert_eq!(counters(log).into_iter().collect::<Vec<_>>(), [("join".to_owned(), 3)]);
    }
}
