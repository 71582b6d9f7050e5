//! What can go wrong outside of the program under test.

use std::io;
use std::path::PathBuf;

use model::recording::BadRecording;

/// An error of the profiler's own; how runs end is `run::Ending`.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The program cannot be started at all.
    #[error("{}: does not start: {error}", path.display())]
    Start {
        /// What was to be started.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// A file or folder cannot be read.
    #[error("{}: cannot read: {error}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// A file or folder cannot be written.
    #[error("{}: cannot write: {error}", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// A recording is damaged.
    #[error("{}: damaged recording: {bad}", path.display())]
    Recording {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        bad: BadRecording,
    },
    /// A process could not make its recording.
    #[error("{}: no room for the recording of a process", folder.display())]
    NoRoom {
        /// Where it was to be.
        folder: PathBuf,
    },
    /// An executable has no symbols that can be read.
    #[error("{}: cannot read its symbols: {error}", path.display())]
    Symbols {
        /// Which.
        path: PathBuf,
        /// Why not.
        error: object::Error,
    },
    /// The note of a swap is not one.
    #[error("{}: not a swap journal: {why}", path.display())]
    Journal {
        /// Which.
        path: PathBuf,
        /// One lower-case fragment.
        why: &'static str,
    },
    /// Another atomfix has the program swapped at this moment.
    #[error("{}: another atomfix has the instrumented program in its place right now", path.display())]
    Swapped {
        /// The program.
        path: PathBuf,
    },
    /// Signals or process groups cannot be controlled.
    #[error("cannot control processes: {error}")]
    Control {
        /// Why not.
        error: io::Error,
    },
}

impl ProfileError {
    /// For `map_err`, on reading.
    pub(crate) fn read(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::Read { path, error }
    }

    /// For `map_err`, on writing.
    pub(crate) fn write(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::Write { path, error }
    }
}
