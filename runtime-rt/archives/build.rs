//! Builds the runtime archives and puts them where the library embeds them from, so that the `atomfix` binary is one file that works.
//!
//! Stable cargo passes no archive from one crate to another, so this runs cargo itself, with a target folder of its own under `OUT_DIR`
//! (a shared one would wait for ever on cargo's lock).
//!
//! What cargo makes holds all of `core`, `alloc` and whatever else the runtime depends on. Each archive is reduced to one object: what
//! its doors reach, linked together, with every other symbol hidden, so that it neither fills nor meets the program that it goes into.
//! The doors are weak: a program that defines one of these functions itself, as tinycthread does with C11's, keeps its own.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const ARCHIVES: [&str; 3] = ["record", "lock", "gate"];

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let workspace = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR")).join("../..");
    for part in ["runtime-rt/record", "runtime-rt/lock", "runtime-rt/gate", "model", "explorer"] {
        for changing in ["src", "Cargo.toml"] {
            println!("cargo::rerun-if-changed={}", workspace.join(part).join(changing).display());
        }
    }
    for file in ["Cargo.toml", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={}", workspace.join(file).display());
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={LLVM}");
    build(&workspace, &out.join("runtime"));
    for archive in ARCHIVES {
        let name = format!("libatomfix_rt_{archive}.a");
        let reduced = out.join(&name);
        reduce(&out.join("runtime/runtime").join(&name), &reduced);
        println!("cargo::rustc-env={}_HASH={:016x}", archive.to_uppercase(), hash(&reduced));
    }
}

/// Made here, so that the command need not read all of an archive each time it runs.
fn hash(file: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(&fs::read(file).expect("the archive was just made"));
    hasher.finish()
}

/// Each by itself, as an archive and nothing else: cargo optimizes across crates only what is no Rust library as well.
fn build(workspace: &Path, target: &Path) {
    for archive in ARCHIVES {
        let mut cargo = Command::new(env::var_os("CARGO").expect("cargo sets CARGO"));
        cargo.current_dir(workspace).args(["rustc", "--quiet", "--profile", "runtime", "--crate-type", "staticlib"]);
        cargo.arg(format!("--package=atomfix-rt-{archive}")).arg("--target-dir").arg(target);
        // What clippy and coverage tools set is meant for the outer build, not for code that runs inside other programs.
        for variable in ["RUSTC_WORKSPACE_WRAPPER", "RUSTC_WRAPPER", "CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS", "CLIPPY_ARGS"] {
            cargo.env_remove(variable);
        }
        if archive == "gate" {
            // What all processors since 2009 have: an instruction that counts bits, above all.
            cargo.env("RUSTFLAGS", "-C target-cpu=x86-64-v2");
        }
        let status = cargo.status().expect("cargo starts");
        assert!(status.success(), "the runtime archives do not build");
    }
}

/// Names the folder of LLVM, also to `llvm-sys`.
const LLVM: &str = "LLVM_SYS_221_PREFIX";

fn tool(name: &str) -> Command {
    let folder = env::var_os(LLVM).map_or_else(|| PathBuf::from("/usr/lib/llvm-22"), PathBuf::from);
    Command::new(folder.join("bin").join(name))
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?} does not start (install binutils and llvm-22): {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("names of symbols are text")
}

/// Makes an archive of one object, which has nothing but the doors of `from` and what they need.
fn reduce(from: &Path, to: &Path) {
    let object = to.with_extension("o");
    let doors = doors(from);
    // GNU's linker: LLVM's drops the unwind tables when it leaves sections out of an object.
    run(Command::new("ld.bfd")
        .args(["-r", "--gc-sections", "-o"])
        .arg(&object)
        .args(doors.iter().map(|door| format!("--undefined={door}")))
        .arg(from));
    let kept = to.with_extension("doors");
    fs::write(&kept, doors.into_iter().map(|door| door + "\n").collect::<String>()).expect("OUT_DIR can be written");
    // The bitcode of `core` and of the runtime itself has no business in a program.
    run(tool("llvm-objcopy")
        .args(["--strip-debug", "--remove-section=.llvmbc", "--remove-section=.llvmcmd"])
        .arg(format!("--keep-global-symbols={}", kept.display()))
        .arg("--weaken")
        .arg(&object));
    let _ = fs::remove_file(to);
    run(tool("llvm-ar").arg("qcS").arg(to).arg(&object));
    run(tool("llvm-ar").arg("s").arg(to));
}

/// The plain C symbols that an archive's own crate defines for others: hooks and interposed functions.
fn doors(archive: &Path) -> BTreeSet<String> {
    let own = archive.file_stem().and_then(|stem| stem.to_str()?.strip_prefix("lib")).expect("lib…").to_owned() + "-";
    let listed = run(tool("llvm-nm").args(["--defined-only", "--extern-only", "--format=posix", "--print-file-name"]).arg(archive));
    // Each line: the archive, its member in brackets and a colon, then the symbol, its kind, and more.
    let parts = listed.lines().filter_map(|line| line.split_once('[')?.1.split_once("]: "));
    let names = parts.filter(|(member, _)| member.starts_with(&own)).filter_map(|(_, rest)| rest.split(' ').next());
    let plain = |name: &&str| !["_ZN", "_R", "__rust", "rust_"].iter().any(|prefix| name.starts_with(prefix));
    names.filter(plain).map(str::to_owned).collect()
}
