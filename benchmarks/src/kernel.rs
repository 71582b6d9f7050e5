//! One kernel through the whole chain, as a user would take it, and what came out held against what was expected.
//!
//! Building, plain runs, profile, harden, check of original and hardened build, check of the FIXED variant. Judging is apart from
//! running: `examine` gathers, `problems` compares.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use model::report::{Build, CheckResult, Failure, Outcome, Report};

use crate::child::Child;
use crate::expect::{Kernel, Verdict};
use crate::table::Table;

/// How thoroughly kernels are examined.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Runs of the untouched program, for its pass rate.
    pub plain_runs: u32,
    /// Runs that it is profiled with.
    pub profile_runs: u32,
    /// The seed of their perturbation.
    pub seed: u64,
    /// The longest that exploring one kernel may take.
    pub limit: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { plain_runs: 100, profile_runs: 20, seed: 1, limit: Duration::from_secs(30) }
    }
}

/// What the chain made of one kernel.
#[derive(Clone, Debug)]
pub struct Examined {
    /// Plain runs that passed, of how many.
    pub passed: (u32, u32),
    /// Locks in the plan.
    pub locks: usize,
    /// Pairs that they keep.
    pub pairs: usize,
    /// Correlated sets among what they protect.
    pub sets: usize,
    /// Places where a lock is acquired, as `infer --stats` counts them.
    pub regions: String,
    /// The mean number of nodes of such a region: one big lock would show here.
    pub length: String,
    /// The original's schedules.
    pub original: CheckResult,
    /// The hardened build's schedules.
    pub hardened: CheckResult,
    /// The FIXED variant's schedules.
    pub fixed: CheckResult,
    /// How long `check` of the hardened build took, comparison included.
    pub checked_in: Duration,
}

/// The least share of so many plain runs that must pass, in percent. A few runs cannot tell a kernel that fails in 3 of 100 from one that
/// fails in 4, only from one that mostly fails.
fn least_passing(runs: u32) -> u32 {
    if runs < 100 { 50 } else { 97 }
}

/// A lock keeps what passing runs never did, so a program that is profiled too little may lose what it did seldom. It is profiled again then, so
/// often at most; so it is if no run passed, as recording changes the pace of the threads, and if there is nothing that locks could keep, as
/// whoever is told so would do.
const PROFILE_ROUNDS: u64 = 400;

/// Takes a kernel through the chain in `folder`, which must be empty.
pub fn examine(atomfix: &Path, kernel: &Kernel, folder: &Path, settings: &Settings) -> Result<Examined> {
    let user = User { atomfix, folder, settings };
    let source = user.bring(&kernel.source)?;
    user.compile(&source, "app", &[])?;
    let arguments = &kernel.expectation.arguments;
    let passed = user.plain_runs(&arguments.check)?;
    user.compile(&source, "fixed", &["-DFIXED"])?;
    let (report, _) = user.check("fixed", &["--outcomes"], &arguments.check)?;
    let fixed = result(&report, Build::Original)?;
    let mut round = 0;
    let repairable = kernel.expectation.verdict != Verdict::NotRepairable;
    let (original, hardened, checked_in) = loop {
        while !user.profile(&arguments.profile, round)? {
            round += 1;
        }
        user.atomfix("harden").args(["./app", "-o", "app.hard"]).run()?.succeeded()?;
        let (report, checked_in) = user.check("app.hard", &["--kept"], &arguments.check)?;
        let hardened = result(&report, Build::Hardened)?;
        round += 1;
        let learnt = user.plan()?.0 > 0 || !repairable;
        if round >= PROFILE_ROUNDS || (learnt && without(&fixed, &hardened).is_empty()) {
            break (result(&report, Build::Original)?, hardened, checked_in);
        }
    };
    let (locks, pairs, sets) = user.plan()?;
    let (regions, length) = user.regions()?;
    Ok(Examined { passed, locks, pairs, sets, regions, length, original, hardened, fixed, checked_in })
}

/// Someone who types commands in a folder.
struct User<'a> {
    atomfix: &'a Path,
    folder: &'a Path,
    settings: &'a Settings,
}

const COMPILE_LIMIT: Duration = Duration::from_secs(60);
const PLAIN_LIMIT: Duration = Duration::from_secs(10);
const PROFILE_LIMIT: Duration = Duration::from_secs(120);

impl User<'_> {
    fn atomfix(&self, command: &str) -> Child {
        Child::new(self.atomfix, PROFILE_LIMIT).within(self.folder).arg(command)
    }

    /// A copy, so that reports name the file alone and nothing is written beside the sources.
    fn bring(&self, source: &Path) -> Result<PathBuf> {
        let name = PathBuf::from(source.file_name().context("a source has a name")?);
        fs::copy(source, self.folder.join(&name))?;
        Ok(name)
    }

    fn compile(&self, source: &Path, output: &str, flags: &[&str]) -> Result<()> {
        let driver = if source.extension().is_some_and(|extension| extension == "c") { "cc" } else { "c++" };
        let child = Child::new(self.atomfix, COMPILE_LIMIT).within(self.folder).arg(driver);
        child.args(["-g", "-O2", "-pthread"]).args(flags).arg(source).args(["-o", output]).run()?.succeeded()?;
        Ok(())
    }

    fn plain_runs(&self, arguments: &[String]) -> Result<(u32, u32)> {
        let mut passed = 0;
        for _ in 0..self.settings.plain_runs {
            let end = Child::new("./app", PLAIN_LIMIT).within(self.folder).args(arguments).run()?;
            passed += u32::from(end.status.success());
        }
        Ok((passed, self.settings.plain_runs))
    }

    /// Whether any run passed, which is demanded of the last round.
    fn profile(&self, arguments: &[String], round: u64) -> Result<bool> {
        let (runs, seed) = (self.settings.profile_runs.to_string(), (self.settings.seed + round).to_string());
        // A kernel that may deadlock does so while profiled too; that run fails, and should do so soon.
        let child = self.atomfix("profile").args(["./app", "--runs", &runs, "--seed", &seed, "--timeout", "5", "--directed", "--"]);
        let end = child.args(arguments).run()?;
        if round + 1 < PROFILE_ROUNDS && end.stderr.contains("no run passed") {
            return Ok(false);
        }
        end.succeeded()?;
        Ok(true)
    }

    /// Locks, their pairs, and how many of them protect a correlated set.
    fn plan(&self) -> Result<(usize, usize, usize)> {
        let path = self.folder.join("app.atomfix/plan.toml");
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let plan: model::plan::Plan = toml::from_str(&text)?;
        let pairs = plan.locks.iter().map(|lock| lock.pairs.len()).sum();
        Ok((plan.locks.len(), pairs, plan.locks.iter().filter(|lock| lock.variable.starts_with('{')).count()))
    }

    /// How many regions the plan has, and how long they are.
    fn regions(&self) -> Result<(String, String)> {
        let end = self.atomfix("infer").args(["./app", "--stats"]).run()?.succeeded()?;
        let row = |name: &str| {
            let line = end.stdout.lines().find_map(|line| line.strip_prefix(name));
            line.map(|rest| rest.trim().to_owned()).with_context(|| format!("`infer --stats` has no row '{name}'"))
        };
        Ok((row("regions ")?, row("mean length of a region, in nodes ")?))
    }

    fn check(&self, program: &str, options: &[&str], arguments: &[String]) -> Result<(Report, Duration)> {
        check(self.atomfix, self.folder, program, self.settings.limit, options, arguments)
    }
}

/// Explores a program of `folder` completely: what `check` reports, and how long it took.
///
/// # Errors
/// When `check` neither finds a failure nor finds none, or writes no report that can be read.
pub fn check(
    atomfix: &Path,
    folder: &Path,
    program: &str,
    limit: Duration,
    options: &[&str],
    arguments: &[String],
) -> Result<(Report, Duration)> {
    let json = format!("{program}.json");
    let seconds = limit.as_secs().to_string();
    let child = Child::new(atomfix, limit * 3).within(folder).arg("check").arg(format!("./{program}"));
    let child = child.args(["--strategy", "dfs", "--preemptions", "none", "--timeout", &seconds, "--json", &json]);
    let end = child.args(options).arg("--").args(arguments).run()?;
    if !matches!(end.status.code(), Some(0 | 1)) {
        end.succeeded()?;
        bail!("`check` neither succeeded nor failed");
    }
    Ok((end.report(&folder.join(&json))?, end.wall))
}

fn result(report: &Report, build: Build) -> Result<CheckResult> {
    let found = report.results.iter().find(|result| result.build == build);
    found.cloned().with_context(|| format!("the report has no result for the {build} build"))
}

/// Where the outcome differs from what was expected; empty if nowhere.
#[must_use]
pub fn problems(kernel: &Kernel, examined: &Examined, settings: &Settings) -> Vec<String> {
    let mut problems = Vec::new();
    let (passed, runs) = examined.passed;
    if passed * 100 < runs * least_passing(runs) {
        problems.push(format!("only {passed} of {runs} plain runs pass"));
    }
    let fails = |result: &CheckResult| result.failures.iter().any(|failure| expected(kernel, failure));
    let verdict = kernel.expectation.verdict;
    if verdict == Verdict::Benign {
        clean(&examined.original, "original", &mut problems);
    } else if !fails(&examined.original) {
        problems.push(format!("the original does not fail as expected: {}", words(&examined.original)));
    }
    match verdict {
        Verdict::Suppressed | Verdict::Benign => clean(&examined.hardened, "hardened build", &mut problems),
        Verdict::NotRepairable if !fails(&examined.hardened) => {
            problems.push(format!("the hardened build does not fail as the original does: {}", words(&examined.hardened)));
        }
        Verdict::NotRepairable => {}
    }
    clean(&examined.fixed, "FIXED variant", &mut problems);
    // Atomicity safety (seed 002, theorem 2), in every schedule.
    for pair in &examined.hardened.interleaved {
        problems.push(format!("the hardened build interleaves a pair that the plan keeps: {pair}"));
    }
    // Execution safety (theorem 1): locks take schedules away and add none, so no outcome is new, and what a program without the bug may do
    // is still possible.
    let new = without(&examined.hardened, &examined.original);
    problems.extend(new.iter().map(|text| format!("the hardened build ends with '{text}', which the original never does")));
    let lost = without(&examined.fixed, &examined.hardened);
    if !lost.is_empty() {
        problems.push(format!("of what the FIXED variant prints, the hardened build never prints {lost:?}"));
    }
    for failure in &examined.hardened.failures {
        let known = |other: &Failure| (other.kind, &other.location) == (failure.kind, &failure.location);
        if !examined.original.failures.iter().any(known) {
            problems.push(format!("only the hardened build fails with {} at {}", failure.kind, failure.location));
        }
    }
    let failing: u64 = examined.hardened.failures.iter().map(|failure| failure.count).sum();
    if failing >= examined.hardened.schedules {
        problems.push("no schedule of the hardened build passes, though the FIXED variant does".to_owned());
    }
    if examined.checked_in > settings.limit {
        problems.push(format!("checking took {:.1} s", examined.checked_in.as_secs_f64()));
    }
    problems
}

/// What passing executions of one build print and those of another never do.
fn without<'a>(one: &'a CheckResult, other: &CheckResult) -> BTreeSet<&'a str> {
    let is_new = |outcome: &&Outcome| !other.outcomes.iter().any(|known| known.identity == outcome.identity);
    one.outcomes.iter().filter(is_new).map(|outcome| outcome.text.trim_end()).collect()
}

fn clean(result: &CheckResult, which: &str, problems: &mut Vec<String>) {
    if !result.failures.is_empty() {
        problems.push(format!("the {which} fails: {}", words(result)));
    }
    if !result.complete {
        problems.push(format!("the {which} was not explored completely: {}", result.coverage));
    }
}

fn expected(kernel: &Kernel, failure: &Failure) -> bool {
    let Some(wanted) = &kernel.expectation.failure else { return false };
    let at = kernel.location.as_ref().is_none_or(|location| failure.location.contains(location.as_str()));
    failure.kind == wanted.kind && at
}

/// The failures of a result, in a few words.
#[must_use]
pub fn words(result: &CheckResult) -> String {
    if result.failures.is_empty() {
        return "no failure".to_owned();
    }
    let each: Vec<String> = result.failures.iter().map(|failure| format!("{} at {}", failure.kind, failure.location)).collect();
    each.join(", ")
}

/// A table of what came out, one kernel a row.
#[must_use]
pub fn table(rows: &[(Kernel, Result<Examined>)]) -> Table {
    let mut table = Table::new([
        "kernel",
        "plain",
        "pairs",
        "locks",
        "sets",
        "regions",
        "length",
        "original",
        "schedules",
        "hardened",
        "schedules",
        "outcomes",
        "interleaved",
        "complete",
        "FIXED",
        "seconds",
    ]);
    for (kernel, examined) in rows {
        let name = kernel.name.clone();
        match examined {
            Ok(examined) => table.row([
                name,
                format!("{}/{}", examined.passed.0, examined.passed.1),
                examined.pairs.to_string(),
                examined.locks.to_string(),
                examined.sets.to_string(),
                examined.regions.clone(),
                examined.length.clone(),
                outcome(&examined.original),
                examined.original.schedules.to_string(),
                outcome(&examined.hardened),
                examined.hardened.schedules.to_string(),
                format!("{} ⊆ {} ⊆ {}", examined.fixed.outcomes.len(), examined.hardened.outcomes.len(), examined.original.outcomes.len()),
                format!("{} / {}", examined.original.interleaved.len(), examined.hardened.interleaved.len()),
                if examined.hardened.complete { "yes" } else { "no" }.to_owned(),
                outcome(&examined.fixed),
                format!("{:.2}", examined.checked_in.as_secs_f64()),
            ]),
            Err(_) => {
                let mut row = [""; 16].map(|_| "-".to_owned());
                (row[0], row[7]) = (name, "did not get through".to_owned());
                table.row(row);
            }
        }
    }
    table
}

fn outcome(result: &CheckResult) -> String {
    match result.failures.len() {
        0 => "passes".to_owned(),
        _ => "fails".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use model::report::{Coverage, FailureKind};

    use super::*;
    use crate::expect;

    fn checked(build: Build, failures: Vec<Failure>) -> CheckResult {
        CheckResult {
            program: "app".to_owned(),
            build,
            strategy: "dfs".to_owned(),
            schedules: 10,
            complete: true,
            coverage: Coverage::All,
            abandoned: 0,
            cut: 0,
            diverged: 0,
            failures,
            seconds: 0.1,
            schedules_per_second: 100.0,
            estimate: None,
            outcomes: Vec::new(),
            reads_from: None,
            interleaved: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn failure(kernel: &Kernel, kind: FailureKind) -> Failure {
        let location = kernel.location.clone().expect("a marked line");
        Failure { kind, message: String::new(), location, schedule: String::new(), violations: Vec::new(), count: 1, first: None }
    }

    #[test]
    fn a_suppressed_failure_is_what_was_expected_and_anything_else_is_a_problem() {
        let kernel = expect::kernel(&expect::programs().join("lost_update")).expect("a kernel");
        let settings = Settings::default();
        let fine = Examined {
            passed: (100, 100),
            locks: 1,
            pairs: 1,
            sets: 0,
            regions: "2".to_owned(),
            length: "3.0".to_owned(),
            original: checked(Build::Original, vec![failure(&kernel, FailureKind::Assert)]),
            hardened: checked(Build::Hardened, Vec::new()),
            fixed: checked(Build::Original, Vec::new()),
            checked_in: Duration::from_secs(1),
        };
        assert_eq!(problems(&kernel, &fine, &settings), Vec::<String>::new());

        let mut broken = vec![fine.clone(); 9];
        broken[0].passed = (96, 100);
        broken[1].original.failures.clear();
        broken[2].original = checked(Build::Original, vec![failure(&kernel, FailureKind::Signal)]);
        broken[3].hardened = checked(Build::Hardened, vec![failure(&kernel, FailureKind::DeadlockLock)]);
        broken[4].hardened.complete = false;
        broken[5].checked_in = Duration::from_secs(31);
        let outcome = |identity| Outcome { identity, count: 1, text: format!("{identity}\n") };
        broken[6].fixed.outcomes.push(outcome(1));
        broken[7].hardened.outcomes.push(outcome(2));
        broken[8].hardened.interleaved.push("x: a.c:1 .. a.c:2, by a.c:3".to_owned());
        // A failure of the hardened build alone is told twice: it is one, and it is new.
        let counts: Vec<_> = broken.iter().map(|examined| problems(&kernel, examined, &settings).len()).collect();
        assert_eq!(counts, [1, 1, 1, 2, 1, 1, 1, 1, 1]);
    }
}
