//! Runs the programs in `tests/programs`: compiles each with the archive, runs it under a time limit, and holds counters and result
//! against what it says of itself. Part of this crate's tests, where each runs 20 times, and of `atomfix-bench robust` (1000 times).
//!
//! | line | meaning |
//! |---|---|
//! | `// stats: cause=2 other>=1` | these counters, in all its processes together, and no others; `none`; `any`; `silent`: prints nothing at all |
//! | `// stats: spinning\|timeout=1` | … so many of both together: on a crowded machine a spinning thread may not get to run |
//! | `// options: …` | added to `ATOMFIX_OPTIONS` |
//! | `// stderr: …` | the first line on standard error |
//! | `// languages: c c++` | a C program that is compiled as both |
//! | `// library: FILE` | a shared library that it opens, beside it in the folder of programs |
//! | `// status: N` | its exit status, 0 if not given; 128 + N for a signal |
//! | `// flags: …` | added to the compiler's arguments |

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Runs of one program before the next one has its turn: what a long pass finds, it finds early.
const TURN: usize = 50;

/// Where things are.
pub(crate) struct Place {
    /// The folder of programs.
    pub(crate) programs: PathBuf,
    /// For what is made.
    pub(crate) scratch: PathBuf,
    /// The archive.
    pub(crate) archive: PathBuf,
}

/// How often and how.
pub(crate) struct Extent {
    /// Runs of each program.
    pub(crate) runs: usize,
    /// Programs at a time: they mostly sleep, so more of them than processors are useful.
    pub(crate) parallel: usize,
    /// Only programs whose name contains this.
    pub(crate) only: String,
    /// The longest that one run may take.
    pub(crate) limit: Duration,
}

/// What came out for one program so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// Its file name, and the language where there are several.
    pub(crate) name: String,
    /// Runs that were made.
    pub(crate) runs: usize,
    /// All runs together.
    pub(crate) took: Duration,
    /// What was wrong with the first run that was, which is the last one.
    pub(crate) wrong: Option<String>,
}

/// Keeps what comes out, so that a pass that was interrupted goes on where it was.
pub(crate) trait Journal: Sync {
    /// What came out in earlier passes.
    fn before(&self, program: &Program) -> Outcome;
    /// That a program had a turn.
    fn note(&self, program: &Program, outcome: &Outcome);
}

/// What a program says of itself.
#[derive(Clone)]
pub(crate) struct Program {
    /// Its text.
    pub(crate) source: PathBuf,
    /// Its file name, and the language where there are several.
    pub(crate) name: String,
    compiler: &'static [&'static str],
    statistics: Statistics,
    options: String,
    errors: Option<String>,
    library: Option<String>,
    flags: Vec<String>,
    status: i32,
}

#[derive(Clone)]
enum Statistics {
    Any,
    Silent,
    These(BTreeMap<String, Expected>),
}

#[derive(Clone, Copy)]
enum Expected {
    Exactly(u64),
    AtLeast(u64),
}

const C: &[&str] = &["clang-22"];
const CPP: &[&str] = &["clang++-22", "-std=c++20"];
const C_AS_CPP: &[&str] = &["clang++-22", "-std=c++20", "-x", "c++"];

/// Runs every program, each a few times before the next one's turn.
pub(crate) fn run_all(place: &Place, extent: &Extent, journal: &dyn Journal) -> Vec<Outcome> {
    let mut sources: Vec<PathBuf> = fs::read_dir(&place.programs)
        .expect("the folder of programs")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "c" || kind == "cpp") && !is_part(path))
        .collect();
    sources.sort();
    sources.retain(|path| path.to_string_lossy().contains(&extent.only));
    let programs: Vec<Program> = sources.into_iter().flat_map(read).collect();
    let states: Vec<Mutex<State>> =
        programs.iter().map(|program| Mutex::new(State { outcome: journal.before(program), binary: None })).collect();
    let turns = programs.len() * extent.runs.div_ceil(TURN);
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..extent.parallel {
            scope.spawn(|| {
                loop {
                    let turn = next.fetch_add(1, Ordering::Relaxed);
                    if turn >= turns {
                        break;
                    }
                    let (round, index) = (turn / programs.len(), turn % programs.len());
                    let mut state = states[index].lock().unwrap_or_else(PoisonError::into_inner);
                    take_turn(&programs[index], place, extent, extent.runs.min((round + 1) * TURN), &mut state, journal);
                }
            });
        }
    });
    states.into_iter().map(|state| state.into_inner().unwrap_or_else(PoisonError::into_inner).outcome).collect()
}

/// How far a program is.
struct State {
    outcome: Outcome,
    binary: Option<PathBuf>,
}

/// Parts of programs are no programs: the table, and libraries.
fn is_part(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    name == "table.c" || name.starts_with("lib")
}

/// Makes the runs that are left of so many.
fn take_turn(program: &Program, place: &Place, extent: &Extent, runs: usize, state: &mut State, journal: &dyn Journal) {
    let State { outcome, binary } = state;
    if outcome.wrong.is_some() || outcome.runs >= runs {
        return;
    }
    let began = Instant::now();
    if binary.is_none() {
        match compile(program, place) {
            Ok(compiled) => *binary = Some(compiled),
            Err(errors) => outcome.wrong = Some(errors),
        }
    }
    if let Some(binary) = binary {
        while outcome.runs < runs && outcome.wrong.is_none() {
            outcome.wrong = complaint(program, place, binary, outcome.runs, extent.limit);
            outcome.runs += 1;
        }
    }
    outcome.took += began.elapsed();
    journal.note(program, outcome);
}

/// Compiles a program; what the compiler complains of is the error.
fn compile(program: &Program, place: &Place) -> Result<PathBuf, String> {
    let out = place.scratch.join(&program.name);
    let table = place.scratch.join(format!("{}.table.o", program.name));
    let run = |command: &mut Command| {
        let done = command.output().expect("clang-22 starts");
        if done.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&done.stderr).into_owned()) }
    };
    run(Command::new("clang-22").args(["-c", "-O1", "-o"]).arg(&table).arg(place.programs.join("table.c")))?;
    let object = place.scratch.join(format!("{}.o", program.name));
    let mut command = Command::new(program.compiler[0]);
    command.args(["-c", "-O2", "-g1", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-pthread"]).args(&program.flags);
    if let Some(library) = &program.library {
        let made = place.scratch.join(format!("{}.so", program.name));
        run(Command::new("clang-22").args(["-O2", "-shared", "-fPIC", "-pthread", "-o"]).arg(&made).arg(place.programs.join(library)))?;
        command.arg(format!("-DLIBRARY=\"{}\"", made.display()));
    }
    run(command.args(&program.compiler[1..]).arg(&program.source).arg("-o").arg(&object))?;
    let mut link = Command::new(program.compiler[0]);
    link.arg("-pthread").args(&program.flags).arg("-o").arg(&out).arg(&object).arg(&table).arg(&place.archive);
    run(&mut link)?;
    Ok(out)
}

/// A source, once for each of its languages.
fn read(source: PathBuf) -> Vec<Program> {
    let text = fs::read_to_string(&source).expect("a readable program");
    let directive = |name: &str| text.lines().find_map(|line| line.strip_prefix(&format!("// {name}: ")));
    let statistics = match directive("stats").unwrap_or_else(|| panic!("{} has no stats line", source.display())) {
        "any" => Statistics::Any,
        "silent" => Statistics::Silent,
        "none" => Statistics::These(BTreeMap::new()),
        words => Statistics::These(words.split(' ').map(counter).collect()),
    };
    let is_cpp = source.extension().is_some_and(|kind| kind == "cpp");
    let languages = directive("languages").unwrap_or(if is_cpp { "c++" } else { "c" });
    let name = source.file_name().expect("a file name").to_string_lossy().replace('.', "_");
    let in_language = |language: &str| Program {
        source: source.clone(),
        name: if language == "c++" && !is_cpp { format!("{name}_as_cpp") } else { name.clone() },
        compiler: match (language, is_cpp) {
            ("c", _) => C,
            (_, true) => CPP,
            (_, false) => C_AS_CPP,
        },
        statistics: statistics.clone(),
        options: directive("options").map(|options| format!(":{options}")).unwrap_or_default(),
        errors: directive("stderr").map(str::to_string),
        library: directive("library").map(str::to_string),
        flags: directive("flags").map(|flags| flags.split(' ').map(str::to_string).collect()).unwrap_or_default(),
        status: directive("status").map_or(0, |status| status.parse().expect("a number")),
    };
    languages.split(' ').map(in_language).collect()
}

fn counter(word: &str) -> (String, Expected) {
    match word.split_once(">=") {
        Some((cause, least)) => (cause.to_string(), Expected::AtLeast(least.parse().expect("a number"))),
        None => {
            let (cause, count) = word.split_once('=').expect("cause=number");
            (cause.to_string(), Expected::Exactly(count.parse().expect("a number")))
        }
    }
}

/// Runs a program; `None` when it did not end in time (and is killed with its children).
fn run(binary: &Path, options: &str, limit: Duration) -> Option<Output> {
    let mut command = Command::new(binary);
    command.env("ATOMFIX_OPTIONS", options).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().expect("the program starts");
    let began = Instant::now();
    loop {
        if child.try_wait().expect("a child can be waited for").is_some() {
            return child.wait_with_output().ok();
        }
        if began.elapsed() > limit {
            let _ = Command::new("kill").args(["-9", "--", &format!("-{}", child.id())]).status();
            let _ = child.wait();
            return None;
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// The counters in a log, over all processes: lines such as `atomfix: 12: lock0 first: join 1`. Lines by place repeat them.
fn counters(log: &str) -> BTreeMap<String, u64> {
    let mut counters = BTreeMap::new();
    for line in log.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if let [_, _, lock, .., cause, count] = words[..]
            && lock.starts_with("lock")
            && words[3] != "at"
            && let Ok(count) = count.parse::<u64>()
        {
            *counters.entry(cause.to_string()).or_default() += count;
        }
    }
    counters
}

fn complaint(program: &Program, place: &Place, binary: &Path, number: usize, limit: Duration) -> Option<String> {
    let log = place.scratch.join(format!("{}.{number}.log", program.name));
    let _ = fs::remove_file(&log);
    let options = format!("stats=1:log={}{}", log.display(), program.options);
    let Some(output) = run(binary, &options, limit) else { return Some("did not end in time".into()) };
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let status = output.status.code().or_else(|| output.status.signal().map(|signal| 128 + signal));
    if status != Some(program.status) {
        return Some(format!("{}: {errors}", output.status));
    }
    if program.errors.as_deref() != errors.lines().next() {
        return Some(format!("unexpected standard error: {errors}"));
    }
    // Without a log, counters come behind the warning that there is none.
    let text = fs::read_to_string(&log).unwrap_or_else(|_| errors.lines().skip(1).map(|line| format!("{line}\n")).collect());
    let _ = fs::remove_file(&log);
    let expected = match &program.statistics {
        Statistics::Silent => return (!text.is_empty()).then(|| format!("wrote statistics:\n{text}")),
        Statistics::Any => &BTreeMap::new(),
        Statistics::These(expected) => expected,
    };
    if text.is_empty() {
        return Some("wrote no statistics".into());
    }
    if matches!(program.statistics, Statistics::Any) {
        return None;
    }
    let found = counters(&text);
    let as_expected = |(causes, expected): (&String, &Expected)| {
        let count: u64 = causes.split('|').filter_map(|cause| found.get(cause)).sum();
        match *expected {
            Expected::Exactly(exactly) => count == exactly,
            Expected::AtLeast(least) => count >= least,
        }
    };
    let is_expected = |cause: &String| expected.keys().any(|causes| causes.split('|').any(|one| one == cause));
    let right = found.keys().all(is_expected) && expected.iter().all(as_expected);
    (!right).then(|| format!("unexpected counters: {found:?}\n{text}"))
}
