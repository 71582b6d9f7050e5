//! A replay in gdb: it stops at the step after which the failure is certain, in the source of the thread that takes it.
//!
//! The schedule was followed before, so what the engine learnt on the way is known. Threads are fibers of one thread of the system:
//! gdb shows the one that runs; the others stand where the timeline says.

use std::ffi::OsString;
use std::process::Command;

use explorer::target::process::debug;
use explorer::target::setup::{Debug, Setup};
use explorer::target::watch::Explored;
use model::schedule::Schedule;

use crate::exit::Failure;
use crate::exploration::Task;

/// Goes up from our own function to the frame of the program.
const SELECT: &str = "python exec(\"f = gdb.selected_frame()\\nwhile f.older() and (not f.find_sal().symtab or any(part in f.find_sal().symtab.fullname() for part in ('runtime-rt/', '/rustc/', '/library/'))): f = f.older()\\nf.select()\")";
const SAY: &str = "printf \"\\nstopped after step %lu of the schedule, where t%u goes on:\\n\", $rsi, $rdi";

/// Runs gdb until its user leaves it.
pub(crate) fn run(task: &Task<'_>, schedule: &Schedule, explored: &Explored) -> Result<(), Failure> {
    let certain = schedule.failure.as_ref().and_then(|failure| failure.critical);
    let stop = certain.unwrap_or(schedule.len()).max(1);
    let debugged = Debug { stop, habits: explored.habits, threads: explored.threads };
    let setup = Setup { debug: Some(debugged), ..task.setup.clone() };
    let command = |variables: &[(&'static str, String)]| {
        let mut command = Command::new("gdb");
        command.args(["-q", "-nx"]);
        let mut say = |text: &str| {
            command.arg("-ex").arg(text);
        };
        for text in ["set confirm off", "set pagination off", "set debuginfod enabled off", "set startup-with-shell off"] {
            say(text);
        }
        for (name, value) in variables {
            say(&format!("set environment {name} {value}"));
        }
        for text in ["handle SIGSYS SIGXCPU nostop noprint pass", "tbreak *__atomfix_stop", "run", SAY, SELECT, "frame"] {
            say(text);
        }
        command.arg("--args").arg(&task.gated.path).args(task.arguments.iter().map(OsString::as_os_str));
        command
    };
    match debug(&setup, command) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(Failure::toolchain("gdb: not found", "install it: sudo apt-get install -y gdb"))
        }
        Err(error) => Err(Failure::toolchain(format!("gdb: cannot start: {error}"), "see whether it runs at all")),
    }
}
