//! The certificate of a plan: where it is stored, its hash, and which lines of the plan its findings are about.
//!
//! `certificate.json` is what the hash in a hardened program's link record is taken of (BLAKE3, as `b3sum` prints it);
//! `certificate.txt` says the same for people.

use model::certificate::{Certificate, Finding, Part};
use model::plan::{At, Operation, PlannedPair};
use serde::Deserialize;
use toml::Spanned;

use crate::exit::Failure;
use crate::project::Project;
use crate::wording::readable;

/// The certificate as every report of ours: `{"schema":1,"results":[..]}`.
pub(crate) fn json(certificate: &Certificate) -> String {
    let mut text = serde_json::json!({ "schema": 1, "results": [certificate] }).to_string();
    text.push('\n');
    text
}

/// The hash that a hardened program carries.
pub(crate) fn hash(certificate: &Certificate) -> String {
    blake3::hash(json(certificate).as_bytes()).to_hex().to_string()
}

/// Stores both forms, and says where.
pub(crate) fn store(project: &Project, certificate: &Certificate) -> Result<String, Failure> {
    project.store_text("certificate.json", &json(certificate))?;
    let path = project.store_text("certificate.txt", &readable(&certificate.to_string()))?;
    Ok(path.display().to_string())
}

/// A plan's entries with their places in the file.
#[derive(Deserialize)]
struct Entries {
    #[serde(default, rename = "lock")]
    locks: Vec<Spanned<Entry>>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default, rename = "operation")]
    operations: Vec<Spanned<Operation>>,
    #[serde(default, rename = "pair")]
    pairs: Vec<Spanned<PlannedPair>>,
}

/// What is wrong with the plan in `text`, each finding with `name` and its line in front.
pub(crate) fn wrong(text: &str, name: &str, certificate: &Certificate) -> Vec<String> {
    let entries: Option<Entries> = toml::from_str(text).ok();
    let line = |finding: &Finding| {
        let start = entries.as_ref().and_then(|entries| start(entries, finding))?;
        Some(text.get(..start)?.matches('\n').count() + 1)
    };
    let said = |finding: &Finding| match line(finding) {
        Some(line) => format!("{name}:{line}: {}", finding.text),
        None => format!("{name}: {}", finding.text),
    };
    certificate.wrong.iter().map(said).collect()
}

/// Where the entry begins that a finding is about: the operations at its place, the pair, or else the lock.
fn start(entries: &Entries, finding: &Finding) -> Option<usize> {
    let lock = entries.locks.get(finding.lock?.index())?;
    let operation = |is: &dyn Fn(&Operation) -> bool| {
        lock.as_ref().operations.iter().find(|operation| is(operation.as_ref())).map(|operation| operation.span().start)
    };
    let pair = |is: &dyn Fn(&PlannedPair) -> bool| lock.as_ref().pairs.iter().find(|pair| is(pair.as_ref())).map(|pair| pair.span().start);
    let entry = match finding.part {
        Part::Whole => None,
        Part::Operations(function, at) => operation(&|o| o.function == function && o.at == at),
        Part::Pair(function, head, tail) => pair(&|p| p.function == function && p.head == head && p.tail == tail),
        Part::Node(function, node) => operation(&|o| o.function == function && o.at == At::Before(node))
            .or_else(|| pair(&|p| p.function == function && (p.head == node || p.tail == node)))
            .or_else(|| operation(&|o| o.function == function && matches!(o.at, At::Edge(from, to) if from == node || to == node))),
    };
    Some(entry.unwrap_or(lock.span().start))
}
