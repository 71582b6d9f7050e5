//! A text form of small programs and of what was seen of them, for tests.
//!
//! ```text
//! fn foo                      a function; its entry leads to the first node listed
//!   2: write x -> 4 5         a node, its number as in the paper, what it does, its successors
//! pair foo 2 12 X             an observation (X, R or N); `via 150 @bar 160 @baz` names the accesses inside calls;
//!                             `locks m` the lock instances held throughout; `seen 7`, `near 3`, `private`
//! held foo 2 m                locks held at every execution of a site; without a line, none
//! together foo 2 bar 3        seen on one address
//! met foo 2 bar 3 unordered    met on one address; or `locked`, under one lock
//! ordered foo 2               never met a concurrent access of another thread
//! unshared foo 2              ran only before another thread had come to the memory
//! unrun foo 2                 never ran
//! ran foo 2 500               how often it ran, instead of ten times
//! counts foo 1 4 3 6          the loop from 1, back to it from 4, ends by counting: at 3, to 6
//! same *p x                   may be the same memory, as pointers of the first function tell
//! ```
//! Places: `x` a global, `x+8` a field of it, `x[]` an element, `T.8` a field, `*p` a pointer. Nodes: `read` `write` `update` `atomic` P,
//! `wide` P BYTES (one store), `fill` P BYTES (a call), `copy` P Q, `free` P, `call` F,
//! `icall` TYPE, `lock` `unlock` M... (all at once), `rdlock` M, `wait` C M, `input` P, `join`, `sleep`, `-` (nothing), `return`, `stop` (unwinding).
#![allow(dead_code, reason = "each test binary uses a part")]

pub(crate) mod explore;
pub(crate) mod paths;

use std::collections::{BTreeMap, BTreeSet};

use inference::{Config, Optimization, Optimizations, Reads};
use model::external::{Blocking, SyncOp};
use model::ids::{FunctionId, FunctionKey, NodeId, PointerId, SiteKey, fnv1a};
use model::pair::{Atomicity, Meeting, Rw};
use model::pointer::Pointers;
use model::profile::{Evidence, LockName, PairEvidence, PairKey, SiteEvidence};
use model::program::{Access, Call, Callee, Counted, Function, Node, NodeKind, Place, Program};
use model::site::{Position, Source};

/// A program and its evidence.
pub(crate) struct Case {
    pub(crate) program: Program,
    pub(crate) evidence: Evidence,
}

impl Case {
    pub(crate) fn function(&self, name: &str) -> FunctionId {
        FunctionId::new(self.program.functions.iter().position(|function| function.name == name).expect("a function of the test"))
    }
}

pub(crate) fn key_of(name: &str) -> FunctionKey {
    FunctionKey(fnv1a(name.as_bytes()))
}

pub(crate) fn site(function: &str, node: u32) -> SiteKey {
    SiteKey::of(key_of(function), node)
}

pub(crate) fn place(text: &str) -> Place {
    if let Some(name) = text.strip_suffix("[]") {
        return Place::GlobalElement { name: name.to_owned(), offset: 0 };
    }
    if let Some(name) = text.strip_prefix('*') {
        return Place::Pointer { site: SiteKey(fnv1a(name.as_bytes())) };
    }
    if let Some((name, offset)) = text.split_once('+') {
        return Place::Global { name: name.to_owned(), offset: offset.parse().expect("an offset") };
    }
    match text.split_once('.') {
        Some((record, offset)) => Place::Field { record: record.to_owned(), offset: offset.parse().expect("an offset") },
        None => Place::Global { name: text.to_owned(), offset: 0 },
    }
}

fn access(rw: Rw, text: &str, atomic: bool) -> Access {
    Access { rw, place: place(text), atomic, bytes: None, covers: Vec::new() }
}

fn call(callee: &str) -> Call {
    Call { callee: Callee::Direct(callee.to_owned()), accesses: Vec::new(), sync: None, blocking: None, calls_back: Vec::new() }
}

fn kind(words: &[&str]) -> NodeKind {
    let sync = |name: &str, op: SyncOp, places: &[&str]| {
        NodeKind::Call(Call { sync: Some((op, places.iter().map(|text| place(text)).collect())), ..call(name) })
    };
    match *words {
        ["-"] => NodeKind::Block,
        ["return"] => NodeKind::Return,
        ["stop"] => NodeKind::Stop,
        ["read", p] => NodeKind::Access(access(Rw::Read, p, false)),
        ["write", p] => NodeKind::Access(access(Rw::Write, p, false)),
        ["update", p] => NodeKind::Access(access(Rw::Update, p, false)),
        ["atomic", p] => NodeKind::Access(access(Rw::Update, p, true)),
        ["wide", p, bytes] => NodeKind::Access(Access { bytes: Some(number(bytes)), ..access(Rw::Write, p, false) }),
        ["fill", p, bytes] => {
            let access = Access { bytes: Some(number(bytes)), ..access(Rw::Write, p, false) };
            NodeKind::Call(Call { accesses: vec![access], ..call("memset") })
        }
        ["copy", p, q] => {
            NodeKind::Call(Call { accesses: vec![access(Rw::Write, p, false), access(Rw::Read, q, false)], ..call("memcpy") })
        }
        ["free", p] => NodeKind::Call(Call { accesses: vec![access(Rw::Write, p, false)], ..call("free") }),
        ["call", f] => NodeKind::Call(call(f)),
        ["icall", signature] => NodeKind::Call(Call { callee: Callee::Indirect(signature.to_owned()), ..call("") }),
        ["lock", ref all @ ..] => sync("pthread_mutex_lock", SyncOp::Lock, all),
        ["unlock", ref all @ ..] => sync("pthread_mutex_unlock", SyncOp::Unlock, all),
        ["rdlock", m] => sync("pthread_rwlock_rdlock", SyncOp::ReadLock, &[m]),
        ["wait", c, m] => sync("pthread_cond_wait", SyncOp::Wait, &[c, m]),
        ["join"] => sync("pthread_join", SyncOp::Join, &[]),
        ["input", p] => {
            NodeKind::Call(Call { blocking: Some(Blocking::Descriptor), accesses: vec![access(Rw::Write, p, false)], ..call("read") })
        }
        ["sleep"] => NodeKind::Call(Call { blocking: Some(Blocking::Peer), ..call("sleep") }),
        _ => panic!("not a node: {words:?}"),
    }
}

/// Reads a case; panics with the line on anything else.
pub(crate) fn parse(text: &str) -> Case {
    let mut functions: Vec<(String, BTreeMap<u32, Node>, Option<u32>)> = Vec::new();
    let mut evidence = Evidence { runs: 1, ..Evidence::default() };
    let mut later = Vec::new();
    let (mut same, mut counts) = (Vec::new(), Vec::new());
    for line in text.lines().map(|line| line.split('#').next().unwrap_or_default().trim()).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["fn", name] => functions.push((name.to_owned(), BTreeMap::new(), None)),
            ["counts", name, ref numbers @ ..] => counts.push((name, numbers.iter().map(|word| NodeId(number(word))).collect::<Vec<_>>())),
            ["same", ref places @ ..] => same.push(places.iter().map(|text| place(text)).collect::<Vec<_>>()),
            ["pair" | "held" | "together" | "ordered" | "unshared" | "unrun" | "ran" | "met", ..] => later.push(words),
            _ => {
                let (number, rest) = line.split_once(':').unwrap_or_else(|| panic!("not a line of a case: {line}"));
                let (what, to) = rest.split_once("->").unwrap_or((rest, ""));
                let number: u32 = number.trim().parse().expect("a node number");
                let (name, nodes, first) = functions.last_mut().expect("a function before its nodes");
                first.get_or_insert(number);
                let kind = kind(&what.split_whitespace().collect::<Vec<_>>());
                let site = matches!(kind, NodeKind::Access(_) | NodeKind::Call(_)).then(|| site(name, number));
                let position = Position { file: format!("{name}.c"), line: number, column: 0, function: name.clone() };
                let successors = to.split_whitespace().map(|word| NodeId(word.parse().expect("a node number"))).collect();
                nodes.insert(number, Node { kind, site, source: Source(vec![position]), successors });
            }
        }
    }
    let taken = functions.iter().map(|(name, _, _)| name.clone()).collect();
    let mut program = Program { functions: functions.into_iter().map(function).collect(), taken, ..Program::default() };
    model::range::spread(&mut program);
    for (name, numbers) in counts {
        let [header, step, test, out] = numbers[..] else { panic!("not a loop that counts: {numbers:?}") };
        let function = program.functions.iter_mut().find(|function| function.name == name).expect("a function of the test");
        function.counted.push(Counted { header, steps: vec![step], test, out });
    }
    for (index, places) in same.into_iter().enumerate() {
        let pointers = &mut program.functions[0].pointers;
        pointers.count += 1;
        pointers.behind.extend(places.into_iter().map(|place| (place, PointerId::new(index))));
    }
    for node in program.functions.iter().flat_map(|function| &function.nodes).filter(|node| !node.accesses().is_empty()) {
        let evidence_of = SiteEvidence { rw: node.accesses()[0].rw, seen: 10, shared: 10, locks: Some(BTreeSet::new()), concurrent: true };
        evidence.sites.insert(node.site.expect("accesses are sites"), evidence_of);
    }
    for words in later {
        observe(&words, &mut evidence);
    }
    Case { program, evidence }
}

fn function((name, mut nodes, first): (String, BTreeMap<u32, Node>, Option<u32>)) -> Function {
    let filler = || Node { kind: NodeKind::Block, site: None, source: Source::default(), successors: Vec::new() };
    let first = first.expect("a function has nodes");
    if first != 0 {
        nodes.insert(0, Node { successors: vec![NodeId(first)], ..filler() });
    }
    let last = *nodes.keys().next_back().expect("a node");
    let nodes = (0..=last).map(|number| nodes.remove(&number).unwrap_or_else(filler)).collect();
    let key = key_of(&name);
    let (module, signature) = ("test.c".to_owned(), "void ()".to_owned());
    Function { key, name, local: false, module, signature, nodes, pointers: Pointers::default(), counted: Vec::new(), refused: None }
}

fn lock(name: &str) -> LockName {
    LockName::Global { symbol: name.to_owned(), offset: 0 }
}

fn number(word: &str) -> u32 {
    word.parse().expect("a number")
}

/// A pair that two threads were seen with five times, nobody near.
pub(crate) fn seen_pair(atomicity: Atomicity) -> PairEvidence {
    PairEvidence { atomicity, seen: 5, shared: 5, near: 0, threads: 2, locks: BTreeSet::new() }
}

fn observe(words: &[&str], evidence: &mut Evidence) {
    match *words {
        ["pair", f, head, tail, atomicity, ref rest @ ..] => {
            let atomicity = match atomicity {
                "X" => Atomicity::Exclusive,
                "R" => Atomicity::Read,
                "N" => Atomicity::None,
                other => panic!("not an atomicity: {other}"),
            };
            let (head, tail) = (site(f, number(head)), site(f, number(tail)));
            let mut key = PairKey { head, tail, first: head, second: tail };
            let mut pair = PairEvidence { near: 5, ..seen_pair(atomicity) };
            let mut rest = rest.iter();
            while let Some(&word) = rest.next() {
                let mut next = || *rest.next().expect("a word more");
                match word {
                    "via" => {
                        key.first = site(next().trim_start_matches('@'), number(next()));
                        key.second = site(next().trim_start_matches('@'), number(next()));
                    }
                    "locks" => pair.locks.extend(next().split(',').map(lock)),
                    "seen" => pair.seen = u64::from(number(next())),
                    "near" => pair.near = u64::from(number(next())),
                    "private" => pair.shared = 0,
                    other => panic!("not part of a pair: {other}"),
                }
            }
            evidence.pairs.insert(key, (pair, 1));
        }
        ["held", f, n, ref locks @ ..] => {
            let known = evidence.sites.get_mut(&site(f, number(n))).expect("a site that accesses memory");
            known.locks = Some(locks.iter().map(|name| lock(name)).collect());
        }
        ["ordered", f, n] => {
            evidence.sites.get_mut(&site(f, number(n))).expect("a site that accesses memory").concurrent = false;
        }
        ["unshared", f, n] => {
            evidence.sites.get_mut(&site(f, number(n))).expect("a site that accesses memory").locks = None;
        }
        ["ran", f, n, count] => {
            evidence.sites.get_mut(&site(f, number(n))).expect("a site that accesses memory").seen = u64::from(number(count));
        }
        ["unrun", f, n] => {
            evidence.sites.remove(&site(f, number(n))).expect("a site that accesses memory");
        }
        ["met", f, n, g, m, how] => {
            let (a, b) = (site(f, number(n)), site(g, number(m)));
            let how = if how == "locked" { Meeting::UnderOneLock } else { Meeting::Unordered };
            evidence.met.insert((a.min(b), a.max(b)), how);
        }
        ["together", f, n, g, m] => {
            let (a, b) = (site(f, number(n)), site(g, number(m)));
            evidence.together.insert((a.min(b), a.max(b)));
        }
        _ => panic!("not an observation: {words:?}"),
    }
}

/// The plan's operations as text, with labels named by their node: `foo before 2: x acquire X`, `foo 4->6: x degrade 2`.
pub(crate) fn operations(case: &Case, plan: &model::plan::Plan) -> Vec<String> {
    use model::plan::{Action, At};
    let mut lines = Vec::new();
    for lock in &plan.locks {
        let labels: BTreeMap<_, u32> = lock
            .operations
            .iter()
            .filter_map(|operation| match (operation.at, operation.action) {
                (At::Before(node), Action::Acquire(_, label)) => Some((label, node.0)),
                _ => None,
            })
            .collect();
        let mut of_lock: Vec<(&str, String)> = Vec::new();
        for operation in &lock.operations {
            let name = &case.program.functions.iter().find(|f| f.key == operation.function).expect("a known function").name;
            let at = match operation.at {
                At::Before(node) => format!("before {}", node.0),
                At::Edge(from, to) => format!("{}->{}", from.0, to.0),
            };
            let action = match operation.action {
                Action::Acquire(mode, _) => format!("acquire {mode}"),
                Action::Release(label) => format!("release {}", labels[&label]),
                Action::Degrade(label) => format!("degrade {}", labels[&label]),
                Action::DegradeToUpdate(label) => format!("degrade U {}", labels[&label]),
            };
            of_lock.push((name, format!("{name} {at}: {} {action}", lock.variable)));
        }
        of_lock.sort_by_key(|&(name, _)| case.function(name));
        lines.extend(of_lock.into_iter().map(|(_, line)| line));
    }
    lines
}

/// Infers what the paper would, and insists that the checker accepts the plan.
pub(crate) fn infer_checked(case: &Case) -> inference::Inferred {
    let inferred = infer(case);
    assert!(inferred.certificate.checked, "{:?}", inferred.certificate.wrong);
    inferred
}

/// Infers what the paper would: EXCLUSIVE pairs of reads stay exclusive.
pub(crate) fn infer(case: &Case) -> inference::Inferred {
    infer_without(case, &[])
}

/// The same without some optimizations.
pub(crate) fn infer_without(case: &Case, off: &[Optimization]) -> inference::Inferred {
    let optimizations = Optimizations::default().without(off.iter().copied());
    inference::infer(&case.program, &case.evidence, "test", &Config { reads: Reads::AsSeen, optimizations, ..Config::default() })
}

/// The `lc` set of every node of a function for the variable whose name is given, strongest first and NONE as `N`: `4: X(2,12) R(2,7) N`.
pub(crate) fn constraint_sets(case: &Case, inferred: &inference::Inferred, name: &str, variable: &str) -> Vec<String> {
    let variable = inferred.variables(&place(variable)).next().expect("a variable of the test");
    let function = case.function(name);
    let flow = inference::flow::Flow::of(case.program.function(function));
    let mut lines = Vec::new();
    for (_, constraints) in inferred.placements.constraints.iter().filter(|(spot, _)| **spot == (variable, function)) {
        let none = constraints.unconstrained(&flow);
        for node in flow.nodes().filter(|&node| flow.is_reachable(node)) {
            let mut at: Vec<_> = constraints.at(node).iter().map(|id| constraints.get(id)).collect();
            at.sort_by_key(|constraint| (std::cmp::Reverse(constraint.mode), constraint.head, constraint.tail));
            let mut words: Vec<String> = at.iter().map(ToString::to_string).collect();
            words.extend(none.contains(node).then(|| "N".to_owned()));
            lines.push(format!("{}: {}", node.0, words.join(" ")));
        }
    }
    lines
}

/// What each lock of a plan protects, where every variable is one place.
pub(crate) fn protected_places(plan: &model::plan::Plan) -> Vec<BTreeSet<Place>> {
    plan.locks.iter().map(|lock| BTreeSet::from([place(&lock.variable)])).collect()
}
