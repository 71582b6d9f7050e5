//! The `atomfix` command. One command a file in `commands`; the exit code says how it ended (`exit`).
//!
//! Called as `atomfix-cc` or `atomfix-c++` (symbolic links) it is the compiler driver.
#![expect(clippy::print_stderr, clippy::print_stdout, reason = "a command-line tool talks to its user")]

mod captured;
mod certificate;
mod commands;
mod correlation;
mod debugger;
mod exit;
mod exploration;
mod extracted;
mod gated;
mod input;
mod interruption;
mod kept;
mod parts;
mod progress;
mod project;
mod recorded;
mod runtime;
mod sources;
mod units;
mod variant;
mod wording;

use std::process::ExitCode;

use exit::{Exit, Failure};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    sigpipe::reset();
    match commands::run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("atomfix: {error:#}");
            let exit = error.downcast_ref::<Failure>().map_or(Exit::Internal, |failure| failure.exit);
            if exit == Exit::Internal {
                eprintln!("  help: this is a bug in atomfix; please report it with the command line");
            }
            exit.into()
        }
    }
}
