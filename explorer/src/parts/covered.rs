//! What an exploration in parts covers: that is for all parts together to say, not for any one of them.

use model::report::Coverage;

use super::campaign::{Campaign, Ended, WHOLE, What};
use super::id::PartId;
use super::task::{Division, Rest, Task, division, first};
use crate::strategy::config::Name;
use crate::strategy::depth_first::Extent;
use crate::strategy::iterative::Preemptions;
use crate::strategy::part::{Part, Work};
use crate::target::watch::Explored;

impl Campaign {
    /// What all parts that are done cover together; `total` is their result.
    pub(super) fn coverage(&self, total: &Explored) -> Coverage {
        let config = self.config();
        let schedules = total.counts.schedules;
        let clean = total.counts.cut == 0 && total.counts.diverged == 0;
        match division(config.name) {
            Division::Blocks => Coverage::Sampled(schedules),
            Division::None => {
                let whole = self.done.values().next().and_then(|done| done.explored.found.coverage);
                whole.unwrap_or(Coverage::Partial(schedules))
            }
            Division::Subtrees => {
                // Scouts are not needed for what the last search covers.
                let scouts = u32::try_from(first(config).len().saturating_sub(1)).unwrap_or(0);
                let unsure = self
                    .done
                    .iter()
                    .any(|(id, done)| done.what == What::Unfinished && (0..scouts).all(|scout| *id != PartId::first(scout)));
                // A shard has done its share.
                if self.shard == WHOLE && self.is_over() && self.end != Ended::Early && clean && !unsure {
                    self.all(total)
                } else {
                    self.scouted(clean).unwrap_or(Coverage::Partial(schedules))
                }
            }
        }
    }

    /// What all parts of a search cover.
    fn all(&self, total: &Explored) -> Coverage {
        let config = self.config();
        match config.preemptions {
            Preemptions::Unlimited => Coverage::All,
            Preemptions::AtMost(bound) => match config.name {
                Name::SleepSets | Name::Unpruned => Coverage::All,
                Name::Delays => Coverage::Delays(bound),
                Name::Dpor if !total.found.limited => Coverage::All,
                _ => Coverage::Preemptions(bound),
            },
        }
    }

    /// What the last scout covers that has come to its end.
    fn scouted(&self, clean: bool) -> Option<Coverage> {
        let tasks = first(self.config());
        let scout = |(number, task): (u32, &Task)| {
            let Task::Search(Part { work: Work::Search(extent), .. }, Rest::Dropped) = task else { return None };
            self.done.get(&PartId::first(number)).filter(|done| done.what == What::Counted)?;
            match extent {
                Extent::Preemptions(bound) => Some(Coverage::Preemptions(*bound)),
                Extent::Delays(bound) => Some(Coverage::Delays(*bound)),
                Extent::Unpruned | Extent::SleepSets => None,
            }
        };
        (0..).zip(&tasks).filter(|_| clean).filter_map(scout).last()
    }
}
