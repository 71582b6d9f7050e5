//! Every rule of instrumentation and injection, and what must not change, pinned by FileCheck on small files.
//!
//! A file of `tests/passes/rules` names its runs in comments (`//` or `;`):
//!
//! - `COMPILE: FLAGS`: compiler flags (once, optional);
//! - `RUN: WHAT PREFIX`: `extract`, `record`, `inline`, `gate`, `plan`, `plan+gate`, `plan+record`, and the prefix of its checks;
//! - `PLAN: lock0 FUNCTION PLACE: ACTION`, in the plan's own words;
//! - `ENDINGS: NAME ..`: functions that never come back, as calls name them.
//!
//! An `extract` run checks the listing of the model, any other the textual IR.

use std::collections::BTreeMap;
use std::path::Path;

use model::ids::{FunctionKey, LockId};
use model::plan::{Lock, Operation, PLAN_SCHEMA, Plan};
use passes::{Hooks, Transform, extract::extract, transform};

use crate::support;

#[test]
fn every_file_has_the_code_that_it_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/passes/rules");
    let mut files: Vec<String> = std::fs::read_dir(&folder)
        .expect("the folder of tests")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name in UTF-8"))
        .collect();
    files.sort();
    let mut failures = Vec::new();
    let mut runs = 0;
    for file in files {
        let text = std::fs::read_to_string(folder.join(&file)).expect("readable");
        let flags: Vec<&str> = directives(&text, "COMPILE:").flat_map(str::split_whitespace).collect();
        let bitcode = support::bitcode(&folder, &file, &flags);
        for run in directives(&text, "RUN:") {
            let (what, prefix) = run.split_once(' ').expect("RUN: WHAT PREFIX");
            if let Err(why) = check(&folder, &file, &text, &bitcode, what, prefix) {
                failures.push(format!("{file}: {run}\n{why}"));
            }
            runs += 1;
        }
    }
    assert!(runs > 20, "only {runs} runs were found");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn directives<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines().filter_map(move |line| line.trim_start_matches(['/', ';', ' ']).strip_prefix(word)).map(str::trim)
}

fn check(folder: &Path, file: &str, text: &str, bitcode: &[u8], what: &str, prefix: &str) -> Result<(), String> {
    let output = if what == "extract" {
        extract(bitcode).map_err(|error| error.to_string())?.to_string().into_bytes()
    } else {
        let plan = what.starts_with("plan").then(|| plan(text, bitcode));
        let hooks = match what {
            "record" | "plan+record" => Some(Hooks::Record),
            "inline" => Some(Hooks::RecordInline),
            "gate" | "plan+gate" => Some(Hooks::Gate),
            "plan" => None,
            other => panic!("RUN: {other}?"),
        };
        let done = transform(bitcode, &Transform { plan: plan.as_ref(), hooks }).map_err(|error| error.to_string())?;
        support::run("llvm-dis-22", &["-", "-o", "-"], folder, &done.bitcode)
    };
    let result = support::try_run("FileCheck-22", &[file, "--check-prefix", prefix, "--dump-input-context=12"], folder, &output);
    if result.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&result.stderr).into_owned()) }
}

/// The plan that a file's `PLAN:` lines say.
fn plan(text: &str, bitcode: &[u8]) -> Plan {
    let module = extract(bitcode).expect("extracts");
    let mut locks: BTreeMap<u32, Vec<Operation>> = BTreeMap::new();
    for line in directives(text, "PLAN:") {
        let (head, action) = line.split_once(": ").expect("PLAN: lockN FUNCTION PLACE: ACTION");
        let mut words = head.splitn(3, ' ');
        let mut word = || words.next().expect("PLAN: lockN FUNCTION PLACE: ACTION");
        let lock: u32 = word().trim_start_matches("lock").parse().expect("a lock's number");
        let name = word();
        let function: FunctionKey = module.functions.iter().find(|function| function.name == name).expect("the function").key;
        let at = word().parse().expect("a place");
        let action = action.parse().expect("an action");
        locks.entry(lock).or_default().push(Operation { function, at, action, source: String::new() });
    }
    let lock = |(id, operations)| Lock { id: LockId(id), enabled: true, variable: format!("v{id}"), cost: 0, pairs: vec![], operations };
    let endings = directives(text, "ENDINGS:").flat_map(str::split_whitespace).map(str::to_owned).collect();
    Plan { schema: PLAN_SCHEMA, build: String::new(), endings, locks: locks.into_iter().map(lock).collect(), ..Plan::default() }
}
