//! The target's process: started with the page inherited, without address randomization where that is permitted, with its
//! output in a file of its own, and in a way that it does not outlive `atomfix`.
//!
//! The only unsafe code outside `passes` and `runtime-rt`: what the standard library has no door for.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::string::String;
use std::time::Duration;
use std::vec::Vec;

use model::abi::ENV_CHECK;

use super::page::{BYTES, EARLY, EARLY_BYTES, EARLY_ENTRIES, EarlyEnd, FOUND, OF_A_PART, Phase, SETUP, Word};
use super::setup::Setup;

/// A program to run under the engine.
#[derive(Clone, Debug)]
pub struct Program {
    /// The gated build.
    pub path: PathBuf,
    /// What it is to find as its own name.
    pub name: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

/// A running target.
#[derive(Debug)]
pub struct Target {
    /// The process.
    pub child: Child,
    /// Can be read from when the process has ended; `None` where the kernel has no such thing.
    end: Option<OwnedFd>,
    /// The page.
    page: File,
    /// Our end of the line by which it is given further parts, if it may be.
    line: Option<UnixStream>,
}

/// What a target is to do.
#[derive(Clone, Copy, Debug)]
pub enum Orders<'a> {
    /// This, and to end.
    Only(&'a Setup),
    /// This, and to wait for another part, if it may do another.
    First(&'a Setup),
    /// To wait for a part.
    Wait,
}

/// Starts the program.
pub fn start(program: &Program, orders: Orders<'_>) -> io::Result<Target> {
    let (setup, waits) = match orders {
        Orders::Only(setup) => (Some(setup), false),
        Orders::First(setup) => (Some(setup), true),
        Orders::Wait => (None, true),
    };
    let (page, arena) = (page(setup)?, arena_file());
    let (line, theirs) = if waits { UnixStream::pair().map(|(ours, theirs)| (Some(ours), Some(theirs)))? } else { (None, None) };
    let (arena_named, line_named) = (arena.as_ref().map(AsRawFd::as_raw_fd), theirs.as_ref().map(AsRawFd::as_raw_fd));
    for (word, descriptor) in [(Word::Arena, arena_named), (Word::Line, line_named)] {
        let named = descriptor.map_or(0, i64::from);
        page.write_all_at(&named.to_ne_bytes(), word.offset() as u64)?;
    }
    let output = output_file()?;
    let mut command = Command::new(absolute(&program.path)?);
    command.arg0(&program.name).args(&program.arguments);
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
    let descriptor = page.as_raw_fd();
    command.envs(environment(descriptor));
    let descriptors = [Some(descriptor), arena_named, line_named];
    // SAFETY: the closure makes only system calls, which is sound between fork and exec.
    unsafe { command.pre_exec(move || prepare(&descriptors)) };
    // Ctrl-C is for who watches, and ends what is explored in good order.
    command.process_group(0);
    let child = command.spawn()?;
    Ok(Target { end: end_of(&child), child, page, line })
}

/// Starts a debugger that is to start the program with the variables that `command` is given for it. It has the terminal.
pub fn debug(setup: &Setup, command: impl FnOnce(&[(&'static str, String)]) -> Command) -> io::Result<ExitStatus> {
    let page = page(Some(setup))?;
    let descriptor = page.as_raw_fd();
    let mut command = command(&environment(descriptor));
    // SAFETY: as in `start`.
    unsafe { command.pre_exec(move || keep_open(descriptor)) };
    command.status()
}

/// What the engine finds in the environment. Restartable sequences are written to by the kernel in memory that is write-protected
/// between executions; and symbols bound at their first use would make the first execution differ from the others.
fn environment(page: i32) -> [(&'static str, String); 3] {
    [(ENV_CHECK, std::format!("{page}")), ("GLIBC_TUNABLES", String::from("glibc.pthread.rseq=0")), ("LD_BIND_NOW", String::from("1"))]
}

fn page(setup: Option<&Setup>) -> io::Result<File> {
    let page = memory_file()?;
    page.set_len(BYTES as u64)?;
    page.write_all_at(setup.map(Setup::to_text).unwrap_or_default().as_bytes(), SETUP as u64)?;
    Ok(page)
}

/// Address space for the engine's memory, for fresh processes to find it in. Where files may not be as large, they cannot be used.
fn arena_file() -> Option<File> {
    const BYTES: u64 = 1 << 36;
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: fills the structure that it is given.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) } == 0;
    if !known || limit.rlim_cur < BYTES {
        return None;
    }
    let file = memory_file().ok()?;
    file.set_len(BYTES).ok()?;
    Some(file)
}

/// A path with a folder in it, so that the program is not looked for elsewhere.
fn absolute(path: &Path) -> io::Result<PathBuf> {
    std::path::absolute(path)
}

/// A file in memory, without a name.
fn memory_file() -> io::Result<File> {
    // SAFETY: the name ends with a zero.
    let descriptor = unsafe { libc::memfd_create(c"atomfix".as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { File::from_raw_fd(descriptor) })
}

/// The same, where every write goes to the end: the engine can empty it without minding offsets.
fn output_file() -> io::Result<File> {
    let file = memory_file()?;
    // SAFETY: sets flags of our own descriptor.
    let result = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, libc::O_APPEND) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(file) }
}

fn keep_open(descriptor: i32) -> io::Result<()> {
    // SAFETY: clears the close-on-exec flag of a descriptor that is open.
    if unsafe { libc::fcntl(descriptor, libc::F_SETFD, 0) } < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// In the child, before the program: keeps the page open, takes randomness out of addresses, dies with us.
fn prepare(descriptors: &[Option<i32>]) -> io::Result<()> {
    descriptors.iter().flatten().try_for_each(|&descriptor| keep_open(descriptor))?;
    // Where this is not permitted, the engine says that addresses are randomized.
    // SAFETY: changes how the next program is loaded, nothing else.
    unsafe { libc::personality(libc::ADDR_NO_RANDOMIZE.cast_unsigned().into()) };
    // SAFETY: asks for a signal when the parent ends.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    Ok(())
}

fn end_of(child: &Child) -> Option<OwnedFd> {
    // SAFETY: makes a descriptor for a child that was not waited for.
    let made = unsafe { libc::syscall(libc::SYS_pidfd_open, child.id(), 0) };
    let descriptor = i32::try_from(made).ok().filter(|&descriptor| descriptor >= 0)?;
    // SAFETY: the descriptor is new and nobody else's.
    Some(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Rests for so long, or until one of the targets ends or is done with a part.
pub fn rest_beside<'a>(targets: impl Iterator<Item = &'a Target>, longest: Duration) {
    let tells = |target: &'a Target| {
        let (end, line) = (target.end.as_ref().map(AsRawFd::as_raw_fd), target.line.as_ref().map(AsRawFd::as_raw_fd));
        [end, line].into_iter().flatten()
    };
    let poll = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let mut ends: Vec<libc::pollfd> = targets.flat_map(tells).map(poll).collect();
    let count = libc::nfds_t::try_from(ends.len()).unwrap_or(0);
    let time = libc::timespec { tv_sec: longest.as_secs().cast_signed(), tv_nsec: longest.subsec_nanos().into() };
    // SAFETY: as many entries as it says. A signal may end the rest early, which does no harm.
    unsafe { libc::ppoll(ends.as_mut_ptr(), count, &raw const time, std::ptr::null()) };
}

/// Kills a process of the target's.
pub fn kill(process: u32) {
    signal(process, libc::SIGKILL);
}

/// Asks the engine in the target to end the execution that it runs.
pub fn interrupt(process: u32) {
    signal(process, libc::SIGXCPU);
}

fn signal(process: u32, signal: i32) {
    if let Ok(process) = libc::pid_t::try_from(process)
        && process > 0
    {
        // SAFETY: sends a signal to a child, or to its child that the engine has just named.
        unsafe { libc::kill(process, signal) };
    }
}

impl Target {
    /// Reads a word of the page.
    pub fn word(&self, word: Word) -> u64 {
        let mut bytes = [0; 8];
        // A page in memory reads whole; a word of zero is what an unstarted target has.
        let read = self.page.read_exact_at(&mut bytes, word.offset() as u64);
        if read.is_ok() { u64::from_ne_bytes(bytes) } else { 0 }
    }

    /// Holds of injected locks that ended early, by lock and place.
    #[must_use]
    pub fn early_ends(&self) -> Vec<EarlyEnd> {
        let mut bytes = [0; EARLY_ENTRIES * EARLY_BYTES];
        if self.page.read_exact_at(&mut bytes, EARLY as u64).is_err() {
            return Vec::new();
        }
        let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_ne_bytes);
        let entry = |bytes: &[u8]| bytes.split_at_checked(8).and_then(|(key, count)| EarlyEnd::from_entry(word(key), word(count)));
        let mut ends: Vec<EarlyEnd> = bytes.chunks_exact(EARLY_BYTES).filter_map(entry).collect();
        ends.sort();
        ends
    }

    /// Writes a word of the page.
    pub fn set_word(&self, word: Word, value: u64) -> io::Result<()> {
        self.page.write_all_at(&value.to_ne_bytes(), word.offset() as u64)
    }

    /// Whether it waits for a part.
    #[must_use]
    pub fn waits(&self) -> bool {
        self.word(Word::Phase) == Phase::Waiting as u64
    }

    /// Gives it another part. An error when it has died, or never said that it waits.
    pub fn give(&mut self, setup: &Setup) -> io::Result<()> {
        let Some(line) = &mut self.line else { return Err(io::ErrorKind::NotConnected.into()) };
        line.read_exact(&mut [0])?;
        let text = setup.to_text() + "\0";
        self.page.write_all_at(text.as_bytes(), SETUP as u64)?;
        self.page.write_all_at(&[0; EARLY_ENTRIES * EARLY_BYTES], EARLY as u64)?;
        for word in OF_A_PART {
            self.page.write_all_at(&[0; 8], word.offset() as u64)?;
        }
        self.page.write_all_at(&(Phase::Exploring as u64).to_ne_bytes(), Word::Phase.offset() as u64)?;
        line.write_all(&[0])
    }

    /// What was found so far.
    pub fn found(&self) -> io::Result<String> {
        let length = usize::try_from(self.word(Word::FoundBytes)).unwrap_or(0).min(BYTES - FOUND);
        let mut bytes = std::vec![0; length];
        self.page.read_exact_at(&mut bytes, FOUND as u64)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
