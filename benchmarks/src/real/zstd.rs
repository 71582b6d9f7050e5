//! zstd: C with an assembly file; its hot loops are instrumented, so it is the honest measure of what profiling costs.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::outcome::{Measured, Outcome};
use super::session::{LIMIT, atomfix, cost, difference, harden};
use super::{Environment, Length, corpus, source};
use crate::child::Child;
use crate::measure::alternate;

/// Takes zstd through the chain.
pub fn run(environment: &Environment) -> Result<Outcome> {
    let mut outcome = Outcome { program: "zstd 1.5.4".to_owned(), ..Outcome::default() };
    let tree = source::fetch(&environment.work, "libzstd", "1.5.4")?;
    let folder = environment.work.join("zstd");
    let original = build(&tree, &folder, &format!("{} cc", environment.atomfix.display()), "")?;
    let small = corpus::file(&environment.work, 2)?;
    let workers = ["-T2", "-q", "-f", "-k"];
    let teach = |arguments: &[&str]| -> Result<()> {
        let child = atomfix(environment, &folder.join("programs"), "profile").args(["./zstd", "--runs", "3", "--seed", "1", "--"]);
        child.args(workers).args(arguments).run()?.succeeded()?;
        Ok(())
    };
    let text = small.display().to_string();
    teach(&["-B512K", &text, "-o", "small.zst"])?;
    teach(&["-d", "small.zst", "-o", "small.out"])?;
    let hardened = harden(environment, &original, &mut outcome)?;

    let data = corpus::file(&environment.work, if environment.length == Length::Full { 200 } else { 8 })?;
    let (packed, unpacked) = (folder.join("data.zst"), folder.join("data.out"));
    let compress = |program: &Path| Child::new(program, LIMIT).args(workers).arg(&data).arg("-o").arg(&packed);
    let expand = |program: &Path| Child::new(program, LIMIT).args(workers).arg("-d").arg(&packed).arg("-o").arg(&unpacked);
    cost(compress(&hardened))?;
    cost(expand(&hardened))?;
    outcome.verify(format!("compress and expand {}", named(&data)), difference(&data, &unpacked)?);
    cost(expand(&original))?;
    outcome.verify("the original expands what the hardened build compressed", difference(&data, &unpacked)?);

    let rounds = environment.rounds;
    let medians = alternate(rounds, &mut [&mut || cost(compress(&original)), &mut || cost(compress(&hardened))])?;
    outcome.measured.push(Measured { work: "compress".to_owned(), rounds, original: medians[0], others: vec![("hardened", medians[1])] });
    let medians = alternate(rounds, &mut [&mut || cost(expand(&original)), &mut || cost(expand(&hardened))])?;
    outcome.measured.push(Measured { work: "expand".to_owned(), rounds, original: medians[0], others: vec![("hardened", medians[1])] });
    outcome.measured.push(profiling(environment, &tree, &original, rounds)?);
    Ok(outcome)
}

/// Compressing while recording, beside the same under ThreadSanitizer. What is timed is the whole `profile` command with a build at
/// hand: starting, running, merging.
fn profiling(environment: &Environment, tree: &Path, original: &Path, rounds: usize) -> Result<Measured> {
    let sanitized = build(tree, &environment.work.join("zstd-tsan"), "clang-22", "-fsanitize=thread")?;
    let mebibytes = if environment.length == Length::Full { 32 } else { 4 };
    let data = corpus::file(&environment.work, mebibytes)?.display().to_string();
    let packed = environment.work.join("zstd/profiled.zst").display().to_string();
    let work = ["-T2", "-q", "-f", "-k", &data, "-o", &packed];
    let folder = original.parent().unwrap_or(Path::new("."));
    let plain = |program: &Path| cost(Child::new(program, LIMIT).args(work));
    let recorded = || cost(atomfix(environment, folder, "profile").args(["./zstd", "--runs", "1", "--seed", "1", "--"]).args(work));
    let medians = alternate(rounds, &mut [&mut || plain(original), &mut || recorded(), &mut || plain(&sanitized)])?;
    Ok(Measured {
        work: format!("profile compressing {mebibytes} MiB"),
        rounds,
        original: medians[0],
        others: vec![("profiled", medians[1]), ("ThreadSanitizer", medians[2])],
    })
}

fn build(tree: &Path, folder: &Path, compiler: &str, flag: &str) -> Result<PathBuf> {
    source::copy(tree, folder)?;
    let make = Child::new("make", LIMIT).within(folder).args(["-C", "programs", "-j2", "zstd", "HAVE_ZLIB=0", "HAVE_LZMA=0", "HAVE_LZ4=0"]);
    let make = make.arg(format!("CC={compiler}")).arg(format!("CFLAGS=-O2 -g {flag}")).arg(format!("LDFLAGS={flag}"));
    make.run()?.succeeded()?;
    Ok(folder.join("programs/zstd"))
}

/// A file's name, for messages.
pub(super) fn named(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
