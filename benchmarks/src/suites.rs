//! The commands that run public suites of programs from a checkout that the user points at.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail};
use benchmarks::counts::measure;
use benchmarks::counts::suite::Suite;
use benchmarks::sct::catalog::{self, Program};
use benchmarks::sct::results::Results;
use benchmarks::sct::{harden, report, search, throughput};
use benchmarks::table::Table;
use clap::{Args, Subcommand};

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Find the bugs of SCTBench's programs, strategy by strategy
    Sct {
        #[command(flatten)]
        chosen: Chosen,
        /// Try strategies that have a seed this often
        #[arg(long, default_value_t = 20)]
        trials: u32,
        /// Give up a trial after this many seconds
        #[arg(long, default_value_t = 10)]
        seconds: u64,
        /// Strategies to compare; the first is judged
        #[arg(long, value_delimiter = ',', default_value = "portfolio,dfs,dpor,pairs,pos,pct:3,random,weighted,surw")]
        strategies: Vec<String>,
        /// Give up a strategy on a program after so many trials in a row that found nothing
        #[arg(long, default_value_t = 5)]
        misses: u32,
        /// Keep trials in this file, and make only those that are not in it
        #[arg(long, value_name = "FILE")]
        results: Option<PathBuf>,
    },
    /// Harden SCTBench's programs and explore both builds
    SctHarden {
        #[command(flatten)]
        chosen: Chosen,
        /// Explore each build for this many seconds
        #[arg(long, default_value_t = 30)]
        seconds: u64,
    },
    /// Measure how many schedules of SCTBench's small programs a second are explored
    SctSpeed {
        #[command(flatten)]
        chosen: Chosen,
        /// Run this many schedules, and a twentieth of it where each has a process of its own
        #[arg(long, default_value_t = 100_000)]
        schedules: u64,
    },
    /// Hold the executions that `dpor` explores against the counts of GenMC's own tests
    Genmc(Counts),
    /// Hold the executions that `dpor` explores against the counts of Nidhugg's own tests
    Nidhugg(Counts),
}

/// Which programs of a checkout.
#[derive(Args)]
pub(crate) struct Chosen {
    /// The checkout of the suite
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
    /// Programs to take; all if none is named
    names: Vec<String>,
}

#[derive(Args)]
pub(crate) struct Counts {
    /// The checkout of the suite
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
    /// Give up a program after this many seconds
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    /// Count by this strategy
    #[arg(long, default_value = "dpor")]
    strategy: String,
    /// Take only part I of N parts of the table
    #[arg(long, value_name = "I/N", value_parser = part, default_value = "1/1")]
    part: Part,
    /// Take only programs whose name contains this
    #[arg(default_value = "")]
    only: String,
}

/// Which of how many parts, from 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    which: usize,
    parts: usize,
}

fn part(text: &str) -> Result<Part, String> {
    let numbers = text.split_once('/').and_then(|(which, parts)| Some((which.parse().ok()?, parts.parse().ok()?)));
    match numbers {
        Some((which, parts)) if which >= 1 && which <= parts => Ok(Part { which, parts }),
        _ => Err("give a part as I/N, I from 1 to N".to_owned()),
    }
}

/// What was not as it should be.
pub(crate) fn run(atomfix: &Path, command: &Command) -> Result<Vec<String>> {
    match command {
        Command::Sct { chosen, trials, seconds, strategies, misses, results } => {
            let limit = Duration::from_secs(*seconds);
            let settings = search::Settings { trials: *trials, limit, misses: *misses, strategies: strategies.clone() };
            let results = results.as_ref().map_or_else(|| Ok(Results::default()), |file| Results::open(file, atomfix))?;
            find(atomfix, chosen, &settings, results)
        }
        Command::SctHarden { chosen, seconds } => {
            let mut rows = Vec::new();
            for program in programs(chosen)?.into_iter().filter(|program| program.hardening.is_some()) {
                eprintln!("{}", program.name);
                let hardened = harden::harden(atomfix, &chosen.dir, &program, Duration::from_secs(*seconds));
                rows.push((program, hardened));
            }
            print!("{}", harden::table(&rows));
            Ok(harden::problems(&rows))
        }
        Command::SctSpeed { chosen, schedules } => speed(atomfix, chosen, *schedules),
        Command::Genmc(counts) => count(atomfix, Suite::Genmc, counts),
        Command::Nidhugg(counts) => count(atomfix, Suite::Nidhugg, counts),
    }
}

/// The chosen programs; the checkout must be one.
fn programs(chosen: &Chosen) -> Result<Vec<Program>> {
    let benchmarks = chosen.dir.join("benchmarks");
    if !benchmarks.is_dir() {
        bail!("{}: there is no such folder; point --dir at a checkout of mc-imperial/sctbench", benchmarks.display());
    }
    catalog::programs(&chosen.names)
}

/// Searches program by program, and prints a row as soon as it is there, as all take long.
fn find(atomfix: &Path, chosen: &Chosen, settings: &search::Settings, mut results: Results) -> Result<Vec<String>> {
    let mut rows = Vec::new();
    println!("{}", report::head(settings));
    for program in programs(chosen)? {
        let row = search::search(atomfix, &chosen.dir, program, settings, &mut results);
        if let Some(line) = report::line(&row, settings) {
            println!("{line}");
        }
        rows.push(row);
    }
    println!("\n{}\n{}", report::correct(&rows), report::summary(&rows, settings));
    if results.builds() > 1 {
        println!("the trials were made by {} builds of atomfix", results.builds());
    }
    Ok(report::problems(&rows))
}

fn speed(atomfix: &Path, chosen: &Chosen, schedules: u64) -> Result<Vec<String>> {
    use throughput::{DRIVERS, FOLDER};
    let mut table = Table::new(["program", DRIVERS[0], "a processor second", DRIVERS[1], "a processor second"]);
    let mut problems = Vec::new();
    let mut columns: [Vec<f64>; 4] = Default::default();
    for program in programs(chosen)?.iter().filter(|program| program.sources.iter().any(|source| source.starts_with(FOLDER))) {
        match throughput::measure(atomfix, &chosen.dir, program, schedules) {
            Ok([restore, fork]) => {
                let rates = [restore.per_second, restore.per_processor_second, fork.per_second, fork.per_processor_second];
                let [a, b, c, d] = rates.map(|rate| format!("{rate:.0}"));
                // Says how far it is, as it takes long.
                eprintln!("{}: {a} {b} {c} {d}", program.name);
                table.row([program.name.clone(), a, b, c, d]);
                for (column, rate) in columns.iter_mut().zip(rates) {
                    column.push(rate);
                }
            }
            Err(error) => problems.push(format!("{}: {error:#}", program.name)),
        }
    }
    let [a, b, c, d] = columns.map(|mut rates| {
        rates.sort_by(f64::total_cmp);
        rates.get(rates.len() / 2).map_or_else(|| "-".to_owned(), |median| format!("{median:.0}"))
    });
    table.row(["median".to_owned(), a, b, c, d]);
    print!("{table}");
    Ok(problems)
}

fn count(atomfix: &Path, suite: Suite, counts: &Counts) -> Result<Vec<String>> {
    let folder = counts.dir.join(suite.folder());
    if !folder.is_dir() {
        bail!("{}: there is no such folder; point --dir at a checkout of the suite", folder.display());
    }
    let limit = Duration::from_secs(counts.seconds);
    let mut rows = Vec::new();
    println!("{}", measure::HEAD);
    let part = counts.part;
    let wanted = suite.counts()?.into_iter().filter(|count| count.name().contains(&counts.only));
    for count in wanted.skip(part.which - 1).step_by(part.parts) {
        let explored = measure::explore(atomfix, &counts.dir, suite, &count, &counts.strategy, limit);
        rows.push((count, explored));
        // A row as soon as it is there, as all take long.
        println!("{}", rows.last().map(measure::row).unwrap_or_default());
    }
    println!("\n{}", measure::summary(&rows));
    Ok(measure::problems(&rows))
}
