//! The commands, in workflow order, and the command line they share.
//!
//! `cc` and `c++` take every argument after them untouched, so they are recognized before the command line is parsed.

mod cc;
mod check;
mod doctor;
mod harden;
pub(crate) mod infer;
mod profile;
mod replay;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::exit::Exit;

#[derive(Parser)]
#[command(name = "atomfix", version, about, long_about = LONG, after_help = EXIT_CODES, disable_help_subcommand = true)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

const LONG: &str = "Makes multithreaded C and C++ programs resistant to Heisenbugs: learns from passing runs which accesses to shared state are never \
interleaved, injects deadlock-free locks that keep it so, and explores thread schedules to confirm that the failures are gone.";

const EXIT_CODES: &str = "Exit codes:
   0  done, nothing found
   1  check or replay: a failure in the build that was named
   2  wrong usage or input (also: every profiling run failed)
   3  the toolchain is missing or failed; `atomfix doctor` says more
   4  check --require-complete: nothing found, but the budget ran out
 130  check: interrupted, and nothing found until then
  70  a bug in atomfix
cc and c++ return the compiler's own exit code.";

#[derive(Subcommand)]
enum Command {
    /// Check the toolchain, and say how to mend what is missing
    Doctor(doctor::Arguments),
    /// Compile C as clang does, keeping what atomfix needs in the objects
    #[command(disable_help_flag = true)]
    Cc(cc::Arguments),
    /// Compile C++ as clang++ does, keeping what atomfix needs in the objects
    #[command(name = "c++", disable_help_flag = true)]
    Cxx(cc::Arguments),
    /// Run passing tests and learn which accesses are never interleaved
    Profile(profile::Arguments),
    /// Infer the locks that a profile asks for, and write the plan
    Infer(infer::Arguments),
    /// Build the program with the plan's locks in it
    Harden(harden::Arguments),
    /// Explore thread schedules, and compare a hardened build with its original
    Check(check::Arguments),
    /// Run one schedule again
    Replay(replay::Arguments),
}

/// Runs the command that the process's arguments name.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    if let Some(request) = cc::requested(std::env::args_os()) {
        return cc::run(request);
    }
    let line = match CommandLine::try_parse() {
        Ok(line) => line,
        Err(error) => {
            error.print()?;
            return Ok(if error.use_stderr() { Exit::Usage } else { Exit::Clean }.into());
        }
    };
    match &line.command {
        Command::Doctor(arguments) => doctor::run(arguments),
        Command::Cc(_) | Command::Cxx(_) => unreachable!("recognized before parsing"),
        Command::Profile(arguments) => profile::run(arguments),
        Command::Infer(arguments) => infer::run(arguments),
        Command::Harden(arguments) => harden::run(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Replay(arguments) => replay::run(arguments),
    }
}
