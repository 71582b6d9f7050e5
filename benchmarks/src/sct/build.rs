//! Builds one program of a checkout with `atomfix cc`, in a folder of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::catalog::{Dialect, Main, Program, Stack};
use crate::child::Child;

const LIMIT: Duration = Duration::from_secs(300);

/// What lets C89 pass today's compiler.
const OLD: [&str; 6] = [
    "-std=gnu89",
    "-Wno-return-mismatch",
    "-Wno-incompatible-function-pointer-types",
    "-Wno-incompatible-pointer-types",
    "-Wno-implicit-function-declaration",
    "-Wno-int-conversion",
];

/// Enters a program whose `main` has been renamed.
const ENTRY: &str = "int program_main(int, void *);\nint main(int argc, char **argv) { return program_main(argc, argv); }\n";

/// The same, after filling the stack.
const ENTRY_ON_ONES: &str = "#include <string.h>
int program_main(int, void *);
__attribute__((noinline)) static void fill(void) {
  volatile char stack[4096];
  memset((char *)stack, 0xff, sizeof stack);
}
int main(int argc, char **argv) {
  fill();
  return program_main(argc, argv);
}
";

/// A program that was built.
#[derive(Clone, Debug)]
pub struct Built {
    /// Where it is, with what it reads; it is named `app`.
    pub folder: PathBuf,
}

/// Builds a program of the checkout at `checkout` as `app` in `folder`.
pub fn build(atomfix: &Path, checkout: &Path, program: &Program, folder: &Path) -> Result<Built> {
    if let Some(obstacle) = &program.obstacle {
        bail!("not run: {obstacle}");
    }
    let benchmarks = checkout.join("benchmarks");
    let place = |path: &String| -> Result<PathBuf> {
        let place = benchmarks.join(path);
        fs::canonicalize(&place).with_context(|| format!("{}: not in the checkout", place.display()))
    };
    for header in &program.headers {
        expand(&benchmarks, program, &place(header)?, &folder.join(named(header, "h")))?;
    }
    let mut objects = Vec::new();
    for source in &program.sources {
        let mut path = place(source)?;
        if program.macros.is_some() {
            let expanded = folder.join(named(source, "c"));
            expand(&benchmarks, program, &path, &expanded)?;
            path = expanded;
        }
        let object = named(source, "o");
        compile(atomfix, program, &benchmarks, folder, &path, &object)?;
        objects.push(object);
    }
    if program.main == Main::Renamed {
        fs::write(folder.join("entry.c"), if program.stack == Stack::Ones { ENTRY_ON_ONES } else { ENTRY })?;
        Child::new(atomfix, LIMIT).within(folder).args(["cc", "-g", "-c", "entry.c"]).run()?.succeeded()?;
        objects.push("entry.o".to_owned());
    }
    let libraries = program.libraries.iter().map(|library| format!("-l{library}"));
    let link = Child::new(atomfix, LIMIT).within(folder).arg("c++").arg("-pthread").args(&program.link).args(&objects).args(["-o", "app"]);
    link.args(libraries).run()?.succeeded()?;
    for file in &program.data {
        let name = Path::new(file).file_name().context("a file has a name")?;
        fs::copy(place(file)?, folder.join(name))?;
    }
    Ok(Built { folder: folder.to_owned() })
}

/// A source file's name with another ending.
fn named(source: &str, ending: &str) -> String {
    let stem = Path::new(source).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    format!("{stem}.{ending}")
}

fn expand(benchmarks: &Path, program: &Program, from: &Path, to: &Path) -> Result<()> {
    let Some(macros) = &program.macros else { return Ok(()) };
    let child = Child::new("m4", LIMIT).args(["-Ulen", "-Uindex"]).arg(benchmarks.join(macros)).arg(from);
    child.stdout(to).run()?.succeeded().context("m4 expands the macros of these sources: install it")?;
    Ok(())
}

fn compile(atomfix: &Path, program: &Program, benchmarks: &Path, folder: &Path, source: &Path, object: &str) -> Result<()> {
    let is_c = source.extension().is_some_and(|extension| extension == "c");
    let mut child = Child::new(atomfix, LIMIT).within(folder).arg(if is_c { "cc" } else { "c++" });
    child = child.args(["-c", "-g", "-O0", "-w", "-pthread", "-I."]);
    if !is_c {
        // Some thread functions end without returning a value: a trap today, and no bug of those that are looked for.
        child = child.args(["-std=c++11", "-fno-strict-return"]);
    }
    if is_c && program.dialect == Dialect::Old {
        child = child.args(OLD);
    }
    for include in &program.include {
        child = child.arg("-I").arg(benchmarks.join(include));
    }
    child = child.args(program.define.iter().map(|define| format!("-D{define}")));
    if program.main == Main::Renamed {
        child = child.arg("-Dmain=program_main");
    }
    child.arg(source).args(["-o", object]).run()?.succeeded()?;
    Ok(())
}
