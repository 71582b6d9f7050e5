//! `atomfix check`: explores thread schedules of a program; of a hardened one, and of its original beside it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use explorer::compare;
use explorer::parts::campaign::{Shard, WHOLE};
use explorer::strategy::config::{Config, Name};
use explorer::strategy::iterative::Preemptions;
use explorer::target::pool::Workers;
use explorer::target::setup::{Driver, End, MostSteps, Setup};
use explorer::target::watch::{Ending, Explored, Limits};
use explorer::violation::Pairs;
use model::report::{Build, CheckResult, Estimate, Report};
use model::wire;

use super::infer;
use crate::captured::refuse_unwritable;
use crate::exit::{Exit, Failure};
use crate::exploration::{self, Concluded, Task};
use crate::gated::Subject;
use crate::input;
use crate::interruption;
use crate::kept;
use crate::parts::{self, Joined, Parts};
use crate::progress::about;
use crate::sources::Sources;
use crate::wording::{counted, pasted};

/// The command line of `check`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The program, built with `atomfix cc` or made by `atomfix harden`
    program: PathBuf,
    /// Choose schedules by this strategy: portfolio, dfs, delay, sleep, unpruned, dpor, pairs, random, pct:D, pos, weighted, surw,
    /// coverage, exitblock (also -rw, -dd, -rwdd)
    #[arg(long, value_name = "NAME", default_value = "portfolio", value_parser = |text: &str| text.parse::<Name>().map_err(|error| error.to_string()))]
    strategy: Name,
    /// Explore up to K preemptions; `none` goes on until all is explored
    #[arg(long, value_name = "K|none", default_value = "none", value_parser = preemptions)]
    preemptions: Preemptions,
    /// Stop after N executions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_schedules: Option<u64>,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = input::seconds)]
    timeout: Option<Duration>,
    /// Stop at the first failure
    #[arg(long)]
    until_failure: bool,
    /// Count an execution as hung when it takes no step for this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = input::seconds)]
    step_timeout: Duration,
    /// Cut an execution after this many steps [default: 20000, and more for a program whose executions are seen to be longer]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_steps: Option<u64>,
    /// Seed the samplers
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Write the result as JSON too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Start executions by this driver: auto, restore, fork, exec
    #[arg(long, value_name = "DRIVER", default_value = "auto", value_parser = driver)]
    driver: Driver,
    /// End with code 4 when nothing was found but not all schedules were explored
    #[arg(long)]
    require_complete: bool,
    /// Let waits on conditions end without a cause too, as the standard allows; lost wake-ups may hide behind that
    #[arg(long)]
    spurious: bool,
    /// List how passing executions ended, by what they printed
    #[arg(long)]
    outcomes: bool,
    /// Count the classes of schedules that differ in which write each read reads from
    #[arg(long, conflicts_with_all = ["jobs", "checkpoint", "merge"])]
    reads_from: bool,
    /// Look whether any schedule interleaves a pair that the plan in a hardened program keeps
    #[arg(long)]
    kept: bool,
    /// Look for data races too: accesses that no synchronization orders
    #[arg(long)]
    races: bool,
    /// Compare with this build, instead of the original that a hardened program names
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Explore with N processes at a time; the result does not depend on N
    #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    jobs: Option<u32>,
    /// Keep the exploration in this file, and go on with it if it is there
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Explore one of N shards, for N machines
    #[arg(long, value_name = "I/N", requires = "checkpoint", value_parser = parts::shard)]
    shard: Option<Shard>,
    /// Join the checkpoints of all shards instead of exploring
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = [
        "checkpoint", "shard", "against", "strategy", "preemptions", "max_schedules", "until_failure", "max_steps", "seed", "driver",
        "spurious", "races", "kept", "arguments",
    ])]
    merge: Vec<PathBuf>,
    /// The program's arguments
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<OsString>,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let subject = Subject::open(&arguments.program)?;
    [&arguments.json, &arguments.checkpoint].into_iter().flatten().try_for_each(|path| refuse_unwritable(path))?;
    let other = arguments.against.as_deref().map(Subject::open).transpose()?;
    let mut builds = Vec::new();
    match &other {
        _ if !arguments.merge.is_empty() => {}
        Some(other) => builds.push((other, other.named())),
        None if subject.named() == Build::Hardened => builds.push((&subject, Build::Original)),
        None => {}
    }
    builds.push((&subject, subject.named()));
    let company = if builds.len() > 1 { Company::Another } else { Company::Alone };
    let mut report = Report::new(Vec::new());
    let mut stored: anyhow::Result<()> = Ok(());
    for (subject, build) in builds {
        if interruption::requested() {
            break;
        }
        let sources = Sources::of(&subject.capture);
        let (concluded, explored) = match &arguments.merge[..] {
            [] => explore(arguments, subject, build, &sources, company)?,
            files => join(arguments, subject, build, &sources, files)?,
        };
        report.results.push(concluded.result);
        // Before anything is printed: whoever reads that may go away, and with it this process.
        stored = stored.and(concluded.stored.map_err(Into::into)).and(write(arguments, &report));
        show(arguments, &report.results[report.results.len() - 1], &explored, &sources);
    }
    let results = &report.results;
    if let [before, after] = &results[..] {
        print!("\n{}", compare::table(before, after));
    }
    let exit = exit(arguments, results);
    if interruption::requested() {
        let schedules = results.iter().map(|result| result.schedules).sum();
        eprintln!("atomfix: {}", interruption::told(arguments.checkpoint.as_deref(), schedules));
    }
    stored?;
    Ok(exit.into())
}

/// Writes what was found so far as JSON, if that is asked for.
fn write(arguments: &Arguments, report: &Report) -> anyhow::Result<()> {
    let Some(path) = &arguments.json else { return Ok(()) };
    let text = serde_json::to_vec_pretty(report)?;
    wire::write_atomically(path, &text)
        .map_err(|error| Failure::usage(format!("{}: cannot write: {error}", path.display()), input::help_to_write(&error)).into())
}

/// Whether a build is explored to be compared with another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Company {
    Alone,
    Another,
}

fn explore(
    arguments: &Arguments,
    subject: &Subject,
    build: Build,
    sources: &Sources<'_>,
    company: Company,
) -> anyhow::Result<(Concluded, Explored)> {
    let gated = subject.gated(build)?;
    let strategy = Config {
        name: arguments.strategy,
        preemptions: arguments.preemptions,
        executions: arguments.max_schedules.or_else(|| (!arguments.strategy.ends() && arguments.timeout.is_none()).then_some(10_000)),
        seed: arguments.seed,
    };
    let end = if arguments.until_failure { End::FirstFailure } else { End::Strategy };
    let setup = Setup {
        steps: arguments.max_steps.map_or(MostSteps::AsMeasured, MostSteps::Number),
        driver: arguments.driver,
        end,
        races: arguments.races,
        outcomes: arguments.outcomes || company == Company::Another,
        reads_from: arguments.reads_from,
        spurious: arguments.spurious,
        debug: None,
        kept: if arguments.kept { kept_pairs(subject)? } else { Pairs::new() },
        ..Setup::exploring(strategy)
    };
    let limits = Limits { whole: arguments.timeout, step: arguments.step_timeout, stop: interruption::requested };
    let task = Task { subject, gated: &gated, arguments: &arguments.arguments, setup: &setup, limits };
    interruption::catch()?;
    // Better to hear of a folder that cannot be written before an hour of exploration.
    exploration::schedules(&task)?;
    let Joined { explored, saved } = match in_parts(arguments, subject, build) {
        Some(parts) => parts::run(&task, &parts)?,
        None => Joined { explored: exploration::run(&task)?, saved: Ok(()) },
    };
    let mut concluded = exploration::conclude(&task, &explored, sources)?;
    concluded.stored = concluded.stored.and(saved);
    if arguments.jobs.is_some() && parts::is_whole(arguments.strategy) {
        concluded.result.notes.push(format!("{} is not divided: one process explores", arguments.strategy));
    }
    if let Some(Shard { index, of }) = arguments.shard.filter(|shard| shard.of > 1) {
        concluded.result.notes.push(format!("shard {index} of {of}: `atomfix check PROGRAM --merge FILE...` says what all of them cover"));
    }
    Ok((concluded, explored))
}

/// How the exploration is divided, if it is.
fn in_parts(arguments: &Arguments, subject: &Subject, build: Build) -> Option<Parts> {
    let divided = arguments.jobs.is_some() || arguments.shard.is_some() || arguments.checkpoint.is_some();
    let checkpoint = arguments.checkpoint.as_ref().map(|path| {
        // The build that is not the one to be judged has a file of its own.
        let other = build != subject.named() || subject.program != arguments.program;
        let suffix = if other { ".other" } else { "" };
        PathBuf::from(format!("{}{suffix}", path.display()))
    });
    let workers = Workers(arguments.jobs.unwrap_or(1));
    divided.then(|| Parts { workers, shard: arguments.shard.unwrap_or(WHOLE), checkpoint })
}

/// What shards of an exploration say together.
fn join(
    arguments: &Arguments,
    subject: &Subject,
    build: Build,
    sources: &Sources<'_>,
    files: &[PathBuf],
) -> anyhow::Result<(Concluded, Explored)> {
    let gated = subject.gated(build)?;
    let campaign = parts::merge(files, &gated)?;
    let explores = campaign.subject().clone();
    if arguments.outcomes && !explores.setup.outcomes {
        let what = "--outcomes: the shards were explored without it, so nobody knows what executions printed".to_owned();
        return Err(Failure::usage(what, "explore them with --outcomes, or leave it out").into());
    }
    let program_arguments: Vec<OsString> = explores.arguments.iter().map(OsString::from).collect();
    let anew = parts::explored_besides(&campaign);
    if let Some(why) = anew {
        eprintln!("atomfix: {why}");
    }
    let parts = Parts { workers: Workers(arguments.jobs.unwrap_or(1)), shard: WHOLE, checkpoint: None };
    let limits = Limits { whole: arguments.timeout, step: arguments.step_timeout, stop: interruption::requested };
    let task = Task { subject, gated: &gated, arguments: &program_arguments, setup: &explores.setup, limits };
    interruption::catch()?;
    let explored = parts::finish(&task, campaign, &parts)?.explored;
    let mut concluded = exploration::conclude(&task, &explored, sources)?;
    concluded.result.notes.extend(anew.map(str::to_owned));
    Ok((concluded, explored))
}

/// What the plan of a hardened program keeps, of its original as well, for comparison.
fn kept_pairs(subject: &Subject) -> Result<Pairs, Failure> {
    let Some(plan) = &subject.plan else {
        let what = format!("{}: it has no plan whose pairs could be looked for", subject.program.display());
        return Err(Failure::usage(what, "name a program that 'atomfix harden' made, or leave out --kept"));
    };
    Ok(kept::kept(&infer::extract(&subject.capture)?, &subject.project.profile()?.evidence(), plan))
}

fn show(arguments: &Arguments, result: &CheckResult, explored: &Explored, sources: &Sources<'_>) {
    let executions =
        if result.abandoned > 0 { format!(" (and {} abandoned as covered by others)", result.abandoned) } else { String::new() };
    let seen = if result.coverage.is_complete() && !result.complete { " of what is seen" } else { "" };
    println!(
        "{} ({}), {}: {}{executions}, covering {}{seen}",
        result.program,
        result.build,
        result.strategy,
        counted(result.schedules, "schedule"),
        result.coverage
    );
    let begun = explored.executions.max(1);
    println!(
        "  {:.2} s, {:.0} schedules a second, {:.1} steps a run, {}",
        result.seconds,
        result.schedules_per_second,
        per(explored.steps, begun),
        counted(explored.threads, "thread")
    );
    match result.estimate {
        // What has come to its end needs no estimate.
        Some(Estimate::Schedules(schedules)) if schedules > result.schedules => {
            println!("  {} schedules in all", about(schedules))
        }
        Some(Estimate::Unseen(unseen)) => println!("  {:.1} of 100 further schedules would be of a class not yet seen", 100.0 * unseen),
        Some(Estimate::Schedules(_)) | None => {}
    }
    for note in &result.notes {
        println!("  note: {note}");
    }
    if arguments.outcomes {
        for outcome in &result.outcomes {
            println!("  outcome: {} of {} schedules printed {:?}", outcome.count, result.schedules, outcome.text);
        }
    }
    if let Some(classes) = result.reads_from {
        println!("  {} by what each read reads from", counted(classes, "class"));
    }
    if result.failures.is_empty() {
        let nothing = explored.timed_out && result.schedules == 0;
        println!("  {}", if nothing { "nothing was found out: no schedule came to its end" } else { "no failure found" });
    }
    if arguments.kept {
        let what = if result.interleaved.is_empty() { "no schedule interleaves a pair that the plan keeps" } else { "interleaved pairs:" };
        println!("  {what}");
    }
    for sentence in &result.interleaved {
        println!("    {sentence}");
    }
    for (failure, found) in result.failures.iter().zip(&explored.found.failures) {
        println!("  failure: {}: {}", failure.kind, failure.message);
        let thread = found.thread.map(|thread| format!(", thread {thread}")).unwrap_or_default();
        let count = match failure.count {
            0 => "before more memory was found shared, and not since".to_owned(),
            // A process that was killed has not said the last.
            count if explored.ending != Ending::Ended => format!("in {count} of {} schedules at least", result.schedules),
            count => format!("in {count} of {} schedules", result.schedules),
        };
        println!("    at {}{thread}, {count}", failure.location);
        if let Some(critical) = exploration::certain(found, sources) {
            println!("    {critical}");
        }
        for violation in &failure.violations {
            println!("    {violation}");
        }
        for detail in &found.details {
            println!("    {}", sources.resolve(detail));
        }
        println!("    atomfix replay {}", pasted(failure.schedule.as_ref()));
    }
}

#[expect(clippy::cast_precision_loss, reason = "an average for people")]
fn per(total: u64, count: u64) -> f64 {
    total as f64 / count as f64
}

fn exit(arguments: &Arguments, results: &[CheckResult]) -> Exit {
    match results.last() {
        Some(named) if !named.failures.is_empty() => Exit::Found,
        _ if interruption::requested() => Exit::Interrupted,
        Some(named) if arguments.require_complete && !named.complete => Exit::Incomplete,
        _ => Exit::Clean,
    }
}

fn preemptions(text: &str) -> Result<Preemptions, String> {
    if text == "none" {
        return Ok(Preemptions::Unlimited);
    }
    text.parse().map(Preemptions::AtMost).map_err(|_| "neither a number nor `none`".to_owned())
}

fn driver(text: &str) -> Result<Driver, String> {
    Driver::from_word(text).ok_or_else(|| "no such driver; there are auto, restore, fork, exec".to_owned())
}
