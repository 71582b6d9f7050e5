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

use std::path::Path;

use passes::{Hooks, Transform, extract::extract, transform};

use crate::directives::{directives, plan};
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
        let done = transform(bitcode, &Transform { plan: plan.as_ref(), hooks, own: &std::collections::BTreeSet::new() })
            .map_err(|error| error.to_string())?;
        support::run("llvm-dis-22", &["-", "-o", "-"], folder, &done.bitcode)
    };
    let result = support::try_run("FileCheck-22", &[file, "--check-prefix", prefix, "--dump-input-context=12"], folder, &output);
    if result.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&result.stderr).into_owned()) }
}
