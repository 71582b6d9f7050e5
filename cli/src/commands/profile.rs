//! `atomfix profile`: runs the recording build of a program and merges what passing runs taught into the project's profile.
//!
//! Either the program itself is run `--runs` times, each run judged by its own ending; or, with `--swap`, a command is run with the
//! recording build in the program's place, and the command's exit status judges all processes that it ran.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use capture::Capture;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use inference::correlate::{Candidates, Subject};
use model::abi::ENV_RECORD;
use model::ids::{FunctionId, NodeId, SiteKey};
use model::profile::{Evidence, Profile};
use model::program::{NodeKind, Program};
use model::wanted::Wanted;
use profiler::ProfileError;
use profiler::collect::{self, Collected};
use profiler::perturb::{Seed, Watching, record_setting};
use profiler::run::{Ending, Execution, Finished, Output, Statuses, execute};
use profiler::signals::Interrupt;
use profiler::swap;
use profiler::symbols::Symbols;
use profiler::wanted::{Search, unseen};

use crate::captured::captured;
use crate::correlation::{self, Steps};
use crate::exit::{Exit, Failure};
use crate::extracted::extracted;
use crate::project::Project;
use crate::recorded;
use crate::wording::{counted, not_covered, pasted, readable};

/// The command line of `profile`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The program, built with `atomfix cc`
    program: PathBuf,
    /// Run it N times [default: 20; with --swap 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,
    /// Seed the random delays; run number n uses S + n [default: drawn, and printed]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// End a run after this many seconds, and count it as failed [default: 60; with --swap none]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// Count a run as failed unless it prints exactly what is in this file
    #[arg(long, value_name = "FILE", conflicts_with = "swap")]
    expect: Option<PathBuf>,
    /// In every other run, hold threads back to bring about what no run has shown: fewer locks that are not needed. Only for runs that fail whenever
    /// something went wrong: what goes wrong unseen is learnt as right
    #[arg(long)]
    directed: bool,
    /// Put the recording build in the program's place while the command behind `--` runs, and judge all its processes by its status
    #[arg(long, requires = "arguments")]
    swap: bool,
    #[command(flatten)]
    correlation: correlation::SetChoices,
    /// The program's arguments; with --swap, a command and its arguments
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<OsString>,
}

/// What the runs came to.
#[derive(Default)]
struct Tally {
    passed: u32,
    failed: BTreeMap<Ending, u32>,
    /// What the last failing run complained of.
    complaint: String,
    /// Where processes used memory that another thread had freed, and how many.
    used_after_free: BTreeMap<SiteKey, u32>,
    /// How many of the failed runs were to bring orders about that no passing run has shown, and those of the last one.
    failed_directed: u32,
    failed_orders: Vec<Wanted>,
    profile: Profile,
    /// The sets that the later runs watched.
    watched: Candidates,
}

/// Everything that a run needs.
struct Task<'a> {
    arguments: &'a Arguments,
    project: &'a Project,
    /// The recording build.
    program: &'a Path,
    symbols: &'a Symbols,
    recordings: &'a Path,
    /// For files of a run that are not recordings.
    scratch: &'a Path,
    expected: Option<&'a [u8]>,
    interrupt: &'a Interrupt,
    /// What is known before the first run.
    known: (&'a Program, &'a Profile),
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let expected = arguments.expect.as_deref().map(read_expected).transpose()?;
    let project = Project::open(&arguments.program)?;
    let capture = captured(&arguments.program)?;
    refuse_hardened(&project, &capture)?;
    let program = extracted(&project, &capture)?;
    let mut profile = known_profile(&project, &program)?;
    let interrupt = Interrupt::catch().map_err(failure)?;

    let bar = progress();
    bar.set_message("building the recording program");
    let (recording_build, _) = recorded::recorded(&project, &capture)?;
    let folder = recorded::recordings(&project)?;
    let (recordings, scratch) = (folder.path().join("recordings"), folder.path().join("scratch"));
    for path in [&recordings, &scratch] {
        fs::create_dir(path).map_err(|error| failure(ProfileError::Write { path: path.clone(), error }))?;
    }
    let symbols = Symbols::read(&recording_build).map_err(failure)?;
    let seed = arguments.seed.map_or_else(Seed::random, Seed);
    let task = Task {
        arguments,
        project: &project,
        program: &recording_build,
        symbols: &symbols,
        recordings: &recordings,
        scratch: &scratch,
        expected: expected.as_deref(),
        interrupt: &interrupt,
        known: (&program, &profile),
    };
    let steps = task.steps();
    let tally = run_all(&task, seed, steps, &bar);
    bar.finish_and_clear();
    let tally = tally?;

    if interrupt.requested() {
        return Err(Failure::usage("interrupted; nothing was merged into the profile", "").into());
    }
    println!("seed {}: {}", seed.0, outcome(&tally));
    if !arguments.swap && task.statuses() == Statuses::Undefined {
        println!("note: main returns nothing, so exit statuses say nothing and were not looked at");
    }
    print!("{}{}", failed_directed(&tally, &program), used_after_free(&tally, &program));
    if tally.passed == 0 {
        return Err(all_failed(arguments, &tally).into());
    }
    if tally.profile.runs.is_empty() {
        let what = format!("{}: the runs passed, but none recorded anything", project.name());
        return Err(Failure::usage(what, "check that the command really starts this program, and not a copy of it").into());
    }
    println!("{}", summary(&tally.profile, &program));
    println!("{}", steps.summary(&tally.watched));
    profile.merge(tally.profile);
    project.store_profile(&profile)?;
    println!("The profile has {}. Next: atomfix infer {}", counted(profile.runs.len(), "process"), pasted(&arguments.program));
    Ok(Exit::Clean.into())
}

fn read_expected(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure::usage(format!("{}: {error}", path.display()), "name a file with the expected output"))
}

fn refuse_hardened(project: &Project, capture: &Capture) -> Result<(), Failure> {
    match &capture.record.hardened {
        None => Ok(()),
        Some(hardened) => {
            let next = format!("profile its original: atomfix profile {}", pasted(&hardened.original));
            Err(Failure::usage(format!("{}: this is a hardened program", project.name()), next))
        }
    }
}

/// The profile that there is, or an empty one.
fn known_profile(project: &Project, program: &Program) -> Result<Profile, Failure> {
    if !project.profile_path().exists() {
        return Ok(Profile::default());
    }
    let profile = project.profile()?;
    if let Some(warning) = project.freshness(program, &profile)?.warning() {
        eprintln!("atomfix: {warning}");
    }
    Ok(profile)
}

fn progress() -> ProgressBar {
    // Indicatif draws on standard error, and only on a terminal.
    let bar = ProgressBar::new_spinner();
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

impl Task<'_> {
    fn steps(&self) -> Steps {
        let runs = self.arguments.runs.unwrap_or(if self.arguments.swap { 1 } else { 20 });
        Steps::of(runs, self.known.1.runs.len())
    }

    /// All that is known so far.
    fn evidence(&self, new: &Profile) -> Evidence {
        let mut all = self.known.1.clone();
        all.merge(new.clone());
        all.evidence()
    }

    fn statuses(&self) -> Statuses {
        let mut mains = self.known.0.functions.iter().filter(|function| function.name == "main" && !function.local);
        if mains.any(|main| main.signature.starts_with("void")) { Statuses::Undefined } else { Statuses::Judged }
    }
}

fn run_all(task: &Task<'_>, seed: Seed, steps: Steps, bar: &ProgressBar) -> Result<Tally, Failure> {
    let runs = steps.counting + steps.watching;
    if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_bar} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    bar.set_length(u64::from(runs));
    let mut tally = Tally::default();
    let mut watching = Watching::Nothing;
    let mut search = Search::default();
    let subject = (steps.watching > 0).then(|| Subject::of(task.known.0));
    for number in 0..runs {
        if task.interrupt.requested() {
            break;
        }
        bar.set_position(u64::from(number));
        bar.set_message(outcome(&tally));
        // More is known after each run, so the sets are chosen anew, and the orders that were not seen. Every other run is left alone.
        let subject = subject.as_ref().filter(|_| number >= steps.counting);
        let directed = task.arguments.directed && number % 2 == 1;
        let evidence = (directed || subject.is_some()).then(|| task.evidence(&tally.profile));
        if let Some((subject, evidence)) = subject.zip(evidence.as_ref()) {
            let thresholds = task.arguments.correlation.thresholds();
            (tally.watched, watching) = correlation::choose(subject, evidence, &thresholds, task.recordings).map_err(failure)?;
        }
        let seed = seed.of_run(number);
        let orders = evidence.filter(|_| directed).map_or_else(Vec::new, |evidence| search.choose(&unseen(&evidence), seed));
        let finished = run_once(task, seed, watching, &orders)?;
        let ending = match finished.ending {
            Ending::Passed => tally.learn(collect::collect(task.recordings, task.symbols, &tally.watched.sets).map_err(failure)?),
            failed => {
                tally.complaint = finished.complaint;
                failed
            }
        };
        search.tried(&orders, ending);
        tally.count(ending, orders);
        collect::discard(task.recordings).map_err(failure)?;
    }
    Ok(tally)
}

impl Tally {
    /// Counts a run that was to bring these orders about.
    fn count(&mut self, ending: Ending, orders: Vec<Wanted>) {
        if ending == Ending::Passed {
            self.passed += 1;
            return;
        }
        *self.failed.entry(ending).or_default() += 1;
        if !orders.is_empty() {
            self.failed_directed += 1;
            self.failed_orders = orders;
        }
    }

    /// A run ended as it should. It has not passed if all that it taught is what must not be learnt.
    fn learn(&mut self, collected: Collected) -> Ending {
        let is_stale = collected.runs.is_empty() && !collected.used_after_free.is_empty();
        for site in collected.used_after_free {
            *self.used_after_free.entry(site).or_default() += 1;
        }
        self.profile.merge(Profile { runs: collected.runs });
        if is_stale { Ending::UsedAfterFree } else { Ending::Passed }
    }
}

fn run_once(task: &Task<'_>, seed: Seed, watching: Watching, orders: &[Wanted]) -> Result<Finished, Failure> {
    let environment = [(ENV_RECORD, record_setting(task.recordings, seed, watching, orders))];
    let seconds = task.arguments.timeout.or((!task.arguments.swap).then_some(60));
    let mut execution = Execution {
        program: task.program,
        arguments: &task.arguments.arguments,
        environment: &environment,
        limit: seconds.map(Duration::from_secs),
        statuses: task.statuses(),
        output: Output::Keep { folder: task.scratch, expected: task.expected },
        interrupt: task.interrupt,
    };
    let Some((command, arguments)) = task.arguments.arguments.split_first().filter(|_| task.arguments.swap) else {
        return execute(&execution).map_err(failure);
    };
    (execution.program, execution.arguments, execution.output) = (Path::new(command), arguments, Output::Pass);
    execution.statuses = Statuses::Judged;
    let [(_, setting)] = &environment;
    let swapped = swap::swap(&task.project.program, task.program, &task.project.folder, setting).map_err(failure)?;
    let finished = execute(&execution);
    if swapped.undo().map_err(failure)? == swap::Recovery::Replaced {
        eprintln!("atomfix: {} was built anew while the command ran; the new one stays", task.project.name());
    }
    finished.map_err(failure)
}

fn failure(error: ProfileError) -> Failure {
    let next = match &error {
        ProfileError::Start { .. } => "check that the program is there and may be executed",
        ProfileError::Read { .. } | ProfileError::Write { .. } => "make it accessible, or free some space, and run this again",
        ProfileError::NoRoom { .. } => "free some space on the disk, or raise the limit on the size of files, and run this again",
        ProfileError::Recording { .. } => "run this again; if it happens again, please report it",
        ProfileError::Symbols { .. } => "`atomfix doctor` checks the toolchain",
        ProfileError::Journal { .. } => "look whether the program is the original, then delete the journal",
        ProfileError::Swapped { .. } => "wait until it has ended",
        ProfileError::Control { .. } => "Linux 5.3 or later is needed",
    };
    Failure::usage(error.to_string(), next)
}

/// How many runs passed and failed, by how they failed.
fn outcome(tally: &Tally) -> String {
    let failed: u32 = tally.failed.values().sum();
    let kinds: Vec<String> = tally.failed.iter().map(|(ending, count)| format!("{count} {ending}")).collect();
    let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    format!("{} passed, {failed} failed{kinds}", counted(tally.passed, "run"))
}

/// What runs failed of that were held to orders which no passing run has shown: that is what profiling is to keep out, and no cause for alarm.
fn failed_directed(tally: &Tally, program: &Program) -> String {
    if tally.failed_directed == 0 {
        return String::new();
    }
    let sites = program.sites();
    let place = |site| readable(&place_of(program, &sites, site));
    let line = |order: &Wanted| format!("\n  {} just before {} in another thread", place(order.between), place(order.second));
    let orders: String = tally.failed_orders.iter().map(line).collect();
    let runs = counted(tally.failed_directed, "failed run");
    format!("note: threads were held back in {runs}, to see what no run had shown before; in the last one{orders}\n")
}

/// Where memory was used that another thread had freed, a line each.
fn used_after_free(tally: &Tally, program: &Program) -> String {
    let sites = program.sites();
    let line = |(&site, &count): (&SiteKey, &u32)| {
        let (place, processes) = (readable(&place_of(program, &sites, site)), counted(count, "process"));
        format!("note: memory was used that another thread had freed, at {place} in {processes}: nothing was learnt from there\n")
    };
    tally.used_after_free.iter().map(line).collect()
}

fn place_of(program: &Program, sites: &BTreeMap<SiteKey, (FunctionId, NodeId)>, site: SiteKey) -> String {
    sites.get(&site).map_or_else(|| site.to_string(), |&(function, node)| program.function(function).place_of(node))
}

fn all_failed(arguments: &Arguments, tally: &Tally) -> Failure {
    let what = format!("{}: no run passed, so there is nothing to learn from: {}", arguments.program.display(), outcome(tally));
    let complaint = match tally.complaint.as_str() {
        "" => String::new(),
        text => format!("\n  the last one wrote: {}", text.replace('\n', "\n    ")),
    };
    Failure::usage(what + &complaint, "profile with arguments for which the program passes; a longer --timeout may help")
}

/// What was learned, and how much of the program it covers.
fn summary(profile: &Profile, program: &Program) -> String {
    let evidence = profile.evidence();
    let accesses = program.functions.iter().flat_map(|function| &function.nodes).filter(|node| matches!(node.kind, NodeKind::Access(_)));
    let keys: Vec<_> = accesses.filter_map(|node| node.site).collect();
    let ran = keys.iter().filter(|site| evidence.sites.contains_key(site)).count();
    let shared = evidence.pairs.values().filter(|(pair, _)| pair.shared > 0).count();
    let mut text = format!(
        "{} recorded; {}, {shared} of them on memory that several threads use; {ran} of {} ran ({} %)",
        counted(evidence.runs, "process"),
        counted(evidence.pairs.len(), "pair"),
        counted(keys.len(), "access"),
        ran * 100 / keys.len().max(1)
    );
    for (why, names) in not_covered(&program.uncovered) {
        text.push_str(&format!("\nnot covered: {} ({why})", readable(&names)));
    }
    for (cause, count) in &evidence.dropped {
        text.push_str(&format!("\nnot recorded: {count} {cause}"));
    }
    text
}
