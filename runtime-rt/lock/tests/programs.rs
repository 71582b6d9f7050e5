//! C and C++ programs linked with the archive, each run 20 times under a time limit, with counters as expected.
//!
//! A program in `tests/programs/` says in comments what it expects:
//!
//! | line | meaning |
//! |---|---|
//! | `// stats: cause=2 other>=1` | these counters, in all its processes together, and no others; `none`; `any` |
//! | `// options: …` | added to `ATOMFIX_OPTIONS` |
//! | `// stderr: …` | a line on standard error |
//!
//! It must end with status 0. The archive is built here, with the profile that the tool embeds, in a target folder of its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const RUNS: usize = 20;
const LIMIT: Duration = Duration::from_secs(20);
/// Programs mostly sleep, so more of them than processors run at once.
const PARALLEL: usize = 4;

/// What a program says of itself.
struct Program {
    source: PathBuf,
    name: String,
    statistics: Option<BTreeMap<String, Expected>>,
    options: String,
    errors: Option<String>,
}

#[derive(Clone, Copy)]
enum Expected {
    Exactly(u64),
    AtLeast(u64),
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn scratch() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

/// The archive, as the tool embeds it.
fn archive() -> PathBuf {
    let target = scratch().join("archive");
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .current_dir(here())
        .args(["build", "--quiet", "--profile", "runtime", "--package", "atomfix-rt-lock", "--target-dir"])
        .arg(&target);
    for variable in ["RUSTC_WORKSPACE_WRAPPER", "RUSTC_WRAPPER", "CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS"] {
        cargo.env_remove(variable);
    }
    assert!(cargo.status().expect("cargo starts").success(), "the archive builds");
    target.join("runtime/libatomfix_rt_lock.a")
}

fn compile(program: &Program, archive: &Path) -> Result<PathBuf, String> {
    let out = scratch().join(&program.name);
    let compiler = if program.name.ends_with("_cpp") { "clang++-22" } else { "clang-22" };
    let table = scratch().join(format!("{}.table.o", program.name));
    let run = |command: &mut Command| {
        let done = command.output().expect("clang-22 starts");
        if done.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&done.stderr).into_owned()) }
    };
    run(Command::new("clang-22").args(["-c", "-O1", "-o"]).arg(&table).arg(here().join("tests/programs/table.c")))?;
    let flags = ["-O2", "-g1", "-Wall", "-Wextra", "-Werror", "-pthread", "-o"];
    run(Command::new(compiler).args(flags).arg(&out).arg(&program.source).arg(&table).arg(archive))?;
    Ok(out)
}

fn read(source: PathBuf) -> Program {
    let text = fs::read_to_string(&source).expect("a readable program");
    let directive = |name: &str| text.lines().find_map(|line| line.strip_prefix(&format!("// {name}: ")));
    let statistics = directive("stats").unwrap_or_else(|| panic!("{} has no stats line", source.display()));
    let counter = |word: &str| match word.split_once(">=") {
        Some((cause, least)) => (cause.to_string(), Expected::AtLeast(least.parse().expect("a number"))),
        None => {
            let (cause, count) = word.split_once('=').expect("cause=number");
            (cause.to_string(), Expected::Exactly(count.parse().expect("a number")))
        }
    };
    let statistics = match statistics {
        "any" => None,
        "none" => Some(BTreeMap::new()),
        words => Some(words.split(' ').map(counter).collect()),
    };
    let options = directive("options").map(|options| format!(":{options}")).unwrap_or_default();
    let errors = directive("stderr").map(str::to_string);
    let name = source.file_name().expect("a file name").to_string_lossy().replace('.', "_");
    Program { source, name, statistics, options, errors }
}

/// Runs a program; `None` when it did not end in time (and is killed with its children).
fn run(binary: &Path, options: &str) -> Option<Output> {
    use std::os::unix::process::CommandExt;

    let mut command = Command::new(binary);
    command.env("ATOMFIX_OPTIONS", options).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().expect("the program starts");
    let began = Instant::now();
    loop {
        if child.try_wait().expect("a child can be waited for").is_some() {
            return child.wait_with_output().ok();
        }
        if began.elapsed() > LIMIT {
            let _ = Command::new("kill").args(["-9", "--", &format!("-{}", child.id())]).status();
            let _ = child.wait();
            return None;
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// The counters in a log, over all processes: lines such as `atomfix: 12: lock0 first: join 1`.
fn counters(log: &str) -> BTreeMap<String, u64> {
    let mut counters = BTreeMap::new();
    for line in log.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if let [_, _, lock, .., cause, count] = words[..]
            && lock.starts_with("lock")
            && let Ok(count) = count.parse::<u64>()
        {
            *counters.entry(cause.to_string()).or_default() += count;
        }
    }
    counters
}

fn complaint(program: &Program, binary: &Path, number: usize) -> Option<String> {
    let log = scratch().join(format!("{}.{number}.log", program.name));
    let _ = fs::remove_file(&log);
    let options = format!("stats=1:log={}{}", log.display(), program.options);
    let Some(output) = run(binary, &options) else { return Some("did not end in time".into()) };
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Some(format!("{}: {errors}", output.status));
    }
    if program.errors.as_deref() != errors.lines().next() {
        return Some(format!("unexpected standard error: {errors}"));
    }
    let text = fs::read_to_string(&log).unwrap_or_default();
    let _ = fs::remove_file(&log);
    if text.is_empty() {
        return Some("wrote no statistics".into());
    }
    let expected = program.statistics.as_ref()?;
    let found = counters(&text);
    let as_expected = |cause: &String| {
        let count = found.get(cause).copied().unwrap_or(0);
        match expected.get(cause).copied().unwrap_or(Expected::Exactly(0)) {
            Expected::Exactly(exactly) => count == exactly,
            Expected::AtLeast(least) => count >= least,
        }
    };
    let right = found.keys().chain(expected.keys()).all(as_expected);
    (!right).then(|| format!("unexpected counters: {found:?}\n{text}"))
}

#[test]
fn programs_end_with_the_right_result_and_counters() {
    let archive = archive();
    let mut sources: Vec<PathBuf> = fs::read_dir(here().join("tests/programs"))
        .expect("the folder of programs")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "c" || kind == "cpp") && !path.ends_with("table.c"))
        .collect();
    sources.sort();
    let only = std::env::var("PROGRAM").unwrap_or_default();
    sources.retain(|path| path.to_string_lossy().contains(&only));
    let runs = std::env::var("RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(RUNS);
    let next = AtomicUsize::new(0);
    let complaints = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..PARALLEL {
            scope.spawn(|| {
                while let Some(source) = sources.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let program = read(source.clone());
                    let wrong = match compile(&program, &archive) {
                        Ok(binary) => (0..runs).find_map(|number| complaint(&program, &binary, number)),
                        Err(errors) => Some(errors),
                    };
                    if let Some(complaint) = wrong {
                        complaints.lock().expect("no thread panics here").push(format!("{}: {complaint}", program.name));
                    }
                }
            });
        }
    });
    let complaints = complaints.into_inner().expect("no thread panics here");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Bytes of machine code in an executable.
fn code(binary: &Path) -> u64 {
    let output = Command::new("llvm-size-22").arg("-A").arg(binary).output().expect("llvm-size-22 starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find(|line| line.starts_with(".text ")).expect("an executable with code");
    line.split_whitespace().nth(1).and_then(|size| size.parse().ok()).expect("a size")
}

#[test]
fn the_archive_adds_at_most_64_kib_of_code() {
    let archive = archive();
    let program = Program { name: "size_cpp".into(), ..read(here().join("tests/programs/constructor.cpp")) };
    let with = compile(&program, &archive).expect("it compiles");
    let without = scratch().join("without");
    let source = scratch().join("without.c");
    fs::write(&source, "int main(void) { return 0; }\n").expect("the scratch folder is writable");
    let compiled = Command::new("clang-22").args(["-O2", "-o"]).arg(&without).arg(&source).status().expect("clang-22 starts");
    assert!(compiled.success());
    let added = code(&with) - code(&without);
    assert!(added > 4096, "the archive is linked in");
    assert!(added <= 64 * 1024, "{added} bytes");
}
