//! `atomfix infer`: from the profile to the plan, for people to read before anything is changed.

use std::path::PathBuf;
use std::process::ExitCode;

use inference::{Budget, Config, Inferred};
use model::pair::Atomicity;
use model::plan::{Lock, Plan};
use model::program::Program;
use passes::capture::Capture;
use rayon::prelude::*;

use crate::exit::{Exit, Failure};
use crate::project::Project;

/// The command line of `infer`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The program, built with `atomfix cc`
    program: PathBuf,
    #[command(flatten)]
    choices: Choices,
    /// Print how a site came to its variable, and stop
    #[arg(long, value_name = "SITE")]
    explain: Option<String>,
    /// Print the table of pairs, locks and operations
    #[arg(long)]
    stats: bool,
}

/// What a user may choose about the plan, also when `harden` makes one.
#[derive(clap::Args)]
pub(crate) struct Choices {
    /// Leave out pairs that were seen less often than this
    #[arg(long, value_name = "N", default_value_t = 1)]
    support: u64,
    /// Leave out a lock that would need more operations than this share of all accesses, in per cent
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0, value_parser = percent)]
    budget: f64,
}

fn percent(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|share| (0.0..=1000.0).contains(share)).ok_or_else(|| "not a number of per cent from 0 to 1000".to_owned())
}

impl Choices {
    /// The same, for inference.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 10000, as the parser makes sure")]
    pub(crate) fn config(&self) -> Config {
        let budget = Budget { per_mille: (self.budget * 10.0).round() as u64, ..Budget::default() };
        Config { support: self.support, budget, ..Config::default() }
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let project = Project::open(&arguments.program)?;
    let capture = passes::capture::open(&arguments.program).map_err(Failure::from)?;
    let program = extract(&capture)?;
    let inferred = infer(&project, &capture, &program, &arguments.choices.config())?;
    if let Some(site) = &arguments.explain {
        let site =
            site.parse().map_err(|error| Failure::usage(format!("--explain {site}: {error}"), "plan.toml and --stats name sites"))?;
        print!("{}", inferred.explain(site));
        return Ok(Exit::Clean.into());
    }
    let path = project.store_plan(&inferred.plan)?;
    print!("{}", summary(&inferred));
    if arguments.stats {
        print!("\n{}", inferred.statistics);
    }
    println!("\nThe plan is in {}. Next: atomfix harden {}", path.display(), project.name());
    Ok(Exit::Clean.into())
}

/// The program's functions and accesses, from the bitcode of all its units.
pub(crate) fn extract(capture: &Capture) -> Result<Program, Failure> {
    let modules = capture
        .units
        .par_iter()
        .map(|unit| passes::extract::extract(&unit.bitcode))
        .collect::<Result<Vec<_>, _>>()
        .map_err(Failure::from)?;
    let mut program = Program::link(modules);
    program.uncovered.extend(capture.uncovered.iter().cloned());
    Ok(program)
}

/// Infers from the project's profile.
pub(crate) fn infer(project: &Project, capture: &Capture, program: &Program, config: &Config) -> Result<Inferred, Failure> {
    let profile = project.profile()?;
    if let Some(warning) = project.freshness(program, &profile)?.warning() {
        eprintln!("atomfix: {warning}");
    }
    Ok(inference::infer(program, &profile.evidence(), &capture.build, config))
}

/// What was inferred, for people: locks with their source lines, what was refused, what is not covered.
pub(crate) fn summary(inferred: &Inferred) -> String {
    let Plan { locks, refused, .. } = &inferred.plan;
    let mut text = String::new();
    for lock in locks {
        text.push_str(&lock_text(lock));
    }
    let pairs: usize = locks.iter().map(|lock| lock.pairs.len()).sum();
    text.push_str(&format!("{} locks keep {pairs} pairs; {} pairs were refused", locks.len(), refused.len()));
    text.push_str(if refused.is_empty() { "\n" } else { " (plan.toml says why)\n" });
    for finding in &inferred.findings {
        text.push_str(&format!("note: {finding}\n"));
    }
    text
}

fn lock_text(lock: &Lock) -> String {
    let mut text = format!("{} protects {}\n", lock.id, lock.variable);
    for pair in &lock.pairs {
        let kept = match pair.atomicity {
            Atomicity::Exclusive => "no remote access",
            Atomicity::Read | Atomicity::None => "no remote write",
        };
        text.push_str(&format!(
            "    {kept} between {} and {}: seen {} times by {} threads in {} runs\n",
            pair.from, pair.to, pair.seen, pair.threads, pair.runs
        ));
    }
    text
}
