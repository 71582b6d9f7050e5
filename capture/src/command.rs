//! Compiling bitcode again, with the arguments that its front end was given.
//!
//! What belongs to the first compilation alone is left out: embedding, other kinds of output, and every file that it
//! wrote beside its object (dependencies, diagnostics, split debug information, coverage notes), so that no file of the
//! user's is touched. Warnings were given the first time and are not repeated.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::CaptureError;

/// What to leave out: an option alone, with the next argument, or by its beginning.
const ALONE: &[&str] = &[
    "-S",
    "-emit-obj",
    "-emit-llvm",
    "-emit-llvm-bc",
    "-emit-llvm-uselists",
    "-disable-llvm-passes",
    "-sys-header-deps",
    "-module-file-deps",
    "-MP",
    "-MG",
    "-MV",
    "-H",
    "-v",
    "-Werror",
    "-disable-O0-optnone",
    "-ftime-report",
    "-print-stats",
];
const WITH_VALUE: &[&str] = &[
    "-o",
    "-x",
    "-dependency-file",
    "-MT",
    "-MQ",
    "-dumpdir",
    "-split-dwarf-file",
    "-split-dwarf-output",
    "-opt-record-file",
    "-opt-record-passes",
    "-opt-record-format",
    "-serialize-diagnostic-file",
    "-diagnostic-log-file",
    "-stack-usage-file",
    "-header-include-file",
    "-dependency-dot",
    "-include",
    "-include-pch",
    "-coverage-notes-file",
    "-coverage-data-file",
];
const BEGINNING: &[&str] = &[
    "-fembed-bitcode",
    "-save-temps",
    "-ftime-trace",
    "-ftime-report=",
    "-stats-file=",
    "-coverage-notes-file=",
    "-coverage-data-file=",
    "-header-include-format=",
    "-header-include-filtering=",
    "-Werror=",
    "-R",
];

/// The arguments of `clang -cc1` that compile one unit's bitcode to an object.
pub(super) fn again(command: &[String]) -> Vec<String> {
    let mut kept = vec!["-cc1".to_owned()];
    let mut arguments = command.iter();
    while let Some(argument) = arguments.next() {
        if WITH_VALUE.contains(&argument.as_str()) {
            arguments.next();
        } else if !ALONE.contains(&argument.as_str()) && !BEGINNING.iter().any(|beginning| argument.starts_with(beginning)) {
            kept.push(argument.clone());
        }
    }
    kept.extend(["-w", "-emit-obj"].map(str::to_owned));
    kept
}

/// The name of the source file, as far as the command tells.
pub(super) fn source_name(command: &[String]) -> Option<&str> {
    let at = command.iter().position(|argument| argument == "-main-file-name")?;
    command.get(at + 1).map(String::as_str)
}

/// The folder that the unit was compiled in, if it still exists.
fn folder(command: &[String]) -> Option<&Path> {
    command.iter().find_map(|argument| argument.strip_prefix("-fdebug-compilation-dir=")).map(Path::new).filter(|folder| folder.is_dir())
}

/// Compiles bitcode to `object`, whose folder exists.
pub(super) fn compile(clang: &Path, command: &[String], bitcode: &[u8], origin: &str, object: &Path) -> Result<(), CaptureError> {
    let source = object.with_extension("bc");
    fs::write(&source, bitcode).map_err(|error| CaptureError::Write { path: source.clone(), source: error })?;
    let mut clang_call = Command::new(clang);
    clang_call.args(again(command)).arg("-o").arg(object).args(["-x", "ir"]).arg(&source);
    if let Some(folder) = folder(command) {
        clang_call.current_dir(folder);
    }
    run(&mut clang_call, "clang", origin)?;
    // The object is what counts; what is left is removed with the folder.
    let _ = fs::remove_file(&source);
    Ok(())
}

/// Compiles bitcode of our own, which has no command.
pub(super) fn compile_extra(clang: &Path, bitcode: &[u8], name: &str, object: &Path) -> Result<(), CaptureError> {
    let source = object.with_extension("bc");
    fs::write(&source, bitcode).map_err(|error| CaptureError::Write { path: source.clone(), source: error })?;
    run(Command::new(clang).args(["-O2", "-fPIC", "-w", "-c", "-x", "ir"]).arg(&source).arg("-o").arg(object), "clang", name)
}

/// Runs a tool to its end; what it says matters only if it fails.
pub(super) fn run(command: &mut Command, tool: &str, origin: &str) -> Result<(), CaptureError> {
    let output = command.output().map_err(|source| CaptureError::ToolStart { tool: PathBuf::from(command.get_program()), source })?;
    if output.status.success() {
        return Ok(());
    }
    let mut stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if stderr.trim().is_empty() {
        stderr = format!("it ended with {}", output.status);
    }
    Err(CaptureError::ToolFailed { tool: tool.to_owned(), origin: origin.to_owned(), stderr })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &str, after: &str) {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(again(&words(before)), words(&format!("-cc1 {after} -w -emit-obj")), "{before}");
    }

    #[test]
    fn what_belongs_to_the_first_compilation_is_left_out() {
        check("-triple x -O2 -emit-obj -main-file-name a.c", "-triple x -O2 -main-file-name a.c");
        check("-fembed-bitcode=all -disable-O0-optnone -O0", "-O0");
        check("-dependency-file a.d -MT a.o -sys-header-deps -MP -O1", "-O1");
        check("-split-dwarf-file a.dwo -split-dwarf-output a.dwo -O1", "-O1");
        check("-coverage-notes-file=/x/a.gcno -Rpass=inline -Werror -O1", "-O1");
        check("-S -mrelocation-model pic", "-mrelocation-model pic");
    }

    #[test]
    fn the_source_is_named_by_the_command() {
        assert_eq!(source_name(&["-main-file-name".to_owned(), "a.c".to_owned()]), Some("a.c"));
        assert_eq!(source_name(&["-O2".to_owned()]), None);
    }
}
