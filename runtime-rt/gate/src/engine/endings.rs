//! How threads and the process end: by themselves, by `exit` and its like, and by failures. Each is a step, and none of these comes back.

use core::ffi::c_void;

use model::ids::SiteKey;
use model::pair::Rw;

use super::failure::Failed;
use super::fiber::{Engine, Stop};
use super::habits::Habit;
use crate::gate::ask::Ask;

/// In a fiber: the thread ends with this result.
pub(crate) fn end_thread(engine: &Engine, result: *mut c_void) -> ! {
    engine.with_current(|fiber| fiber.result.set(result));
    run_destructors(engine);
    crate::interpose::keys::destroy_values();
    let me = engine.current();
    let left = engine.model.borrow().objects.left_by(me);
    for lock in left {
        engine.point_at(None, Ask::Orphan { lock });
    }
    if engine.habits.has(Habit::LooksForEnds) || engine.habits.has(Habit::Interrupts) {
        let range = engine.model.borrow().threads[me.index()].end;
        engine.point_at(None, Ask::Access { range, rw: Rw::Write, atomic: true });
        engine.model.borrow_mut().threads[me.index()].ending = true;
    }
    engine.point(Ask::Exit);
    // All others have ended too.
    finish(engine, 0)
}

/// In a fiber: the process ends with this status, as by `exit`.
pub(crate) fn end_process(engine: &Engine, status: i32) -> ! {
    begin_to_end(engine);
    run_destructors(engine);
    finish(engine, status)
}

/// In a fiber: the process ends with this status, after what `exit` runs.
fn finish(engine: &Engine, status: i32) -> ! {
    crate::interpose::process::run_exit_handlers(engine, status);
    engine.leave_for_good(Stop::Exited(status))
}

/// In a fiber: the process ends with this status, without what `exit` runs.
pub(crate) fn end_process_at_once(engine: &Engine, status: i32) -> ! {
    begin_to_end(engine);
    engine.leave_for_good(Stop::Exited(status))
}

/// In a fiber: nobody else goes on from here. Code that `exit` runs may end the process again.
fn begin_to_end(engine: &Engine) {
    let begun = engine.model.borrow().is_exiting();
    if !begun {
        engine.point(Ask::ExitProcess);
    }
}

/// In a fiber: the process ends by a failure. That is a step of its own: others may go on before, and end the process in another way.
/// What the failure says is made then, as the thread may never go on.
pub(crate) fn fail(engine: &Engine, failed: impl FnOnce(Option<SiteKey>) -> Failed) -> ! {
    let site = engine.with_current(|fiber| fiber.last_site.get());
    engine.point_at(site, Ask::Fail);
    engine.leave_for_good(Stop::Failed(failed(site)))
}

/// Runs the destructors of the thread's variables, the newest first.
fn run_destructors(engine: &Engine) {
    while let Some(destructor) = engine.with_current(|fiber| fiber.destructors.borrow_mut().pop()) {
        (destructor.function)(destructor.object);
    }
}
