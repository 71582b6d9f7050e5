//! Exit codes, documented in `--help` and in `docs/exit-codes.md`, and the error type that carries one.

use std::fmt;
use std::process::ExitCode;

use capture::CaptureError;
use model::pass::PassError;

/// How `atomfix` ends. `cc` and `c++` are the exception: they return the compiler's own status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Done; nothing found.
    Clean = 0,
    /// A failure was found in the build that was named.
    Found = 1,
    /// Wrong usage or input, all profiling runs failed included.
    Usage = 2,
    /// The toolchain is missing or failed.
    Toolchain = 3,
    /// Nothing found, but the budget ran out and `--require-complete` was given.
    Incomplete = 4,
    /// Nothing found until the user wanted it to end: what a shell says of Ctrl-C.
    Interrupted = 130,
    /// A bug in atomfix.
    Internal = 70,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// An error that decides the exit code: what and where, why, and what to do next.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The code to end with.
    pub(crate) exit: Exit,
    /// What went wrong, and where.
    pub(crate) what: String,
    /// What the user can do about it.
    pub(crate) next: String,
}

impl Failure {
    /// Wrong usage or input.
    pub(crate) fn usage(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, what: what.into(), next: next.into() }
    }

    /// A missing or failing tool.
    pub(crate) fn toolchain(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self { exit: Exit::Toolchain, what: what.into(), next: next.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if !self.next.is_empty() {
            write!(f, "\n  help: {}", self.next)?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

impl From<CaptureError> for Failure {
    fn from(error: CaptureError) -> Self {
        let (what, next) = (error.to_string(), error.help());
        if error.is_toolchain() { Self::toolchain(what, next) } else { Self::usage(what, next) }
    }
}

impl From<PassError> for Failure {
    fn from(error: PassError) -> Self {
        let exit = match &error {
            PassError::Unreadable { .. } => Exit::Toolchain,
            PassError::UnknownNode { .. } | PassError::UnknownEdge { .. } | PassError::Unplaceable { .. } | PassError::Refused { .. } => {
                Exit::Usage
            }
            PassError::Invalid { .. } | PassError::Internal { .. } => Exit::Internal,
        };
        let next = match exit {
            Exit::Usage => "undo the edit of the plan, or write it anew with `atomfix infer`",
            Exit::Toolchain => "`atomfix doctor` checks the toolchain",
            // `main` says what to do about a bug.
            _ => "",
        };
        Self { exit, what: error.to_string(), next: next.to_owned() }
    }
}
