//! Brute force: what strategies are judged by. It shares the machine with them, and no code of theirs: it has its own
//! recursion, its own count of preemptions, and counts traces by comparing whole schedules.

use std::collections::{BTreeMap, BTreeSet};
use std::vec::Vec;

use model::event::{Event, EventKind};
use model::ids::ThreadId;

use super::machine::{Machine, Outcome};
use super::program::Program;
use crate::dependence::dependent;

/// All outcomes of schedules with at most `bound` preemptions (`None`: of all), and how many such schedules there are.
#[must_use]
pub fn outcomes(program: &Program, bound: Option<u32>) -> (BTreeSet<Outcome>, u64) {
    let mut known = BTreeMap::new();
    let count = visit(program, &Machine::new(program), None, bound, &mut known);
    (known.into_values().flat_map(|(_, outcome)| outcome).collect(), count)
}

type Known = BTreeMap<(Machine, Option<ThreadId>, Option<u32>), (u64, Option<Outcome>)>;

fn visit(program: &Program, machine: &Machine, current: Option<ThreadId>, left: Option<u32>, known: &mut Known) -> u64 {
    // Without a bound it does not matter who came last.
    let key = (machine.clone(), current.filter(|_| left.is_some()), left);
    if let Some(&(count, _)) = known.get(&key) {
        return count;
    }
    let enabled: Vec<ThreadId> = machine.enabled(program).iter().collect();
    if enabled.is_empty() {
        known.insert(key, (1, Some(machine.outcome())));
        return 1;
    }
    let mut count = 0;
    let mut failures = Vec::new();
    for &thread in &enabled {
        let price = u32::from(is_preemption(program, machine, current, &enabled, thread));
        let left = match left {
            Some(left) if left < price => continue,
            Some(left) => Some(left - price),
            None => None,
        };
        for woken in 0..machine.waiters(program, thread).len().max(1) {
            let mut next = machine.clone();
            let outcome = next.perform(program, thread, woken);
            drop(next.take_dropped());
            match outcome {
                Some(outcome) => {
                    count += 1;
                    failures.push((next, outcome));
                }
                None => count += visit(program, &next, Some(thread), left, known),
            }
        }
    }
    for (state, outcome) in failures {
        // A failed state is its own key: nothing follows it.
        known.insert((state, Some(ThreadId(u32::MAX)), Some(u32::MAX)), (0, Some(outcome)));
    }
    known.insert(key, (count, None));
    count
}

fn is_preemption(program: &Program, machine: &Machine, current: Option<ThreadId>, enabled: &[ThreadId], thread: ThreadId) -> bool {
    let kind = |thread: ThreadId| machine.pending(program, thread).map(|event| event.kind);
    let timed = |thread: ThreadId| kind(thread) == Some(EventKind::WaitTimeout);
    let left_behind = current.filter(|c| *c != thread && enabled.contains(c) && !timed(*c) && kind(*c) != Some(EventKind::Yield));
    left_behind.is_some() || (timed(thread) && enabled.iter().any(|&other| !timed(other)))
}

/// How many Mazurkiewicz traces there are: classes of complete schedules under swapping adjacent independent steps.
/// An optimal explorer runs exactly one execution for each. Only for programs with few schedules: each one is compared.
#[must_use]
pub fn traces(program: &Program) -> u64 {
    let mut classes = BTreeSet::new();
    schedules(program, &Machine::new(program), &mut Vec::new(), &mut classes);
    classes.len() as u64
}

type Taken = (ThreadId, Event, usize);

/// A trace's identity: each step, by thread and number within it, with the steps of others that it depends on.
type Trace = Vec<(ThreadId, usize, Vec<(ThreadId, usize)>)>;

fn schedules(program: &Program, machine: &Machine, path: &mut Vec<Taken>, classes: &mut BTreeSet<Trace>) {
    let enabled = machine.enabled(program);
    if enabled.is_empty() {
        classes.insert(normal_form(path));
    }
    for thread in enabled.iter() {
        let event = machine.pending(program, thread).expect("an enabled thread has a pending event");
        for woken in 0..machine.waiters(program, thread).len().max(1) {
            let mut next = machine.clone();
            let failed = next.perform(program, thread, woken).is_some();
            path.push((thread, event, woken));
            if failed {
                classes.insert(normal_form(path));
            } else {
                schedules(program, &next, path, classes);
            }
            path.pop();
        }
    }
}

fn normal_form(path: &[Taken]) -> Trace {
    let mut numbers = BTreeMap::<ThreadId, usize>::new();
    let mut steps: Vec<(ThreadId, usize, Event)> = Vec::new();
    let mut form = Vec::new();
    for &(thread, event, woken) in path {
        let number = numbers.entry(thread).or_default();
        let before = steps.iter().filter(|(other, _, e)| *other != thread && dependent(e, &event)).map(|&(t, n, _)| (t, n));
        form.push((thread, *number * 8 + woken, before.collect()));
        steps.push((thread, *number, event));
        *number += 1;
    }
    form.sort();
    form
}
