//! The engine's part of the protocol around a strategy, for programs as data.

use std::collections::BTreeMap;
use std::vec::Vec;

use model::event::Event;
use model::ids::{ObjectId, ThreadId};

use super::machine::{Machine, Outcome};
use super::pipes::End;
use super::program::Program;
use crate::minimize::Traced;
use crate::strategy::around::{Around, Change};
use crate::strategy::replay::{Expected, What};
use crate::strategy::{Choice, Ending, Outcome as Verdict, Pick, Point, Step, Strategy, Supply};

/// What an exploration saw.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// How often each outcome came.
    pub outcomes: BTreeMap<Outcome, u64>,
    /// The most steps of an execution.
    pub longest: usize,
}

/// Explores a program until the strategy has enough.
pub fn explore(program: &Program, strategy: &mut dyn Strategy) -> Seen {
    let mut seen = Seen::default();
    let (mut pending, mut before) = (Vec::new(), Vec::new());
    while strategy.begin() {
        let (outcome, steps) = execute_after(program, strategy, &mut pending, &mut before);
        seen.longest = seen.longest.max(steps);
        if let Some(outcome) = outcome {
            *seen.outcomes.entry(outcome).or_default() += 1;
        }
    }
    seen
}

/// One execution: its outcome, unless the strategy ended it, and its length.
pub fn execute(program: &Program, strategy: &mut dyn Strategy, pending: &mut Vec<Option<Event>>) -> (Option<Outcome>, usize) {
    execute_after(program, strategy, pending, &mut Vec::new())
}

/// As `execute`, after another one, which took these steps, each with the option taken in it, and which it may repeat to a part.
fn execute_after(
    program: &Program,
    strategy: &mut dyn Strategy,
    pending: &mut Vec<Option<Event>>,
    before: &mut Vec<(ThreadId, usize)>,
) -> (Option<Outcome>, usize) {
    let mut machine = Machine::new(program);
    before.truncate(strategy.repeats());
    for &(thread, option) in &*before {
        assert!(machine.enabled(program).contains(thread), "{thread} goes on as before");
        assert_eq!(machine.perform(program, thread, option), None, "what is repeated does not end");
        machine.take_dropped();
    }
    strategy.repeated(before.len());
    let mut current = before.last().map(|&(thread, _)| thread);
    let mut steps = before.len();
    loop {
        pending.clear();
        pending.extend((0..machine.thread_count()).map(|thread| machine.pending(program, ThreadId::new(thread))));
        let enabled = machine.enabled(program);
        if enabled.is_empty() {
            let outcome = machine.outcome();
            let failed = matches!(outcome, Outcome::Deadlock(_));
            strategy.end(&Ending { outcome: if failed { Verdict::Failed } else { Verdict::Passed }, pending });
            return (Some(outcome), steps);
        }
        let thread = match strategy.choose(&Point { current, enabled: &enabled, pending }) {
            Choice::Run(thread) => thread,
            Choice::Abandon => {
                strategy.end(&Ending { outcome: Verdict::Abandoned, pending });
                return (None, steps);
            }
            Choice::Diverged => {
                strategy.end(&Ending { outcome: Verdict::Diverged, pending });
                return (None, steps);
            }
        };
        assert!(enabled.contains(thread), "{thread} was chosen, which is not enabled");
        let event = pending[thread.index()].expect("an enabled thread has a pending event");
        let option = pick(&machine, program, thread, event.object, strategy);
        let overwritten = machine.overwritten(program, thread);
        let ready = machine.ready_ends();
        let outcome = machine.perform(program, thread, option);
        strategy.executed(&Step { thread, event });
        if let Some(before) = overwritten {
            strategy.overwrote(before);
        }
        tell_supplies(&machine, program, thread, &ready, strategy);
        for (lock, left) in machine.take_dropped() {
            strategy.released(thread, lock, left);
        }
        steps += 1;
        before.push((thread, option));
        current = Some(thread);
        if let Some(outcome) = outcome {
            pending[thread.index()] = None;
            strategy.end(&Ending { outcome: Verdict::Failed, pending });
            return (Some(outcome), steps);
        }
    }
}

/// Tells of what was ready before the thread's step and is not now, and of what the thread has to wait for.
fn tell_supplies(machine: &Machine, program: &Program, thread: ThreadId, before: &[End], strategy: &mut dyn Strategy) {
    let now = machine.ready_ends();
    for end in before.iter().filter(|end| !now.contains(end)) {
        strategy.supplied(thread, Supply::Emptied(end.number()));
    }
    for end in machine.lacked_ends(program, thread) {
        strategy.supplied(thread, Supply::Lacked(end.number()));
    }
}

fn pick(machine: &Machine, program: &Program, thread: ThreadId, condition: Option<ObjectId>, strategy: &mut dyn Strategy) -> usize {
    let (options, waiters) = (machine.options(program, thread), machine.waiters(program, thread));
    if options < 2 {
        return 0;
    }
    let pick = if waiters.is_empty() {
        Pick::Value { options: u32::try_from(options).expect("few options") }
    } else {
        Pick::Waiter { condition, waiters }
    };
    let picked = strategy.pick(&pick) as usize;
    assert!(picked < options, "{picked} was picked: {pick:?}");
    picked
}

/// One execution, step by step.
pub fn trace(program: &Program, strategy: &mut dyn Strategy) -> (Option<Outcome>, Vec<Traced>) {
    let mut tracer = Around::changing(strategy, Steps(Vec::new()));
    if !tracer.begin() {
        return (None, Vec::new());
    }
    let (outcome, _) = execute(program, &mut tracer, &mut Vec::new());
    (outcome, tracer.change.0)
}

/// What a strategy chooses.
struct Steps(Vec<Traced>);

impl Change for Steps {
    fn choose(&mut self, inner: &mut dyn Strategy, point: &Point<'_>) -> Choice {
        let choice = inner.choose(point);
        if let Choice::Run(thread) = choice {
            let step = Expected { thread, what: point.event(thread).map(What::of), picks: Vec::new() };
            self.0.push(Traced { step, preempts: point.preempts(thread) });
        }
        choice
    }

    fn pick(&mut self, inner: &mut dyn Strategy, pick: &Pick<'_>) -> u32 {
        let taken = inner.pick(pick);
        if let Some(traced) = self.0.last_mut() {
            traced.step.picks.push(taken);
        }
        taken
    }
}
