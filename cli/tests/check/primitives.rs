//! What threads do to wait for each other, one program each: every outcome that the sequentially consistent schedules have, and
//! no other. Each program of `tests/primitives` says in a comment which these are: `pass`, or a kind of failure and, of an exit status, its
//! number, of another failure, its message.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::sandbox::Sandbox;

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/primitives");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).expect("the programs").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    assert!(paths.len() > 5);
    paths
}

fn line<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix("// ")?.strip_prefix(key))
}

/// What came of an exploration, in the words of the comments.
fn outcomes(result: &Value) -> BTreeSet<String> {
    let failures = result["failures"].as_array().expect("a list");
    let failed: u64 = failures.iter().filter_map(|failure| failure["count"].as_u64()).sum();
    let name = |failure: &Value| {
        let (kind, message) = (failure["kind"].as_str().expect("a kind"), failure["message"].as_str().expect("a message"));
        format!("{kind} {}", message.strip_prefix("the program ended with exit status ").unwrap_or(message))
    };
    let mut outcomes: BTreeSet<String> = failures.iter().map(name).collect();
    if result["schedules"].as_u64().expect("a number") > failed {
        outcomes.insert("pass".to_owned());
    }
    outcomes
}

/// Explores the programs whose number leaves this rest: the tests share them, to run beside each other.
fn check(rest: usize) {
    for program in programs().into_iter().enumerate().filter(|(index, _)| index % 2 == rest).map(|(_, program)| program) {
        let name = program.file_name().expect("a name").to_string_lossy();
        let text = fs::read_to_string(&program).expect("a program");
        let expected = line(&text, "outcomes: ").expect("a line of outcomes").split(", ").map(str::to_owned).collect();
        let words = |key| line(&text, key).map(|words| words.split_whitespace().collect()).unwrap_or_default();
        let (flags, options): (Vec<&str>, Vec<&str>) = (words("flags: "), words("options: "));
        let sandbox = Sandbox::new();
        sandbox.compile(&name, &text, &flags);
        for strategy in ["dfs", "dpor"] {
            let arguments = [&["check", "./app", "--strategy", strategy, "--json", "result.json"], &options[..]].concat();
            let said = sandbox.atomfix(&arguments);
            assert!(matches!(said.code, 0 | 1), "{name}: {}{}", said.out, said.err);
            let report: Value = serde_json::from_str(&sandbox.read("result.json")).expect("JSON");
            let result = &report["results"][0];
            assert_eq!(outcomes(result), expected, "{name} by {strategy}: {}", said.out);
            assert_eq!(result["complete"], true, "{name} by {strategy}: {}", said.out);
            if let Some(note) = line(&text, "note: ") {
                assert!(said.out.contains(note), "{name} by {strategy}: {}", said.out);
            }
        }
    }
}

#[test]
fn primitives_have_exactly_their_outcomes() {
    check(0);
}

#[test]
fn primitives_have_exactly_their_outcomes_second_half() {
    check(1);
}
