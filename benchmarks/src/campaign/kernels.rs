//! Kernels under the campaign. What a passing run may print is what `check` lists, exploring the untouched build completely. The FIXED variant is right under every schedule, so it must always be; the original may also fail as its
//! `expect.toml` says, where that is an assertion (a failure that hangs would not be told from a hang of ours).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use model::report::FailureKind;

use super::journal::Journal;
use super::{Extent, LIMIT, Subject, Tally, examine};
use crate::child::Child;
use crate::expect::Kernel;
use crate::kernel::check;

/// Ends an exploration that hangs.
const EXPLORE_LIMIT: Duration = Duration::from_secs(100);

const COMPILE_LIMIT: Duration = Duration::from_secs(60);

/// Both variants of a kernel.
pub fn kernel(
    atomfix: &Path,
    kernel: &Kernel,
    archive: &Path,
    folder: &Path,
    extent: &Extent,
    journal: &Journal<'_>,
) -> Result<Vec<Tally>> {
    let folder = folder.join(&kernel.name);
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let failure = kernel.expectation.failure.as_ref().map(|failure| failure.kind);
    let mut tallies = vec![variant(atomfix, kernel, Variant::Fixed, archive, &folder, extent, journal)?];
    if matches!(failure, None | Some(FailureKind::Assert)) {
        tallies.push(variant(atomfix, kernel, Variant::Original, archive, &folder, extent, journal)?);
    }
    Ok(tallies)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Variant {
    Original,
    Fixed,
}

fn variant(
    atomfix: &Path,
    kernel: &Kernel,
    variant: Variant,
    archive: &Path,
    folder: &Path,
    extent: &Extent,
    journal: &Journal<'_>,
) -> Result<Tally> {
    let (name, flags) = match variant {
        Variant::Original => (kernel.name.clone(), &[][..]),
        Variant::Fixed => (format!("{}.fixed", kernel.name), &["-DFIXED"][..]),
    };
    if let Some(tally) = journal.complete(&name, extent) {
        return Ok(tally);
    }
    let original = compile(atomfix, &kernel.source, &folder.join(&name), flags)?;
    let arguments = &kernel.expectation.arguments.check;
    let run = |program: &Path, options: &str| Child::new(program, LIMIT).args(arguments).env("ATOMFIX_OPTIONS", options).run();
    let results = outcomes(atomfix, folder, &name, arguments)?;
    let may_fail = variant == Variant::Original && kernel.expectation.failure.is_some();
    let judge = |program: &Path, options: &str| -> Result<Option<String>> {
        let end = run(program, options)?;
        let passes_as_known = end.status.success() && results.contains(&end.stdout);
        let fails_as_known = may_fail && end.stderr.contains("Assertion") && !end.timed_out();
        let wrong = || if end.timed_out() { "hangs".to_owned() } else { format!("{}: {}{}", end.status, end.stdout, end.stderr.trim()) };
        Ok((!passes_as_known && !fails_as_known).then(wrong))
    };
    examine(&Subject { name, original, judge: &judge }, archive, folder, extent, journal)
}

/// What passing executions of an untouched build print.
fn outcomes(atomfix: &Path, folder: &Path, program: &str, arguments: &[String]) -> Result<BTreeSet<String>> {
    let (report, _) = check(atomfix, folder, program, EXPLORE_LIMIT, &["--outcomes"], arguments)?;
    let complete = report.results.iter().all(|result| result.complete);
    ensure!(complete, "{program} was not explored completely, so its results are not known");
    Ok(report.results.into_iter().flat_map(|result| result.outcomes).map(|outcome| outcome.text).collect())
}

fn compile(atomfix: &Path, source: &Path, output: &Path, flags: &[&str]) -> Result<PathBuf> {
    let driver = if source.extension().is_some_and(|extension| extension == "c") { "cc" } else { "c++" };
    let child = Child::new(atomfix, COMPILE_LIMIT).arg(driver).args(["-g", "-O2", "-pthread"]).args(flags);
    child.arg(source).arg("-o").arg(output).run()?.succeeded()?;
    Ok(output.to_owned())
}
