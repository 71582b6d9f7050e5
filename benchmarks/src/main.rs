//! `atomfix-bench`: reproduces every number that we publish, and prints the machine that it was taken on.
#![expect(clippy::print_stderr, clippy::print_stdout, reason = "a command-line tool talks to its user")]

mod suites;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use benchmarks::expect::{self, Kernel};
use benchmarks::real::outcome::Outcome;
use benchmarks::real::{self, Environment, Length};
use benchmarks::robust::{Earlier, Pass};
use benchmarks::{agreement, campaign, kernel, locks, machine, robust, scale, searches, speed, table::Table};
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "atomfix-bench", version, about = "Reproduces every number that atomfix publishes")]
struct CommandLine {
    /// Use this atomfix command instead of the one beside this program
    #[arg(long, global = true, env = "ATOMFIX")]
    atomfix: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Take the kernels of published bugs through the whole chain
    Kernels {
        /// Run the untouched programs a few times only
        #[arg(long)]
        short: bool,
        /// Kernels to take; all if none is named
        names: Vec<String>,
    },
    /// Take memcached, pbzip2 and zstd through the whole chain
    Real {
        /// Do the same steps on little data
        #[arg(long)]
        short: bool,
        /// Measure each piece of work this often
        #[arg(long, default_value_t = 5)]
        rounds: usize,
        /// Programs to take: memcached, memcached-production, pbzip2, zstd; all if none is named, but for the second with --short
        names: Vec<String>,
    },
    /// Build pbzip2 with atomfix from Debian's source package, make data for it, and print the folder
    PreparePbzip2,
    /// Measure what injected locks cost beside others
    Locks,
    /// Inject random plans into kernels, pbzip2 and memcached: every run must end with a result of the original; goes on where it was
    /// interrupted
    Campaign {
        /// Do few runs of kernels alone
        #[arg(long)]
        short: bool,
        /// Where random plans come from
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Make about this many runs in all
        #[arg(long, default_value_t = 10_000)]
        runs: usize,
        /// Programs to take: kernels, pbzip2, memcached; all if none is named
        names: Vec<String>,
    },
    /// Run the programs for every wait and every way out of a region, and judge results and counters; goes on where it was interrupted
    Robust {
        /// Run each this often
        #[arg(long, default_value_t = 1000)]
        runs: usize,
        /// Run so many programs at a time
        #[arg(long, default_value_t = 2)]
        parallel: usize,
        /// Count a run that takes longer than so many seconds as hanging
        #[arg(long, default_value_t = 60)]
        limit: u64,
        /// Forget what earlier passes over the same build found
        #[arg(long)]
        again: bool,
        /// Take only programs whose name contains this
        #[arg(default_value = "")]
        only: String,
    },
    /// Measure how inference grows with the program
    Scale {
        /// Functions of the generated programs
        #[arg(default_values_t = [1_000, 10_000, 100_000])]
        functions: Vec<usize>,
    },
    /// Infer for SQLite's amalgamation with a multithreaded client
    Sqlite,
    /// Find published bugs in unmodified sources of Debian 12, and harden the programs that show them
    DebianBugs {
        /// Explore each program for this many seconds
        #[arg(long, default_value_t = 30)]
        seconds: u64,
        /// Bugs to take: memcached-dropped, memcached-authfile, xz-damaged; all if none is named
        names: Vec<String>,
    },
    /// Explore pbzip2 and memcached by random schedules: every one must repeat itself
    RealSchedules {
        /// Explore each program this often
        #[arg(long, default_value_t = 1000)]
        schedules: u64,
    },
    /// Compare what searches find in random programs, compiled, with brute force
    RandomPrograms {
        /// Take so many programs, as data for one compiled interpreter
        #[arg(long, default_value_t = 10_000)]
        count: usize,
        /// Compile so many of them too
        #[arg(long, default_value_t = 200)]
        compiled: usize,
        /// The seed of the first program
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    #[command(flatten)]
    Suites(suites::Command),
    /// Measure how many schedules a second are explored, and what partial order reduction saves
    CheckSpeed {
        /// Explore each kernel this often
        #[arg(long, default_value_t = 5)]
        rounds: usize,
    },
}

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let line = CommandLine::parse();
    match run(&line) {
        Ok(problems) if problems.is_empty() => ExitCode::SUCCESS,
        Ok(problems) => {
            for problem in problems {
                eprintln!("atomfix-bench: {problem}");
            }
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("atomfix-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// What was not as it should be. A command that was built anew meanwhile may be the cause, and is named then.
fn run(line: &CommandLine) -> Result<Vec<String>> {
    let atomfix = atomfix(line.atomfix.as_deref())?;
    let written = || std::fs::metadata(&atomfix).and_then(|file| file.modified()).ok();
    let before = written();
    let mut measured = measure(line, atomfix.clone());
    let replaced = format!("{} was replaced while this ran, which may be why: run it again", atomfix.display());
    match &mut measured {
        _ if written() == before => {}
        Ok(problems) if problems.is_empty() => {}
        Ok(problems) => problems.push(replaced),
        Err(_) => return measured.context(replaced),
    }
    measured
}

fn measure(line: &CommandLine, atomfix: PathBuf) -> Result<Vec<String>> {
    let work = Path::new(env!("CARGO_MANIFEST_DIR")).join("work");
    if !matches!(line.command, Command::PreparePbzip2) {
        println!("machine: {}\n", machine::describe());
    }
    match &line.command {
        Command::Kernels { short, names } => kernels(&atomfix, *short, names),
        Command::Real { short, rounds, names } => {
            let length = if *short { Length::Short } else { Length::Full };
            real_programs(&Environment { atomfix, work, length, rounds: *rounds }, names)
        }
        Command::PreparePbzip2 => {
            let environment = Environment { atomfix, work, length: Length::Short, rounds: 1 };
            println!("{}", real::pbzip2::prepare(&environment)?.display());
            Ok(Vec::new())
        }
        Command::Locks => {
            let costs = locks::measure(&work)?;
            print!("{}", costs.table());
            Ok(costs.problems())
        }
        Command::Campaign { short, seed, runs, names } => {
            let length = if *short { Length::Short } else { Length::Full };
            let runs = if *short { SHORT_CAMPAIGN } else { *runs };
            fault_campaign(&Environment { atomfix, work, length, rounds: 1 }, *seed, runs, names)
        }
        Command::Robust { runs, parallel, limit, again, only } => {
            let earlier = if *again { Earlier::Forgotten } else { Earlier::Counts };
            let pass = Pass { runs: *runs, parallel: *parallel, limit: Duration::from_secs(*limit), only: only.clone(), earlier };
            let outcomes = robust::run(&work, &pass, &|line| eprintln!("{line}"))?;
            let (programs, runs) = outcomes.size();
            print!("{}\n{programs} programs, {runs} runs\n", outcomes.table());
            Ok(outcomes.problems())
        }
        Command::Scale { functions } => scaling(functions),
        Command::Sqlite => {
            let measured = real::sqlite::run(&Environment { atomfix, work, length: Length::Full, rounds: 1 })?;
            print!("{measured}");
            Ok(measured.problems())
        }
        Command::DebianBugs { seconds, names } => {
            let environment = Environment { atomfix, work, length: Length::Short, rounds: 1 };
            if let Some(unknown) = names.iter().find(|name| real::bugs::BUGS.iter().all(|bug| bug.client != **name)) {
                bail!("there is no bug '{unknown}'");
            }
            let mut rows = Vec::new();
            for bug in real::bugs::BUGS.iter().filter(|bug| names.is_empty() || names.iter().any(|name| name == bug.client)) {
                rows.push(real::bugs::find(&environment, bug, Duration::from_secs(*seconds)));
                println!("{}", rows.last().map(real::bugs::words_of).unwrap_or_default());
            }
            print!("{}", real::bugs::table(&rows));
            Ok(real::bugs::problems(&rows))
        }
        Command::RealSchedules { schedules } => {
            let environment = Environment { atomfix, work, length: Length::Short, rounds: 1 };
            let rows = real::schedules::explore(&environment, *schedules);
            print!("{}", real::schedules::table(&rows));
            Ok(real::schedules::problems(&rows))
        }
        Command::RandomPrograms { count, compiled, seed } => {
            random_programs(&atomfix, agreement::compare::Settings { seed: *seed, interpreted: *count, compiled: *compiled })
        }
        Command::Suites(command) => suites::run(&atomfix, command),
        Command::CheckSpeed { rounds } => check_speed(&atomfix, *rounds),
    }
}

fn atomfix(named: Option<&Path>) -> Result<PathBuf> {
    let path = match named {
        Some(path) => path.to_owned(),
        None => std::env::current_exe()?.with_file_name("atomfix"),
    };
    std::fs::canonicalize(&path).with_context(|| format!("{}: build it with `cargo build --release -p atomfix`", path.display()))
}

fn chosen(names: &[String]) -> Result<Vec<Kernel>> {
    let all = expect::kernels()?;
    if let Some(unknown) = names.iter().find(|name| all.iter().all(|kernel| kernel.name != **name)) {
        bail!("there is no kernel '{unknown}'");
    }
    Ok(all.into_iter().filter(|kernel| names.is_empty() || names.contains(&kernel.name)).collect())
}

/// A short form shares the machine with whatever else runs, so it judges no times: this only ends a check that hangs.
const PATIENCE: Duration = Duration::from_secs(300);

fn kernels(atomfix: &Path, short: bool, names: &[String]) -> Result<Vec<String>> {
    let settings =
        if short { kernel::Settings { plain_runs: 10, limit: PATIENCE, ..Default::default() } } else { kernel::Settings::default() };
    let mut problems = Vec::new();
    let mut rows = Vec::new();
    for kernel in chosen(names)? {
        let folder = tempfile::tempdir()?;
        let examined = kernel::examine(atomfix, &kernel, folder.path(), &settings);
        match &examined {
            Ok(examined) => problems.extend(kernel::problems(&kernel, examined, &settings).iter().map(|p| format!("{}: {p}", kernel.name))),
            Err(error) => problems.push(format!("{}: {error:#}", kernel.name)),
        }
        rows.push((kernel, examined));
    }
    print!("{}", kernel::table(&rows));
    Ok(problems)
}

fn real_programs(environment: &Environment, names: &[String]) -> Result<Vec<String>> {
    type Benchmark = fn(&Environment) -> Result<Outcome>;
    let all: [(&str, Benchmark); 4] = [
        ("pbzip2", real::pbzip2::run),
        ("zstd", real::zstd::run),
        ("memcached", real::memcached::run),
        ("memcached-production", real::memcached::run_production),
    ];
    // The short form is a test of the chain, which takes the other build of the same program through it.
    let by_itself = |name: &str| environment.length == Length::Full || name != "memcached-production";
    if let Some(unknown) = names.iter().find(|name| all.iter().all(|(known, _)| known != name)) {
        bail!("there is no program '{unknown}'");
    }
    let mut problems = Vec::new();
    for (name, benchmark) in all.iter().filter(|(name, _)| names.iter().any(|wanted| wanted == name) || names.is_empty() && by_itself(name))
    {
        match benchmark(environment) {
            Ok(outcome) => {
                println!("{outcome}");
                problems.extend(outcome.problems());
            }
            Err(error) => problems.push(format!("{name}: {error:#}")),
        }
    }
    Ok(problems)
}

fn random_programs(atomfix: &Path, settings: agreement::compare::Settings) -> Result<Vec<String>> {
    println!("seeds from {}", settings.seed);
    let folder = tempfile::tempdir()?;
    let mut told = 0;
    let comparison = agreement::compare::compare(atomfix, folder.path(), settings, &mut |so_far| {
        for problem in &so_far.problems[told..] {
            eprintln!("{problem}");
        }
        told = so_far.problems.len();
        if so_far.interpreted.is_multiple_of(500) {
            eprintln!("{} programs, {} problems", so_far.interpreted, so_far.problems.len());
        }
    })?;
    println!("{comparison}");
    Ok(comparison.problems)
}

/// Runs of the short campaign.
const SHORT_CAMPAIGN: usize = 100;

fn fault_campaign(environment: &Environment, seed: u64, runs: usize, names: &[String]) -> Result<Vec<String>> {
    println!("seed {seed}\n");
    let outcome = campaign::whole::campaign(environment, &chosen(&[])?, seed, runs, names, &|line| eprintln!("{line}"))?;
    print!("{}", campaign::table(&outcome.tallies));
    println!("\n{}", campaign::Causes::of(&outcome.tallies));
    if let Some(kept) = outcome.kept {
        println!("programs and plans of what went wrong are in {}", kept.display());
    }
    Ok(outcome.tallies.into_iter().flat_map(|tally| tally.problems).collect())
}

/// Time divided by n log n may grow by this factor from the smallest program to the largest: caches are small.
const MOST_GROWTH: f64 = 2.0;

fn scaling(sizes: &[usize]) -> Result<Vec<String>> {
    let mut table = Table::new(["functions", "pairs seen", "locks", "processor time", "ns / (n log n)"]);
    let mut problems = Vec::new();
    let mut first = None;
    for &functions in sizes {
        let measured = scale::measure(functions)?;
        let per_size = measured.per_size();
        if per_size > *first.get_or_insert(per_size) * MOST_GROWTH {
            problems.push(format!("inference grows faster than n log n: {per_size:.0} ns at {functions} functions"));
        }
        if !measured.checked {
            problems.push(format!("{functions} functions: the checker rejects the plan"));
        }
        let time = format!("{:.2} s", measured.seconds);
        table.row([functions.to_string(), measured.pairs.to_string(), measured.locks.to_string(), time, format!("{per_size:.0}")]);
    }
    print!("{table}");
    Ok(problems)
}

fn check_speed(atomfix: &Path, rounds: usize) -> Result<Vec<String>> {
    let mut table = Table::new(["kernel", "schedules", "a second"]);
    let mut problems = Vec::new();
    for kernel in chosen(&[])? {
        let folder = tempfile::tempdir()?;
        match speed::measure(atomfix, &kernel, folder.path(), rounds) {
            Ok(speed) => table.row([kernel.name, speed.schedules.to_string(), format!("{:.0}", speed.per_second)]),
            Err(error) => problems.push(format!("{}: {error:#}", kernel.name)),
        }
    }
    println!("{table}");
    problems.extend(compare_searches(atomfix, rounds)?);
    Ok(problems)
}

fn compare_searches(atomfix: &Path, rounds: usize) -> Result<Vec<String>> {
    const LIMIT: Duration = Duration::from_secs(10);
    let [dpor, sleep, unpruned] = searches::SEARCHES;
    let mut table = Table::new(["program", "threads", dpor, sleep, unpruned, "others"]);
    let mut problems = Vec::new();
    for program in searches::PROGRAMS {
        let folder = tempfile::tempdir()?;
        let explored = searches::measure(atomfix, &program, folder.path(), rounds, LIMIT)?;
        problems.extend(searches::problem(&program, &explored[0]));
        let [dpor, sleep, unpruned] = explored.each_ref().map(searches::cell);
        let others = program.others.map_or_else(|| "-".to_owned(), |seconds| format!("{seconds} s"));
        table.row([program.name.to_owned(), program.threads.to_string(), dpor, sleep, unpruned, others]);
    }
    print!("{table}");
    Ok(problems)
}
