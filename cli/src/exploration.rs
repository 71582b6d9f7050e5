//! One exploration of one build: runs the engine, keeps failing schedules, and says what came of it.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use explorer::target::found::{ENDS, FoundFailure, TakenStep, Unable};
use explorer::target::page::{EarlyEnd, NOTES, OUT_OF_SIGHT};
use explorer::target::setup::Setup;
use explorer::target::watch::{self, Ending, Explored, Limits};
use explorer::violation::{Pairs, Violation, violations};
use model::plan::{Action, Operation};
use model::report::{CheckResult, Coverage, Failure as Reported, FailureKind};
use model::schedule::{Schedule, ScheduleFailure, ScheduleStep};
use model::wire;

use crate::exit::Failure;
use crate::gated::{Gated, Subject};
use crate::interruption;
use crate::kept;
use crate::progress::Spinner;
use crate::sources::Sources;
use crate::wording::{counted, not_covered, readable};

/// What to explore, and how.
pub(crate) struct Task<'a> {
    /// The program.
    pub(crate) subject: &'a Subject,
    /// Which build of it.
    pub(crate) gated: &'a Gated,
    /// Its arguments.
    pub(crate) arguments: &'a [OsString],
    /// What is asked of the engine.
    pub(crate) setup: &'a Setup,
    /// How long to wait.
    pub(crate) limits: Limits,
}

/// Runs the engine.
pub(crate) fn run(task: &Task<'_>) -> anyhow::Result<Explored> {
    let name = task.subject.name(task.gated.build).display().to_string();
    let process = task.subject.process(task.gated, task.arguments);
    let mut spinner = Spinner::new(&name);
    let explored = watch::run(&process, task.setup, task.limits, &mut |progress| spinner.show(progress))
        .map_err(|error| Failure::usage(format!("{name}: cannot be run: {error}"), "check that it is a program for this machine"))?;
    spinner.clear();
    judge(&name, explored)
}

/// Ends that are nobody's failure but the input's, or ours, are errors.
pub(crate) fn judge(name: &str, explored: Explored) -> anyhow::Result<Explored> {
    match &explored.ending {
        Ending::Ended => Ok(explored),
        Ending::Died(_) | Ending::Stuck if !explored.found.failures.is_empty() || explored.timed_out => Ok(explored),
        Ending::NeverBegan(status) => {
            let what = format!("{name}: it ended before main, with {status}");
            Err(Failure::usage(what, "see whether it runs at all; a statically linked program cannot be explored").into())
        }
        Ending::Stuck => {
            let what = format!("{name}: nothing moved for longer than `--step-timeout`, and the execution could not be ended");
            Err(Failure::usage(what, "explore it with `--driver fork`, which ends such an execution, or with a longer `--step-timeout`")
                .into())
        }
        Ending::Died(status) if status.signal() == Some(libc::SIGKILL) => {
            let what = format!("{name}: its process was killed, as the system does when memory runs out");
            Err(Failure::usage(what, "see how much memory it needs; one in which nothing moves ends sooner by a shorter `--step-timeout`")
                .into())
        }
        Ending::Died(status) => anyhow::bail!("{name}: the engine died with {status}"),
        Ending::Unable(Unable { why, help }) => Err(Failure::usage(format!("{name}: {why}"), help).into()),
        Ending::Broken(message) => anyhow::bail!("{name}: the engine failed: {message}"),
    }
}

/// What came of an exploration.
pub(crate) struct Concluded {
    /// What it says.
    pub(crate) result: CheckResult,
    /// Whether its failing schedules could be stored. An error here must not cost the user the result.
    pub(crate) stored: Result<(), Failure>,
}

/// The folder of failing schedules.
pub(crate) fn schedules(task: &Task<'_>) -> Result<PathBuf, Failure> {
    task.subject.project.subfolder("schedules")
}

/// What an exploration says; stores its failing schedules.
pub(crate) fn conclude(task: &Task<'_>, explored: &Explored, sources: &Sources<'_>) -> Result<Concluded, Failure> {
    let folder = schedules(task)?;
    let mut stored = Ok(());
    let pairs = if explored.found.failures.is_empty() { Pairs::new() } else { learnt(task.subject) };
    let mut failures = Vec::new();
    for (index, found) in explored.found.failures.iter().enumerate() {
        let path = folder.join(format!("{}-{}-{}.schedule", task.gated.build, index + 1, found.kind));
        let schedule = schedule(task, explored, found, sources);
        let steps = found.minimized.as_ref().unwrap_or(&found.steps);
        let violations = violations(steps, &pairs).iter().map(|violation| name(violation, steps, sources)).collect();
        let kept = store(&path, &schedule.to_string());
        stored = stored.and(kept);
        failures.push(Reported {
            kind: found.kind,
            message: sources.resolve(&found.message),
            location: location(found, sources),
            violations,
            schedule: path.display().to_string(),
            count: found.count,
            first: Some(found.first),
        });
    }
    let counts = explored.counts;
    let covered = explored.found.coverage.filter(|_| !explored.found.failures.iter().any(is_hung));
    let coverage = covered.unwrap_or(Coverage::Partial(counts.schedules));
    let seconds = explored.time.as_secs_f64();
    let is_out_of_sight = OUT_OF_SIGHT.iter().any(|note| explored.notes & note.bit() != 0);
    let result = CheckResult {
        program: task.subject.name(task.gated.build).display().to_string(),
        build: task.gated.build,
        strategy: task.setup.strategy.name.to_string(),
        schedules: counts.schedules,
        complete: coverage.is_complete() && counts.diverged == 0 && counts.cut == 0 && !is_out_of_sight,
        coverage,
        abandoned: counts.abandoned,
        cut: counts.cut,
        diverged: counts.diverged,
        failures,
        estimate: explored.estimate,
        seconds,
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        schedules_per_second: if seconds > 0.0 { counts.schedules.saturating_sub(explored.earlier) as f64 / seconds } else { 0.0 },
        outcomes: explored.found.outcomes.clone(),
        reads_from: explored.found.reads_from,
        interleaved: explored.found.interleaved.iter().map(|found| kept::sentence(found, sources)).collect(),
        notes: notes(explored, task, sources),
    };
    Ok(Concluded { result, stored })
}

/// From which step of its schedule on the failure is certain, in words, or that it never is.
pub(crate) fn certain(found: &FoundFailure, sources: &Sources<'_>) -> Option<String> {
    if found.comes_out {
        let or_for_ever =
            if found.kind == FailureKind::Livelock { ": it lasts as long as threads keep getting in each other's way" } else { "" };
        return Some(format!("never certain: random ends of its whole schedule come out well{or_for_ever}"));
    }
    let (critical, steps) = (usize::try_from(found.critical?).ok()?, found.minimized.as_ref()?);
    let Some(step) = critical.checked_sub(1).and_then(|at| steps.get(at)) else {
        return Some(format!("certain from the start: so did {ENDS} random schedules end"));
    };
    let variable = step.site.and_then(|site| sources.variable(site)).map_or_else(String::new, |variable| format!(" {variable}"));
    let place = step.site.and_then(|site| sources.position(site)).map_or_else(String::new, |place| format!(" at {place}"));
    let (thread, verb, length) = (step.thread, sources.verb(step.site, step.kind), steps.len());
    Some(format!("certain after step {critical} of {length}, {thread} {verb}{variable}{place}: so did {ENDS} random ends"))
}

/// What passing runs taught of pairs of accesses; nothing when there is no profile of this program.
fn learnt(subject: &Subject) -> Pairs {
    let Ok(profile) = subject.project.profile() else { return Pairs::new() };
    let mut pairs = Pairs::new();
    for (key, (pair, _)) in profile.evidence().pairs {
        let known = pairs.entry((key.first, key.second)).or_insert(pair.atomicity);
        *known = known.meet(pair.atomicity);
    }
    pairs
}

/// A violated pair in words.
fn name(violation: &Violation, steps: &[TakenStep], sources: &Sources<'_>) -> String {
    let place = |at: usize| steps[at].site.and_then(|site| sources.position(site)).unwrap_or("?");
    let does = |at: usize| format!("{} {}", sources.verb(steps[at].site, steps[at].kind), place(at));
    let variable = steps[violation.first].site.and_then(|site| sources.variable(site)).unwrap_or("memory behind a pointer");
    let (local, remote) = (steps[violation.first].thread, steps[violation.remote].thread);
    format!(
        "{variable}: {local} ({}; {}) was interleaved by {remote} ({}), as in no passing run",
        does(violation.first),
        does(violation.second),
        does(violation.remote)
    )
}

/// Where a failure is, in the source.
pub(crate) fn location(found: &FoundFailure, sources: &Sources<'_>) -> String {
    let position = || found.site.and_then(|site| sources.position(site)).map(str::to_owned);
    found.location.clone().or_else(position).unwrap_or_else(|| "?".to_owned())
}

/// From how many executions on it is said that they are not counted: fewer take no time.
const MANY_GIVEN_UP: u64 = 1000;

fn notes(explored: &Explored, task: &Task<'_>, sources: &Sources<'_>) -> Vec<String> {
    // Of several drivers, the last is the one that the result comes from.
    let (drivers, mut notes): (Vec<_>, Vec<_>) = explored.found.remarks.iter().cloned().partition(|remark| remark.starts_with("driver "));
    notes = notes.iter().map(|remark| sources.resolve(remark)).collect();
    notes.extend(drivers.into_iter().next_back());
    notes.extend(NOTES.iter().filter(|(note, _)| explored.notes & note.bit() != 0).map(|(_, text)| (*text).to_owned()));
    notes.extend(explored.early_ends.iter().map(|end| early_end(end, task)));
    notes.extend(explored.found.divergence.as_ref().map(|text| format!("an execution did not repeat: {text}")));
    let given_up = explored.executions.saturating_sub(explored.counts.executions());
    if given_up >= MANY_GIVEN_UP {
        notes.push(format!("{given_up} executions are not counted: they showed that more memory is shared, and exploration began anew"));
    }
    if explored.timed_out && interruption::requested() {
        notes.push(format!("interrupted after {:.1} s", explored.time.as_secs_f64()));
    } else if explored.timed_out {
        let seconds = task.limits.whole.unwrap_or(Duration::ZERO).as_secs_f64();
        let hint = match explored.counts.schedules {
            0 if given_up < MANY_GIVEN_UP => {
                ", in the first schedule: give it more time with `--timeout`, or have one in which nothing moves end by a shorter `--step-timeout`"
            }
            _ => "",
        };
        notes.push(format!("stopped after {seconds} s{hint}"));
    }
    if let (Ending::Died(status), false) = (&explored.ending, explored.timed_out) {
        notes.push(format!("the exploration ended early: the program's process died with {status}"));
    }
    if explored.ending == Ending::Stuck {
        notes
            .push("the exploration ended early: nothing moved, and the execution alone could not be ended; `--driver fork` can".to_owned());
    }
    notes.extend(limits(explored));
    let unseen = not_covered(task.subject.capture.uncovered.iter().chain(&task.gated.unseen));
    if !unseen.is_empty() {
        let names: Vec<String> = unseen.iter().map(|(why, names)| format!("{} ({why})", readable(names))).collect();
        notes.push(format!("not instrumented: {}", names.join(", ")));
    }
    notes
}

/// Whether executions ended so because nothing moved in them for too long: what would have followed is not known. The other limits name what there
/// was too much of.
fn is_hung(found: &FoundFailure) -> bool {
    found.kind == FailureKind::StepLimit && !["steps", "threads"].iter().any(|limited| found.message.contains(limited))
}

/// What the limits of an execution kept from being known.
fn limits(explored: &Explored) -> Vec<String> {
    let reached = explored.found.failures.iter().filter(|found| found.kind == FailureKind::StepLimit);
    if explored.counts.schedules > 0 && reached.clone().map(|found| found.count).sum::<u64>() == explored.counts.schedules {
        let help = "give it less to do, or allow more with `--max-steps` or `--step-timeout`";
        return vec![format!("no schedule came to its end: the program never ends, or has too much to do to be explored: {help}")];
    }
    let mut notes = Vec::new();
    if reached.clone().any(is_hung) {
        notes.push("what takes longer without a step than `--step-timeout` counts as hung".to_owned());
    }
    if explored.counts.cut > 0 {
        notes.push(format!(
            "{} cut at `--max-steps`: what would have followed is not known; a program that never ends should end after some rounds",
            counted(explored.counts.cut, "execution")
        ));
    }
    notes
}

/// Which lock a thread lost before its region was over, where it had taken it, and why.
fn early_end(end: &EarlyEnd, task: &Task<'_>) -> String {
    let lock = task.subject.plan.iter().flat_map(|plan| &plan.locks).find(|lock| lock.id == end.lock);
    let acquires = |operation: &&Operation| matches!(operation.action, Action::Acquire(_, label) if label == end.label);
    let place = lock.and_then(|lock| lock.operations.iter().find(acquires)).map(|operation| operation.source.as_str());
    let variable = lock.map(|lock| format!(" ({})", readable(&lock.variable))).unwrap_or_default();
    let place = place.filter(|source| !source.is_empty()).map(|source| format!("{source}, ")).unwrap_or_default();
    let why = end.why.story();
    format!("{}{variable}, taken at {place}{}: {why}, {}", end.lock, end.label, counted(end.count, "time"))
}

fn schedule(task: &Task<'_>, explored: &Explored, found: &FoundFailure, sources: &Sources<'_>) -> Schedule {
    let mut schedule = Schedule {
        program: task.subject.name(task.gated.build).display().to_string(),
        build: task.gated.identity.clone(),
        variant: task.gated.build,
        arguments: task.arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect(),
        strategy: task.setup.strategy.name.to_string(),
        habits: explored.habits,
        failure: Some(ScheduleFailure {
            kind: found.kind,
            location: location(found, sources),
            message: found.message.clone(),
            critical: found.critical,
        }),
        runs: Vec::new(),
    };
    for step in found.minimized.as_ref().unwrap_or(&found.steps) {
        schedule.push(to_schedule(step));
    }
    schedule
}

/// A step's accesses are named by their number among the accesses of their thread.
fn to_schedule(step: &TakenStep) -> ScheduleStep {
    ScheduleStep {
        thread: step.thread,
        kind: step.kind,
        site: step.site,
        object: step.ordinal.map(|ordinal| format!("#{ordinal}")),
        picks: step.picks.clone(),
    }
}

/// The other way round; `None` when the object is no such number.
pub(crate) fn from_schedule(step: &ScheduleStep) -> Option<TakenStep> {
    let ordinal = match &step.object {
        Some(object) => Some(object.strip_prefix('#')?.parse().ok()?),
        None => None,
    };
    Some(TakenStep { thread: step.thread, kind: step.kind, site: step.site, ordinal, range: None, picks: step.picks.clone() })
}

fn store(path: &Path, text: &str) -> Result<(), Failure> {
    wire::write_atomically(path, text.as_bytes()).map_err(|error| {
        Failure::usage(format!("{}: cannot write: {error}", path.display()), "make the folder writable, or free some space")
    })
}
