//! Kernels under the campaign. The FIXED variant is right under every schedule, so it must always be; the original may also fail as its
//! `expect.toml` says, where that is an assertion (a failure that hangs would not be told from a hang of ours).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use model::report::FailureKind;

use super::{Extent, LIMIT, Subject, Tally, examine};
use crate::child::{Child, Finished};
use crate::expect::Kernel;

/// How an ended run looks: status and output.
type Ending = (String, String);

/// Runs of an untouched build from which its results are taken.
const REFERENCE_RUNS: usize = 10;

const COMPILE_LIMIT: Duration = Duration::from_secs(60);

/// Both variants of a kernel.
pub fn kernel(atomfix: &Path, kernel: &Kernel, archive: &Path, folder: &Path, extent: &Extent) -> Result<Vec<Tally>> {
    let folder = folder.join(&kernel.name);
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let failure = kernel.expectation.failure.as_ref().map(|failure| failure.kind);
    let mut tallies = vec![variant(atomfix, kernel, Variant::Fixed, archive, &folder, extent)?];
    if matches!(failure, None | Some(FailureKind::Assert)) {
        tallies.push(variant(atomfix, kernel, Variant::Original, archive, &folder, extent)?);
    }
    Ok(tallies)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Variant {
    Original,
    Fixed,
}

fn variant(atomfix: &Path, kernel: &Kernel, variant: Variant, archive: &Path, folder: &Path, extent: &Extent) -> Result<Tally> {
    let (name, flags) = match variant {
        Variant::Original => (kernel.name.clone(), &[][..]),
        Variant::Fixed => (format!("{}.fixed", kernel.name), &["-DFIXED"][..]),
    };
    let original = compile(atomfix, &kernel.source, &folder.join(&name), flags)?;
    let arguments = &kernel.expectation.arguments.check;
    let run = |program: &Path, options: &str| Child::new(program, LIMIT).args(arguments).env("ATOMFIX_OPTIONS", options).run();
    let mut results = BTreeSet::new();
    for _ in 0..REFERENCE_RUNS {
        results.insert(result(&run(&original, "")?));
    }
    let may_fail = variant == Variant::Original && kernel.expectation.failure.is_some();
    let judge = |program: &Path, options: &str| -> Result<Option<String>> {
        let end = run(program, options)?;
        let found = result(&end);
        let fails_as_known = may_fail && end.stderr.contains("Assertion") && !end.timed_out();
        let right = results.contains(&found) || fails_as_known;
        Ok((!right).then(|| if end.timed_out() { "hangs".to_owned() } else { format!("{}: {}{}", found.0, found.1, end.stderr.trim()) }))
    };
    examine(&Subject { name, original, judge: &judge }, archive, folder, extent)
}

fn result(end: &Finished) -> Ending {
    (end.status.to_string(), end.stdout.clone())
}

fn compile(atomfix: &Path, source: &Path, output: &Path, flags: &[&str]) -> Result<PathBuf> {
    let driver = if source.extension().is_some_and(|extension| extension == "c") { "cc" } else { "c++" };
    let child = Child::new(atomfix, COMPILE_LIMIT).arg(driver).args(["-g", "-O2", "-pthread"]).args(flags);
    child.arg(source).arg("-o").arg(output).run()?.succeeded()?;
    Ok(output.to_owned())
}
