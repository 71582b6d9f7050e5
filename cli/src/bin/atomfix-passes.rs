//! The process that has LLVM: `atomfix` starts it for what the passes do, so that all else starts without LLVM, and outlives its end.
//!
//! Reads an order to its end, does it, and writes the answer (`passes::serve`). It is no command for people.
#![expect(clippy::print_stderr, clippy::print_stdout, reason = "what fails is said to the user of `atomfix`")]

use std::io::{Read, Write};
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // For `atomfix doctor`: that it starts says that LLVM was found.
    if std::env::args_os().any(|argument| argument == "--version") {
        println!("atomfix-passes {}", env!("CARGO_PKG_VERSION"));
        return ExitCode::SUCCESS;
    }
    let mut order = Vec::new();
    let answer = std::io::stdin().read_to_end(&mut order).map_err(|error| error.to_string());
    let answer = answer.and_then(|_| passes::serve(&order).map_err(|error| error.to_string()));
    match answer.and_then(|answer| std::io::stdout().write_all(&answer).map_err(|error| error.to_string())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("atomfix-passes: {error}");
            ExitCode::FAILURE
        }
    }
}
