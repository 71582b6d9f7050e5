//! Brute force: what strategies are judged by. It shares the machine with them, and no code of theirs: it has its own
//! recursion, its own count of preemptions, and counts traces by comparing whole schedules.

use std::collections::{BTreeMap, BTreeSet};
use std::vec::Vec;

use model::event::{Event, EventKind};
use model::ids::ThreadId;

use super::machine::{Machine, Outcome};
use super::program::Program;
use crate::dependence::dependent;

/// Which schedules are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// All.
    Everything,
    /// Those with at most this many preemptions.
    Preemptions(u32),
    /// Those with at most this many delays.
    Delays(u32),
}

/// All outcomes of schedules within a bound, and how many such schedules there are.
#[must_use]
pub fn outcomes(program: &Program, within: Within) -> (BTreeSet<Outcome>, u64) {
    let mut known = BTreeMap::new();
    let count = visit(program, &Machine::new(program), None, within, &mut known);
    (known.into_values().flat_map(|(_, outcome)| outcome).collect(), count)
}

type Known = BTreeMap<(Machine, Option<ThreadId>, Option<u32>), (u64, Option<Outcome>)>;

fn visit(program: &Program, machine: &Machine, current: Option<ThreadId>, within: Within, known: &mut Known) -> u64 {
    let left = match within {
        Within::Everything => None,
        Within::Preemptions(left) | Within::Delays(left) => Some(left),
    };
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
        let within = match within {
            Within::Everything => Some(Within::Everything),
            Within::Preemptions(left) => {
                left.checked_sub(u32::from(is_preemption(program, machine, current, &enabled, thread))).map(Within::Preemptions)
            }
            Within::Delays(left) => left.checked_sub(delays(program, machine, current, &enabled, thread)).map(Within::Delays),
        };
        let Some(within) = within else { continue };
        for option in 0..machine.options(program, thread) {
            let mut next = machine.clone();
            let outcome = next.perform(program, thread, option);
            drop(next.take_dropped());
            match outcome {
                Some(outcome) => {
                    count += 1;
                    failures.push((next, thread, outcome));
                }
                None => count += visit(program, &next, Some(thread), within, known),
            }
        }
    }
    for (state, thread, outcome) in failures {
        // Of a key of its own: nothing follows it.
        known.insert((state, Some(thread), Some(u32::MAX)), (0, Some(outcome)));
    }
    known.insert(key, (count, None));
    count
}

fn is_preemption(program: &Program, machine: &Machine, current: Option<ThreadId>, enabled: &[ThreadId], thread: ThreadId) -> bool {
    let kind = |thread: ThreadId| machine.pending(program, thread).map(|event| event.kind);
    let timed = |thread: ThreadId| {
        matches!(kind(thread), Some(EventKind::WaitTimeout { .. } | EventKind::LockTimeout { .. } | EventKind::WaitSpurious { .. }))
    };
    let reluctant = |thread: ThreadId| matches!(kind(thread), Some(EventKind::Yield | EventKind::ExitProcess));
    let left_behind = current.filter(|c| *c != thread && enabled.contains(c) && !timed(*c) && !reluctant(*c));
    left_behind.is_some() || (timed(thread) && enabled.iter().any(|&other| !timed(other)))
}

/// The threads in the order of the default schedule: from the current one on, round; the first that is willing leads, those
/// after it follow in order of ids.
fn delays(program: &Program, machine: &Machine, current: Option<ThreadId>, enabled: &[ThreadId], thread: ThreadId) -> u32 {
    let reluctance = |thread: ThreadId| match machine.pending(program, thread).map(|event| event.kind) {
        Some(EventKind::WaitTimeout { .. } | EventKind::LockTimeout { .. } | EventKind::WaitSpurious { .. }) => 2,
        Some(EventKind::Yield | EventKind::ExitProcess) => 1,
        _ => 0,
    };
    let stays = current.filter(|current| enabled.contains(current) && reluctance(*current) == 0);
    let start = current.map_or(0, |current| current.0 + 1);
    let mut ring = enabled.to_vec();
    ring.sort_by_key(|other| (other.0 < start, other.0));
    let leader = stays.or_else(|| ring.iter().copied().min_by_key(|&other| reluctance(other)));
    let mut order = enabled.to_vec();
    order.sort_by_key(|other| (leader.is_some_and(|leader| other.0 < leader.0), other.0));
    order.iter().position(|&other| other == thread).and_then(|at| u32::try_from(at).ok()).unwrap_or(u32::MAX)
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
        for option in 0..machine.options(program, thread) {
            let mut next = machine.clone();
            let failed = next.perform(program, thread, option).is_some();
            path.push((thread, event, option));
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
    for &(thread, event, option) in path {
        let number = numbers.entry(thread).or_default();
        let before = steps.iter().filter(|(other, _, e)| *other != thread && dependent(e, &event)).map(|&(t, n, _)| (t, n));
        // Independent steps come before it in any order.
        let mut before: Vec<_> = before.collect();
        before.sort_unstable();
        form.push((thread, *number * 8 + option, before));
        steps.push((thread, *number, event));
        *number += 1;
    }
    form.sort();
    form
}
