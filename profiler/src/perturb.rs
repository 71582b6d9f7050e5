//! Seeds of runs: one for each, from the seed that the user gave or that was drawn and printed.

use std::ffi::OsString;
use std::hash::{BuildHasher, Hasher};
use std::path::{Path, PathBuf};

use model::wanted::Wanted;

/// The seed of one run's delays, or of a whole command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(pub u64);

impl Seed {
    /// A fresh one.
    #[must_use]
    pub fn random() -> Self {
        // The standard library's per-process random keys. Short, so that people can type it.
        Self(std::collections::hash_map::RandomState::new().build_hasher().finish() % 1_000_000_000)
    }

    /// The seed of the run with this number: the same for the same command line.
    #[must_use]
    pub fn of_run(self, number: u32) -> Self {
        Self(self.0.wrapping_add(u64::from(number)))
    }
}

/// What a recording process watches besides addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watching {
    /// Nothing.
    Nothing,
    /// The correlated sets in `watch_list(folder)`.
    Sets,
}

/// The value of `model::abi::ENV_RECORD` that makes a process record into this folder, and bring these orders about.
#[must_use]
pub fn record_setting(folder: &Path, seed: Seed, watching: Watching, wanted: &[Wanted]) -> OsString {
    let mut value = folder.as_os_str().to_owned();
    value.push(format!(":seed={}", seed.0));
    if watching == Watching::Sets {
        value.push(":sets=1");
    }
    for order in wanted {
        value.push(format!(":wanted={order}"));
    }
    value
}

/// Where processes that record into this folder look for the sets to watch (`model::correlation`).
#[must_use]
pub fn watch_list(folder: &Path) -> PathBuf {
    let mut path = folder.as_os_str().to_owned();
    path.push(".sets");
    path.into()
}
