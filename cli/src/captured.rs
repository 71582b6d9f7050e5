//! Reads what `atomfix cc` left in a program, for commands that build it anew, and looks at places that they are to write to.
//!
//! Not here: `doctor`, which looks at programs of every kind.

use std::fs;
use std::path::Path;

use capture::Capture;

use crate::exit::Failure;
use crate::input::NAME_ANOTHER;

/// A program that runs with our runtimes in it.
pub(crate) fn captured(program: &Path) -> Result<Capture, Failure> {
    let capture = capture::open(program).map_err(Failure::from)?;
    // The runtimes stand in front of the C library's functions, which takes a dynamic one.
    if capture.record.is_static() {
        let what = format!("{}: a static executable, which atomfix does not cover", program.display());
        return Err(Failure::usage(what, "link it without -static"));
    }
    Ok(capture)
}

/// Refuses a file that could not be written in the end, before any work is done for it.
pub(crate) fn refuse_unwritable(path: &Path) -> Result<(), Failure> {
    if path.is_dir() {
        return Err(Failure::usage(format!("{}: cannot write: it is a folder", path.display()), "name a file in it"));
    }
    match path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        Some(folder) => {
            let what = format!("{}: cannot write: there is no folder {}", path.display(), folder.display());
            Err(Failure::usage(what, NAME_ANOTHER))
        }
        None => Ok(()),
    }
}

/// Refuses to write a hardened program over what is none, which may be a source.
pub(crate) fn refuse_to_overwrite(output: &Path) -> Result<(), Failure> {
    refuse_unwritable(output)?;
    let is_nothing = fs::metadata(output).map_or(true, |file| file.is_file() && file.len() == 0);
    if is_nothing || capture::is_hardened(output) {
        return Ok(());
    }
    let what = format!("{}: is there already, and is no hardened program", output.display());
    Err(Failure::usage(what, "choose another name with -o, or remove it first"))
}
