//! The fork driver: each execution in a child of its own, which inherits the prepared process and leaves its result in the
//! shared arena. The strategy lives there too, so that nothing is sent.

use alloc::boxed::Box;
use core::cell::RefCell;

use explorer::strategy::Strategy;
use explorer::target::page::{Phase, Word};
use model::report::FailureKind;

use super::clock;
use super::control;
use super::dispatch;
use super::execution::{self, Ended};
use super::failure::Failed;
use super::fiber::Engine;
use crate::sys::call;

/// What to do where the system refuses a process.
pub(super) const TOO_LITTLE: &str = "there are too many processes (`ulimit -u`), or too little memory is left; use fewer workers (`-j`)";

/// Status of a child that left its result.
const LEFT_RESULT: i32 = 0;

/// Runs one execution in a child.
pub(crate) fn execute(engine: &Engine, strategy: &mut dyn Strategy, limit: u64) -> Ended {
    let result: Box<RefCell<Option<Ended>>> = Box::default();
    match fork() {
        0 => {
            // Not inherited; where it is missing, calls pass unseen, as has been said.
            let _ = dispatch::begin(engine);
            clock::take();
            let ended = execution::execute(engine, strategy, limit);
            *result.borrow_mut() = Some(ended);
            call::exit_process(0)
        }
        child if child > 0 => {
            control::set(Word::Child, u64::from(child.unsigned_abs()));
            let status = call::wait_for(child);
            control::set(Word::Child, 0);
            engine.come_home();
            if control::get(Word::Phase) == Phase::Broken as u64 {
                call::exit_process(70);
            }
            conclude(engine, result.take(), status)
        }
        _ => control::unable("no process can be started for an execution", TOO_LITTLE),
    }
}

/// How an execution ended whose process ended with this status, and had left this result.
pub(super) fn conclude(engine: &Engine, result: Option<Ended>, status: Result<i32, call::Errno>) -> Ended {
    match (result, status) {
        (Some(ended), Ok(status)) if status == LEFT_RESULT => ended,
        (_, Ok(status)) => Ended::Failed(died(engine, status)),
        (_, Err(error)) => control::broken(&alloc::format!("waiting for a child failed: errno {}", error.0)),
    }
}

unsafe extern "C" {
    /// `fork` without its handlers, which would reset the parked threads whose TLS blocks we borrow.
    fn _Fork() -> libc::pid_t;
}

/// A child that dies with us: one that runs for ever must not be left behind when `atomfix` is killed.
pub(super) fn fork() -> libc::pid_t {
    // SAFETY: the child uses only what it inherits.
    let child = unsafe { _Fork() };
    if child == 0 {
        let arguments = [call::word(libc::PR_SET_PDEATHSIG), call::word(libc::SIGKILL), 0, 0, 0, 0];
        // SAFETY: changes only what the kernel does to this process when its parent ends. It cannot fail with these arguments.
        let _ = unsafe { call::system_call(libc::SYS_prctl, arguments) };
    }
    child
}

/// What went wrong when the child died on its own.
fn died(engine: &Engine, status: i32) -> Failed {
    if !engine.is_at_rest() {
        control::unable(
            "an execution was killed in the middle of what it shares with others",
            "see how much memory it needs, and whether anybody else has killed it",
        );
    }
    let (thread, site) = (Some(engine.current()), engine.with_current(|fiber| fiber.last_site.get()));
    if libc::WIFSIGNALED(status) {
        let signal = libc::WTERMSIG(status);
        if signal == libc::SIGKILL && control::get(Word::Killed) == control::get(Word::Executions) {
            return super::signals::hung(thread, site);
        }
        return Failed::new(FailureKind::Signal, thread, site, &super::signals::message(signal, None));
    }
    let message = alloc::format!("the program ended with exit status {}", libc::WEXITSTATUS(status));
    Failed::new(FailureKind::ExitStatus, thread, site, &message)
}
