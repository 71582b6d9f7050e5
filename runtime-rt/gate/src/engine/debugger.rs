//! Where a debugger stops: a function of ours that is called on the stack of the thread that has just been let on.

use model::ids::ThreadId;

use super::fiber::Engine;

/// What a debugger has its breakpoint on. Its arguments say who goes on, and after how many steps.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[inline(never)]
extern "C" fn __atomfix_stop(thread: u32, steps: u64) {
    core::hint::black_box((thread, steps));
}

/// In a fiber that was let on: stops when that was the step, once.
pub(crate) fn stop_if_there(engine: &Engine) {
    let steps = engine.recorder.borrow().steps.len() as u64;
    if engine.stop_at.get().is_some_and(|stop| steps >= stop) {
        engine.stop_at.set(None);
        let ThreadId(thread) = engine.current();
        __atomfix_stop(thread, steps);
    }
}
