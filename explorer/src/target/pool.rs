//! An exploration in parts, by several processes at a time, each of which does one part after the other as long as it learns nothing that a fresh
//! one would not be told; then the schedules of what failed are made simple.

use std::io;
use std::time::{Duration, Instant};
use std::vec::Vec;

use super::page::Note;
use super::process::{Orders, Program};
use super::setup::{Sequel, Setup};
use super::watch::{Ending, Explored, Limits, Pause, Progress, Watched, end_all};
use crate::parts::campaign::Campaign;
use crate::parts::id::PartId;
use crate::parts::total::class;
use model::report::FailureKind;

/// How many classes of failures have their schedules made simple.
const CLASSES: usize = 10;

/// After how many schedules other processes than the first are started.
const SOON: u64 = 64;

/// Between two calls of `show`, at least.
const SHOW: Duration = Duration::from_millis(50);

/// Between two looks at what is to be saved, at least.
const SAVE: Duration = Duration::from_secs(1);

/// How many processes explore at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workers(pub u32);

/// Does all parts of a campaign that are left. `show` is called now and then; so is `save`, and once at the beginning and at the end. When it
/// fails at the beginning nothing is explored; later, what was found is worth more.
pub fn run(
    program: &Program,
    campaign: &mut Campaign,
    workers: Workers,
    limits: Limits,
    show: &mut dyn FnMut(Progress),
    save: &mut dyn FnMut(&Campaign) -> io::Result<()>,
) -> io::Result<Explored> {
    save(campaign)?;
    let (begin, earlier) = (Instant::now(), campaign.counted().schedules);
    let mut running: Vec<(PartId, Watched)> = Vec::new();
    // Those that may do another part.
    let mut idle: Vec<Watched> = Vec::new();
    let mut pause = Pause::default();
    let (mut saved, mut saving, mut shown) = (begin, Duration::ZERO, begin);
    let mut ending = Ending::Ended;
    loop {
        let left = limits.whole.map(|whole| whole.saturating_sub(begin.elapsed()));
        while running.len() < workers.0.max(1) as usize
            && left.is_none_or(|left| !left.is_zero())
            && !(limits.stop)()
            && ending == Ending::Ended
            && let Some((id, setup)) = campaign.take()
        {
            let limits = Limits { whole: left, ..limits };
            let watched = match core::iter::from_fn(|| idle.pop()).find_map(|watched| watched.with(&setup, limits)) {
                Some(watched) => watched,
                None => Watched::start(program, Orders::First(&setup), limits)?,
            };
            running.push((id, watched));
            pause = Pause::default();
        }
        if running.is_empty() {
            break;
        }
        // The first part is done alone. Meanwhile others start, if it is not over soon: one at each look.
        if let [(_, first)] = &running[..]
            && campaign.is_about_to_divide()
            && first.progress().schedules >= SOON
            && idle.len() + 1 < workers.0 as usize
        {
            idle.push(Watched::start(program, Orders::Wait, limits)?);
        }
        let (mut index, mut free) = (0, false);
        while let Some((id, watched)) = running.get_mut(index) {
            if !campaign.is_wanted(id) {
                running.swap_remove(index);
                free = true;
            } else if let Some(explored) = watched.look()? {
                let (id, watched) = running.swap_remove(index);
                free = true;
                idle.extend(Some(watched).filter(Watched::waits));
                if explored.notes & Note::RandomAddresses.bit() != 0 {
                    return Err(io::Error::other("addresses are randomized, so that parts of an exploration do not fit together"));
                }
                match &explored.ending {
                    Ending::Ended => campaign.finish(&id, explored),
                    other => ending = other.clone(),
                }
            } else {
                index += 1;
            }
        }
        if ending != Ending::Ended {
            break;
        }
        if shown.elapsed() > SHOW {
            show(progress(campaign, &running));
            shown = Instant::now();
        }
        // Saving takes longer the more is done: a small share of the time.
        if saved.elapsed() > SAVE.max(saving * 20) {
            let begin = Instant::now();
            // Whoever saves knows.
            let _ = save(campaign);
            (saved, saving) = (Instant::now(), begin.elapsed());
        }
        // Where one is done, the next part begins at once.
        if !free {
            pause.rest(running.iter().map(|(_, watched)| watched));
        }
    }
    end_all(running.into_iter().map(|(_, watched)| watched).chain(idle));
    let _ = save(campaign);
    let mut total = campaign.total();
    let is_stopped = limits.whole.is_some_and(|whole| begin.elapsed() >= whole) || (limits.stop)();
    total.timed_out = !campaign.is_over() && is_stopped;
    (total.time, total.earlier) = (begin.elapsed(), earlier);
    if ending == Ending::Ended {
        simplify(program, campaign, limits, &mut total)?;
    } else {
        total.ending = ending;
    }
    Ok(total)
}

fn progress(campaign: &Campaign, running: &[(PartId, Watched)]) -> Progress {
    running.iter().map(|(_, watched)| watched.progress()).fold(campaign.counted(), |sum, one| Progress {
        schedules: sum.schedules + one.schedules,
        failed: sum.failed + one.failed,
        estimate: sum.estimate,
    })
}

/// Makes the schedules of what failed simple, one class after the other.
fn simplify(program: &Program, campaign: &Campaign, limits: Limits, total: &mut Explored) -> io::Result<()> {
    let simple = |kind| matches!(kind, FailureKind::StepLimit | FailureKind::DataRace);
    for failure in total.found.failures.iter_mut().take(CLASSES).filter(|failure| !simple(failure.kind)) {
        if (limits.stop)() {
            break;
        }
        let setup = campaign.setup_to_simplify(&failure.steps);
        let explored = run_alone(program, &setup, limits)?;
        total.habits |= explored.habits;
        if let Some(again) = explored.found.failures.into_iter().find(|again| class(again) == class(failure)) {
            failure.minimized = again.minimized;
            (failure.critical, failure.comes_out) = (again.critical, again.comes_out);
        }
    }
    Ok(())
}

fn run_alone(program: &Program, setup: &Setup, limits: Limits) -> io::Result<Explored> {
    debug_assert_eq!(setup.sequel, Sequel::Simplify, "nothing is made simple otherwise");
    super::watch::run(program, setup, Limits { whole: None, ..limits }, &mut |_| {})
}
