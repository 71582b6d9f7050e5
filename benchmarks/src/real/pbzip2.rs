//! pbzip2: its queues are C++ of its own, its time is spent in libbz2, which is not instrumented.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::outcome::{Measured, Outcome};
use super::session::{LIMIT, atomfix, cost, difference, harden};
use super::{Environment, Length, corpus, rwlocks, source};
use crate::child::Child;
use crate::measure::alternate;

/// Takes pbzip2 through the chain.
pub fn run(environment: &Environment) -> Result<Outcome> {
    let mut outcome = Outcome { program: "pbzip2 1.1.13".to_owned(), ..Outcome::default() };
    let original = build(environment)?;
    let folder = environment.work.join("pbzip2");
    profile(environment, &folder)?;
    let hardened = harden(environment, &original, &mut outcome)?;

    let data = corpus::file(&environment.work, if environment.length == Length::Full { 200 } else { 8 })?;
    let (packed, unpacked) = (folder.join("data.bz2"), folder.join("data.out"));
    let compress = |program: &Path| Child::new(program, LIMIT).args(["-p2", "-k", "-c"]).arg(&data).stdout(&packed);
    let expand = |program: &Path| Child::new(program, LIMIT).args(["-p2", "-d", "-k", "-c"]).arg(&packed).stdout(&unpacked);
    cost(compress(&hardened))?;
    cost(expand(&hardened))?;
    outcome.verify(format!("compress and expand {}", super::zstd::named(&data)), difference(&data, &unpacked)?);
    cost(expand(&original))?;
    outcome.verify("the original expands what the hardened build compressed", difference(&data, &unpacked)?);

    let plain = folder.join("pbzip2.rwlocks");
    rwlocks::build(&original, &plain)?;
    let builds = [original.as_path(), &hardened, &plain];
    outcome.measured.push(measure(environment, "compress", builds, compress)?);
    outcome.measured.push(measure(environment, "expand", builds, expand)?);
    Ok(outcome)
}

/// What some work costs the original, the hardened build and the one with reader-writer locks.
fn measure(environment: &Environment, name: &str, builds: [&Path; 3], work: impl Fn(&Path) -> Child) -> Result<Measured> {
    let rounds = environment.rounds;
    let [mut original, mut hardened, mut plain] = builds.map(|build| || cost(work(build)));
    let medians = alternate(rounds, &mut [&mut original, &mut hardened, &mut plain])?;
    let others = vec![("hardened", medians[1]), ("with pthread rwlocks", medians[2])];
    Ok(Measured { work: name.to_owned(), rounds, original: medians[0], others })
}

/// Builds it as its Makefile does; the flag lets clang read a string macro that C++11 parses otherwise.
pub fn build(environment: &Environment) -> Result<PathBuf> {
    let folder = environment.work.join("pbzip2");
    source::copy(&source::fetch(&environment.work, "pbzip2", "1.1.13")?, &folder)?;
    let compiler = format!("CXX={} c++", environment.atomfix.display());
    let make = Child::new("make", LIMIT).within(&folder).args(["pbzip2", &compiler]);
    make.env("CXXFLAGS", "-O2 -g -Wno-reserved-user-defined-literal").run()?.succeeded()?;
    Ok(folder.join("pbzip2"))
}

/// Builds it and puts data beside it: `small.txt` to learn from, `data.txt` to measure with.
pub fn prepare(environment: &Environment) -> Result<PathBuf> {
    build(environment)?;
    let folder = environment.work.join("pbzip2");
    fs::copy(corpus::file(&environment.work, 2)?, folder.join("small.txt"))?;
    fs::copy(corpus::file(&environment.work, 50)?, folder.join("data.txt"))?;
    Ok(folder)
}

/// Profiles compressing and expanding a small file in several blocks.
pub fn profile(environment: &Environment, folder: &Path) -> Result<()> {
    let small = corpus::file(&environment.work, 2)?;
    let packed = folder.join("small.bz2");
    cost(Child::new(folder.join("pbzip2"), LIMIT).args(["-p2", "-b2", "-k", "-c"]).arg(&small).stdout(&packed))?;
    let taught = folder.join("small.txt");
    fs::copy(&small, &taught)?;
    let child = || atomfix(environment, folder, "profile").args(["./pbzip2", "--runs", "5", "--seed", "1", "--", "-p2", "-k", "-f"]);
    child().args(["-b2", "small.txt"]).run()?.succeeded()?;
    child().args(["-d", "small.bz2"]).run()?.succeeded()?;
    Ok(())
}
