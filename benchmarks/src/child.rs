//! Runs one command with a time limit, and says how it ended, how long it took and how much memory it used.
//!
//! Every child of the harness goes through here, so none can hang it. The limit is kept by coreutils' `timeout`, which also
//! ends the child's own children. Output goes to files and is read back afterwards, so no pipe can fill up.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use model::report::Report;
use wait4::Wait4;

/// A command to run.
#[derive(Debug)]
pub struct Child {
    command: Command,
    shown: String,
    stdin: Option<PathBuf>,
    stdout: Option<PathBuf>,
}

/// How a command ended.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The command, for messages.
    pub shown: String,
    /// Its status.
    pub status: ExitStatus,
    /// What it printed.
    pub stdout: String,
    /// What it complained about.
    pub stderr: String,
    /// How long it took.
    pub wall: Duration,
    /// Processor time, user and system, of it and the children that it waited for.
    pub cpu: Duration,
    /// The largest resident set of it or a child that it waited for, in bytes.
    pub peak_memory: u64,
}

impl Child {
    /// A program with a time limit.
    pub fn new(program: impl AsRef<OsStr>, limit: Duration) -> Self {
        let mut command = Command::new("timeout");
        // The peak memory of a spawned child begins at its parent's, libraries included; that of a forked one only at what they share
        // in private. A search path of its own makes the standard library fork.
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.arg("--kill-after=5").arg(limit.as_secs().max(1).to_string()).arg(program.as_ref());
        Self { command, shown: program.as_ref().to_string_lossy().into_owned(), stdin: None, stdout: None }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.shown.push(' ');
        self.shown.push_str(&argument.as_ref().to_string_lossy());
        self.command.arg(argument);
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        arguments.into_iter().fold(self, Self::arg)
    }

    /// Runs it in this folder.
    #[must_use]
    pub fn within(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Reads its input from a file.
    #[must_use]
    pub fn stdin(mut self, path: &Path) -> Self {
        self.stdin = Some(path.to_owned());
        self
    }

    /// Writes its output to a file that stays; `Finished::stdout` is then empty.
    #[must_use]
    pub fn stdout(mut self, path: &Path) -> Self {
        self.stdout = Some(path.to_owned());
        self
    }

    /// Runs it to its end.
    pub fn run(mut self) -> Result<Finished> {
        let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
        let stderr = folder.path().join("stderr");
        let captured = folder.path().join("stdout");
        let stdout = self.stdout.as_ref().unwrap_or(&captured);
        let input = match &self.stdin {
            Some(path) => fs::File::open(path).with_context(|| path.display().to_string())?.into(),
            None => Stdio::null(),
        };
        self.command
            .stdin(input)
            .stdout(fs::File::create(stdout).with_context(|| stdout.display().to_string())?)
            .stderr(fs::File::create(&stderr)?);
        let start = Instant::now();
        let child = self.command.spawn().with_context(|| format!("cannot start `{}`", self.shown))?;
        let end = child.wait4().with_context(|| format!("cannot wait for `{}`", self.shown))?;
        let wall = start.elapsed();
        let text = |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        Ok(Finished {
            shown: self.shown,
            status: end.status,
            stdout: if self.stdout.is_some() { String::new() } else { text(&captured) },
            stderr: text(&stderr),
            wall,
            cpu: end.rusage.utime + end.rusage.stime,
            peak_memory: end.rusage.maxrss,
        })
    }
}

/// What `timeout` ends with when it had to end the command.
const TIMED_OUT: [i32; 2] = [124, 137];

impl Finished {
    /// Whether it ran into its time limit.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.status.code().is_some_and(|code| TIMED_OUT.contains(&code))
    }

    /// Itself, if it succeeded; otherwise an error with the end of what it said.
    pub fn succeeded(self) -> Result<Self> {
        if self.status.success() { Ok(self) } else { bail!("`{}` failed: {}", self.shown, self.why()) }
    }

    /// What `check` reported in this file, whatever it found.
    pub fn report(&self, file: &Path) -> Result<Report> {
        let text = fs::read_to_string(file).with_context(|| format!("`{}` wrote no report: {}", self.shown, self.why()))?;
        serde_json::from_str(&text).with_context(|| format!("`{}` wrote a report that cannot be read", self.shown))
    }

    /// How it ended, and the end of what it said.
    fn why(&self) -> String {
        let why = if self.timed_out() { "it ran into its time limit".to_owned() } else { self.status.to_string() };
        let said = if self.stderr.trim().is_empty() { &self.stdout } else { &self.stderr };
        let lines: Vec<&str> = said.lines().collect();
        format!("{why}\n    {}", lines[lines.len().saturating_sub(12)..].join("\n    "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);

    #[test]
    fn a_child_gives_its_output_status_and_cost() {
        let end = Child::new("sh", LIMIT).args(["-c", "echo out; echo err >&2; exit 3"]).run().expect("it runs");
        assert_eq!((end.status.code(), end.stdout.as_str(), end.stderr.as_str()), (Some(3), "out\n", "err\n"));
        assert!(end.peak_memory > 0 && !end.timed_out());
        assert!(end.succeeded().expect_err("a failure").to_string().contains("err"));
    }

    #[test]
    fn a_child_that_hangs_is_ended() {
        let end = Child::new("sleep", Duration::from_secs(1)).arg("60").run().expect("it runs");
        assert!(end.timed_out() && end.wall < LIMIT);
        let error = end.report(Path::new("/nowhere/report")).expect_err("no report");
        assert!(error.to_string().contains("ran into its time limit"), "{error}");
    }

    #[test]
    fn input_and_output_may_be_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::write(&from, "text").expect("written");
        Child::new("cat", LIMIT).stdin(&from).stdout(&to).run().and_then(Finished::succeeded).expect("it copies");
        assert_eq!(fs::read_to_string(&to).expect("read"), "text");
    }
}
