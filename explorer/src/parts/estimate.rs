//! How much an exploration in parts has left, as far as parts tell.
//!
//! Of a search: each part that is left counts as many schedules as those of its generation that are done had; too few while parts leave
//! others. Of samples: the sketches of all blocks, joined.

use std::collections::BTreeMap;

use model::report::Estimate;

use super::campaign::{Done, Todo, What};
use super::id::PartId;
use super::task::{BLOCK, Task};
use crate::strategy::part::{Part, Work};
use crate::strategy::sketch;

/// About how many schedules there are; `None` where no part of a generation is done yet, or one that is left has yet to be divided.
pub(super) fn of_search<'a>(done: &BTreeMap<PartId, Done>, left: impl Iterator<Item = (&'a PartId, &'a Todo)>) -> Option<Estimate> {
    let mut schedules = 0;
    let mut generations: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
    for (id, done) in done.iter().filter(|(_, done)| done.what != What::Void) {
        let counted = done.explored.counts.schedules;
        schedules += counted;
        let (parts, sum) = generations.entry(id.generation()).or_default();
        (*parts, *sum) = (*parts + 1, *sum + counted);
    }
    for (id, todo) in left {
        schedules += match &todo.task {
            Task::Search(Part { work: Work::Divide(_), .. }, _) => return None,
            Task::Search(..) => generations.get(&id.generation()).map(|(parts, sum)| sum / parts)?,
            Task::Member { .. } | Task::Block(_) | Task::Whole => BLOCK,
        };
    }
    Some(Estimate::Schedules(schedules))
}

/// The chance that the next sample is of a class that no block has seen.
pub(super) fn of_samples<'a>(done: impl Iterator<Item = &'a Done>) -> Option<Estimate> {
    let (mut joined, mut schedules) = (Vec::new(), 0);
    for done in done.filter(|done| done.what != What::Void) {
        joined = sketch::join(&joined, &done.explored.found.classes);
        schedules += done.explored.counts.schedules;
    }
    sketch::unseen(&joined, schedules)
}
