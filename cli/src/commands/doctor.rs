//! `atomfix doctor`: is everything here that atomfix needs, and if not, which command mends it.
//!
//! A tool is well if it runs and is of version 22; the compilers, if a program that they make runs. What only makes
//! exploration slower when it is missing (FSGSBASE, system call user dispatch) is told, but is no fault.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use capture::toolchain::{self, Tool};

use crate::exit::{Exit, Failure};
use crate::units;

/// The command line of `doctor`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Tell about this program as well: whether it is hardened, from what, with which certificate
    program: Option<PathBuf>,
}

/// What was found out about one thing.
enum Finding {
    /// It is as it should be.
    Good(String),
    /// It is missing or wrong, and this command mends it.
    Bad { why: String, mend: String },
    /// Things work without it.
    Note(String),
}

const TOOLS: [Tool; 5] = [Tool::Clang, Tool::ClangCxx, Tool::Lld, Tool::Ar, Tool::Nm];
const C_PROGRAM: (&str, &str, &str) = ("program.c", "#include <pthread.h>\nint main(void) { return 0; }\n", "libc6-dev binutils");
const CXX_PROGRAM: (&str, &str, &str) = ("program.cpp", "#include <mutex>\nint main() { std::mutex m; m.lock(); return 0; }\n", "g++");

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let mut findings: Vec<(String, Finding)> =
        TOOLS.iter().map(|&tool| (format!("{}-{}", tool.name(), toolchain::VERSION), version(tool))).collect();
    findings.push((units::PASSES.to_owned(), has_passes()));
    findings.push(("C programs".to_owned(), makes_programs(Tool::Clang, C_PROGRAM)));
    findings.push(("C++ programs".to_owned(), makes_programs(Tool::ClangCxx, CXX_PROGRAM)));
    findings.push(("make".to_owned(), runs("make", "make")));
    findings.push(("FSGSBASE".to_owned(), fsgsbase()));
    findings.push(("user dispatch".to_owned(), user_dispatch()));
    if let Some(program) = &arguments.program {
        findings.push((program.display().to_string(), about(program)?));
    }
    let mut exit = Exit::Clean;
    let mut mends: Vec<String> = Vec::new();
    for (name, finding) in findings {
        match finding {
            Finding::Good(detail) => println!("ok       {name}: {detail}"),
            Finding::Note(detail) => println!("note     {name}: {detail}"),
            Finding::Bad { why, mend } => {
                println!("MISSING  {name}: {why}\n           mend: {mend}");
                exit = Exit::Toolchain;
                if !mends.contains(&mend) {
                    mends.push(mend);
                }
            }
        }
    }
    if exit == Exit::Clean {
        println!("all is well");
    } else {
        println!("\nto mend everything:");
        for mend in mends {
            println!("  {mend}");
        }
    }
    Ok(exit.into())
}

fn install(packages: &str) -> String {
    format!("sudo apt-get update && sudo apt-get install -y {packages}")
}

/// What a program's link record says of it.
fn about(program: &Path) -> Result<Finding, Failure> {
    let capture = capture::open(program).map_err(Failure::from)?;
    let Some(hardened) = &capture.record.hardened else {
        return Ok(Finding::Good(format!("built by atomfix, {} units, not hardened", capture.units.len())));
    };
    let certificate = hardened.certificate.as_ref().map_or_else(|| "no certificate".to_owned(), |hash| format!("certificate {hash}"));
    Ok(Finding::Good(format!("hardened from {}, build {}, {certificate}", hardened.original.display(), hardened.original_hash)))
}

/// Whether a tool runs and is of the right version.
fn version(tool: Tool) -> Finding {
    let bad = |why: String| Finding::Bad { why, mend: mend_tool(tool) };
    let path = match toolchain::find(tool) {
        Ok(path) => path,
        Err(error) => return bad(error.to_string()),
    };
    let output = match Command::new(&path).arg("--version").output() {
        Ok(output) => output,
        Err(error) => return bad(format!("{}: cannot start: {error}", path.display())),
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let wanted = toolchain::VERSION;
    let is_number = |word: &str| word.chars().next().is_some_and(|first| first.is_ascii_digit()) && word.contains('.');
    match text.split_whitespace().find(|word| is_number(word)) {
        Some(found) if found.split('.').next() == Some(&wanted.to_string()) => Finding::Good(format!("{found} ({})", path.display())),
        Some(found) => bad(format!("{} is version {found}, not {wanted}", path.display())),
        None => bad(format!("{} does not tell its version", path.display())),
    }
}

/// Whether the part of atomfix that has LLVM is where it is looked for, and starts.
fn has_passes() -> Finding {
    let path = units::passes();
    let bad = |why: String| Finding::Bad { why: format!("{}: {why}", path.display()), mend: "make install".to_owned() };
    match Command::new(&path).arg("--version").output() {
        Ok(output) if output.status.success() => Finding::Good(path.display().to_string()),
        Ok(output) => bad(String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or("does not work").to_owned()),
        Err(error) => bad(format!("cannot start: {error}")),
    }
}

fn mend_tool(tool: Tool) -> String {
    match std::env::var_os(toolchain::FOLDER_VARIABLE).filter(|folder| !folder.is_empty()) {
        Some(_) => format!("unset {}, or point it to the folder with the tools of LLVM {}", toolchain::FOLDER_VARIABLE, toolchain::VERSION),
        None => install(tool.package()),
    }
}

/// Whether a program that the compiler makes runs.
fn makes_programs(compiler: Tool, (name, text, packages): (&str, &str, &str)) -> Finding {
    let bad = |why: String| Finding::Bad { why, mend: install(packages) };
    let Ok(compiler) = toolchain::find(compiler) else {
        return Finding::Bad { why: "there is no compiler".to_owned(), mend: mend_tool(compiler) };
    };
    let folder = match tempfile::tempdir() {
        Ok(folder) => folder,
        Err(error) => {
            return Finding::Bad {
                why: format!("no temporary folder: {error}"),
                mend: "set TMPDIR to a folder that can be written".to_owned(),
            };
        }
    };
    let (source, program) = (folder.path().join(name), folder.path().join("program"));
    let made = fs::write(&source, text).and_then(|()| Command::new(&compiler).args(["-pthread", "-o"]).arg(&program).arg(&source).output());
    match made {
        Err(error) => bad(error.to_string()),
        Ok(output) if !output.status.success() => bad(String::from_utf8_lossy(&output.stderr)
            .lines()
            .find(|line| line.contains("error"))
            .unwrap_or("they do not compile")
            .to_owned()),
        Ok(_) => match Command::new(&program).status() {
            Ok(status) if status.success() => Finding::Good("compile, link and run".to_owned()),
            Ok(status) => bad(format!("a program that does nothing ended with {status}")),
            Err(error) => bad(format!("a program that does nothing does not start: {error}")),
        },
    }
}

fn runs(tool: &str, package: &str) -> Finding {
    match Command::new(tool).arg("--version").output() {
        Ok(output) => Finding::Good(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or("runs").to_owned()),
        Err(error) => Finding::Bad { why: error.to_string(), mend: install(package) },
    }
}

/// Whether programs may set the FS base themselves, which the fast driver of `check` does at each switch of threads.
fn fsgsbase() -> Finding {
    const HWCAP2: u64 = 26;
    const FSGSBASE: u64 = 1 << 1;
    let slower = "`check` switches threads in a slower way";
    let Ok(auxiliary) = fs::read("/proc/self/auxv") else {
        return Finding::Note(format!("/proc/self/auxv cannot be read; {slower}"));
    };
    let word = |bytes: &[u8]| bytes.try_into().map(u64::from_ne_bytes).unwrap_or_default();
    let found = auxiliary.chunks_exact(16).any(|entry| word(&entry[..8]) == HWCAP2 && word(&entry[8..]) & FSGSBASE != 0);
    if found {
        Finding::Good("programs may use it".to_owned())
    } else {
        Finding::Note(format!("not offered by this kernel and processor; {slower}"))
    }
}

/// Whether the kernel is new enough to hand system calls back to the program (Linux 5.11).
fn user_dispatch() -> Finding {
    const SINCE: (u32, u32) = (5, 11);
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split(['.', '-']).map_while(|part| part.trim().parse::<u32>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(major), Some(minor)) if (major, minor) >= SINCE => Finding::Good(format!("Linux {}", release.trim())),
        _ => Finding::Note(format!("Linux {} is older than 5.11; `check` starts a process for each schedule", release.trim())),
    }
}
