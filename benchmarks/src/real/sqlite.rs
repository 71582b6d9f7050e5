//! SQLite's amalgamation, one unit of a quarter of a million lines, with a multithreaded client of ours: how long inference takes, and
//! whether the hardened client still finds every row.
//!
//! Not here: the speed of the hardened build.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::session::{LIMIT, atomfix};
use super::{Environment, source};
use crate::child::Child;

/// Seconds within which inference must end.
pub const MOST_SECONDS: f64 = 60.0;

/// Memory that it may use at most, in bytes.
pub const MOST_BYTES: u64 = 4 << 30;

/// What was measured.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Wall time of `atomfix infer`, its reading of the bitcode included.
    pub seconds: f64,
    /// Its processor time.
    pub processor: f64,
    /// Its peak memory.
    pub bytes: u64,
    /// What it said, with its table.
    pub said: String,
}

/// Builds, profiles and infers; then runs the hardened client.
pub fn run(environment: &Environment) -> Result<Measured> {
    let folder = build(environment)?;
    atomfix(environment, &folder, "profile").args(["./client", "--runs", "3", "--seed", "1"]).run()?.succeeded()?;
    let infer = atomfix(environment, &folder, "infer").args(["./client", "--stats"]).run()?.succeeded()?;
    let (seconds, processor) = (infer.wall.as_secs_f64(), infer.cpu.as_secs_f64());
    let measured = Measured { seconds, processor, bytes: infer.peak_memory, said: infer.stdout };
    atomfix(environment, &folder, "harden").args(["./client", "-o", "client.hard"]).run()?.succeeded()?;
    Child::new(folder.join("client.hard"), LIMIT).within(&folder).run()?.succeeded()?;
    Ok(measured)
}

/// The client, linked with the amalgamation that SQLite's own makefile puts together.
fn build(environment: &Environment) -> Result<PathBuf> {
    let folder = environment.work.join("sqlite");
    source::copy(&source::fetch(&environment.work, "sqlite3", "3.40.1")?, &folder)?;
    Child::new("./configure", LIMIT).within(&folder).args(["--disable-tcl", "--disable-readline"]).run()?.succeeded()?;
    Child::new("make", LIMIT).within(&folder).arg("sqlite3.c").run()?.succeeded()?;
    let client = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/sqlite.c");
    fs::copy(&client, folder.join("client.c")).with_context(|| client.display().to_string())?;
    let compile = atomfix(environment, &folder, "cc");
    compile.args(["-O2", "-g", "-DSQLITE_THREADSAFE=1", "client.c", "sqlite3.c", "-o", "client", "-pthread", "-lm"]).run()?.succeeded()?;
    Ok(folder)
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = self.bytes >> 20;
        writeln!(f, "SQLite 3.40.1: infer in {:.1} s ({:.1} s of processor time), {mib} MiB\n{}", self.seconds, self.processor, self.said)
    }
}

impl Measured {
    /// Targets that were missed.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.seconds > MOST_SECONDS {
            problems.push(format!("sqlite: infer took {:.1} s, more than {MOST_SECONDS} s", self.seconds));
        }
        if self.bytes > MOST_BYTES {
            problems.push(format!("sqlite: infer used {} bytes, more than {MOST_BYTES}", self.bytes));
        }
        problems
    }
}
