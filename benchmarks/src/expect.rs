//! The kernels in `programs/`, each with what is expected of it (`expect.toml`).
//!
//! ```toml
//! title = "two appenders read the same fill index"
//! origin = "Apache httpd 25520, the index alone"
//! verdict = "suppressed"            # or "not repairable", "benign"
//!
//! [arguments]
//! profile = []                      # what passing runs are profiled with
//! check = []                        # what schedules are explored with
//!
//! [failure]                         # of the original; absent for a benign race
//! kind = "assert"                   # as in a report
//! marker = "fails here"             # a comment in the line where it fails, where a failure has a line
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use model::report::FailureKind;
use serde::Deserialize;

/// What hardening is expected to do for a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Verdict {
    /// The original fails under some schedule, the hardened build under none.
    #[serde(rename = "suppressed")]
    Suppressed,
    /// The original fails, and atomicity cannot mend it: the hardened build fails in the same way.
    #[serde(rename = "not repairable")]
    NotRepairable,
    /// Neither fails: there is a race, and it does no harm.
    #[serde(rename = "benign")]
    Benign,
}

/// One `expect.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// What goes wrong, in a few words.
    pub title: String,
    /// Where the bug was found.
    pub origin: String,
    /// What hardening does for it.
    pub verdict: Verdict,
    /// What it is run with.
    pub arguments: Arguments,
    /// How the original fails.
    pub failure: Option<ExpectedFailure>,
}

/// The arguments of a kernel.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// When it is profiled.
    pub profile: Vec<String>,
    /// When its schedules are explored.
    pub check: Vec<String>,
}

/// How the original fails.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedFailure {
    /// As in a report.
    pub kind: FailureKind,
    /// A comment in the line where it fails.
    pub marker: Option<String>,
}

/// A kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The name of its folder.
    pub name: String,
    /// Its source.
    pub source: PathBuf,
    /// What is expected of it.
    pub expectation: Expectation,
    /// `file:line` of the marked line.
    pub location: Option<String>,
}

/// The folder of the kernels in this source tree.
#[must_use]
pub fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs")
}

/// Every kernel, by name.
pub fn kernels() -> Result<Vec<Kernel>> {
    let folder = programs();
    let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
    let mut folders: Vec<PathBuf> = entries.collect::<Result<Vec<_>, _>>()?.iter().map(fs::DirEntry::path).collect();
    folders.sort();
    folders.iter().filter(|path| path.is_dir()).map(|path| kernel(path)).collect()
}

/// The kernel in a folder.
pub fn kernel(folder: &Path) -> Result<Kernel> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let path = folder.join("expect.toml");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let expectation: Expectation = toml::from_str(&text).with_context(|| path.display().to_string())?;
    let Some(source) = ["main.c", "main.cpp"].map(|file| folder.join(file)).into_iter().find(|path| path.exists()) else {
        bail!("{}: no main.c or main.cpp", folder.display());
    };
    if (expectation.verdict == Verdict::Benign) != expectation.failure.is_none() {
        bail!("{}: a kernel states how its original fails exactly if it is not benign", path.display());
    }
    let marker = expectation.failure.as_ref().and_then(|failure| failure.marker.as_deref());
    let location = marker.map(|marker| marked_line(&source, marker)).transpose()?;
    Ok(Kernel { name, source, expectation, location })
}

fn marked_line(source: &Path, marker: &str) -> Result<String> {
    let text = fs::read_to_string(source)?;
    let lines: Vec<usize> = text.lines().enumerate().filter(|(_, line)| line.contains(marker)).map(|(n, _)| n + 1).collect();
    match lines[..] {
        [line] => Ok(format!("{}:{line}", source.file_name().unwrap_or_default().to_string_lossy())),
        _ => bail!("{}: {} lines are marked '{marker}', not one", source.display(), lines.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_states_its_origin_and_has_a_fixed_variant() {
        let kernels = kernels().expect("all are well formed");
        assert!(kernels.len() >= 7);
        for kernel in kernels {
            let text = fs::read_to_string(&kernel.source).expect("source");
            assert!(text.contains("FIXED") && text.contains("Expected:"), "{}", kernel.name);
            assert!(kernel.source.with_file_name("ORIGIN.md").exists(), "{}", kernel.name);
            assert!(!text.contains("sleep("), "{}: waiting hides or forces a bug", kernel.name);
        }
    }
}
