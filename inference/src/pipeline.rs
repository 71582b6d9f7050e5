//! Runs the phases in order.

use model::certificate::Certificate;
use model::ids::{FunctionId, SiteKey};
use model::plan::Plan;
use model::profile::Evidence;
use model::program::Program;

use crate::access::Accesses;
use crate::admit::{Admission, Facts, admit};
use crate::correlate;
use crate::emit;
use crate::flow::Flow;
use crate::placement::{Placements, constraints, demands, place_all};
use crate::statistics::Statistics;
use crate::summary::{Calls, summaries};
use crate::variable::Variables;

/// What a user may choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Pairs that were seen less often are refused.
    pub support: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self { support: 1 }
    }
}

/// What inference made.
#[derive(Clone, Debug)]
pub struct Inferred {
    /// The locks to inject.
    pub plan: Plan,
    /// What is established about them.
    pub certificate: Certificate,
    /// What a user must know.
    pub findings: Vec<String>,
    /// Counts.
    pub statistics: Statistics,
    /// Constraints and operations by variable and function, as the plan was written from them.
    pub placements: Placements,
    variables: Variables,
}

impl Inferred {
    /// How a site came to its variable.
    #[must_use]
    pub fn explain(&self, site: SiteKey) -> String {
        self.variables.explain(site)
    }
}

/// Infers a plan for `build` of `program` from `evidence`.
#[must_use]
pub fn infer(program: &Program, evidence: &Evidence, build: &str, config: &Config) -> Inferred {
    let variables = Variables::of(program, evidence);
    let accesses = Accesses::of(program, &variables);
    let calls = Calls::of(program);
    let summaries = summaries(program, &calls, &accesses);
    let flows: Vec<Flow> = program.functions.iter().map(Flow::of).collect();
    let facts =
        Facts { program, evidence, variables: &variables, accesses: &accesses, calls: &calls, summaries: &summaries, flows: &flows };
    let admission = admit(&facts, config);
    let constraints = constraints(&admission.pairs);
    let is_open = |function: FunctionId| program.function(function).refused.is_none();
    let functions = (0..program.functions.len()).map(FunctionId::new);
    let demands = demands(&accesses, &constraints, is_open, functions);
    let placements = place_all(&flows, &calls, constraints, &demands);
    let mut order: Vec<_> = admission.pairs.iter().map(|pair| pair.variable).collect();
    order.dedup();
    let plan = emit::plan(&facts, &admission, &placements, &order, build);
    let statistics = Statistics::of(&facts, &admission, &placements, &plan);
    let findings = findings(&facts, &admission);
    let certificate = Certificate {
        order: plan.locks.iter().map(|lock| lock.variable.clone()).collect(),
        checked: false,
        findings: vec!["the order of locks is not resolved yet".to_owned()],
    };
    Inferred { plan, certificate, findings, statistics, placements, variables }
}

/// What a user must know about the result.
fn findings(facts: &Facts<'_>, admission: &Admission) -> Vec<String> {
    let mut findings = Vec::new();
    if facts.evidence.pairs.is_empty() {
        findings.push("the profile holds no pair of accesses".to_owned());
    }
    if admission.unknown > 0 {
        findings.push(format!("{} observed pairs name sites that this build does not have", admission.unknown));
    }
    let protected: crate::sets::Set<_> = admission.pairs.iter().map(|pair| pair.variable).collect();
    for (f, function) in facts.program.functions.iter().enumerate() {
        let Some(why) = &function.refused else { continue };
        let bare = facts.accesses.of_function(FunctionId::new(f)).filter(|(_, access)| protected.contains(access.variable)).count();
        if bare > 0 {
            findings.push(format!("{bare} accesses to protected variables in {} stay bare, since it is left alone: {why}", function.name));
        }
    }
    for (cause, count) in &facts.evidence.dropped {
        findings.push(format!("the profile is incomplete: {count} x {cause}"));
    }
    findings.push(correlate::finding());
    findings
}
