//! Which driver starts executions: chosen by what the machine can do and the program does.

use explorer::strategy::Strategy;
use explorer::target::page::Word;
use explorer::target::setup::Driver;

use super::execution::Ended;
use super::explore::remark;
use super::fiber::Engine;
use super::{control, dispatch, fork, lenders, restore};
use crate::sys::switch::is_fast;

/// A driver in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InUse {
    /// A forked child for each execution.
    Fork,
    /// One process, whose memory is put back.
    Restore,
}

/// Begins to use the driver that is wished for, or the best one.
pub(crate) fn begin(engine: &Engine, wish: Driver) -> InUse {
    match wish {
        Driver::Fork => begin_fork("asked for"),
        Driver::Auto if !is_fast() => begin_fork("the processor or kernel lacks FSGSBASE"),
        Driver::Auto | Driver::Restore => match begin_restore(engine) {
            Ok(()) => {
                control::set(Word::Driver, 2);
                remark(if wish == Driver::Restore { "driver restore: asked for" } else { "driver restore" });
                InUse::Restore
            }
            Err(why) => begin_fork(why),
        },
    }
}

fn begin_fork(why: &str) -> InUse {
    control::set(Word::Driver, 1);
    remark(&alloc::format!("driver fork: {why}"));
    InUse::Fork
}

fn begin_restore(engine: &Engine) -> Result<(), &'static str> {
    if !lenders::all_asleep(&engine.lenders.borrow()) {
        return Err("parked threads do not come to rest");
    }
    if !dispatch::begin(engine) {
        return Err("the kernel lacks Syscall User Dispatch");
    }
    engine.restorer.snapshot(engine.own_stack.get()).inspect_err(|_| dispatch::end())
}

fn end_restore(engine: &Engine) {
    engine.restorer.release();
    dispatch::end();
}

/// Runs one execution.
pub(crate) fn execute(engine: &Engine, driver: InUse, strategy: &mut dyn Strategy, limit: u64) -> Ended {
    match driver {
        InUse::Fork => fork::execute(engine, strategy, limit),
        InUse::Restore => restore::execute(engine, strategy, limit),
    }
}

/// The program does what the restore driver cannot undo: goes on with the other one.
pub(crate) fn fall_back(engine: &Engine, why: &str) -> InUse {
    end_restore(engine);
    begin_fork(why)
}

/// Makes more parked threads; whether the system allowed it.
pub(crate) fn lend_more(engine: &Engine, driver: InUse) -> bool {
    if driver == InUse::Restore {
        end_restore(engine);
    }
    let before = engine.lenders.borrow().len();
    let more = lenders::ensure(&mut engine.lenders.borrow_mut(), before * 2) > before;
    if driver == InUse::Restore && begin_restore(engine).is_err() {
        control::broken("memory can no longer be protected");
    }
    more
}
