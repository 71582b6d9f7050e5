//! memcached: a server, judged by its own test suite and by load from memaslap.
//!
//! The suite starts `memcached-debug`, which its Makefile builds from the same sources with assertions on. What people run is `memcached`, which
//! is taken through the chain as well, with the suite told to start that one; tests that need the debug server's commands fail with the
//! original too, and do not count.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child as Process, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::outcome::{Measured, Outcome};
use super::session::{LIMIT, harden, profile_with};
use super::{Environment, Length, latency, rwlocks, source};
use crate::child::Child;
use crate::measure::{Cost, alternate};

/// Tests that the server is profiled under: a quarter of the suite, several connections and threads among them. None has keys that live for
/// seconds only, which a busy machine outlives.
const TAUGHT: &[&str] = &[
    "t/00-startup.t",
    "t/cas.t",
    "t/dash-M.t",
    "t/flags.t",
    "t/flush-all.t",
    "t/getset.t",
    "t/incrdecr.t",
    "t/issue_140.t",
    "t/issue_42.t",
    "t/lru.t",
    "t/noreply.t",
    "t/stats.t",
    "t/unixsocket.t",
];

/// What the short form runs instead of the whole suite.
const SHORT: &[&str] = &["t/cas.t", "t/flags.t", "t/getset.t", "t/incrdecr.t", "t/issue_42.t", "t/noreply.t"];

/// So often the tests are profiled in the long form. What ran less than 64 times is not known to meet nobody, and costs locks.
const LESSONS: u64 = 4;

/// Which of the two servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Make {
    Debug,
    Production,
}

impl Make {
    fn server(self) -> &'static str {
        match self {
            Self::Debug => "memcached-debug",
            Self::Production => "memcached",
        }
    }
}

/// Takes the server that its suite runs through the chain.
pub fn run(environment: &Environment) -> Result<Outcome> {
    let folder = environment.work.join("memcached");
    let original = build(environment, &folder)?;
    chain(environment, Make::Debug, &folder, &original)
}

/// Takes the server that people run through the chain.
pub fn run_production(environment: &Environment) -> Result<Outcome> {
    let folder = environment.work.join("memcached-production");
    let original = make(environment, Make::Production, &folder)?;
    redirect_suite(&folder)?;
    chain(environment, Make::Production, &folder, &original)
}

/// Has the suite start the production server.
fn redirect_suite(folder: &Path) -> Result<()> {
    let found = Child::new("grep", LIMIT).within(folder).args(["-rlE", "memcached-debug|relaxed_privileges", "t"]).run()?.succeeded()?;
    for file in found.stdout.lines().map(|name| folder.join(name)) {
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        // The option lets the debug server do what its tests need.
        let text = text.replace("memcached-debug", Make::Production.server()).replace("relaxed_privileges", "no_drop_privileges");
        fs::write(&file, text).with_context(|| file.display().to_string())?;
    }
    Ok(())
}

fn chain(environment: &Environment, which: Make, folder: &Path, original: &Path) -> Result<Outcome> {
    let program = match which {
        Make::Debug => "memcached 1.6.18",
        Make::Production => "memcached 1.6.18, production build",
    };
    let mut outcome = Outcome { program: program.to_owned(), ..Outcome::default() };
    let (taught, lessons) = if environment.length == Length::Full { (TAUGHT, LESSONS) } else { (SHORT, 1) };
    let tests: Vec<&str> = ["--swap", "--", "prove"].into_iter().chain(taught.iter().copied()).collect();
    for seed in 1..=lessons {
        profile_with(environment, original, seed, &tests)?;
    }
    let hardened = harden(environment, original, &mut outcome)?;

    let problem = suite(environment, which, folder, &hardened)?;
    outcome.verify("the suite passes as far as it passes with the original", problem);
    let time = match (environment.length, which) {
        (Length::Full, Make::Debug) => "600s",
        (Length::Full, Make::Production) => "60s",
        (Length::Short, _) => "5s",
    };
    let problem = soak(&hardened, time)?;
    outcome.verify(format!("{time} of load from 4 threads, without an error, a hang or growth"), problem);

    let operations = if environment.length == Length::Full { "500000" } else { "50000" };
    let rounds = environment.rounds;
    let plain = folder.join(format!("{}.rwlocks", which.server()));
    rwlocks::build(original, &plain)?;
    let builds = [("original", original), ("hardened", &hardened), ("with pthread rwlocks", &plain)];
    let mut ways = builds.map(|(_, build)| move || load_cost(build, operations));
    let [one, two, three] = &mut ways;
    let medians = alternate(rounds, &mut [one, two, three])?;
    let work = format!("{operations} operations from 4 threads");
    let others = builds.iter().zip(&medians).skip(1).map(|((name, _), cost)| (*name, *cost)).collect();
    outcome.measured.push(Measured { work, rounds, original: medians[0], others });

    let mut latencies = builds.map(|(name, _)| (name, Vec::new()));
    for _ in 0..rounds {
        for ((_, build), (_, seen)) in builds.iter().zip(&mut latencies) {
            seen.push(latency::measure(&Server::start(build)?.address, 5_000)?);
        }
    }
    outcome.latencies = latencies.into();
    Ok(outcome)
}

/// Builds the server that its suite runs as its Makefile does, in this folder.
pub fn build(environment: &Environment, folder: &Path) -> Result<PathBuf> {
    make(environment, Make::Debug, folder)
}

fn make(environment: &Environment, which: Make, folder: &Path) -> Result<PathBuf> {
    source::copy(&source::fetch(&environment.work, "memcached", "1.6.18")?, folder)?;
    let compiler = format!("CC={} cc", environment.atomfix.display());
    Child::new("./configure", LIMIT).within(folder).args([&compiler, "CFLAGS=-O2 -g", "--disable-coverage"]).run()?.succeeded()?;
    Child::new("make", LIMIT)
        .within(folder)
        .args(["-j2", which.server(), "sizes", "testapp", "timedrun", "ACLOCAL=:", "AUTOCONF=:", "AUTOMAKE=:", "AUTOHEADER=:"])
        .run()?
        .succeeded()?;
    Ok(folder.join(which.server()))
}

/// Why the suite fails with the hardened server where it passes with the original, if it does.
fn suite(environment: &Environment, which: Make, folder: &Path, hardened: &Path) -> Result<Option<String>> {
    let tests = if environment.length == Length::Full { &["t"][..] } else { SHORT };
    let with_original = failing(folder, tests)?;
    let copy = environment.work.join(format!("{}-hardened", folder.file_name().context("a program lies in a folder")?.display()));
    source::copy(folder, &copy)?;
    fs::copy(hardened, copy.join(which.server()))?;
    let with_hardened = failing(&copy, tests)?;
    let new: Vec<_> = with_hardened.difference(&with_original).cloned().collect();
    Ok((!new.is_empty()).then(|| format!("new failures: {}", new.join(", "))))
}

/// The tests that fail, by name.
fn failing(folder: &Path, tests: &[&str]) -> Result<BTreeSet<String>> {
    let end = Child::new("prove", LIMIT).within(folder).args(["-j", "4"]).args(tests).run()?;
    if end.timed_out() {
        bail!("`{}` ran into its time limit", end.shown);
    }
    Ok(failures(&end.stdout))
}

/// Lines of prove's summary: `t/getset.t    (Wstat: 0 Tests: 5 Failed: 1)`.
fn failures(output: &str) -> BTreeSet<String> {
    output.lines().filter(|line| line.contains("(Wstat:")).filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect()
}

/// Why the server did not stand a time of load, if it did not.
fn soak(program: &Path, time: &str) -> Result<Option<String>> {
    let mut server = Server::start(program)?;
    let warm = server.load(&["-x", "100000"])?;
    let before = server.memory()?;
    let load = server.load(&["-t", time, "-v", "0.02"])?;
    if let Some(problem) = warm.or(load) {
        return Ok(Some(problem));
    }
    if let Some(status) = server.process.try_wait()? {
        return Ok(Some(format!("the server ended with {status}")));
    }
    // The load fills the cache, whose bound is 64 MiB; what is beyond that would be a leak.
    let after = server.memory()?;
    Ok((after > before + (80 << 20)).then(|| format!("it grew from {} to {} MiB", before >> 20, after >> 20)))
}

fn load_cost(program: &Path, operations: &str) -> Result<Cost> {
    let mut server = Server::start(program)?;
    let start = Instant::now();
    if let Some(problem) = server.load(&["-x", operations])? {
        bail!("{}: {problem}", program.display());
    }
    Ok(Cost { wall: start.elapsed(), cpu: server.time()?, memory: server.memory()? })
}

/// Starts a server with these `ATOMFIX_OPTIONS`, puts a short load on it and tells it to end: what went wrong, if anything did.
pub fn serve_once(program: &Path, options: &str, limit: Duration) -> Result<Option<String>> {
    let mut server = match Server::start_with(program, options) {
        Ok(server) => server,
        Err(error) => return Ok(Some(format!("{error:#}"))),
    };
    if let Some(problem) = server.load_within(&["-x", "4000", "-v", "0.1"], limit)? {
        return Ok(Some(problem));
    }
    if let Some(status) = server.process.try_wait()? {
        return Ok(Some(format!("the server ended with {status}")));
    }
    Child::new("kill", limit).arg(server.process.id().to_string()).run()?.succeeded()?;
    let start = Instant::now();
    while start.elapsed() < limit {
        if let Some(status) = server.process.try_wait()? {
            return Ok((!status.success()).then(|| format!("the server ended with {status}")));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(Some("the server does not end".to_owned()))
}

/// A running server, ended with its owner.
struct Server {
    process: Process,
    address: String,
}

impl Server {
    fn start(program: &Path) -> Result<Self> {
        Self::start_with(program, "")
    }

    fn start_with(program: &Path, options: &str) -> Result<Self> {
        // The port is free now and, as nobody else is told of it, a moment later.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port().to_string();
        let mut command = Command::new(program);
        command.env("ATOMFIX_OPTIONS", options);
        command.args(["-u", "nobody", "-t", "4", "-m", "64", "-l", "127.0.0.1", "-U", "0", "-p", &port]);
        let process = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let process = process.with_context(|| format!("cannot start {}", program.display()))?;
        let server = Self { process, address: format!("127.0.0.1:{port}") };
        // The load tool does not wait for a server that is still starting.
        let start = Instant::now();
        while std::net::TcpStream::connect(&server.address).is_err() {
            if start.elapsed() > Duration::from_secs(10) {
                bail!("{} does not listen after 10 s", program.display());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// Why a load of it failed, if it did.
    fn load(&mut self, extent: &[&str]) -> Result<Option<String>> {
        self.load_within(extent, LIMIT)
    }

    fn load_within(&mut self, extent: &[&str], limit: Duration) -> Result<Option<String>> {
        let tool = Child::new("memcaslap", limit).args(["-s", &self.address, "-T", "4", "-c", "64"]).args(extent);
        let end = tool.run()?;
        let said = format!("{}{}", end.stdout, end.stderr);
        let bad = said.lines().find(|line| is_complaint(line));
        if end.timed_out() {
            return Ok(Some("it hangs".to_owned()));
        }
        Ok(match (end.status.success(), bad) {
            (_, Some(line)) => Some(line.trim().to_owned()),
            (false, None) => Some(end.status.to_string()),
            (true, None) => None,
        })
    }

    /// The processor time of its threads so far, which last as long as it does.
    fn time(&self) -> Result<Duration> {
        let mut nanoseconds = 0;
        for task in fs::read_dir(format!("/proc/{}/task", self.process.id())).with_context(|| "the server is gone")? {
            let text =
                fs::read_to_string(task?.path().join("schedstat")).with_context(|| "the kernel keeps no statistics of scheduling")?;
            nanoseconds += text.split_whitespace().next().and_then(|word| word.parse::<u64>().ok()).context("no processor time")?;
        }
        Ok(Duration::from_nanos(nanoseconds))
    }

    fn memory(&self) -> Result<u64> {
        let path = format!("/proc/{}/status", self.process.id());
        let text = fs::read_to_string(&path).with_context(|| "the server is gone")?;
        let kib =
            text.lines().find_map(|line| line.strip_prefix("VmRSS:")).and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
        Ok(kib.context("no resident set size")? << 10)
    }
}

/// Whether a line of the load tool tells of an error; its summary counts failed verifications, none included.
fn is_complaint(line: &str) -> bool {
    let line = line.trim().to_lowercase();
    match line.strip_prefix("verify_failed:") {
        Some(count) => count.trim() != "0",
        None => ["error", "failed", "unknown", "refused"].iter().any(|word| line.contains(word)),
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A server that is already gone needs no ending.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_real_complaints_of_the_load_tool_count() {
        assert!(is_complaint("verify_failed: 3") && is_complaint("connect error"));
        assert!(!is_complaint("verify_failed: 0") && !is_complaint("get_misses: 12"));
    }

    #[test]
    fn failing_tests_are_read_from_the_summary() {
        let output = "t/cas.t .. ok\nTest Summary Report\n-----\nt/lru.t   (Wstat: 256 Tests: 3 Failed: 1)\n  Failed test:  2\n";
        assert_eq!(failures(output), BTreeSet::from(["t/lru.t".to_owned()]));
        assert!(failures("All tests successful.\n").is_empty());
    }
}
