//! Exact numbers of schedules: sleep sets and partial order reduction run every schedule once, up to the order of steps that commute,
//! so their number is that of the program's behaviors. Each program of `tests/litmus` says in a comment what is expected; some say
//! too how many classes differ in what reads read from.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::sandbox::Sandbox;

/// The expectations of a program that a line of it names: how many with how many threads.
fn expectations(text: &str, what: &str) -> Vec<(u64, u64)> {
    let Some(line) = text.lines().find_map(|line| line.strip_prefix(what)) else { return Vec::new() };
    let one = |part: &str| {
        let (count, threads) = part.split_once(" with THREADS=").expect("N with THREADS=T");
        (count.parse().expect("a number"), threads.parse().expect("a number"))
    };
    line.split(", ").map(one).collect()
}

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/litmus");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).expect("the programs").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    assert!(paths.len() > 4);
    paths
}

#[test]
fn complete_searches_run_every_behavior_once() {
    for program in programs() {
        let text = fs::read_to_string(&program).expect("a program");
        let expectations = expectations(&text, "// schedules: ");
        assert!(!expectations.is_empty(), "{}", program.display());
        for (schedules, threads) in expectations {
            let sandbox = Sandbox::new();
            sandbox.compile("app.c", &text, &[&format!("-DTHREADS={threads}")]);
            for strategy in ["sleep", "dpor"] {
                let said = sandbox.atomfix(&["check", "./app", "--strategy", strategy, "--json", "result.json", "--require-complete"]);
                let name = format!("{} with {threads} threads, {strategy}", program.display());
                assert_eq!(said.code, 0, "{name}: {}{}", said.out, said.err);
                let report: Value = serde_json::from_str(&sandbox.read("result.json")).expect("JSON");
                assert_eq!(report["results"][0]["schedules"], schedules, "{name}");
                assert_eq!(report["results"][0]["complete"], true, "{name}");
            }
        }
    }
}

#[test]
fn classes_by_what_reads_read_from_are_as_many_as_published() {
    let mut counts = 0;
    for program in programs() {
        let text = fs::read_to_string(&program).expect("a program");
        for (classes, threads) in expectations(&text, "// classes by reads-from: ") {
            let sandbox = Sandbox::new();
            sandbox.compile("app.c", &text, &[&format!("-DTHREADS={threads}")]);
            for strategy in ["dpor", "sleep"] {
                let said = sandbox.atomfix(&["check", "./app", "--strategy", strategy, "--reads-from", "--json", "result.json"]);
                assert_eq!(said.code, 0, "{}{}", said.out, said.err);
                assert!(said.out.contains(&format!("{classes} classes by what each read reads from")), "{}", said.out);
                let report: Value = serde_json::from_str(&sandbox.read("result.json")).expect("JSON");
                assert_eq!(report["results"][0]["reads_from"], classes, "{} with {threads} threads, {strategy}", program.display());
            }
            counts += 1;
        }
    }
    assert!(counts > 0);
}
