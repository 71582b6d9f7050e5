//! What the passes say of a program's units, and make of them: asked of `atomfix-passes`, the one process that loads LLVM.
//!
//! That takes longer than most of what `atomfix` does without it; and what LLVM dies of ends this command with a message.

use std::io::{Seek, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use capture::Capture;
use model::pass::{Answer, Hooks, Order, PassError, Transformed, Work};
use model::plan::Plan;
use model::program::Module;
use serde_bytes::Bytes;

use crate::exit::{Exit, Failure};
use crate::project::plan_text;

/// The name of the program that is asked.
pub(crate) const PASSES: &str = "atomfix-passes";

/// Where it is: beside this one.
pub(crate) fn passes() -> PathBuf {
    std::env::current_exe().map_or_else(|_| PASSES.into(), |own| own.with_file_name(PASSES))
}

/// What is in the units of a program, one after the other.
pub(crate) fn extract(capture: &Capture) -> Result<Vec<Result<Module, PassError>>, Failure> {
    match ask(capture, Work::Extract)? {
        Answer::Extracted(modules) if modules.len() == capture.units.len() => Ok(modules),
        _ => Err(of_another_build()),
    }
}

/// The units of a program with a plan's locks in them, or hooks, or both; and what defines the locks.
pub(crate) fn transform(
    capture: &Capture,
    plan: Option<&Plan>,
    hooks: Option<Hooks>,
) -> Result<(Vec<Transformed>, Option<Vec<u8>>), Failure> {
    let answer = ask(capture, Work::Transform { plan: plan.map(plan_text), hooks })?;
    let Answer::Transformed(units, table) = answer else { return Err(of_another_build()) };
    if units.len() != capture.units.len() || table.is_some() != plan.is_some() {
        return Err(of_another_build());
    }
    let units = capture.units.iter().zip(units).map(|(unit, done)| done.map_err(|error| in_unit(error, &unit.origin)));
    Ok((units.collect::<Result<_, _>>()?, table.transpose()?.map(serde_bytes::ByteBuf::into_vec)))
}

/// The error, with the unit that it is about.
fn in_unit(error: PassError, origin: &str) -> Failure {
    let failure = Failure::from(error);
    Failure { what: format!("{origin}: {}", failure.what), ..failure }
}

fn ask(capture: &Capture, work: Work) -> Result<Answer, Failure> {
    let order = Order { work, units: capture.units.iter().map(|unit| Bytes::new(&unit.bitcode)).collect() };
    let order = postcard::to_stdvec(&order).expect("an order has a binary form");
    // In a file: a pipe to a process that has died would end this one without a word.
    let file = tempfile::tempfile().and_then(|mut file| file.write_all(&order).and_then(|()| file.rewind()).map(|()| file));
    let file = file.map_err(|error| {
        let folder = std::env::temp_dir();
        Failure::usage(format!("{}: {error}", folder.display()), "free some space, or set TMPDIR to a writable folder")
    })?;
    drop(order);
    let path = passes();
    let output = Command::new(&path).stdin(file).stdout(Stdio::piped()).stderr(Stdio::inherit()).output().map_err(|error| {
        let help = "`atomfix` needs it in its own folder: `make install` puts both into cargo's";
        Failure::toolchain(format!("{}: cannot start: {error}", path.display()), help)
    })?;
    if !output.status.success() {
        let what = format!("{}: ended with {}", path.display(), output.status);
        return Err(Failure { exit: Exit::Internal, what, next: String::new() });
    }
    postcard::from_bytes(&output.stdout).map_err(|_| of_another_build())
}

fn of_another_build() -> Failure {
    Failure::toolchain(format!("{}: of another build than this `atomfix`", passes().display()), "`make install` installs both anew")
}
