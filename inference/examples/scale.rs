//! How inference grows with the program: `cargo run --release --example scale -p atomfix-inference [FUNCTIONS..]`.
//!
//! Generated programs: each function has about twenty nodes with branches and a loop, accesses some of a growing number of globals and
//! heap fields, calls a few functions before it, and sometimes holds one of the program's locks. One function in three has a pair.
#![expect(clippy::print_stdout, reason = "a program that prints a table")]

use std::collections::BTreeSet;
use std::time::Instant;

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
    NodeKind::Call(Call { callee: Callee::Direct(name), accesses: Vec::new(), sync, blocking: None })
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
            1 | 2 => NodeKind::Access(Access { rw: Rw::Read, place: shared.clone(), atomic: false }),
            3 => NodeKind::Access(Access { rw: Rw::Write, place: place(random, functions), atomic: false }),
            4 => NodeKind::Access(Access { rw: Rw::Read, place: place(random, functions), atomic: false }),
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
    Function { key, name, local: false, module, signature, nodes, pointers: model::pointer::Pointers::default(), refused: None }
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
            let pair = PairEvidence { atomicity, seen: 9, shared: 9, threads: 2, locks: BTreeSet::new() };
            evidence.pairs.insert(PairKey { head: two[0], tail: two[1], first: two[0], second: two[1] }, (pair, 1));
        }
    }
}

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    for functions in if sizes.is_empty() { vec![300, 1_000, 3_000] } else { sizes } {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let mut evidence = Evidence { runs: 1, ..Evidence::default() };
        let all = (0..functions).map(|index| function(index, functions, &mut random, &mut evidence)).collect();
        let program = Program { functions: all, ..Program::default() };
        let start = Instant::now();
        let inferred = inference::infer(&program, &evidence, "scale", &inference::Config::default());
        let seconds = start.elapsed().as_secs_f64();
        println!("{functions} functions, {} pairs seen: {seconds:.2} s, checked: {}", evidence.pairs.len(), inferred.certificate.checked);
        println!("{}", inferred.statistics);
    }
}
