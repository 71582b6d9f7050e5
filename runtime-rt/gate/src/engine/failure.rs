//! What went wrong in an execution, and the classes that failures fall into.

use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use explorer::races::{Party, Race};
use explorer::target::found::{FoundFailure, TakenStep, failure_text, minimized_text};
use explorer::target::page::Word;
use model::event::EventKind;
use model::ids::{SiteKey, ThreadId};
use model::pair::Rw;
use model::report::FailureKind;

use super::control;
use crate::gate::ask::Ask;
use crate::gate::model::Model;
use crate::gate::objects::State;
use crate::gate::thread::Life;

/// One failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failed {
    /// What.
    pub(crate) kind: FailureKind,
    /// Whose doing.
    pub(crate) thread: Option<ThreadId>,
    /// Where in the code.
    pub(crate) site: Option<SiteKey>,
    /// Where in the source, if the program says so.
    pub(crate) location: Option<String>,
    /// In words.
    pub(crate) message: String,
    /// More words.
    pub(crate) details: Vec<String>,
}

impl Failed {
    /// A failure without details.
    pub(crate) fn new(kind: FailureKind, thread: Option<ThreadId>, site: Option<SiteKey>, message: &str) -> Self {
        Self { kind, thread, site, location: None, message: message.to_string(), details: Vec::new() }
    }

    /// Whether both are the same failure, met in different schedules.
    pub(crate) fn same_class(&self, other: &FoundFailure) -> bool {
        self.kind == other.kind && self.site == other.site && self.location == other.location && self.message == other.message
    }
}

impl Failed {
    /// A data race. The sites stand for their source positions, which `atomfix` knows.
    pub(crate) fn race(race: &Race) -> Self {
        let does = |party: &Party| {
            let verb = match (party.atomic, party.rw) {
                (false, Rw::Read) => "reads",
                (false, _) => "writes",
                (true, Rw::Read) => "atomically reads",
                (true, _) => "atomically writes",
            };
            alloc::format!("{} {verb} at {}", party.thread, party.site)
        };
        let mut sites = [race.first.site, race.second.site];
        sites.sort_unstable();
        let message = alloc::format!("nothing orders the accesses at {} and {}", sites[0], sites[1]);
        let details = alloc::vec![does(&race.first), does(&race.second)];
        Self { details, ..Self::new(FailureKind::DataRace, None, Some(sites[1]), &message) }
    }
}

/// The failures of an exploration, each class once.
#[derive(Default)]
pub(crate) struct Classes {
    /// In order of discovery.
    pub(crate) list: Vec<FoundFailure>,
    /// Those whose schedule has fewer points than executions have now, by number.
    old: BTreeSet<usize>,
}

/// Classes beyond this many are counted as executions that failed, but not told apart.
const MOST: usize = 100;

impl Classes {
    /// The exploration begins anew: counts do, but what was found stays.
    pub(crate) fn begin_again(&mut self) {
        for class in &mut self.list {
            class.count = 0;
        }
        self.expect_more_points();
    }

    /// More memory was found shared: schedules with more points are to take the place of those that there are.
    pub(crate) fn expect_more_points(&mut self) {
        self.old = (0..self.list.len()).collect();
    }

    /// Counts a failure, and reports it at once when it is the first of its class, or of those that know of more shared memory.
    pub(crate) fn add(&mut self, failed: &Failed, output: impl FnOnce() -> Vec<String>, steps: impl FnOnce() -> Vec<TakenStep>) {
        let known = self.list.iter_mut().enumerate().find(|(_, known)| failed.same_class(known));
        if let Some((index, known)) = known {
            if self.old.remove(&index) {
                known.steps = steps();
                control::report(&minimized_text(index, &known.steps));
            }
            known.count += 1;
        } else if self.list.len() < MOST {
            let Failed { kind, thread, site, location, message, mut details } = failed.clone();
            details.extend(output());
            let first = control::get(Word::Executions);
            let found = FoundFailure {
                kind,
                thread,
                site,
                location,
                message,
                details,
                steps: steps(),
                minimized: None,
                critical: None,
                comes_out: false,
                count: 1,
                first,
            };
            control::report(&failure_text(self.list.len(), &found));
            self.list.push(found);
        }
    }
}

/// What kind of deadlock it is when no thread of the model can go on, with a line for each thread.
pub(crate) fn deadlock(model: &Model) -> Failed {
    let waiting: Vec<ThreadId> = (0..model.threads.len()).map(ThreadId::new).filter(|&thread| alive(model, thread)).collect();
    let details = waiting.iter().map(|&thread| describe(model, thread)).collect();
    let own = waiting.iter().find(|&&thread| model.waits_for(thread).contains(&thread)).copied();
    let cycle = waiting.iter().find(|&&thread| in_lock_cycle(model, thread)).copied();
    let for_locks = waiting.iter().any(|&thread| in_lock_cycle(model, thread) && !is_join(model, thread));
    let asks = |wanted: fn(&Ask) -> bool| waiting.iter().find(|&&thread| wanted(&model.threads[thread.index()].request.ask)).copied();
    let peers = asks(|ask| {
        matches!(ask, Ask::Waiting { .. } | Ask::Call { .. } | Ask::SemWait { .. } | Ask::BarrierLeave { .. } | Ask::FutexReturn { .. })
    });
    let spinner = waiting.iter().find(|&&thread| model.is_spinning(thread)).copied();
    let (kind, thread, message) = if let Some(thread) = own {
        (FailureKind::DeadlockSelf, Some(thread), "a thread waits for a lock that it holds itself")
    } else if let Some(thread) = cycle.filter(|_| !for_locks) {
        (FailureKind::DeadlockJoin, Some(thread), "threads wait for each other's end")
    } else if let Some(thread) = cycle {
        (FailureKind::DeadlockLock, Some(thread), "threads wait for locks in a cycle")
    } else if let Some(thread) = spinner {
        (FailureKind::Livelock, Some(thread), "a thread spins on something that nobody is left to change")
    } else if let Some(thread) = asks(|ask| matches!(ask, Ask::AwaitSignal { .. })) {
        // Whoever waits for a signal may be meant to get one from outside: that says most of what the program waits for.
        (
            FailureKind::DeadlockCondition,
            Some(thread),
            "a thread waits for a signal that no thread is left to send; none comes from outside",
        )
    } else if peers.is_some_and(|thread| signalled_in_vain(model, thread)) {
        (FailureKind::LostWakeUp, peers, "a thread waits for a signal that came before the wait")
    } else if peers.is_some_and(|thread| matches!(model.threads[thread.index()].request.ask, Ask::Call { .. })) {
        (FailureKind::DeadlockCondition, peers, "a thread waits in a system call for what nobody is left to do")
    } else if peers.is_some() {
        (FailureKind::DeadlockCondition, peers, "a thread waits for a signal that nobody is left to give")
    } else if let Some(thread) = asks(|ask| !matches!(ask, Ask::Join { .. } | Ask::TimedJoin { .. })) {
        (FailureKind::DeadlockLock, Some(thread), "a thread waits for a lock that nobody is left to release")
    } else {
        (FailureKind::DeadlockJoin, waiting.first().copied(), "threads wait for each other's end")
    };
    let site = thread.and_then(|thread| model.threads[thread.index()].request.site);
    Failed { kind, thread, site, location: None, message: message.to_string(), details }
}

fn alive(model: &Model, thread: ThreadId) -> bool {
    model.threads[thread.index()].life == Life::Alive
}

/// Whether the thread waits for another one's end.
fn is_join(model: &Model, thread: ThreadId) -> bool {
    matches!(model.threads[thread.index()].request.ask, Ask::Join { .. } | Ask::TimedJoin { .. })
}

/// Whether the thread waits, through holders of locks, for itself.
fn in_lock_cycle(model: &Model, start: ThreadId) -> bool {
    let mut todo = model.waits_for(start);
    let mut seen = Vec::new();
    while let Some(thread) = todo.pop() {
        if thread == start {
            return true;
        }
        if !seen.contains(&thread) {
            seen.push(thread);
            todo.extend(model.waits_for(thread));
        }
    }
    false
}

fn signalled_in_vain(model: &Model, thread: ThreadId) -> bool {
    match model.pending[thread.index()].and_then(|event| event.object) {
        Some(id) => matches!(&model.objects.get(id).state, State::Condition(condition) if condition.signalled_in_vain),
        None => false,
    }
}

/// One line on what a thread waits for. The site stands for its source position, which `atomfix` knows.
fn describe(model: &Model, thread: ThreadId) -> String {
    use alloc::format;
    let request = model.threads[thread.index()].request;
    let at = request.site.map_or_else(String::new, |site| format!(" at {site}"));
    let holders: Vec<String> = model.waits_for(thread).iter().map(ToString::to_string).collect();
    let held = if holders.is_empty() { String::new() } else { format!(", held by {}", holders.join(" and ")) };
    let object = model.pending[thread.index()].and_then(|event| event.object).map_or_else(String::new, |object| format!(" {object}"));
    match request.ask {
        _ if model.is_spinning(thread) => format!("{thread} spins{at}"),
        Ask::Join { child } | Ask::TimedJoin { child, .. } => format!("{thread} waits for the end of {child}{at}"),
        Ask::Waiting { .. } if model.pending[thread.index()].is_some_and(|event| event.kind == EventKind::WaitReacquire) => {
            format!("{thread} was woken and waits for mutex{object}{held}{at}")
        }
        Ask::Waiting { .. } => format!("{thread} waits on condition{object}{at}"),
        Ask::SemWait { .. } => format!("{thread} waits for semaphore{object}{at}"),
        Ask::BarrierLeave { .. } => format!("{thread} waits at barrier{object}{at}"),
        Ask::FutexReturn { .. } => format!("{thread} waits for the value at{object} to change{at}"),
        Ask::Call { ready, .. } => format!("{thread} waits {ready}{at}"),
        Ask::AwaitSignal { .. } => format!("{thread} waits for a signal to be sent{at}"),
        Ask::Acquire { .. } => format!("{thread} waits for an injected lock{held}{at}"),
        Ask::OnceEnter { .. } => format!("{thread} waits for a once routine{object}{at}"),
        _ => format!("{thread} waits for lock{object}{held}{at}"),
    }
}
