//! Random small programs: the checker accepts every plan that inference makes, and no interleaving of two threads deadlocks, leaks a
//! lock or comes between the ends of an admitted pair.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use inference::{Config, Optimization, Reads};
use model::ids::{Label, LockId, NodeId, RunId};
use model::pair::Mode;
use model::plan::{Action, At, Operation, Plan};
use model::profile::{PairEvidence, Profile, Run};
use model::program::{Module, NodeKind, Program};
use proptest::prelude::*;
use support::explore::{Trouble, Watched, explore};
use support::paths::keeps_promises;
use support::{Case, parse};

const KINDS: &[&str] = &["read x", "write x", "read y", "write y", "-", "read x", "write y", "call f1", "call f3"];

/// Those that call nothing.
const LEAVES: &[&str] = &["read x", "write x", "read y", "write y", "-", "read x", "write y"];

/// A jump to here leaves the function by unwinding.
const UNWIND: usize = 8;

/// A function as text: a row of nodes, part of it perhaps in a critical section of `m`, with jumps that neither enter nor leave the section,
/// and ways out by return and by unwinding.
fn function(name: &'static str, kinds: &'static [&'static str]) -> impl Strategy<Value = String> {
    let nodes = prop::collection::vec((0..kinds.len(), prop::option::weighted(0.3, 0..9_usize)), 3..8);
    (nodes, prop::option::of((0..8_usize, 0..8_usize))).prop_map(move |(nodes, section)| {
        let inside = |i: usize| section.is_some_and(|(a, b)| i >= a.min(b) && i <= a.max(b));
        // The number of each node, once the section's lock and unlock have got theirs.
        let mut number = 0;
        let mut text = format!("fn {name}\n");
        let mut numbers = Vec::new();
        let mut lines = Vec::new();
        for (i, (kind, jump)) in nodes.iter().enumerate() {
            if inside(i) && (i == 0 || !inside(i - 1)) {
                number += 1;
                lines.push((number, "lock m", None));
            }
            number += 1;
            numbers.push(number);
            let jump = jump.filter(|&to| if to == UNWIND { !inside(i) } else { to < nodes.len() && inside(to) == inside(i) });
            lines.push((number, kinds[*kind], jump));
            if inside(i) && (i + 1 == nodes.len() || !inside(i + 1)) {
                number += 1;
                lines.push((number, "unlock m", None));
            }
        }
        let last = number + 1;
        for (number, kind, jump) in lines {
            let jump = jump
                .map(|to| if to == UNWIND { last + 1 } else { numbers[to] })
                .filter(|&to| to != number + 1)
                .map(|to| format!(" {to}"))
                .unwrap_or_default();
            text.push_str(&format!("  {number}: {kind} -> {}{jump}\n", number + 1));
        }
        text.push_str(&format!("  {last}: return\n  {}: stop\n", last + 1));
        text
    })
}

/// Two functions, the second of which may call the first, and one that ends the process, and pairs between accesses of one variable.
fn cases() -> impl Strategy<Value = String> {
    let pairs = prop::collection::vec((0..3_usize, any::<prop::sample::Index>(), any::<bool>()), 1..5);
    (function("f1", LEAVES), function("f2", KINDS), function("f3", LEAVES), pairs).prop_map(|(one, two, three, pairs)| {
        // Its way out by unwinding, if it has one, comes back.
        let exit = three.lines().count() - 1;
        with_pairs(format!("{one}{two}{}", three.replace("return", &format!("call exit -> {exit}"))), pairs)
    })
}

/// One function on one variable.
fn small_cases() -> impl Strategy<Value = String> {
    let pairs = prop::collection::vec((0..1_usize, any::<prop::sample::Index>(), any::<bool>()), 1..5);
    (function("f1", &["read x", "write x", "-", "-"]), pairs)
        .prop_map(|(one, pairs)| with_pairs(one.replace("unlock m", "-").replace("lock m", "-"), pairs))
}

fn with_pairs(text: String, pairs: Vec<(usize, prop::sample::Index, bool)>) -> String {
    let case = parse(&text);
    let mut lines = BTreeSet::new();
    // Often enough for regions to be made longer.
    let ran = if pairs.len() % 2 == 1 { often(&case) } else { String::new() };
    for (f, index, exclusive) in pairs {
        let ends = possible_ends(&case, f);
        if !ends.is_empty() {
            lines.insert((f, *index.get(&ends), exclusive));
        }
    }
    let pair = |(f, (head, tail), exclusive): (usize, (u32, u32), bool)| {
        format!("pair f{} {head} {tail} {}\n", f + 1, if exclusive { "X" } else { "R" })
    };
    text + &ran + &lines.into_iter().map(pair).collect::<String>()
}

fn often(case: &Case) -> String {
    let of_function = |(f, function): (usize, &model::program::Function)| {
        let nodes = function.nodes.iter().enumerate().filter(|(_, node)| matches!(node.kind, NodeKind::Access(_)));
        nodes.map(|(n, _)| format!("ran f{} {n} 300\n", f + 1)).collect::<String>()
    };
    case.program.functions.iter().enumerate().map(of_function).collect()
}

fn possible_ends(case: &Case, f: usize) -> Vec<(u32, u32)> {
    let accesses: Vec<_> = case.program.functions[f]
        .nodes
        .iter()
        .enumerate()
        .filter_map(|(n, node)| if let NodeKind::Access(access) = &node.kind { Some((n, access.place.clone())) } else { None })
        .collect();
    let number = |n: usize| u32::try_from(n).expect("a small program");
    let places: BTreeMap<usize, _> = accesses.iter().cloned().collect();
    let mut ends = Vec::new();
    for (head, place) in &accesses {
        // Everything that control reaches before the next access to the place: the accesses found are consecutive to `head`.
        let mut seen = BTreeSet::new();
        let mut work: Vec<usize> = case.program.functions[f].nodes[*head].successors.iter().map(|to| to.index()).collect();
        while let Some(node) = work.pop() {
            if !seen.insert(node) {
                continue;
            }
            if places.get(&node) == Some(place) {
                ends.push((number(*head), number(node)));
            } else {
                work.extend(case.program.functions[f].nodes[node].successors.iter().map(|to| to.index()));
            }
        }
    }
    ends
}

/// The pairs that the plan promises to keep.
fn watched(case: &Case, plan: &Plan) -> Vec<Watched> {
    let mut all = Vec::new();
    for pair in plan.locks.iter().flat_map(|lock| &lock.pairs) {
        let function = case.program.functions.iter().position(|function| function.key == pair.function).expect("a known function");
        let NodeKind::Access(access) = &case.program.functions[function].node(pair.head).kind else { continue };
        all.push(Watched { function, head: pair.head, tail: pair.tail, atomicity: pair.atomicity, place: access.place.clone() });
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hardened_programs_keep_their_pairs_and_do_not_deadlock(text in cases(), off in prop::sample::subsequence(&Optimization::ALL, 0..=4)) {
        let case = parse(&text);
        let inferred = support::infer_without(&case, &off);
        prop_assert!(inferred.certificate.checked, "{text}\n{:?}", inferred.certificate.wrong);
        for starts in [[0, 0], [0, 1], [1, 1]] {
            let Some(before) = explore(&case.program, &Plan::default(), &[], &starts, 20_000) else { continue };
            let Some(after) = explore(&case.program, &inferred.plan, &watched(&case, &inferred.plan), &starts, 60_000) else { continue };
            let new: Vec<&Trouble> = after.difference(&before).collect();
            prop_assert!(new.is_empty(), "{new:?} with {starts:?}\n{text}\n{}", support::operations(&case, &inferred.plan).join("\n"));
        }
    }
}

/// Every plan that differs from `plan` by one operation: left out, weakened, moved to a neighboring place, or with another label.
fn mutants(case: &Case, plan: &Plan) -> Vec<Plan> {
    let mut all = Vec::new();
    for (l, lock) in plan.locks.iter().enumerate() {
        for (o, operation) in lock.operations.iter().enumerate() {
            let mut without = plan.clone();
            without.locks[l].operations.remove(o);
            all.push(without.clone());
            let changed = |change: Operation| {
                let mut other = without.clone();
                other.locks[l].operations.push(change);
                other.locks[l].operations.sort();
                other
            };
            match (operation.action, operation.at) {
                (Action::Acquire(mode, label), _) => {
                    for weaker in [Mode::R, Mode::U].into_iter().filter(|weaker| *weaker < mode) {
                        all.push(changed(Operation { action: Action::Acquire(weaker, label), ..operation.clone() }));
                    }
                }
                (Action::DegradeToUpdate(label), _) => all.push(changed(Operation { action: Action::Degrade(label), ..operation.clone() })),
                (Action::Release(label), At::Edge(from, to)) => {
                    all.push(changed(Operation { action: Action::Release(Label(label.0 + 1)), ..operation.clone() }));
                    let function = case.program.functions.iter().find(|f| f.key == operation.function).expect("a known function");
                    for &next in &function.node(to).successors {
                        all.push(changed(Operation { at: At::Edge(to, next), ..operation.clone() }));
                    }
                    for (n, _) in function.nodes.iter().enumerate().filter(|(_, node)| node.successors.contains(&from)) {
                        all.push(changed(Operation { at: At::Edge(NodeId::new(n), from), ..operation.clone() }));
                    }
                }
                _ => {}
            }
        }
    }
    all
}

/// The plans without what is given up at the end of the process, and with more of it.
fn otherwise_ending(plan: &Plan) -> Vec<Plan> {
    let with = |endings: &[&str]| Plan { endings: endings.iter().map(|&name| name.to_owned()).collect(), ..plan.clone() };
    [&[][..], &["f1"], &["f3"]].map(with).into()
}

/// The plans in which two locks next to each other have changed places in the lock order, with what each lock protects.
fn reordered(plan: &Plan) -> Vec<Plan> {
    let swapped = |l: usize| {
        let mut other = plan.clone();
        other.locks.swap(l, l + 1);
        (0..).zip(&mut other.locks).for_each(|(id, lock)| lock.id = LockId(id));
        other
    };
    (1..plan.locks.len()).map(|l| swapped(l - 1)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_checker_accepts_no_broken_mutant(text in cases()) {
        let case = parse(&text);
        let plan = support::infer(&case).plan;
        for mutant in mutants(&case, &plan).into_iter().chain(reordered(&plan)).chain(otherwise_ending(&plan)) {
            let protects = support::protected_places(&mutant);
            if !inference::check::check(&case.program, &mutant, &protects).checked {
                continue;
            }
            for starts in [[0, 0], [0, 1], [1, 1]] {
                let Some(before) = explore(&case.program, &Plan::default(), &[], &starts, 10_000) else { continue };
                let Some(after) = explore(&case.program, &mutant, &watched(&case, &mutant), &starts, 20_000) else { continue };
                let new: Vec<&Trouble> = after.difference(&before).collect();
                prop_assert!(new.is_empty(), "{new:?} with {starts:?}\n{text}\n{}", support::operations(&case, &mutant).join("\n"));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_checker_judges_one_lock_as_all_paths_do(text in small_cases()) {
        let case = parse(&text);
        let plan = support::infer(&case).plan;
        let protects = support::protected_places(&plan);
        for candidate in mutants(&case, &plan).into_iter().chain([plan.clone()]) {
            let certificate = inference::check::check(&case.program, &candidate, &protects);
            let kept = candidate.locks.iter().all(|lock| keeps_promises(&case.program.functions[0], lock));
            prop_assert_eq!(certificate.checked, kept, "{}\n{:?}\n{:?}", text, certificate.wrong, candidate.locks);
        }
    }
}

/// The case with its functions as modules of their own, in another order.
fn shuffled(case: &Case, seed: usize) -> Program {
    let mut modules: Vec<Module> = case
        .program
        .functions
        .iter()
        .map(|function| Module {
            functions: vec![function.clone()],
            taken: case.program.taken.iter().cloned().collect(),
            ..Module::default()
        })
        .collect();
    let count = modules.len();
    modules.rotate_left(seed % count);
    if seed % 2 == 1 {
        modules.reverse();
    }
    // Inline functions come with several objects.
    modules.push(modules[seed % count].clone());
    Program::link(modules)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_modules_and_of_runs_does_not_show(text in cases(), seed in 0..8_usize) {
        let case = parse(&text);
        let profiles: Vec<Profile> = (0..3).map(|id| Profile { runs: BTreeMap::from([(RunId(id), run_of(&case, id))]) }).collect();
        let merged = |order: [usize; 4]| {
            let mut all = Profile::default();
            order.into_iter().for_each(|p| all.merge(profiles[p].clone()));
            all.evidence()
        };
        let config = Config { reads: Reads::AsSeen, ..Config::default() };
        let one = inference::infer(&shuffled(&case, 0), &merged([0, 1, 2, 2]), "test", &config);
        let other = inference::infer(&shuffled(&case, seed), &merged([2, 0, 1, 0]), "test", &config);
        prop_assert_eq!(format!("{:?}", one.plan), format!("{:?}", other.plan));
        prop_assert_eq!(one.certificate.to_string(), other.certificate.to_string());
        prop_assert_eq!(one.statistics.to_string(), other.statistics.to_string());
        prop_assert_eq!(one.findings, other.findings);
    }

    #[test]
    fn merging_profiles_is_commutative_associative_and_idempotent(text in cases(), ids in prop::collection::vec(0..4_u128, 3)) {
        let case = parse(&text);
        let [a, b, c] = [0, 1, 2].map(|p: usize| Profile { runs: BTreeMap::from([(RunId(ids[p]), run_of(&case, ids[p]))]) });
        let join = |one: &Profile, other: &Profile| {
            let mut all = one.clone();
            all.merge(other.clone());
            all
        };
        prop_assert_eq!(join(&a, &b), join(&b, &a));
        prop_assert_eq!(join(&join(&a, &b), &c), join(&a, &join(&b, &c)));
        prop_assert_eq!(join(&join(&a, &b), &b), join(&a, &b));
        prop_assert_eq!(join(&join(&a, &b), &b).evidence(), join(&a, &b).evidence());
        // How often another thread was near is what the runs say together, each counted once.
        let all = join(&join(&a, &b), &c);
        for (key, (pair, runs)) in all.evidence().pairs {
            let of_runs = all.runs.values().filter_map(|run| run.pairs.get(&key));
            prop_assert_eq!(pair.near, of_runs.clone().map(|seen| seen.near).sum::<u64>());
            prop_assert_eq!((u64::from(runs), pair.near <= pair.seen), (of_runs.count() as u64, true));
        }
    }
}

/// The same pair with another thread near so often.
fn near(evidence: &PairEvidence, near: u64) -> PairEvidence {
    PairEvidence { near, ..evidence.clone() }
}

/// One run of a case: a part of its pairs, all of its sites.
fn run_of(case: &Case, id: u128) -> Run {
    let keep = |index: usize| !(index as u128 + id).is_multiple_of(3);
    let pairs = case.evidence.pairs.iter().enumerate().filter(|(index, _)| keep(*index));
    Run {
        pairs: pairs
            .map(|(index, (key, (evidence, _)))| (*key, near(evidence, (index as u64 + 7 * u64::try_from(id).unwrap_or(0)) % 6)))
            .collect(),
        sites: case.evidence.sites.clone(),
        ..Run::default()
    }
}
