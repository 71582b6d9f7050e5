//! `atomfix replay`.

use std::process::ExitCode;

use crate::exit::Failure;

/// The command line of `replay`.
#[derive(clap::Args)]
pub(crate) struct Arguments {}

/// Runs the command.
pub(crate) fn run(_arguments: &Arguments) -> anyhow::Result<ExitCode> {
    Err(Failure::usage("'replay' is not built into this atomfix yet", "").into())
}
