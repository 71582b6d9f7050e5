//! Ctrl-C and its like while `check` explores: the exploration ends as when its time is over, so that what was found is shown and kept.

use std::path::Path;
use std::sync::OnceLock;

use profiler::signals::Interrupt;

use crate::exit::Failure;
use crate::wording::{counted, pasted};

static INTERRUPT: OnceLock<Interrupt> = OnceLock::new();

/// From now on the user is heard by `requested` alone.
pub(crate) fn catch() -> Result<(), Failure> {
    if INTERRUPT.get().is_none() {
        let caught =
            Interrupt::catch().map_err(|error| Failure::usage(error.to_string(), "`atomfix doctor` checks what the machine allows"))?;
        // Nobody else is here to set it.
        let _ = INTERRUPT.set(caught);
    }
    Ok(())
}

/// Whether the user wants the exploration to end now.
pub(crate) fn requested() -> bool {
    INTERRUPT.get().is_some_and(Interrupt::requested)
}

/// What the user is told after an interruption: how far the exploration came, and how to go on.
pub(crate) fn told(checkpoint: Option<&Path>, schedules: u64) -> String {
    let explored = counted(schedules, "schedule");
    match checkpoint {
        Some(path) => format!("interrupted after {explored}, which {} keeps: the same command goes on from there", pasted(path)),
        None => format!("interrupted after {explored}, which are not kept: `--checkpoint FILE` keeps them"),
    }
}
