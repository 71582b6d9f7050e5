//! A small C program as inference sees it, pairs by line, and plans as text by line.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use inference::flow::Flow;
use inference::{Config, Inferred, Reads, infer};
use model::ids::{FunctionId, NodeId, SiteKey};
use model::pair::Atomicity;
use model::plan::{Action, At, Plan};
use model::profile::{Evidence, PairEvidence, PairKey, SiteEvidence};
use model::program::{Function, NodeKind, Program};

/// A program.
pub(crate) struct Case {
    program: Program,
}

impl Case {
    /// Compiles and links `source`, with a `main` that does nothing, and extracts it.
    pub(crate) fn build(source: &str) -> Self {
        Self::build_with("cc", source)
    }

    /// The same by this driver: `cc`, or `c++` for C++.
    pub(crate) fn build_with(driver: &str, source: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = if driver == "cc" { "a.c" } else { "a.cpp" };
        fs::write(folder.path().join(file), format!("{source}\nint main(void) {{ return 0; }}\n")).expect("written");
        let mut command = Command::new("timeout");
        command.arg("60").arg(env!("CARGO_BIN_EXE_atomfix")).args([driver, "-g", "-w", file, "-o", "app", "-pthread"]);
        let output = command.current_dir(folder.path()).output().expect("timeout is installed");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let capture = capture::open(&folder.path().join("app")).expect("a program of ours");
        let modules = capture.units.iter().map(|unit| passes::extract::extract(&unit.bitcode).expect("extracts"));
        Self { program: Program::link(modules.collect()) }
    }

    fn function(&self, name: &str) -> (FunctionId, &Function) {
        let found = self.program.functions.iter().enumerate().find(|(_, function)| function.name == name);
        found.map(|(f, function)| (FunctionId::new(f), function)).unwrap_or_else(|| panic!("no function {name}"))
    }

    /// The site on a line: an access to `variable`, or else a call.
    fn site(&self, function: &str, line: &str, variable: &str) -> SiteKey {
        let line: u32 = line.parse().expect("a line");
        let of_line = || self.function(function).1.nodes.iter().filter(|node| line_of(&node.source) == Some(line));
        let accesses =
            |node: &&model::program::Node| node.accesses().iter().any(|access| self.program.name_of(&access.place).contains(variable));
        let call = |node: &&model::program::Node| matches!(node.kind, NodeKind::Call(_));
        let found = of_line().find(accesses).or_else(|| of_line().find(call)).and_then(|node| node.site);
        found.unwrap_or_else(|| panic!("nothing accesses {variable} on line {line} of {function}"))
    }

    /// Every access seen by several threads, and these pairs: `FUNCTION LINE LINE VARIABLE X|R [via FUNCTION LINE FUNCTION LINE]`.
    pub(crate) fn infer(&self, pairs: &[&str]) -> Inferred {
        let mut evidence = Evidence { runs: 1, ..Evidence::default() };
        for node in self.program.functions.iter().flat_map(|function| &function.nodes) {
            if let (Some(site), Some(access)) = (node.site, node.accesses().first()) {
                let seen = SiteEvidence { rw: access.rw, seen: 9, shared: 9, locks: Some(BTreeSet::new()), concurrent: true };
                evidence.sites.insert(site, seen);
            }
        }
        for text in pairs {
            let words: Vec<&str> = text.split_whitespace().collect();
            let (head, tail) = (self.site(words[0], words[1], words[3]), self.site(words[0], words[2], words[3]));
            let (first, second) = match words.get(6..) {
                Some(&[f, line, g, other]) => (self.site(f, line, words[3]), self.site(g, other, words[3])),
                _ => (head, tail),
            };
            let atomicity = if words[4] == "X" { Atomicity::Exclusive } else { Atomicity::Read };
            let seen = PairEvidence { atomicity, seen: 5, shared: 5, near: 5, threads: 2, locks: BTreeSet::new() };
            evidence.pairs.insert(PairKey { head, tail, first, second }, (seen, 1));
        }
        infer(&self.program, &evidence, "test", &Config { reads: Reads::AsSeen, ..Config::default() })
    }

    /// The plan's operations by lock, function and place.
    pub(crate) fn operations(&self, plan: &Plan) -> Vec<String> {
        let mut lines = Vec::new();
        for lock in &plan.locks {
            let mut of_lock: Vec<(&str, At, String)> = Vec::new();
            let mut labels = BTreeMap::new();
            for operation in &lock.operations {
                let function = self.program.functions.iter().find(|f| f.key == operation.function).expect("a known function");
                if let (At::Before(node), Action::Acquire(_, label)) = (operation.at, operation.action) {
                    labels.insert(label, place(function, node));
                }
            }
            for operation in &lock.operations {
                let function = self.program.functions.iter().find(|f| f.key == operation.function).expect("a known function");
                let at = match operation.at {
                    At::Before(node) => format!("before {}", place(function, node)),
                    At::Edge(from, to) => format!("{}->{}", before(function, from), place(function, to)),
                };
                let action = match operation.action {
                    Action::Acquire(mode, _) => format!("acquire {mode}"),
                    Action::Release(label) => format!("release {}", labels[&label]),
                    Action::Degrade(label) => format!("degrade {}", labels[&label]),
                    Action::DegradeToUpdate(label) => format!("degrade U {}", labels[&label]),
                };
                of_lock.push((&function.name, operation.at, format!("{} {at}: {} {action}", function.name, lock.variable)));
            }
            of_lock.sort();
            lines.extend(of_lock.into_iter().map(|(.., line)| line));
        }
        lines
    }

    /// The constraints in force at each access of a function, strongest first, by line.
    pub(crate) fn constraints(&self, inferred: &Inferred, function: &str, variable: &str) -> Vec<String> {
        let (id, body) = self.function(function);
        let flow = Flow::of(body);
        let all = inferred.placements.constraints.iter().filter(|((_, of), _)| *of == id);
        let named = all.filter(|((v, _), _)| {
            inferred.variables(&model::program::Place::Global { name: variable.to_owned(), offset: 0 }).any(|known| known == *v)
        });
        let mut lines = Vec::new();
        for (_, constraints) in named {
            for node in flow.nodes().filter(|&node| matches!(body.node(node).kind, NodeKind::Access(_))) {
                let mut at: Vec<_> = constraints.at(node).iter().map(|id| constraints.get(id)).collect();
                at.sort_by_key(|c| (std::cmp::Reverse(c.mode), c.head, c.tail));
                let words: Vec<String> =
                    at.iter().map(|c| format!("{}({},{})", c.mode, place(body, c.head), place(body, c.tail))).collect();
                lines.push(format!("{}: {}", place(body, node), words.join(" ")).trim_end().to_owned());
            }
        }
        lines
    }
}

fn line_of(source: &model::site::Source) -> Option<u32> {
    source.0.first().map(|position| position.line).filter(|line| *line > 0)
}

/// The line of a node, or of the first one behind it that accesses or calls; `end` where there is none.
fn place(function: &Function, node: NodeId) -> String {
    nearest(function, node, |at| function.node(at).successors.clone()).unwrap_or_else(|| "end".to_owned())
}

/// The line of a node, or of the first one before it that accesses or calls; `start` where there is none.
fn before(function: &Function, node: NodeId) -> String {
    let into = |at| (0..function.nodes.len()).map(NodeId::new).filter(|&from| function.node(from).successors.contains(&at)).collect();
    nearest(function, node, into).unwrap_or_else(|| "start".to_owned())
}

/// The line of the first node that accesses or calls, breadth first along `neighbors`.
fn nearest(function: &Function, node: NodeId, neighbors: impl Fn(NodeId) -> Vec<NodeId>) -> Option<String> {
    let mut seen = BTreeSet::new();
    let mut work = std::collections::VecDeque::from([node]);
    while let Some(next) = work.pop_front() {
        if !seen.insert(next) {
            continue;
        }
        let known = function.node(next);
        if known.site.is_some() {
            return Some(line_of(&known.source).map_or_else(|| "?".to_owned(), |line| line.to_string()));
        }
        work.extend(neighbors(next));
    }
    None
}
