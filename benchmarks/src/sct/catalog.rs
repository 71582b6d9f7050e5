//! The table of programs: how each is built and run, and what is known of it.

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// A program of the suite.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Program {
    /// Its name in the suite's own list.
    pub name: String,
    /// What to compile, below `benchmarks/` of the checkout.
    pub sources: Vec<String>,
    /// Headers to take through the macro processor.
    #[serde(default)]
    pub headers: Vec<String>,
    /// Folders to include from.
    #[serde(default)]
    pub include: Vec<String>,
    /// Macros to define.
    #[serde(default)]
    pub define: Vec<String>,
    /// Libraries to link.
    #[serde(default)]
    pub libraries: Vec<String>,
    /// What else the linker is told: programs that keep pointers in 32 bits are not position-independent.
    #[serde(default)]
    pub link: Vec<String>,
    /// Definitions for m4, which the sources go through first.
    #[serde(default)]
    pub macros: Option<String>,
    /// Which C it is.
    #[serde(default)]
    pub dialect: Dialect,
    /// Whether its `main` is one that today's compilers take.
    #[serde(default)]
    pub main: Main,
    /// What memory of the stack holds that it does not initialize.
    #[serde(default)]
    pub stack: Stack,
    /// Files that it reads.
    #[serde(default)]
    pub data: Vec<String>,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// What it does.
    pub verdict: Verdict,
    /// What hardening should make of it, where that is claimed.
    #[serde(default)]
    pub hardening: Option<Hardening>,
    /// Schedules to the first failure, as others published them; one cell for each of [`PUBLISHED`], or none at all.
    #[serde(default)]
    pub published: Vec<String>,
    /// The least mean among the published ones.
    #[serde(default)]
    pub best: Option<u32>,
    /// Why it is not run.
    #[serde(default)]
    pub obstacle: Option<String>,
}

/// Which C a program is written in.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Today's.
    #[default]
    Modern,
    /// C89 as it was written then: implicit declarations and conversions.
    Old,
}

/// How a program is entered.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Main {
    /// By its own `main`.
    #[default]
    Own,
    /// By a `main` of ours that calls its own one under another name: the types of its parameters are not allowed any more.
    Renamed,
}

/// What is on the stack when a program's own `main` begins.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Stack {
    /// Whatever there is; mostly zeros.
    #[default]
    AsFound,
    /// All bits set, by a `main` of ours: the bug is that variables are not initialized, and zeros hide it.
    Ones,
}

/// Whether a program has a bug.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Some schedule fails.
    Fails,
    /// None does.
    Passes,
}

/// What hardening should do.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Hardening {
    /// The failure is gone.
    Suppressed,
    /// No atomicity violation: the outcomes stay as they are.
    Unclaimed,
}

/// The columns of [`Program::published`].
pub const PUBLISHED: [&str; 7] = ["POS", "PCT 3", "QLearning", "RFF", "PERIOD", "PERIOD's own", "GenMC"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Programs {
    program: Vec<Program>,
}

/// The programs with these names; all if none is named.
pub fn programs(names: &[String]) -> Result<Vec<Program>> {
    let Programs { program: all } = toml::from_str(include_str!("../../sct/programs.toml")).context("the table of programs")?;
    if let Some(unknown) = names.iter().find(|name| all.iter().all(|program| program.name != **name)) {
        bail!("there is no program '{unknown}'");
    }
    Ok(all.into_iter().filter(|program| names.is_empty() || names.contains(&program.name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_can_be_built_or_says_why_not() {
        let all = programs(&[]).expect("a well-formed table");
        for program in &all {
            assert!(program.obstacle.is_some() || !program.sources.is_empty(), "{}", program.name);
            assert!(program.published.is_empty() || program.published.len() == PUBLISHED.len(), "{}", program.name);
        }
        assert_eq!(all.iter().filter(|program| !program.published.is_empty()).count(), 37);
        assert!(programs(&["no_such".to_owned()]).is_err());
    }
}
