//! Many random programs: what each search of the compiled program finds must be what brute force finds in the program as data; and
//! searches without a bound must tell the same failures apart.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use explorer::fake::generate::{Flavor, program};
use explorer::fake::oracle::{self, Within};
use explorer::fake::program::Program;
use explorer::strategy::depth_first::Extent;
use explorer::strategy::part::Work;
use model::report::Report;

use super::outcome::{self, Words};
use super::search::{self, MOST_PREEMPTIONS, Search};
use super::source;
use crate::child::Child;

/// Programs with more schedules are left out: plain search would take too long.
const MOST_SCHEDULES: u64 = 6_000;
/// The same of those that need the fork driver, which takes thirty times as long for each.
const MOST_FORKED: u64 = 600;

/// For one command.
const LIMIT: Duration = Duration::from_secs(120);

/// How many programs are compared.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The seed of the first program; the following ones have those after it.
    pub seed: u64,
    /// So many programs are interpreted.
    pub interpreted: usize,
    /// Of these, the first are compiled too.
    pub compiled: usize,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Comparison {
    /// How many programs were interpreted.
    pub interpreted: usize,
    /// How many programs were compiled.
    pub compiled: usize,
    /// How many seeds were left out because their programs have too many schedules.
    pub left_out: u64,
    /// Schedules by all searches.
    pub schedules: u64,
    /// Outcomes by brute force, over all programs.
    pub outcomes: usize,
    /// Programs in which something fails.
    pub failing: usize,
    /// What differs.
    pub problems: Vec<String>,
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { interpreted, compiled, left_out, schedules, outcomes, failing, problems } = self;
        writeln!(f, "{interpreted} programs interpreted, {compiled} of them compiled too; {left_out} seeds left out as too large")?;
        writeln!(f, "{outcomes} outcomes by brute force; {failing} programs fail in some schedule; {schedules} schedules by all searches")?;
        write!(f, "{} differ", problems.len())
    }
}

/// What brute force says of a program.
struct Expected {
    whole: Words,
    bound: u32,
    /// Not of programs with signals.
    within: Option<Words>,
}

impl Expected {
    /// `None` when the program has more than so many schedules.
    fn of(program: &Program, bound: u32, most: u64) -> Option<Self> {
        let words = |within| {
            let (outcomes, schedules) = oracle::outcomes(program, within);
            (outcomes.iter().map(outcome::of_data).collect::<Words>(), schedules)
        };
        let (whole, schedules) = words(Within::Everything);
        let within = || (!program.has_interruptions()).then(|| words(Within::Preemptions(bound)).0);
        (schedules <= most).then(|| Self { whole, bound, within: within() })
    }

    /// What a search is to find, if it is asked: for signals the engine looks in steps of its own, of which the program as data has few, so that
    /// preemptions are others, and schedules many.
    fn by(&self, search: Search) -> Option<&Words> {
        match (&self.within, search) {
            (_, Search { bound: Some(_), .. }) => self.within.as_ref(),
            (None, Search { work: Work::Search(Extent::Unpruned), .. }) => None,
            _ => Some(&self.whole),
        }
    }
}

/// Compares. `shown` is told of each program that is done.
///
/// # Errors
/// When the interpreter cannot be built.
pub fn compare(atomfix: &Path, folder: &Path, settings: Settings, shown: &mut dyn FnMut(&Comparison)) -> Result<Comparison> {
    let builder = Builder { atomfix, folder };
    let gated = builder.interpreter()?;
    let mut comparison = Comparison::default();
    for seed in settings.seed.. {
        if comparison.interpreted == settings.interpreted {
            break;
        }
        let flavor = match seed % 8 {
            1 => Flavor::Signals,
            5 => Flavor::Calls,
            3 | 7 => Flavor::Pipes,
            _ => Flavor::Primitives,
        };
        let most = if flavor == Flavor::Primitives { MOST_SCHEDULES } else { MOST_FORKED };
        let program = program(seed, flavor);
        let bound = u32::try_from(seed % (u64::from(MOST_PREEMPTIONS) + 1)).unwrap_or(0);
        let Some(expected) = Expected::of(&program, bound, most) else {
            comparison.left_out += 1;
            continue;
        };
        comparison.interpreted += 1;
        comparison.outcomes += expected.whole.len();
        comparison.failing += usize::from(expected.whole.iter().any(|words| words.starts_with(|first: char| first.is_alphabetic())));
        let mut wrong = interpreted(&gated, &program, &expected, &mut comparison.schedules);
        if comparison.interpreted <= settings.compiled {
            comparison.compiled += 1;
            wrong.extend(builder.compiled(&program, &expected).unwrap_or_else(|error| vec![format!("compiled: {error:#}")]));
        }
        comparison.problems.extend(wrong.into_iter().map(|problem| format!("seed {seed}: {problem}")));
        shown(&comparison);
    }
    Ok(comparison)
}

fn interpreted(gated: &Path, program: &Program, expected: &Expected, schedules: &mut u64) -> Vec<String> {
    let Some(data) = source::data(program) else { return vec!["it has injected locks".to_owned()] };
    let mut wrong = Vec::new();
    let mut failures: Option<Words> = None;
    for search in search::searches(expected.bound) {
        let Search { bound, name, .. } = search;
        let Some(words) = expected.by(search) else { continue };
        let explored = match search::explore(gated, &data, program.spurious, search) {
            Ok(explored) => explored,
            Err(error) => {
                wrong.push(format!("{error:#}"));
                continue;
            }
        };
        *schedules += explored.schedules;
        let difference = outcome::difference(words, &explored.outcomes);
        if !difference.is_empty() {
            wrong.push(format!("{name} within {bound:?}: {difference}: {data}"));
        }
        if bound.is_none() {
            let difference = outcome::difference(failures.get_or_insert_with(|| explored.failures.clone()), &explored.failures);
            if !difference.is_empty() {
                wrong.push(format!("{name}: failures: {difference}: {data}"));
            }
        }
    }
    wrong
}

/// How users ask for the searches of a compiled program, and whether within a bound.
const STRATEGIES: [(&str, Reach); 5] =
    [("sleep", Reach::Whole), ("dpor", Reach::Whole), ("portfolio", Reach::Whole), ("dfs", Reach::Bounded), ("dpor", Reach::Bounded)];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Whole,
    Bounded,
}

/// Builds in a folder.
struct Builder<'a> {
    atomfix: &'a Path,
    folder: &'a Path,
}

impl Builder<'_> {
    fn atomfix(&self, arguments: &[&str]) -> Result<()> {
        Child::new(self.atomfix, LIMIT).within(self.folder).args(arguments).run()?.succeeded()?;
        Ok(())
    }

    /// The gated interpreter. What keeps the state goes through assembly, so that it has no hooks.
    fn interpreter(&self) -> Result<PathBuf> {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("agreement");
        for file in ["state.h", "state.c", "operations.h", "interpreter.c"] {
            fs::copy(sources.join(file), self.folder.join(file)).with_context(|| file.to_owned())?;
        }
        self.atomfix(&["cc", "-O1", "-S", "state.c", "-o", "state.s"])?;
        self.atomfix(&["cc", "-c", "state.s", "-o", "state.o"])?;
        self.build("interpreter.c", "interpreter")?;
        // The first exploration makes the gated build.
        self.atomfix(&["check", "./interpreter", "--max-schedules", "1", "--", "0"])?;
        let builds = self.folder.join("interpreter.atomfix/build");
        // Beside it lies a list of what has no hooks, with an extension.
        let mut entries = fs::read_dir(&builds).with_context(|| builds.display().to_string())?;
        let is_build = |entry: &std::io::Result<fs::DirEntry>| entry.as_ref().map_or(true, |entry| entry.path().extension().is_none());
        let entry = entries.find(is_build).context("no gated build was made")?;
        Ok(entry?.path())
    }

    fn build(&self, source: &str, output: &str) -> Result<()> {
        self.atomfix(&["cc", "-O1", "-g", "-pthread", source, "state.o", "-o", output])
    }

    /// Compiles a program, explores it as a user would, and says what differs.
    fn compiled(&self, program: &Program, expected: &Expected) -> Result<Vec<String>> {
        fs::write(self.folder.join("app.c"), source::c(program).context("it has injected locks")?)?;
        self.build("app.c", "app")?;
        let mut wrong = Vec::new();
        for (strategy, reach) in STRATEGIES {
            let bound = (reach == Reach::Bounded).then_some(expected.bound);
            let Some(words) = bound.map_or(Some(&expected.whole), |_| expected.within.as_ref()) else { continue };
            let check = Child::new(self.atomfix, LIMIT).within(self.folder).args(["check", "./app", "--outcomes", "--json", "app.json"]);
            let preemptions = bound.map_or_else(|| "none".to_owned(), |bound| bound.to_string());
            let spurious = ["--spurious"].into_iter().filter(|_| program.spurious);
            let end = check.args(["--strategy", strategy, "--preemptions", &preemptions]).args(spurious).run()?;
            if !matches!(end.status.code(), Some(0 | 1)) {
                end.succeeded()?;
                continue;
            }
            let report: Report = serde_json::from_str(&fs::read_to_string(self.folder.join("app.json"))?)?;
            let found = report.results.first().map(outcome::of_report).unwrap_or_default();
            let difference = outcome::difference(words, &found);
            if !difference.is_empty() {
                wrong.push(format!("compiled, {strategy} within {bound:?}: {difference}"));
            }
        }
        // The next program has a build of its own.
        fs::remove_dir_all(self.folder.join("app.atomfix")).context("what was kept of the program")?;
        Ok(wrong)
    }
}
