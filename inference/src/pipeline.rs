//! Runs the phases in order.

use std::collections::{BTreeMap, BTreeSet};

use model::certificate::Certificate;
use model::ids::{FunctionId, SiteKey, VariableId};
use model::plan::Plan;
use model::profile::Evidence;
use model::program::{Place, Program};

use crate::access::Accesses;
use crate::admit::{Admission, Facts, admit};
use crate::budget::{self, Budget};
use crate::check::{check, judge};
use crate::correlate::{self, Thresholds};
use crate::early::Early;
use crate::emit;
use crate::ends::{endings, is_ending, returning};
use crate::explain::explain;
use crate::exposure::Exposure;
use crate::flow::Flow;
use crate::indirect::resolved;
use crate::joint;
use crate::optimize::Optimizations;
use crate::order::OrderFacts;
use crate::placement::Placements;
use crate::points_to::PointsTo;
use crate::program_lock::ProgramLocks;
use crate::resolve::resolve;
use crate::sets::Set;
use crate::statistics::Statistics;
use crate::summary::{Calls, summaries};
use crate::variable::Variables;
use crate::wrapper::unwrapped;

/// What a user may choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Pairs that were seen less often are refused.
    pub support: u64,
    /// Pairs that are less sure than this, in per cent, are refused.
    pub confidence: u64,
    /// What to keep of pairs that write nothing before their second end.
    pub reads: Reads,
    /// A lock that would need more extra acquisitions than this to be free of deadlock loses its longest pairs instead.
    pub hoists: usize,
    /// What the lock of one variable may cost.
    pub budget: Budget,
    /// When variables count as correlated.
    pub correlation: Thresholds,
    /// What placing may save.
    pub optimizations: Optimizations,
}

/// What to keep of an EXCLUSIVE pair over which the variable is only read, up to its second end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// What was seen: no remote access at all between the ends.
    AsSeen,
    /// No remote write. A remote read that comes before anything is written changes nothing that either thread can observe, and readers
    /// that need not exclude each other are much cheaper.
    Shared,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            support: 1,
            confidence: 0,
            reads: Reads::Shared,
            hoists: 64,
            budget: Budget::default(),
            correlation: Thresholds::default(),
            optimizations: Optimizations::default(),
        }
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
    points_to: PointsTo,
}

impl Inferred {
    /// How a site of `program` came to its variable.
    #[must_use]
    pub fn explain(&self, program: &Program, site: SiteKey) -> String {
        explain(program, site, &self.variables, &self.points_to)
    }

    /// The variables of a place.
    pub fn variables(&self, place: &Place) -> impl Iterator<Item = VariableId> + '_ {
        self.variables.of_place(place)
    }
}

/// Infers a plan for `build` of `program` from `evidence`.
#[must_use]
pub fn infer(program: &Program, evidence: &Evidence, build: &str, config: &Config) -> Inferred {
    let program = &unwrapped(program);
    let points_to = PointsTo::of(program);
    let program = &resolved(program, &points_to);
    let mut variables = Variables::of(program, evidence, &points_to);
    let correlated = correlate::join(program, &mut variables, evidence, &config.correlation);
    let accesses = Accesses::of(program, &variables);
    let calls = Calls::of(program);
    let returning = returning(program, &calls);
    let summaries = summaries(program, &calls, &returning);
    let flows: Vec<Flow> = program.functions.iter().map(Flow::of).collect();
    let early = Early::of(program, &calls);
    let exposure = Exposure::of(program, evidence, &accesses, &variables, &early);
    let sites = program.sites();
    let joint = joint::observed(evidence, &variables, &correlated.sets);
    let facts = Facts {
        program,
        sites: &sites,
        evidence,
        variables: &variables,
        accesses: &accesses,
        calls: &calls,
        summaries: &summaries,
        exposure: &exposure,
        early: &early,
        flows: &flows,
        correlated: &correlated.sets,
        joint: &joint,
    };
    let mut admission = admit(&facts, config);
    let over_budget = budget::enforce(&facts, config.budget, &mut admission);
    joint::gather(&facts, &mut admission);
    let locks = ProgramLocks::of(program, &calls, &flows);
    let protected: Set<VariableId> = admission.pairs.iter().map(|pair| pair.variable).collect();
    let touches = |f: FunctionId| accesses.of_function(f).any(|(_, access)| protected.contains(access.variable));
    let endings = if protected.is_empty() { BTreeSet::new() } else { endings(program, &calls, &returning, touches) };
    let going_on = (!endings.is_empty()).then(|| calls.without(|function, node| is_ending(program, &endings, function, node)));
    let order_facts = OrderFacts { program, calls: &calls, going_on: going_on.as_ref().unwrap_or(&calls), flows: &flows, locks: &locks };
    let resolution = resolve(&facts, &order_facts, &admission.pairs, config);
    admission.give_up(&facts, &resolution.refused);
    let mut plan = emit::plan(&facts, &admission, &resolution.placements, &resolution.order, build);
    plan.savings.clone_from(&resolution.savings);
    plan.endings = if plan.locks.is_empty() { Vec::new() } else { endings.into_iter().collect() };
    let statistics = Statistics::of(&facts, &admission, &resolution, &plan, locks.names.len());
    let mut findings = findings(&facts, &admission);
    findings.extend(correlated.left);
    findings.extend(over_budget);
    findings.extend(resolution.program_cycles.iter().map(|cycle| cycle.finding(&locks, program)));
    let protects: Vec<_> = resolution.order.iter().map(|&variable| variables.get(variable).places.clone()).collect();
    let (certificate, doubts) = certify(program, &mut plan, &protects);
    findings.extend(doubts);
    Inferred { plan, certificate, findings, statistics, placements: resolution.placements, variables, points_to }
}

/// Checks a plan, and switches off the locks of which the checker is not convinced: taking one away is always safe.
fn certify(program: &Program, plan: &mut Plan, protects: &[BTreeSet<Place>]) -> (Certificate, Vec<String>) {
    let mut doubts = Vec::new();
    loop {
        let verdict = judge(program, plan, protects);
        let suspects = plan.locks.iter_mut().filter(|lock| lock.enabled && verdict.suspects.contains(&lock.id));
        let mut any = false;
        for lock in suspects {
            lock.enabled = false;
            any = true;
            doubts.push(format!("{} is switched off, since the checker rejects it; this is a fault of the tool", lock.id));
        }
        if !any {
            return (verdict.certificate, doubts);
        }
        doubts.extend(verdict.certificate.wrong.into_iter().map(|finding| finding.text));
    }
}

/// Checks a plan that people have edited. A lock is known by the name of its variable.
#[must_use]
pub fn check_plan(program: &Program, evidence: &Evidence, plan: &Plan) -> Certificate {
    let program = &unwrapped(program);
    let points_to = PointsTo::of(program);
    let program = &resolved(program, &points_to);
    let mut variables = Variables::of(program, evidence, &points_to);
    correlate::unite_all(&mut variables, evidence);
    let mut by_name: BTreeMap<String, &BTreeSet<Place>> = BTreeMap::new();
    for (_, variable) in variables.iter() {
        by_name.entry(variable.to_string()).or_insert(&variable.places);
    }
    // A lock of an unknown variable is reported as such: the list ends before it.
    let protects: Vec<_> = plan.locks.iter().map_while(|lock| by_name.get(&lock.variable).map(|&places| places.clone())).collect();
    check(program, plan, &protects)
}

/// What a user must know about the result.
fn findings(facts: &Facts<'_>, admission: &Admission) -> Vec<String> {
    let mut findings = Vec::new();
    if facts.evidence.pairs.is_empty() && facts.evidence.sets.values().all(|set| set.pairs.is_empty()) {
        findings.push("the profile holds no pair of accesses".to_owned());
    }
    if admission.unknown > 0 {
        findings.push(format!("{} observed pairs name sites that this build does not have", admission.unknown));
    }
    let protected: Set<_> = admission.pairs.iter().map(|pair| pair.variable).collect();
    for (f, function) in facts.program.functions.iter().enumerate() {
        let Some(why) = &function.refused else { continue };
        let bare = facts.accesses.of_function(FunctionId::new(f)).filter(|(_, access)| protected.contains(access.variable)).count();
        if bare > 0 {
            let at = function.nodes.iter().find_map(|node| node.source.0.first()).filter(|position| !position.file.is_empty());
            let at = at.map_or_else(String::new, |position| format!(" ({}:{})", position.file, position.line));
            let name = &function.name;
            findings.push(format!("{bare} accesses to protected variables in {name}{at} stay bare, since it is left alone: {why}"));
        }
    }
    for (cause, count) in &facts.evidence.dropped {
        findings.push(format!("the profile is incomplete: {count} x {cause}"));
    }
    findings.extend(facts.correlated.iter().map(|correlated| joint::finding(facts, admission, correlated)));
    findings
}
