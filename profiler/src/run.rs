//! Runs a program once, within a time limit, and judges it.
//!
//! The program gets a process group of its own, all of which ends when the run does. Its input is empty.
//! Not here: what it recorded (`collect`).

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::ProfileError;
use crate::signals::{self, Interrupt};

/// What to run, and how.
#[derive(Clone, Copy, Debug)]
pub struct Execution<'a> {
    /// The program.
    pub program: &'a Path,
    /// Its arguments.
    pub arguments: &'a [OsString],
    /// Additions to its environment.
    pub environment: &'a [(&'a str, OsString)],
    /// After this long it is ended, with everything that it started; `None` waits for ever.
    pub limit: Option<Duration>,
    /// What its exit status says.
    pub statuses: Statuses,
    /// What to do with its output.
    pub output: Output<'a>,
    /// What ends it early.
    pub interrupt: &'a Interrupt,
}

/// What an exit status says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statuses {
    /// 0 is success.
    Judged,
    /// Nothing, as of a program whose `main` returns nothing: it is what happens to be in a register.
    Undefined,
}

/// What to do with a program's output.
#[derive(Clone, Copy, Debug)]
pub enum Output<'a> {
    /// Both streams go where ours go.
    Pass,
    /// Standard output is compared with `expected`, if that is given; the last lines of standard error are kept. Both go through
    /// files in this folder: a pipe would be held open by processes that outlive the run.
    Keep {
        /// For the two files, which are removed again.
        folder: &'a Path,
        /// What standard output must be.
        expected: Option<&'a [u8]>,
    },
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// Exit status 0, if that is judged, and the output that was expected.
    Passed,
    /// Another exit status.
    Status(i32),
    /// Killed by a signal.
    Signal(i32),
    /// Still running at the time limit.
    TimedOut,
    /// The output differs first in this line.
    Differs {
        /// Counted from 1.
        line: usize,
    },
    /// A thread used memory that another one had freed, whatever came of it.
    UsedAfterFree,
    /// The user asked us to stop.
    Interrupted,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed => f.write_str("passed"),
            Self::Status(status) => write!(f, "exit status {status}"),
            Self::Signal(signal) => write!(f, "killed by {}", signals::name(*signal)),
            Self::TimedOut => f.write_str("time limit"),
            Self::Differs { line } => write!(f, "unexpected output in line {line}"),
            Self::UsedAfterFree => f.write_str("use after free"),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

/// A run that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub ending: Ending,
    /// The end of what it wrote to standard error.
    pub complaint: String,
}

/// Bytes of standard error that are kept.
const COMPLAINT: usize = 2000;

/// Runs it. `Err` when it does not even start.
pub fn execute(execution: &Execution<'_>) -> Result<Finished, ProfileError> {
    let mut command = Command::new(execution.program);
    command.args(execution.arguments).envs(execution.environment.iter().map(|(name, value)| (name, value as &OsStr)));
    command.stdin(Stdio::null()).process_group(0);
    let files = match execution.output {
        Output::Pass => None,
        Output::Keep { folder, expected } => {
            let (out, complaints) = (folder.join("stdout"), folder.join("stderr"));
            let create = |path: &Path| File::create(path).map_err(ProfileError::write(path));
            command.stdout(if expected.is_some() { create(&out)?.into() } else { Stdio::null() });
            command.stderr(create(&complaints)?);
            Some((out, complaints, expected))
        }
    };
    let start = |error| ProfileError::Start { path: execution.program.to_owned(), error };
    let mut child = command.spawn().map_err(start)?;
    let ending = wait(&mut child, execution)?;
    let mut finished = Finished { ending, complaint: String::new() };
    if let Some((out, complaints, expected)) = files {
        finished.complaint = tail(&complaints).map_err(ProfileError::read(&complaints))?;
        if let (Ending::Passed, Some(expected)) = (ending, expected) {
            let found = fs::read(&out).map_err(ProfileError::read(&out))?;
            finished.ending = compare(&found, expected);
        }
        // Both lie in a folder that is removed as a whole.
        let _ = fs::remove_file(&out);
        let _ = fs::remove_file(&complaints);
    }
    Ok(finished)
}

/// Waits for the end, the time limit, or the user, and leaves nothing of the group running.
fn wait(child: &mut Child, execution: &Execution<'_>) -> Result<Ending, ProfileError> {
    let control = |error: io::Error| ProfileError::Control { error };
    let group = Pid::from_child(child);
    let process = pidfd_open(group, PidfdFlags::empty()).map_err(|error| control(error.into()))?;
    let begun = Instant::now();
    let early = loop {
        // A signal that comes just before the wait must not be slept over.
        let mut slice = Duration::from_millis(500);
        if let Some(limit) = execution.limit {
            slice = slice.min(limit.saturating_sub(begun.elapsed()));
        }
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(slice.subsec_nanos()) };
        match poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&timeout)) {
            Ok(1..) => break None,
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(control(error.into())),
        }
        if execution.interrupt.requested() {
            break Some(Ending::Interrupted);
        }
        if execution.limit.is_some_and(|limit| begun.elapsed() >= limit) {
            break Some(Ending::TimedOut);
        }
    };
    // What it left running ends with it; a group without processes is an error that does not matter.
    let _ = kill_process_group(group, Signal::KILL);
    let status = child.wait().map_err(control)?;
    Ok(early.unwrap_or_else(|| ending(status, execution.statuses)))
}

fn ending(status: ExitStatus, statuses: Statuses) -> Ending {
    match (status.code(), status.signal()) {
        (Some(0), _) => Ending::Passed,
        (Some(_), _) if statuses == Statuses::Undefined => Ending::Passed,
        (Some(code), _) => Ending::Status(code),
        (None, signal) => Ending::Signal(signal.unwrap_or_default()),
    }
}

fn compare(found: &[u8], expected: &[u8]) -> Ending {
    if found == expected {
        return Ending::Passed;
    }
    let same = found.iter().zip(expected).take_while(|(a, b)| a == b);
    Ending::Differs { line: 1 + same.filter(|(byte, _)| **byte == b'\n').count() }
}

fn tail(path: &Path) -> io::Result<String> {
    let bytes = fs::read(path)?;
    let end = &bytes[bytes.len().saturating_sub(COMPLAINT)..];
    Ok(String::from_utf8_lossy(end).trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration, expected: Option<&[u8]>) -> Finished {
        let folder = tempfile::tempdir().expect("a folder");
        let arguments = ["-c".into(), script.into()];
        let output = Output::Keep { folder: folder.path(), expected };
        let interrupt = Interrupt::default();
        let program = Path::new("/bin/sh");
        execute(&Execution {
            program,
            arguments: &arguments,
            environment: &[],
            limit: Some(limit),
            statuses: Statuses::Judged,
            output,
            interrupt: &interrupt,
        })
        .expect("a shell")
    }

    const LONG: Duration = Duration::from_secs(30);

    #[test]
    fn each_way_to_end_has_its_name() {
        for (script, expected, ending) in [
            ("exit 0", None, Ending::Passed),
            ("exit 3", None, Ending::Status(3)),
            ("kill -SEGV $$", None, Ending::Signal(11)),
            ("echo a; echo b", Some(&b"a\nb\n"[..]), Ending::Passed),
            ("echo a; echo c", Some(&b"a\nb\n"[..]), Ending::Differs { line: 2 }),
            ("echo a", Some(&b"a\nb\n"[..]), Ending::Differs { line: 2 }),
            ("echo a; exit 1", Some(&b"a\n"[..]), Ending::Status(1)),
        ] {
            assert_eq!(shell(script, LONG, expected).ending, ending, "{script}");
        }
        assert_eq!(Ending::Signal(11).to_string(), "killed by signal 11 (SIGSEGV)");
    }

    #[test]
    fn a_status_that_is_undefined_is_not_looked_at() {
        let (program, interrupt) = (Path::new("/bin/sh"), Interrupt::default());
        for (script, ending) in [("exit 3", Ending::Passed), ("kill -SEGV $$", Ending::Signal(11))] {
            let arguments = ["-c".into(), script.into()];
            let statuses = Statuses::Undefined;
            let (limit, output) = (Some(LONG), Output::Pass);
            let run = Execution { program, arguments: &arguments, environment: &[], limit, statuses, output, interrupt: &interrupt };
            assert_eq!(execute(&run).expect("a shell").ending, ending, "{script}");
        }
    }

    #[test]
    fn the_last_lines_of_complaint_are_kept() {
        assert_eq!(shell("echo no good >&2; exit 1", LONG, None).complaint, "no good");
    }

    #[test]
    fn at_the_time_limit_the_whole_group_ends() {
        let begun = Instant::now();
        let folder = tempfile::tempdir().expect("a folder");
        let mark = folder.path().join("mark");
        // The child of the child would make the mark if it were left alone.
        let script = format!("(sleep 2; touch '{}') & sleep 60", mark.display());
        assert_eq!(shell(&script, Duration::from_millis(100), None).ending, Ending::TimedOut);
        assert!(begun.elapsed() < Duration::from_secs(20));
        assert!(!mark.exists());
    }

    #[test]
    fn an_interrupt_ends_the_run() {
        let interrupt = Interrupt::default();
        interrupt.request();
        let arguments = ["-c".into(), "sleep 60".into()];
        let execution = Execution {
            program: Path::new("/bin/sh"),
            arguments: &arguments,
            environment: &[],
            limit: None,
            statuses: Statuses::Judged,
            output: Output::Pass,
            interrupt: &interrupt,
        };
        assert_eq!(execute(&execution).expect("a shell").ending, Ending::Interrupted);
    }

    #[test]
    fn a_program_that_does_not_start_is_an_error() {
        let interrupt = Interrupt::default();
        let program = Path::new("/nonexistent/program");
        let execution = Execution {
            program,
            arguments: &[],
            environment: &[],
            limit: None,
            statuses: Statuses::Judged,
            output: Output::Pass,
            interrupt: &interrupt,
        };
        let error = execute(&execution).expect_err("there is none").to_string();
        assert!(error.starts_with("/nonexistent/program: does not start: No such file"), "{error}");
    }
}
