//! What the kernel keeps for each thread: where and how urgently it is to run, its rights. One OS thread runs them all, so they have it in common.
//!
//! That shows where a thread is told what was set for another one, or where one sets it for another, which may come before or after. That a
//! thread sets its own, or all have what the first one has set before it made the others, is as it should be.

use core::cell::Cell;
use core::ffi::c_int;

use explorer::target::page::Note;

use super::fiber::Engine;
use super::{answers, control};
use crate::sys::call::word;

/// Whose state it is, as sets of threads in which those from the 64th on count as one.
#[derive(Default)]
pub(crate) struct OwnState {
    /// For whom it was set last, and how many threads there were: those made later have it too.
    last: Cell<Option<(usize, usize)>>,
    /// For whom others have set it.
    given: Cell<u64>,
    /// Whose was asked for.
    asked: Cell<u64>,
}

impl OwnState {
    /// An execution begins.
    pub(crate) fn begin(&self) {
        self.last.set(None);
        self.given.set(0);
        self.asked.set(0);
    }
}

/// Before a call: notes what it says, or does, that is another thread's.
pub(crate) fn note(engine: &Engine, number: libc::c_long, arguments: &[usize; 6]) {
    const OF_PROCESS: usize = libc::PRIO_PROCESS as usize;
    const IO_OF_PROCESS: usize = 1;
    let [first, second, ..] = *arguments;
    let (named, sets) = match number {
        libc::SYS_sched_setaffinity | libc::SYS_sched_setscheduler | libc::SYS_sched_setparam | libc::SYS_sched_setattr => (first, true),
        libc::SYS_sched_getaffinity | libc::SYS_sched_getscheduler | libc::SYS_sched_getparam | libc::SYS_sched_getattr => (first, false),
        libc::SYS_setpriority if first == OF_PROCESS => (second, true),
        libc::SYS_getpriority if first == OF_PROCESS => (second, false),
        libc::SYS_unshare | libc::SYS_setns | libc::SYS_capset | libc::SYS_setfsuid | libc::SYS_setfsgid => {
            if !engine.model.borrow().is_last() {
                control::note(Note::OfOthers);
            }
            return;
        }
        libc::SYS_ioprio_set if first == IO_OF_PROCESS => (second, true),
        libc::SYS_ioprio_get if first == IO_OF_PROCESS => (second, false),
        libc::SYS_prctl => match c_int::try_from(first) {
            Ok(
                libc::PR_SET_TIMERSLACK
                | libc::PR_SET_NO_NEW_PRIVS
                | libc::PR_SET_KEEPCAPS
                | libc::PR_SET_SECUREBITS
                | libc::PR_SET_SECCOMP,
            ) => (0, true),
            Ok(
                libc::PR_GET_TIMERSLACK
                | libc::PR_GET_NO_NEW_PRIVS
                | libc::PR_GET_KEEPCAPS
                | libc::PR_GET_SECUREBITS
                | libc::PR_GET_SECCOMP,
            ) => (0, false),
            _ => return,
        },
        libc::SYS_personality => (0, first != word(-1)),
        _ => return,
    };
    let (me, threads) = (engine.current().index(), engine.model.borrow().threads.len());
    let of = answers::thread(engine, named).map_or(me, |thread| thread.index());
    let state = &engine.unseen.own_state;
    let bit = |thread: usize| 1 << thread.min(63);
    if sets {
        state.last.set(Some((of, threads)));
        if of != me {
            state.given.set(state.given.get() | bit(of));
        }
    } else {
        state.asked.set(state.asked.get() | bit(of));
    }
    let is_of_another = !sets && state.last.get().is_some_and(|(last, threads)| last != of && of < threads);
    if is_of_another || state.given.get() & state.asked.get() != 0 {
        control::note(Note::OfOthers);
    }
}
