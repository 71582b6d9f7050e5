//! An exploration in parts, by several processes at a time, each of which does one part after the other as long as it learns nothing that a fresh
//! one would not be told; then the schedules of what failed are made simple.

use std::io;
use std::time::{Duration, Instant};
use std::vec::Vec;

use super::page::Note;
use super::process::{Program, Then};
use super::setup::{Sequel, Setup};
use super::watch::{Ending, Explored, Limits, Pause, Progress, Watched};
use crate::parts::campaign::Campaign;
use crate::parts::id::PartId;
use crate::parts::total::class;
use model::report::FailureKind;

/// How many classes of failures have their schedules made simple.
const CLASSES: usize = 10;

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
    let (mut saved, mut saving) = (Instant::now(), Duration::ZERO);
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
            let watched = match idle.pop().and_then(|watched| watched.with(&setup, limits)) {
                Some(watched) => watched,
                None => Watched::start(program, &setup, limits, Then::Wait)?,
            };
            running.push((id, watched));
            pause = Pause::default();
        }
        if running.is_empty() {
            break;
        }
        let mut index = 0;
        while let Some((id, watched)) = running.get_mut(index) {
            if !campaign.is_wanted(id) {
                running.swap_remove(index);
            } else if let Some(explored) = watched.look()? {
                let (id, watched) = running.swap_remove(index);
                idle.extend(Some(watched).filter(Watched::waits));
                if explored.notes & Note::RandomAddresses.bit() != 0 {
                    return Err(io::Error::other("addresses are randomized, so that parts of an exploration do not fit together"));
                }
                match &explored.ending {
                    Ending::Ended => campaign.finish(&id, explored),
                    other => ending = other.clone(),
                }
                pause = Pause::default();
            } else {
                index += 1;
            }
        }
        if ending != Ending::Ended {
            break;
        }
        show(progress(campaign, &running));
        // Saving takes longer the more is done: a small share of the time.
        if saved.elapsed() > SAVE.max(saving * 20) {
            let begin = Instant::now();
            // Whoever saves knows.
            let _ = save(campaign);
            (saved, saving) = (Instant::now(), begin.elapsed());
        }
        pause.rest(running.iter().map(|(_, watched)| watched));
    }
    drop((running, idle));
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
