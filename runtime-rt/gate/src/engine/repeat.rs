//! The beginning of an execution that is that of the one before: taken again step by step, as fast as can be.
//!
//! A search goes back to some point of the execution before, mostly far from the start. What was chosen up to there is known, who else
//! could have gone on is of no interest, and what there was to keep of these steps is kept. So nobody is asked and nothing is told
//! or written down: each thread is looked at alone, whether it can go on and is about to do what it did.
//!
//! Where it is not, or where more is to be found out (threads that go round, locks that were lost, choices within steps), the execution goes
//! on as others do, and the strategy sees what is different. Only with memory put back (`restore`): another process may die on the way.

use alloc::boxed::Box;

use explorer::strategy::{Step, Strategy};
use model::ids::ThreadId;

use super::execution::{Ended, Taking, go_on};
use super::fiber::Engine;

/// Takes as many steps as can be taken again; who took the last one, or how the execution ended.
pub(super) fn steps(engine: &Engine, strategy: &mut dyn Strategy, limit: u64) -> Result<Option<ThreadId>, Box<Ended>> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let wanted = if engine.restorer.is_protecting() { strategy.repeats() } else { 0 };
    let most = wanted.min(limit).min(engine.recorder.borrow().repeatable());
    let mut taken = 0;
    let mut last = Ok(None);
    while taken < most {
        let before = engine.recorder.borrow().steps[taken].step;
        let Some(result) = step(engine, strategy, &before) else { break };
        taken += 1;
        last = result.map(Some);
        if last.is_err() {
            break;
        }
    }
    engine.recorder.borrow_mut().keep(taken);
    strategy.repeated(taken);
    last
}

/// Takes a step as before; `None` if that is not possible.
#[inline]
fn step(engine: &Engine, strategy: &mut dyn Strategy, before: &Step) -> Option<Taking> {
    let thread = before.thread;
    let (step, result) = {
        let mut model = engine.model.borrow_mut();
        if engine.rounds.is_watching() || model.holds.has_news() {
            return None;
        }
        let event = model.ready(thread).filter(|event| event.kind == before.event.kind && event.site == before.event.site)?;
        // Steps with a choice are not taken again.
        (Step { thread, event }, model.perform(thread, &event, &mut |_| 0))
    };
    Some(go_on(engine, strategy, &step, result))
}
