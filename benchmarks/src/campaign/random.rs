//! Plans at random: variables, places and modes, no order of locks, exits that release nothing. What they have in common with real
//! plans is only that they can be injected.

use std::collections::BTreeMap;

use model::ids::{Label, LockId, NodeId};
use model::pair::Mode;
use model::plan::{Action, At, Lock, Operation, PLAN_SCHEMA, Plan};
use model::program::{Function, NodeKind, Program};

/// A generator of numbers (splitmix64; Steele, Lea and Flood 2014): the same seed gives the same plan everywhere.
#[derive(Clone, Copy, Debug)]
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; 0 for a bound of 0.
    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % (bound.max(1) as u64)).unwrap_or(0)
    }

    fn of<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        choices.get(self.below(choices.len()))
    }
}

/// Accesses to shared memory by the place that they go to.
#[derive(Debug)]
pub struct Variables<'a>(BTreeMap<String, Vec<(&'a Function, NodeId)>>);

impl<'a> Variables<'a> {
    /// Those of a program, in functions that locks may be injected into.
    #[must_use]
    pub fn of(program: &'a Program) -> Self {
        let mut variables: BTreeMap<String, Vec<(&Function, NodeId)>> = BTreeMap::new();
        for function in program.functions.iter().filter(|function| function.refused.is_none()) {
            for (index, node) in function.nodes.iter().enumerate() {
                for access in node.accesses() {
                    variables.entry(access.place.to_string()).or_default().push((function, NodeId::new(index)));
                }
            }
        }
        Self(variables)
    }
}

/// The most locks of one plan.
const MOST_LOCKS: usize = 24;
/// The most regions of one lock.
const MOST_REGIONS: usize = 4;

/// A plan for a build, from a seed.
#[must_use]
pub fn plan(variables: &Variables<'_>, build: &str, mut random: Random) -> Plan {
    let all: Vec<(&String, &Vec<(&Function, NodeId)>)> = variables.0.iter().collect();
    let mut plan = Plan { schema: PLAN_SCHEMA, build: build.to_owned(), ..Plan::default() };
    let mut labels = 0;
    for id in 0..=random.below(all.len().min(MOST_LOCKS)) {
        let Some((variable, spots)) = random.of(&all) else { break };
        let mut operations = Vec::new();
        for _ in 0..=random.below(MOST_REGIONS) {
            if let Some((function, access)) = random.of(spots) {
                region(function, *access, Label(labels), &mut random, &mut operations);
                labels += 1;
            }
        }
        let id = LockId::new(id);
        plan.locks.push(Lock { id, enabled: true, variable: (*variable).clone(), cost: 0, pairs: Vec::new(), operations });
    }
    plan
}

/// Acquires before the access or, now and then, anywhere in its function; releases behind some node, or where the function returns,
/// or not at all; degrades now and then.
fn region(function: &Function, access: NodeId, label: Label, random: &mut Random, into: &mut Vec<Operation>) {
    let anywhere = |random: &mut Random| NodeId::new(random.below(function.nodes.len()));
    let mut add = |at: At, action: Action| into.push(Operation { function: function.key, at, action, source: String::new() });
    let head = if random.below(3) == 0 { anywhere(random) } else { access };
    let mode = [Mode::R, Mode::U, Mode::X][random.below(3)];
    add(At::Before(head), Action::Acquire(mode, label));
    let behind = |node: NodeId| function.node(node).successors.iter().map(move |&to| At::Edge(node, to));
    if random.below(4) == 0 {
        let action = if label.0.is_multiple_of(2) { Action::Degrade(label) } else { Action::DegradeToUpdate(label) };
        behind(anywhere(random)).for_each(|at| add(at, action));
    }
    let way = random.below(4);
    if way != 0 {
        behind(if way == 1 { head } else { anywhere(random) }).for_each(|at| add(at, Action::Release(label)));
    }
    if way == 3 || random.below(2) == 0 {
        let returns = function.nodes.iter().enumerate().filter(|(_, node)| node.kind == NodeKind::Return);
        returns.for_each(|(index, _)| add(At::Before(NodeId::new(index)), Action::Release(label)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_gives_the_same_numbers() {
        let mut random = Random(1);
        let numbers: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(numbers, [0x910a_2dec_8902_5cc1, 0xbeeb_8da1_658e_ec67, 0xf893_a2ee_fb32_555e]);
        assert_eq!(random.below(0), 0);
    }
}
