//! Real programs, unmodified, from Debian's source packages: build, profile, harden, verify, measure.
//!
//! `source` fetches and unpacks, `corpus` makes input data, one file a program knows how that program is built, exercised and
//! judged, `rwlocks` and `latency` are for comparisons, `in_process`, `bugs` and `schedules` explore the code of such programs, `outcome` is what they hand back and how it is printed.

pub mod bugs;
pub mod corpus;
pub mod in_process;
pub mod latency;
pub mod memcached;
pub mod outcome;
pub mod pbzip2;
pub mod rwlocks;
pub mod schedules;
pub mod session;
pub mod source;
pub mod sqlite;
pub mod zstd;

use std::path::PathBuf;

/// How much is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Everything that is published: minutes of load, hundreds of megabytes.
    Full,
    /// The same steps on little data, for a test.
    Short,
}

/// What all programs need to know.
#[derive(Clone, Debug)]
pub struct Environment {
    /// The `atomfix` command.
    pub atomfix: PathBuf,
    /// Where sources, builds and data are kept.
    pub work: PathBuf,
    /// How much is done.
    pub length: Length,
    /// Rounds of each measurement.
    pub rounds: usize,
}
