//! The rules of the house, as tests: module docs, file length, where `unsafe` may stand, the star of crates.
//!
//! Each rule names the files that break it. Not here: what rustfmt and clippy check.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Longest source file without a reason at its head. Tests and tables excepted.
const MOST_LINES: usize = 500;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every Rust file of the workspace, relative to its root, with its text.
fn sources() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for part in ["model", "passes", "runtime-rt", "profiler", "inference", "explorer", "cli", "benchmarks"] {
        collect(&workspace().join(part), &mut found);
    }
    assert!(found.len() > 20, "the sources are not where this test looks for them");
    found
}

fn collect(folder: &Path, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).expect("a folder of the workspace") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            if !matches!(name, "target" | "work") {
                collect(&path, found);
            }
        } else if name.ends_with(".rs") {
            let relative = path.strip_prefix(workspace()).expect("a path below the workspace").display().to_string();
            found.insert(relative, fs::read_to_string(&path).expect("a source file"));
        }
    }
}

fn check(rule: &str, broken: &[String]) {
    assert!(broken.is_empty(), "{rule}:\n  {}", broken.join("\n  "));
}

#[test]
fn every_file_opens_with_what_it_is() {
    let broken: Vec<_> = sources().iter().filter(|(_, text)| !text.starts_with("//! ")).map(|(name, _)| name.clone()).collect();
    check("a file opens with `//!`", &broken);
}

#[test]
fn no_file_is_long_without_a_reason() {
    let long = |(name, text): (&String, &String)| {
        let lines = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default().lines().count();
        let excused = name.contains("/tests/")
            || name.ends_with("/tests.rs")
            || text.lines().take(30).any(|line| line.starts_with("//! Long because"));
        (lines > MOST_LINES && !excused).then(|| format!("{name} ({lines} lines)"))
    };
    let broken: Vec<_> = sources().iter().filter_map(long).collect();
    check("split files of more than 500 lines, or say `//! Long because ..` at the head", &broken);
}

#[test]
fn unsafe_code_stays_where_it_is_allowed() {
    let allowed = ["passes/src/llvm/", "runtime-rt/", "explorer/src/target/process.rs"];
    let is_unsafe = |line: &str| {
        let code = line.split("//").next().unwrap_or_default();
        ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern"].iter().any(|word| code.contains(word))
    };
    let broken: Vec<_> = sources()
        .iter()
        .filter(|(name, text)| {
            !name.contains("/tests/") && !allowed.iter().any(|folder| name.starts_with(folder)) && text.lines().any(is_unsafe)
        })
        .map(|(name, _)| name.clone())
        .collect();
    check("unsafe code stands only in the folders that the style names", &broken);
}

#[test]
fn only_one_folder_names_llvm() {
    let broken: Vec<_> = sources()
        .iter()
        .filter(|(name, text)| {
            !name.starts_with("passes/src/llvm/") && !name.contains("tests/") && (text.contains("inkwell::") || text.contains("llvm_sys::"))
        })
        .map(|(name, _)| name.clone())
        .collect();
    check("LLVM is named only in passes/src/llvm", &broken);
}

#[test]
fn the_crates_form_a_star() {
    let ours = ["passes", "profiler", "inference", "explorer", "archives", "benchmarks"];
    let mut broken = Vec::new();
    for (package, may) in [
        ("model", &[][..]),
        ("passes", &[]),
        ("profiler", &[]),
        ("inference", &[]),
        ("explorer", &[]),
        ("runtime-rt/record", &[]),
        ("runtime-rt/lock", &[]),
        ("runtime-rt/gate", &["explorer"]),
    ] {
        let text = fs::read_to_string(workspace().join(package).join("Cargo.toml")).expect("a manifest");
        let manifest: toml::Table = text.parse().expect("a manifest is TOML");
        let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table).cloned().unwrap_or_default();
        for other in ours.iter().filter(|other| dependencies.contains_key(**other) && !may.contains(other)) {
            broken.push(format!("{package} depends on {other}"));
        }
    }
    check("a crate depends on model alone", &broken);
}

#[test]
fn no_work_is_left_unsaid() {
    // Spelled so that this file does not find itself.
    let marks = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("todo", "!("), concat!("unimplemented", "!("), concat!("#[ig", "nore")];
    let broken: Vec<_> = sources()
        .iter()
        .flat_map(|(name, text)| {
            text.lines()
                .enumerate()
                .filter(|(_, line)| marks.iter().any(|mark| line.contains(mark)))
                .map(move |(n, _)| format!("{name}:{}", n + 1))
        })
        .collect();
    check("what does not work yet says so to its user, not in a note", &broken);
}
