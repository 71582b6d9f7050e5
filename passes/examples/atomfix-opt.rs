//! A small door to the passes for looking at what they do:
//!
//! `atomfix-opt extract IN.bc`, `atomfix-opt record|gate IN.bc OUT.bc`, `atomfix-opt count IN.bc`
//!
//! Plans are applied by tests and by `atomfix harden`.
#![expect(clippy::print_stdout, reason = "a command for people")]

use std::process::ExitCode;

use passes::{Hooks, Transform, extract, transform};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words[..] {
        ["extract", input] => listing(input),
        ["record", input, output] => hooked(input, output, Hooks::Record),
        ["gate", input, output] => hooked(input, output, Hooks::Gate),
        _ => Err("usage: atomfix-opt extract IN.bc | record IN.bc OUT.bc | gate IN.bc OUT.bc".into()),
    };
    match result {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn listing(input: &str) -> Result<String, Box<dyn std::error::Error>> {
    Ok(extract::extract(&std::fs::read(input)?)?.to_string())
}

fn hooked(input: &str, output: &str, hooks: Hooks) -> Result<String, Box<dyn std::error::Error>> {
    let done = transform(&std::fs::read(input)?, &Transform { plan: None, hooks: Some(hooks), own: &std::collections::BTreeSet::new() })?;
    std::fs::write(output, &done.bitcode)?;
    Ok(format!("sites {} skipped {:?} refused {:?}", done.sites, done.skipped, done.refused))
}
