//! `atomfix infer`: from the profile to the plan, for people to read before anything is changed.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use capture::Capture;
use inference::{Budget, Config, Inferred, Optimization, Optimizations};
use model::ids::SiteKey;
use model::pair::Atomicity;
use model::plan::{Lock, Plan, Refused};
use model::program::{Call, Callee, Node, NodeKind, Program};
use model::site::Position;

use crate::captured::captured;
use crate::certificate;
use crate::correlation;
use crate::exit::{Exit, Failure};
use crate::extracted::extracted;
use crate::project::Project;
use crate::units;
use crate::wording::{counted, pasted, readable};

/// What an accepted plan may claim.
pub(crate) const CHECKED: &str = "checked: every pair is covered, every way out releases, and no cycle of waits has part in these locks";

/// Locks that a summary shows in full.
const LOCKS_SHOWN: usize = 12;

/// Pairs of one lock that it shows.
const PAIRS_SHOWN: usize = 3;

/// Refused pairs that it shows.
const REFUSALS_SHOWN: usize = 6;

/// The command line of `infer`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The program, built with `atomfix cc`
    program: PathBuf,
    #[command(flatten)]
    choices: Choices,
    /// Print how a site (FILE:LINE, FILE:LINE:COLUMN or a key) came to its variable, and stop
    #[arg(long, value_name = "SITE")]
    explain: Option<String>,
    /// Print the table of pairs, locks and operations
    #[arg(long)]
    stats: bool,
}

/// What a user may choose about the plan, also when `harden` makes one.
#[derive(clap::Args)]
pub(crate) struct Choices {
    /// Leave out pairs that were seen less often than this
    #[arg(long, value_name = "N", default_value_t = 1)]
    support: u64,
    /// Leave out pairs that are less sure than this (50 % sure: no other thread was ever near), in per cent
    #[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=99))]
    confidence: u64,
    /// Leave out a lock that would need more operations than this share of all accesses, in per cent
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0, value_parser = percent)]
    budget: f64,
    /// Turn an optimization of the placed locks off: releases, acquisitions, loops or sequences
    #[arg(long = "no-opt", value_name = "NAME")]
    no_opt: Vec<Optimization>,
    /// Give locks up before calls of this function (its linkage name), which may wait in ways that nobody sees; may be repeated
    #[arg(long, value_name = "FUNCTION")]
    blocking: Vec<String>,
    #[command(flatten)]
    correlation: correlation::SetChoices,
}

fn percent(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|share| (0.0..=1000.0).contains(share)).ok_or_else(|| "not a number of per cent from 0 to 1000".to_owned())
}

impl Choices {
    /// The program, with what the user says of it.
    pub(crate) fn extract(&self, project: &Project, capture: &Capture) -> Result<Program, Failure> {
        let mut program = extracted(project, capture)?;
        match program.mark_blocking(&self.blocking).first() {
            None => Ok(program),
            Some(name) => Err(Failure::usage(
                format!("--blocking {name}: nothing in this program calls a function of this name directly"),
                "write its linkage name; that of a C++ function begins with _Z (nm lists it)",
            )),
        }
    }

    /// The plan, with what the user says of the program.
    pub(crate) fn complete(&self, plan: &mut Plan) {
        plan.blocking.clone_from(&self.blocking);
    }

    /// The same, for inference.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 10000, as the parser makes sure")]
    pub(crate) fn config(&self) -> Config {
        let budget = Budget { per_mille: (self.budget * 10.0).round() as u64, ..Budget::default() };
        let optimizations = Optimizations::default().without(self.no_opt.iter().copied());
        let (support, confidence, correlation) = (self.support, self.confidence, self.correlation.thresholds());
        Config { support, confidence, budget, correlation, optimizations, ..Config::default() }
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let project = Project::open(&arguments.program)?;
    let capture = captured(&arguments.program)?;
    let program = arguments.choices.extract(&project, &capture)?;
    let mut inferred = infer(&project, &capture, &program, &arguments.choices.config())?;
    arguments.choices.complete(&mut inferred.plan);
    if let Some(site) = &arguments.explain {
        for site in sites_at(&program, site)? {
            print!("{}", readable(&inferred.explain(&program, site)));
        }
        return Ok(Exit::Clean.into());
    }
    let path = project.store_plan(&inferred.plan)?;
    let certificate = certificate::store(&project, &inferred.certificate)?;
    print!("{}", summary(&inferred));
    if inferred.certificate.checked {
        println!("{CHECKED} ({certificate})");
    }
    if arguments.stats {
        print!("\n{}", readable(&inferred.statistics.to_string()));
    }
    let hardened = format!("{}.hard", project.name());
    println!("\nThe plan is in {}. Next: atomfix harden {} -o {}", path.display(), pasted(&arguments.program), pasted(hardened.as_ref()));
    Ok(Exit::Clean.into())
}

/// The sites that a user means: one by its key, or all accesses at `FILE:LINE` or `FILE:LINE:COLUMN`.
fn sites_at(program: &Program, text: &str) -> Result<Vec<SiteKey>, Failure> {
    if let Ok(site) = text.parse() {
        return Ok(vec![site]);
    }
    let unreadable = || {
        Failure::usage(format!("--explain {text}: not a place in the source"), "write FILE:LINE, FILE:LINE:COLUMN or a key of plan.toml")
    };
    let (before, last) = text.rsplit_once(':').ok_or_else(unreadable)?;
    let last: u32 = last.parse().map_err(|_| unreadable())?;
    let (file, line, column) = match before.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse::<u32>().ok()?))) {
        Some((file, line)) => (file, line, Some(last)),
        None => (before, last, None),
    };
    let is_meant = |position: &Position| {
        let ends = Path::new(&position.file).ends_with(file);
        ends && position.line == line && column.is_none_or(|column| column == position.column)
    };
    let meant: Vec<&Node> =
        program.functions.iter().flat_map(|function| &function.nodes).filter(|node| node.source.0.first().is_some_and(is_meant)).collect();
    let found: Vec<SiteKey> = meant.iter().filter(|node| !node.accesses().is_empty()).filter_map(|node| node.site).collect();
    if found.is_empty() {
        let called: BTreeSet<&str> = meant.iter().flat_map(|node| callees(node)).collect();
        let what = format!("--explain {text}: no access to memory that may be shared stands there");
        return Err(if called.is_empty() {
            Failure::usage(what, "lines are those of the build that was profiled")
        } else {
            let called: Vec<String> = called.into_iter().map(readable).collect();
            Failure::usage(
                format!("{what}, but calls of {}", called.join(", ")),
                "a pair may end at what they access: name a line of theirs",
            )
        });
    }
    Ok(found)
}

/// The functions that a node is known to call.
fn callees(node: &Node) -> Vec<&str> {
    match &node.kind {
        NodeKind::Call(Call { callee: Callee::Direct(name), .. }) => vec![name],
        NodeKind::Call(Call { callee: Callee::OneOf(names), .. }) => names.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The program's functions and accesses, from the bitcode of all its units.
pub(crate) fn extract(capture: &Capture) -> Result<Program, Failure> {
    let modules = units::extract(capture)?.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut program = Program::link(modules);
    program.uncovered.extend(capture.uncovered.iter().cloned());
    Ok(program)
}

/// Infers from the project's profile.
pub(crate) fn infer(project: &Project, capture: &Capture, program: &Program, config: &Config) -> Result<Inferred, Failure> {
    let profile = project.profile()?;
    if let Some(warning) = project.freshness(program, &profile)?.warning() {
        eprintln!("atomfix: {warning}");
    }
    let mut inferred = inference::infer(program, &profile.evidence(), &capture.build, config);
    name_as_in_source(&mut inferred.plan);
    // The certificate quotes the plan, so it quotes what people read.
    let Inferred { plan, certificate, .. } = &mut inferred;
    certificate.refused.clone_from(&plan.refused);
    for grounds in &mut certificate.locks {
        grounds.pairs.clone_from(&plan.locks[grounds.lock.index()].pairs);
    }
    Ok(inferred)
}

/// Demangles what nobody but people reads. The variable of a lock is not among it: it is compared when the plan is applied.
fn name_as_in_source(plan: &mut Plan) {
    for lock in &mut plan.locks {
        let pairs = lock.pairs.iter_mut().flat_map(|pair| [&mut pair.from, &mut pair.to]);
        let operations = lock.operations.iter_mut().map(|operation| &mut operation.source);
        pairs.chain(operations).for_each(|text| *text = readable(text));
    }
    let refused = plan.refused.iter_mut().flat_map(|pair| [&mut pair.why, &mut pair.variable, &mut pair.from, &mut pair.to]);
    refused.for_each(|text| *text = readable(text));
}

/// What was inferred, for people: locks with their source lines, what was refused, what is not covered. The plan has it in full.
pub(crate) fn summary(inferred: &Inferred) -> String {
    let Plan { locks, refused, .. } = &inferred.plan;
    let mut text = locks_text(locks);
    let pairs: usize = locks.iter().map(|lock| lock.pairs.len()).sum();
    let keep = if locks.len() == 1 { "keeps" } else { "keep" };
    let were = if refused.len() == 1 { "was" } else { "were" };
    let (kept, refusals) = (counted(pairs, "pair"), counted(refused.len(), "pair"));
    text.push_str(&format!("{} {keep} {kept}; {refusals} {were} refused", counted(locks.len(), "lock")));
    text.push_str(if refused.is_empty() { "\n" } else { ":\n" });
    text.push_str(&refusals_text(refused));
    for finding in in_one_line(&inferred.findings, "the profile is incomplete: ") {
        text.push_str(&format!("note: {}\n", readable(&finding)));
    }
    text
}

/// The refused pairs that were seen most, each with its ends in the source and the reason.
fn refusals_text(refused: &[Refused]) -> String {
    let mut refused: Vec<&Refused> = refused.iter().collect();
    refused.sort_by_key(|pair| (Reverse(pair.seen), *pair));
    let line = |pair: &&Refused| {
        let (variable, from, to) = (&pair.variable, &pair.from, &pair.to);
        format!("    {variable}: {from} .. {to}, seen {}: {}\n", counted(pair.seen, "time"), pair.why)
    };
    let mut text: String = refused.iter().take(REFUSALS_SHOWN).map(line).collect();
    if let Some(more @ 1..) = refused.len().checked_sub(REFUSALS_SHOWN) {
        text.push_str(&format!("    … and {more} more (plan.toml)\n"));
    }
    text
}

/// The findings, with all that begin with `topic` joined where the first of them stands.
fn in_one_line(findings: &[String], topic: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for finding in findings {
        let about = finding.strip_prefix(topic);
        match (about, lines.iter_mut().find(|line| line.starts_with(topic))) {
            (Some(more), Some(line)) => line.push_str(&format!(", {more}")),
            _ => lines.push(finding.clone()),
        }
    }
    lines
}

fn locks_text(locks: &[Lock]) -> String {
    let mut text: String = locks.iter().take(LOCKS_SHOWN).map(lock_text).collect();
    if let Some(more @ 1..) = locks.len().checked_sub(LOCKS_SHOWN) {
        text.push_str(&format!("… and {} (plan.toml)\n", counted(more, "more lock")));
    }
    text
}

fn lock_text(lock: &Lock) -> String {
    let mut text = format!("{} protects {}\n", lock.id, readable(&lock.variable));
    let mut pairs: Vec<_> = lock.pairs.iter().collect();
    pairs.sort_by_key(|pair| Reverse(pair.seen));
    for pair in pairs.iter().take(PAIRS_SHOWN) {
        let kept = match pair.atomicity {
            Atomicity::Exclusive => "no remote access",
            Atomicity::Read | Atomicity::None => "no remote write",
        };
        let (seen, threads, runs) = (counted(pair.seen, "time"), counted(pair.threads, "thread"), counted(pair.runs, "run"));
        let (from, to, near, confidence) = (&pair.from, &pair.to, pair.near, pair.confidence());
        let except = pair.except.as_ref().map_or_else(String::new, |what| format!("; not on ways over {what}"));
        text.push_str(&format!(
            "    {kept} between {from} and {to}: seen {seen} by {threads} in {runs}, with others near {near}: {confidence} % sure{except}\n"
        ));
    }
    if let Some(more @ 1..) = pairs.len().checked_sub(PAIRS_SHOWN) {
        text.push_str(&format!("    … and {more} more (plan.toml)\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::ids::{LockId, NodeId};
    use model::plan::PlannedPair;

    fn lock(seen: &[u64]) -> Lock {
        let pair = |&seen: &u64| PlannedPair {
            function: "f0000000000000000".parse().expect("a key"),
            head: NodeId(0),
            tail: NodeId(1),
            atomicity: Atomicity::Exclusive,
            seen,
            near: seen,
            threads: 2,
            runs: 1,
            from: "a.c:1 (f)".to_owned(),
            to: "a.c:2 (f)".to_owned(),
            except: None,
        };
        let pairs = seen.iter().map(pair).collect();
        Lock { id: LockId(0), enabled: true, variable: "v".to_owned(), cost: 0, pairs, operations: Vec::new() }
    }

    #[test]
    fn a_lock_shows_the_pairs_that_were_seen_most() {
        let text = lock_text(&lock(&[1, 5, 9, 7, 3]));
        let shown: Vec<_> = text.lines().skip(1).map(|line| line.split_once(": ").map_or(line, |(_, seen)| seen)).collect();
        let seen = |count, sure| format!("seen {count} times by 2 threads in 1 run, with others near {count}: {sure} % sure");
        assert_eq!(shown[..3], [seen(9, 90), seen(7, 88), seen(5, 85)]);
        assert_eq!(shown[3..], ["    … and 2 more (plan.toml)"]);
        assert!(!lock_text(&lock(&[1, 2, 3])).contains('…'));
    }

    #[test]
    fn refused_pairs_show_both_ends_and_the_reason_those_seen_most_first() {
        let pair = |seen| Refused {
            why: "it may wait".to_owned(),
            variable: "v".to_owned(),
            from: format!("a.c:{seen} (f)"),
            to: "a.c:9 (f)".to_owned(),
            seen,
        };
        let text = refusals_text(&(1..=8).map(pair).collect::<Vec<_>>());
        assert!(text.starts_with("    v: a.c:8 (f) .. a.c:9 (f), seen 8 times: it may wait\n    v: a.c:7 "), "{text}");
        assert!(text.ends_with("    v: a.c:3 (f) .. a.c:9 (f), seen 3 times: it may wait\n    … and 2 more (plan.toml)\n"), "{text}");
        assert_eq!(refusals_text(&[]), "");
    }

    #[test]
    fn locks_beyond_a_dozen_are_counted() {
        for (count, last) in [(12, None), (13, Some("… and 1 more lock (plan.toml)")), (15, Some("… and 3 more locks (plan.toml)"))] {
            let text = locks_text(&vec![lock(&[]); count]);
            assert_eq!(text.matches("protects").count(), 12);
            assert_eq!(text.lines().last().filter(|line| line.starts_with('…')), last);
        }
    }

    #[test]
    fn sites_are_found_by_line_column_and_key() {
        use model::pair::Rw;
        use model::program::{Access, Function, Node, NodeKind, Place};
        use model::site::Source;
        let node = |key, line, column| {
            let place = Place::Global { name: "x".to_owned(), offset: 0 };
            let position = Position { file: "./src/a.c".to_owned(), line, column, function: "f".to_owned() };
            let kind = NodeKind::Access(Access { rw: Rw::Read, place, atomic: false, bytes: Some(4), covers: Vec::new() });
            Node { kind, site: Some(SiteKey(key)), source: Source(vec![position]), successors: Vec::new() }
        };
        let function = Function {
            key: "f0000000000000000".parse().expect("a key"),
            name: "f".to_owned(),
            local: false,
            module: "a.c".to_owned(),
            signature: "void ()".to_owned(),
            nodes: vec![node(1, 3, 1), node(2, 3, 7), node(3, 4, 1)],
            pointers: model::pointer::Pointers::default(),
            counted: Vec::new(),
            refused: None,
        };
        let program = Program { functions: vec![function], ..Program::default() };
        let found = |text: &str| sites_at(&program, text).ok().map(|sites| sites.into_iter().map(|site| site.0).collect::<Vec<_>>());
        assert_eq!(found("a.c:3"), Some(vec![1, 2]));
        assert_eq!(found("src/a.c:3:7"), Some(vec![2]));
        assert_eq!(found("s0000000000000009"), Some(vec![9]));
        for nowhere in ["a.c:5", "b.c:3", "a.c:3:2", "a.c", "a.c:x", "c:3"] {
            assert_eq!(found(nowhere), None, "{nowhere}");
        }
    }

    #[test]
    fn findings_on_one_topic_take_one_line() {
        let findings = ["topic: 1 x a", "other", "topic: 2 x b"].map(str::to_owned);
        assert_eq!(in_one_line(&findings, "topic: "), ["topic: 1 x a, 2 x b", "other"]);
        assert_eq!(in_one_line(&["other".to_owned(), "other".to_owned()], "topic: "), ["other", "other"]);
    }
}
