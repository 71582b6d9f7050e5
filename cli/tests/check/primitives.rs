//! What threads do to wait for each other: every outcome that the sequentially consistent schedules have, and no other.
//!
//! A program of `tests/primitives` says in comments what comes of it:
//!
//! ```text
//! // case NAME: OUTCOME | OUTCOME     with NAME as its argument
//! // options NAME: --spurious         for `check`
//! // note NAME: TEXT                  that the result has a note with this in it
//! // covers NAME: what is seen        that nothing is called complete
//! // outcomes: OUTCOME | OUTCOME      of the program without an argument; `options` and `note` likewise
//! // flags: -std=c++20                for the compiler; a program is built once for each line of them
//! ```
//!
//! An outcome is what a passing execution printed, `pass` when that is nothing; or a kind of failure and, of an exit status, its
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

fn lines<'a>(text: &'a str, key: &str) -> impl Iterator<Item = &'a str> {
    text.lines().filter_map(move |line| line.strip_prefix("// ")?.strip_prefix(key)?.strip_prefix(": "))
}

fn line<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    lines(text, key).next()
}

/// What came of an exploration, in the words of the comments.
fn outcomes(result: &Value) -> BTreeSet<String> {
    let failures = result["failures"].as_array().expect("a list");
    let name = |failure: &Value| {
        let (kind, message) = (failure["kind"].as_str().expect("a kind"), failure["message"].as_str().expect("a message"));
        format!("{kind} {}", message.strip_prefix("the program ended with exit status ").unwrap_or(message))
    };
    let passing = result["outcomes"].as_array().into_iter().flatten().map(|outcome| outcome["text"].as_str().expect("a text"));
    let passing = passing.map(|text| if text.is_empty() { "pass" } else { text.trim_end() }.to_owned());
    failures.iter().map(name).chain(passing).collect()
}

/// One way to run a program: its argument, if any, and what its comments say of it.
struct Case<'a> {
    argument: Option<&'a str>,
    expected: BTreeSet<String>,
    options: Vec<&'a str>,
    note: Option<&'a str>,
    /// What is covered, when that is not all.
    covers: Option<&'a str>,
}

fn cases(text: &str) -> Vec<Case<'_>> {
    let names = text.lines().filter_map(|line| line.strip_prefix("// case ")?.split(':').next());
    let named = names.map(Some).chain(line(text, "outcomes").map(|_| None));
    let with = |key: &str, name: Option<&str>| name.map_or_else(|| key.to_owned(), |name| format!("{key} {name}"));
    named
        .map(|argument| Case {
            argument,
            expected: line(text, &argument.map_or_else(|| "outcomes".to_owned(), |name| format!("case {name}")))
                .expect("outcomes")
                .split(" | ")
                .map(str::to_owned)
                .collect(),
            options: line(text, &with("options", argument)).map(|words| words.split_whitespace().collect()).unwrap_or_default(),
            note: line(text, &with("note", argument)),
            covers: line(text, &with("covers", argument)),
        })
        .collect()
}

/// Explores the programs whose number leaves this rest: the tests share them, to run beside each other.
fn check(rest: usize) {
    for program in programs().into_iter().enumerate().filter(|(index, _)| index % 2 == rest).map(|(_, program)| program) {
        let name = program.file_name().expect("a name").to_string_lossy();
        let text = fs::read_to_string(&program).expect("a program");
        let mut builds: Vec<&str> = lines(&text, "flags").collect();
        if builds.is_empty() {
            builds.push("");
        }
        let mut wrong = Vec::new();
        for flags in builds {
            let sandbox = Sandbox::new();
            sandbox.compile(&name, &text, &flags.split_whitespace().collect::<Vec<_>>());
            for (case, strategy) in cases(&text).iter().flat_map(|case| ["dfs", "dpor"].map(|strategy| (case, strategy))) {
                let mut arguments = vec!["check", "./app", "--strategy", strategy, "--outcomes", "--json", "result.json"];
                arguments.extend(&case.options);
                arguments.extend(case.argument.iter().flat_map(|argument| ["--", argument]));
                let said = sandbox.atomfix(&arguments);
                let what = format!("{name} {flags} {} by {strategy}", case.argument.unwrap_or_default());
                if !matches!(said.code, 0 | 1) {
                    wrong.push(format!("{what}: {}{}", said.out, said.err));
                    continue;
                }
                let report: Value = serde_json::from_str(&sandbox.read("result.json")).expect("JSON");
                let result = &report["results"][0];
                if outcomes(result) != case.expected {
                    wrong.push(format!("{what}: {:?} are expected, found: {:?}: {}", case.expected, outcomes(result), said.out));
                } else if result["complete"] != case.covers.is_none() || case.note.is_some_and(|note| !said.out.contains(note)) {
                    wrong.push(format!("{what}: {}", said.out));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
