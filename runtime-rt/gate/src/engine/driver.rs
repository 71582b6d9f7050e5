//! Which driver starts executions: chosen by what the machine can do and the program does.

use explorer::strategy::Strategy;
use explorer::target::page::{Note, Word};
use explorer::target::setup::Driver;

use super::execution::{self, Ended};
use super::explore::remark;
use super::fiber::Engine;
use super::{arena, control, dispatch, exec, fork, lenders, restore, start};
use crate::sys::maps::{Mapping, mappings};
use crate::sys::switch::is_fast;

/// A driver in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InUse {
    /// A forked child for each execution.
    Fork,
    /// One process, whose memory is put back.
    Restore,
    /// A fresh process for each execution.
    Exec,
    /// This process runs one execution, under a debugger.
    Debugged,
}

/// Begins to use the driver that is wished for, or the best one.
pub(crate) fn begin(engine: &Engine, wish: Driver) -> InUse {
    let driver = choose(engine, wish);
    if driver != InUse::Exec {
        start::close_descriptors();
    }
    driver
}

/// Begins the one execution of a debugger's.
pub(crate) fn begin_debugged(engine: &Engine) -> InUse {
    control::set(Word::Driver, 4);
    start::close_descriptors();
    let _ = dispatch::begin(engine);
    InUse::Debugged
}

/// Why neither putting memory back nor forking gives the program what it has at its start, if so.
fn needs_fresh_process() -> Option<&'static str> {
    if control::has_noted(Note::EarlyThread) {
        return Some("a thread was created before main");
    }
    let ours = |mapping: &Mapping| control::is_page(mapping.start) || arena::is_shared(mapping.start);
    let shared = mappings().ok()?.iter().any(|mapping| mapping.shared && !ours(mapping));
    shared.then_some("the program shares memory with other processes before main")
}

fn begin_exec(why: &str) -> InUse {
    control::set(Word::Driver, 3);
    remark(&alloc::format!("driver exec: {why}"));
    InUse::Exec
}

fn choose(engine: &Engine, wish: Driver) -> InUse {
    let fresh = if wish == Driver::Exec { Some("asked for") } else { needs_fresh_process() };
    match wish {
        Driver::Exec | Driver::Auto if fresh.is_some() && exec::is_possible(engine) => begin_exec(fresh.unwrap_or_default()),
        Driver::Exec => begin_fork("the engine's memory cannot be shared with fresh processes"),
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
    engine.restorer.snapshot(engine.own_stack.get()).inspect_err(|_| dispatch::end())?;
    engine.printed.begin();
    Ok(())
}

fn end_restore(engine: &Engine) {
    engine.printed.end();
    engine.restorer.release();
    dispatch::end();
}

/// Runs one execution.
pub(crate) fn execute(engine: &Engine, driver: InUse, strategy: &mut dyn Strategy, limit: u64) -> Ended {
    let ended = match driver {
        InUse::Fork => fork::execute(engine, strategy, limit),
        InUse::Restore => restore::execute(engine, strategy, limit),
        InUse::Exec => exec::execute(engine, strategy, limit),
        InUse::Debugged => execution::execute(engine, strategy, limit),
    };
    engine.leftovers.remove();
    ended
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
