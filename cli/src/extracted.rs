//! A program's functions and accesses, kept in the project's `build` folder under a hash of all that went into them: to read the bitcode of
//! a large program takes longer than to profile a short run of it.
//!
//! What is kept is a convenience: where it cannot be written, or is damaged, it is made anew.

use std::fs;
use std::path::Path;

use capture::Capture;
use model::ids::fnv1a;
use model::program::Program;
use model::wire::{self, PROGRAM};

use crate::commands::infer::extract;
use crate::exit::Failure;
use crate::project::Project;
use crate::recorded::own_version;

/// Extracts the program, unless that was done before.
pub(crate) fn extracted(project: &Project, capture: &Capture) -> Result<Program, Failure> {
    let made_from = format!("{} {}", capture.build, own_version());
    let path = project.folder.join("build").join(format!("program-{:016x}", fnv1a(made_from.as_bytes())));
    if let Some(program) = kept(&path) {
        return Ok(program);
    }
    let program = extract(capture)?;
    keep(&path, &program);
    Ok(program)
}

fn kept(path: &Path) -> Option<Program> {
    let bytes = fs::read(path).ok()?;
    let program = wire::unframe(PROGRAM, &bytes).ok().and_then(|body| postcard::from_bytes(body).ok());
    if program.is_none() {
        eprintln!("atomfix: {}: damaged, and made anew", path.display());
    }
    program
}

fn keep(path: &Path, program: &Program) {
    // Without it the next command takes longer; a folder that cannot be written is reported where something has to be.
    let Ok(body) = postcard::to_stdvec(program) else { return };
    if path.parent().is_some_and(|folder| fs::create_dir_all(folder).is_ok()) {
        let _ = wire::write_atomically(path, &wire::frame(PROGRAM, &body));
    }
}
