//! `atomfix harden`: the program with the plan's locks in it, linked as the original was.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use capture::{Capture, Hardened};
use model::certificate::Certificate;
use model::plan::Plan;

use super::infer;
use crate::captured::{captured, refuse_to_overwrite};
use crate::certificate;
use crate::exit::{Exit, Failure};
use crate::extracted::extracted;
use crate::project::{self, Project};
use crate::runtime::Runtime;
use crate::variant::{self, Variant};
use crate::wording::{counted, pasted, readable};

/// The command line of `harden`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The program, built with `atomfix cc`
    program: PathBuf,
    /// Write the hardened program to this file
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Use this plan instead of inferring one
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    #[command(flatten)]
    choices: infer::Choices,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let project = Project::open(&arguments.program)?;
    refuse_to_overwrite_the_original(arguments)?;
    refuse_to_overwrite(&arguments.output)?;
    let capture = captured(&arguments.program)?;
    let (plan, certificate) = plan(&project, &capture, arguments)?;
    let hash = certificate::hash(&certificate);
    let hardened = Hardened {
        original: fs::canonicalize(&arguments.program)?,
        original_hash: capture.build.clone(),
        plan: project::plan_text(&plan),
        certificate: Some(hash.clone()),
    };
    let variant = Variant { plan: Some(&plan), hooks: None, runtime: Runtime::Lock, hardened: Some(hardened), link_args: Vec::new() };
    let built = variant::build(&capture, variant, &arguments.output)?;
    let enabled = plan.locks.iter().filter(|lock| lock.enabled).count();
    let (locks, operations) = (counted(enabled, "lock"), counted(built.operations, "operation"));
    println!("{}: {locks}, {operations} injected", arguments.output.display());
    println!("certificate {hash} is in it; what it says: {}", certificate::store(&project, &certificate)?);
    println!("Next: atomfix check {} -- ARGS", pasted(&arguments.output));
    Ok(Exit::Clean.into())
}

fn refuse_to_overwrite_the_original(arguments: &Arguments) -> Result<(), Failure> {
    let same = matches!((fs::canonicalize(&arguments.output), fs::canonicalize(&arguments.program)), (Ok(a), Ok(b)) if a == b);
    if same {
        let what = format!("{}: the output would overwrite the program itself", arguments.output.display());
        return Err(Failure::usage(what, "choose another name with -o"));
    }
    Ok(())
}

/// The plan to apply, and what the checker says of it: the one that is named, or a new one, which is stored and summarized.
fn plan(project: &Project, capture: &Capture, arguments: &Arguments) -> anyhow::Result<(Plan, Certificate)> {
    if let Some(path) = &arguments.plan {
        let (plan, text) = project::read_plan(path, &capture.build)?;
        let evidence = project.profile()?.evidence();
        let mut program = extracted(project, capture)?;
        let _ = program.mark_blocking(&plan.blocking);
        let certificate = inference::check_plan(&program, &evidence, &plan);
        let wrong = certificate::wrong(&text, &path.display().to_string(), &certificate);
        return if certificate.checked { Ok((plan, certificate)) } else { Err(rejected(path, &wrong).into()) };
    }
    let program = arguments.choices.extract(project, capture)?;
    let mut inferred = infer::infer(project, capture, &program, &arguments.choices.config())?;
    arguments.choices.complete(&mut inferred.plan);
    let path = project.store_plan(&inferred.plan)?;
    print!("{}", infer::summary(&inferred));
    if inferred.certificate.checked {
        println!("{}", infer::CHECKED);
        Ok((inferred.plan, inferred.certificate))
    } else {
        let wrong = certificate::wrong(&project::plan_text(&inferred.plan), &path.display().to_string(), &inferred.certificate);
        Err(rejected(&path, &wrong).into())
    }
}

/// No plan is applied that the checker did not accept.
fn rejected(path: &Path, wrong: &[String]) -> Failure {
    let what = format!("{}: the checker rejects this plan:\n  {}", path.display(), readable(&wrong.join("\n  ")));
    Failure::usage(
        what,
        "undo the edits that it names, switch the lock off with 'enabled = false', or infer a new plan with 'atomfix infer'",
    )
}
