//! All parts as one result: what each says, in the order of parts.

use std::collections::{BTreeMap, BTreeSet};
use std::string::String;
use std::time::Duration;
use std::vec::Vec;

use model::report::FailureKind;

use crate::target::found::{Found, FoundFailure};
use crate::target::watch::{Ending, Explored};

/// An exploration in which nothing happened.
#[must_use]
pub fn nothing() -> Explored {
    Explored {
        ending: Ending::Ended,
        counts: crate::strategy::Counts::default(),
        steps: 0,
        executions: 0,
        restarts: 0,
        threads: 0,
        notes: 0,
        habits: 0,
        revocations: 0,
        early_ends: Vec::new(),
        estimate: None,
        time: Duration::ZERO,
        earlier: 0,
        timed_out: false,
        found: Found::default(),
    }
}

/// The result of all parts, in their order. What is covered is not for a single part to say.
#[must_use]
pub fn total<'a>(parts: impl Iterator<Item = &'a Explored>) -> Explored {
    let mut total = nothing();
    for part in parts {
        for failure in &part.found.failures {
            add_failure(&mut total.found, failure, total.executions);
        }
        add(&mut total, part);
    }
    total
}

fn add(total: &mut Explored, part: &Explored) {
    total.counts = total.counts.plus(part.counts);
    total.steps += part.steps;
    total.executions += part.executions;
    total.restarts += part.restarts;
    total.threads = total.threads.max(part.threads);
    total.notes |= part.notes;
    total.habits |= part.habits;
    total.revocations += part.revocations;
    total.time += part.time;
    total.timed_out |= part.timed_out;
    let mut early: BTreeMap<_, _> = total.early_ends.drain(..).map(|end| (end.key(), end)).collect();
    for end in &part.early_ends {
        early.entry(end.key()).and_modify(|known| known.count += end.count).or_insert(*end);
    }
    total.early_ends.extend(early.into_values());
    total.early_ends.sort();
    for outcome in &part.found.outcomes {
        match total.found.outcomes.iter_mut().find(|known| known.identity == outcome.identity) {
            Some(known) => known.count += outcome.count,
            None => total.found.outcomes.push(outcome.clone()),
        }
    }
    let interleaved: BTreeSet<_> = total.found.interleaved.drain(..).chain(part.found.interleaved.iter().copied()).collect();
    total.found.interleaved.extend(interleaved);
    total.found.limited |= part.found.limited;
    for remark in &part.found.remarks {
        if !total.found.remarks.contains(remark) {
            total.found.remarks.push(remark.clone());
        }
    }
    if total.found.divergence.is_none() {
        total.found.divergence.clone_from(&part.found.divergence);
    }
}

/// What makes failures one class.
pub type Class = (FailureKind, Option<model::ids::SiteKey>, Option<String>, String);

/// The class of a failure.
#[must_use]
pub fn class(failure: &FoundFailure) -> Class {
    (failure.kind, failure.site, failure.location.clone(), failure.message.clone())
}

/// `before`: how many executions all earlier parts began.
fn add_failure(found: &mut Found, failure: &FoundFailure, before: u64) {
    match found.failures.iter_mut().find(|known| class(known) == class(failure)) {
        Some(known) => known.count += failure.count,
        None => found.failures.push(FoundFailure { first: before + failure.first, ..failure.clone() }),
    }
}
