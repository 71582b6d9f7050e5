//! The recording build of a program, kept in the project's `build` folder under a hash of all that went into it.

use std::path::{Path, PathBuf};

use capture::Capture;
use model::ids::fnv1a;
use model::pass::Hooks;

use crate::exit::Failure;
use crate::project::Project;
use crate::runtime::Runtime;
use crate::units;
use crate::variant::{self, Variant};

/// Whether the build was there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Made {
    /// Just now.
    Anew,
    /// By an earlier command.
    Before,
}

/// Builds it, unless that was done before.
pub(crate) fn recorded(project: &Project, capture: &Capture) -> Result<(PathBuf, Made), Failure> {
    let path = project.subfolder("build")?.join(format!("record-{:016x}", fnv1a(made_from(capture).as_bytes())));
    if path.is_file() {
        return Ok((path, Made::Before));
    }
    let variant = Variant { plan: None, hooks: Some(Hooks::RecordInline), runtime: Runtime::Record, hardened: None, link_args: Vec::new() };
    variant::build(capture, variant, &path)?;
    Ok((path, Made::Anew))
}

/// Inputs, archive, and the instrumenting program itself.
fn made_from(capture: &Capture) -> String {
    format!("{} {} {}", capture.build, Runtime::Record.hash(), own_version())
}

/// What tells this build of atomfix from others.
pub(crate) fn own_version() -> String {
    let version = |path: PathBuf| {
        let file = std::fs::metadata(path).ok()?;
        Some(format!("{:?} {}", file.modified().ok(), file.len()))
    };
    let both = [std::env::current_exe().ok(), Some(units::passes())];
    both.into_iter().flatten().filter_map(version).collect::<Vec<_>>().join(" ")
}

/// A folder for recordings in the project's, removed at the end; what killed commands left there is removed first.
pub(crate) fn recordings(project: &Project) -> Result<tempfile::TempDir, Failure> {
    let inside = project.subfolder("recordings")?;
    let failed = |error: std::io::Error| {
        let what = format!("{}: cannot write: {error}", inside.display());
        Failure::usage(what, "make the folder writable, or free some space, and run this again")
    };
    for entry in std::fs::read_dir(&inside).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if !is_in_use(&path) {
            std::fs::remove_dir_all(&path).map_err(failed)?;
        }
    }
    tempfile::Builder::new().prefix(&format!("{}-", std::process::id())).tempdir_in(&inside).map_err(failed)
}

/// Whether the process that a folder of recordings is named after still runs.
fn is_in_use(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let process = name.split('-').next().unwrap_or_default();
    process.parse::<u32>().is_ok_and(|number| Path::new("/proc").join(number.to_string()).exists())
}
