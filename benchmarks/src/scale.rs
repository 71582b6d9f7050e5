//! How inference grows with the program, on generated programs.
//!
//! Each function has about twenty nodes with branches and a loop, accesses some of a growing number of globals and
//! heap fields, calls a few functions before it, and sometimes holds one of the program's locks over calls. One function in three has
//! pairs. Calls thus reach nearly everything, which is worse than in real programs.
//!
//! Processor time, since inference runs on one thread and the machine may have other work.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result};
use inference::Config;
use model::external::SyncOp;
use model::ids::{FunctionKey, NodeId, SiteKey};
use model::pair::{Atomicity, Rw};
use model::profile::{Evidence, PairEvidence, PairKey, SiteEvidence};
use model::program::{Access, Call, Callee, Function, Node, NodeKind, Place, Program};
use model::site::Source;

/// Marsaglia's xorshift64, so that every run makes the same programs.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap_or_default() % limit.max(1)
    }
}

fn call(name: String, sync: Option<(SyncOp, Vec<Place>)>) -> NodeKind {
    NodeKind::Call(Call { callee: Callee::Direct(name), accesses: Vec::new(), sync, blocking: None, calls_back: Vec::new() })
}

fn access(rw: Rw, place: Place) -> Access {
    Access { rw, place, atomic: false, bytes: Some(8), covers: Vec::new() }
}

fn place(random: &mut Random, functions: usize) -> Place {
    let number = random.below(functions / 4 + 4);
    match random.below(3) {
        0 => Place::Global { name: format!("g{number}"), offset: 0 },
        _ => Place::Field { record: format!("struct.s{}", number / 8), offset: 8 * (number as u64 % 8) },
    }
}

fn function(index: usize, functions: usize, random: &mut Random, evidence: &mut Evidence) -> Function {
    let key = FunctionKey(index as u64 + 1);
    let lock = Place::Global { name: format!("m{}", random.below(functions / 50 + 2)), offset: 0 };
    let mut kinds = vec![NodeKind::Block];
    let locked = random.below(4) == 0;
    let shared = place(random, functions);
    for i in 0..20 {
        kinds.push(match random.below(10) {
            _ if locked && i == 3 => call("pthread_mutex_lock".to_owned(), Some((SyncOp::Lock, vec![lock.clone()]))),
            _ if locked && i == 15 => call("pthread_mutex_unlock".to_owned(), Some((SyncOp::Unlock, vec![lock.clone()]))),
            0 if index > 0 => call(format!("f{}", index - 1 - random.below(index.min(30))), None),
            1 | 2 => NodeKind::Access(access(Rw::Read, shared.clone())),
            3 => NodeKind::Access(access(Rw::Write, place(random, functions))),
            4 => NodeKind::Access(access(Rw::Read, place(random, functions))),
            _ => NodeKind::Block,
        });
    }
    kinds.push(NodeKind::Return);
    let last = kinds.len() - 1;
    let nodes: Vec<Node> = kinds
        .into_iter()
        .enumerate()
        .map(|(n, kind)| {
            let site = matches!(kind, NodeKind::Access(_) | NodeKind::Call(_)).then(|| SiteKey::of(key, u32::try_from(n).unwrap_or(0)));
            let mut successors = if n < last { vec![NodeId::new(n + 1)] } else { Vec::new() };
            // Jumps would leave a critical section with its lock held.
            if n < last && !locked && random.below(6) == 0 {
                let to = if random.below(4) == 0 { n.max(4) - 3 } else { (n + 1 + random.below(4)).min(last) };
                successors.push(NodeId::new(to));
                successors.dedup();
            }
            Node { kind, site, source: Source::default(), successors }
        })
        .collect();
    observe(&nodes, &shared, random, evidence);
    let (name, module, signature) = (format!("f{index}"), "m".to_owned(), "void ()".to_owned());
    Function {
        key,
        name,
        local: false,
        module,
        signature,
        nodes,
        pointers: model::pointer::Pointers::default(),
        counted: Vec::new(),
        refused: None,
    }
}

/// Pairs between consecutive reads of the function's shared place.
fn observe(nodes: &[Node], shared: &Place, random: &mut Random, evidence: &mut Evidence) {
    for node in nodes.iter().filter(|node| !node.accesses().is_empty()) {
        let known = SiteEvidence { rw: node.accesses()[0].rw, seen: 10, shared: 10, locks: Some(BTreeSet::new()), concurrent: true };
        evidence.sites.extend(node.site.map(|site| (site, known)));
    }
    let ends: Vec<SiteKey> =
        nodes.iter().filter(|node| node.accesses().iter().any(|a| a.place == *shared)).filter_map(|node| node.site).collect();
    if random.below(3) == 0 {
        for two in ends.windows(2) {
            let atomicity = if random.below(2) == 0 { Atomicity::Exclusive } else { Atomicity::Read };
            let pair = PairEvidence { atomicity, seen: 9, shared: 9, near: 9, threads: 2, locks: BTreeSet::new() };
            evidence.pairs.insert(PairKey { head: two[0], tail: two[1], first: two[0], second: two[1] }, (pair, 1));
        }
    }
}

/// One size of program.
#[derive(Clone, Debug)]
pub struct Measured {
    /// How many functions it has.
    pub functions: usize,
    /// How many pairs its profile shows.
    pub pairs: usize,
    /// How many locks the plan has.
    pub locks: usize,
    /// Whether the checker accepts the plan.
    pub checked: bool,
    /// Processor time in seconds.
    pub seconds: f64,
}

impl Measured {
    /// Seconds for `functions` times their logarithm, in billionths.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
    pub fn per_size(&self) -> f64 {
        let n = self.functions.max(2) as f64;
        self.seconds * 1e9 / (n * n.log2())
    }
}

/// Generates a program and infers a plan for it.
pub fn measure(functions: usize) -> Result<Measured> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut evidence = Evidence { runs: 1, ..Evidence::default() };
    let all = (0..functions).map(|index| function(index, functions, &mut random, &mut evidence)).collect();
    let program = Program { functions: all, ..Program::default() };
    let start = on_processor()?;
    let inferred = inference::infer(&program, &evidence, "scale", &Config::default());
    let seconds = on_processor()? - start;
    let (locks, checked) = (inferred.plan.locks.len(), inferred.certificate.checked);
    Ok(Measured { functions, pairs: evidence.pairs.len(), locks, checked, seconds })
}

/// Seconds that this thread has run.
#[expect(clippy::cast_precision_loss, reason = "nanoseconds of hours are below 2^52")]
fn on_processor() -> Result<f64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").context("/proc/thread-self/schedstat")?;
    let nanoseconds: u64 = text.split_whitespace().next().unwrap_or_default().parse().context("/proc/thread-self/schedstat")?;
    Ok(nanoseconds as f64 / 1e9)
}
