//! The commands, in workflow order.

use std::process::ExitCode;

use crate::exit::Failure;

/// Parses the command line and runs the command.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    Err(Failure::usage("no command is built yet", "").into())
}
