//! `atomfix doctor`.

use std::process::ExitCode;

use crate::exit::Failure;

/// The command line of `doctor`.
#[derive(clap::Args)]
pub(crate) struct Arguments {}

/// Runs the command.
pub(crate) fn run(_arguments: &Arguments) -> anyhow::Result<ExitCode> {
    Err(Failure::usage("'doctor' is not built into this atomfix yet", "").into())
}
