//! `atomfix replay`: runs one schedule again, and says whether it ends as it did.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use explorer::strategy::config::{Config, Name};
use explorer::strategy::iterative::Preemptions;
use explorer::target::found::TakenStep;
use explorer::target::setup::{MostSteps, Sequel, Setup};
use explorer::target::watch::{Explored, Limits};
use explorer::timeline::timeline;
use model::event::EventKind;
use model::report::FailureKind;
use model::schedule::{self, Schedule};

use crate::debugger;
use crate::exit::{Exit, Failure};
use crate::exploration::{self, Task};
use crate::gated::Subject;
use crate::input;
use crate::sources::Sources;
use crate::wording::pasted;

/// The command line of `replay`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The schedule, as `atomfix check` stored it
    schedule: PathBuf,
    /// Run this program, if it is no longer where it was
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Count the execution as hung when it takes no step for this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = input::seconds)]
    step_timeout: Duration,
    /// Then run it in gdb, up to the step after which the failure is certain, with the thread that takes it
    #[arg(long)]
    gdb: bool,
}

/// Whether the program is as it was when the schedule was found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Age {
    /// It is.
    Current,
    /// It was built anew since. A schedule outlives that where its own steps are as they were, so it is followed as far as it goes.
    OfAnotherBuild,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let schedule = read(&arguments.schedule)?;
    let program = arguments.program.clone().unwrap_or_else(|| PathBuf::from(&schedule.program));
    let subject = Subject::open(&program)?;
    if subject.named() != schedule.variant {
        return Err(stale(arguments, &program, "").into());
    }
    let age = if subject.identity(schedule.variant) == schedule.build { Age::Current } else { Age::OfAnotherBuild };
    let sources = Sources::of(&subject.capture);
    let gated = subject.gated(schedule.variant)?;
    let program_arguments: Vec<OsString> = schedule.arguments.iter().map(OsString::from).collect();
    let setup = setup(&schedule, &arguments.schedule)?;
    let limits = Limits { whole: None, step: arguments.step_timeout, stop: || false };
    let task = Task { subject: &subject, gated: &gated, arguments: &program_arguments, setup: &setup, limits };
    let explored = exploration::run(&task)?;
    if let (Age::OfAnotherBuild, Some(divergence)) = (age, &explored.found.divergence) {
        let where_to = format!(", which does not follow it: {}", sources.resolve(divergence));
        return Err(stale(arguments, &program, &where_to).into());
    }
    print!("{}", timeline(&schedule, &sources));
    if age == Age::OfAnotherBuild {
        println!("note: {} was built anew since this schedule was found, and still goes this way", program.display());
    }
    let code = judge(&schedule, &explored, &sources, age)?;
    if arguments.gdb {
        debugger::run(&task, &schedule, &explored)?;
    }
    Ok(code)
}

fn stale(arguments: &Arguments, program: &Path, how: &str) -> Failure {
    let what = format!("{}: this is a schedule of another build of {}{how}", arguments.schedule.display(), program.display());
    Failure::usage(what, format!("find schedules of this build with `atomfix check {}`", pasted(program)))
}

fn read(path: &Path) -> Result<Schedule, Failure> {
    let bytes = input::read(path)
        .map_err(|error| Failure::usage(format!("{}: {error}", path.display()), "`atomfix check` stores schedules of failures"))?;
    let text = String::from_utf8(bytes).map_err(|_| damaged(path, "not a schedule of atomfix: it is no text"))?;
    schedule::parse(&text).map_err(|error| damaged(path, &error.to_string()))
}

fn damaged(path: &Path, why: &str) -> Failure {
    Failure::usage(format!("{}: {why}", path.display()), "find the failure again with `atomfix check`")
}

fn setup(schedule: &Schedule, path: &Path) -> Result<Setup, Failure> {
    let steps: Option<Vec<TakenStep>> = schedule.steps().map(exploration::from_schedule).collect();
    let steps = steps.ok_or_else(|| damaged(path, "a step names an object that is none of an access"))?;
    let strategy = Config { name: Name::DepthFirst, preemptions: Preemptions::Unlimited, executions: None, seed: 0 };
    // Of a wait with a time limit, it is chosen whether it ends by that or without a cause.
    let is_for_nothing = |step: &TakenStep| {
        step.kind == EventKind::WaitSpurious { by: None }.code()
            || step.kind == EventKind::WaitTimeout { by: None }.code() && !step.picks.is_empty()
    };
    let spurious = steps.iter().any(is_for_nothing);
    let is = |kind| schedule.failure.as_ref().is_some_and(|failure| failure.kind == kind);
    let races = is(FailureKind::DataRace);
    // What follows the schedule's last step is bounded too; one that was cut goes no further.
    let limit = steps.len() as u64 + if is(FailureKind::StepLimit) { 0 } else { 20_000 };
    Ok(Setup {
        steps: MostSteps::Number(limit),
        races,
        spurious,
        habits: schedule.habits,
        sequel: Sequel::Nothing,
        replay: Some(steps),
        ..Setup::exploring(strategy)
    })
}

/// Compares the end with what the schedule says.
fn judge(schedule: &Schedule, explored: &Explored, sources: &Sources<'_>, age: Age) -> anyhow::Result<ExitCode> {
    if let Some(divergence) = &explored.found.divergence {
        println!("diverged at {}", sources.resolve(divergence));
        return Err(Failure::usage(
            "the program did not follow the schedule",
            "it depends on something besides the schedule: time, input, addresses",
        )
        .into());
    }
    let Some(found) = explored.found.failures.first() else {
        if schedule.failure.is_some() && age == Age::OfAnotherBuild {
            println!("no failure any more");
            return Ok(Exit::Clean.into());
        }
        if schedule.failure.is_some() {
            let next = "it depends on something besides the schedule: time, input, addresses";
            return Err(Failure::usage("the schedule was followed, but the failure did not come again", next).into());
        }
        println!("no failure, as recorded");
        return Ok(Exit::Clean.into());
    };
    let location = exploration::location(found, sources);
    println!("failure: {}: {}\n  at {location}", found.kind, sources.resolve(&found.message));
    for detail in &found.details {
        println!("  {}", sources.resolve(detail));
    }
    // Lines move as a program is built anew.
    let same_place = |of: &str| if age == Age::Current { of == location } else { file_of(of) == file_of(&location) };
    let same = schedule.failure.as_ref().is_some_and(|failure| failure.kind == found.kind && same_place(&failure.location));
    println!("{}", if same { "the same failure as recorded" } else { "another failure than recorded" });
    Ok(Exit::Found.into())
}

/// The file that a location (`FILE:LINE` or `FILE:LINE:COLUMN`) is in.
fn file_of(location: &str) -> &str {
    location.split(':').next().unwrap_or_default()
}
