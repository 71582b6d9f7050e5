//! Ctrl-C and friends as a flag, so that what was begun is put back before the process ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::ProfileError;

/// Whether the user wants us to stop.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// From now on SIGINT, SIGTERM and SIGHUP only set the flag.
    pub fn catch() -> Result<Self, ProfileError> {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&flag)).map_err(|error| ProfileError::Control { error })?;
        }
        Ok(Self(flag))
    }

    /// Whether one came.
    #[must_use]
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// As if one had come.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The name of a signal, where it has one that people know.
#[must_use]
pub fn name(signal: i32) -> String {
    match signal_hook::low_level::signal_name(signal) {
        Some(name) => format!("signal {signal} ({name})"),
        None => format!("signal {signal}"),
    }
}
