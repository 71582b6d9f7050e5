//! Seeds of runs: one for each, from the seed that the user gave or that was drawn and printed.

use std::hash::{BuildHasher, Hasher};

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

/// The value of `model::abi::ENV_RECORD` that makes a process record into this folder.
#[must_use]
pub fn record_setting(folder: &std::path::Path, seed: Seed) -> std::ffi::OsString {
    let mut value = folder.as_os_str().to_owned();
    value.push(format!(":seed={}", seed.0));
    value
}
