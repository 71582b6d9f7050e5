//! Futexes, as C++20's `wait`, `latch`, `barrier` and semaphores use them, by way of `syscall`, or by instructions of their own
//! (`engine::calls`).
//!
//! Other system calls made this way pass through. Not handled: operations on futexes other than waiting and waking, and the
//! atomic accesses of libraries without hooks, which are noted.

use core::ffi::{c_int, c_long};

use explorer::target::page::Note;
use model::event::Range;

use super::{deadline, peek};
use crate::engine::control;
use crate::engine::fiber::{Engine, running};
use crate::gate::ask::{Ask, Nanoseconds, Until};
use crate::sys::call::Errno;
use crate::sys::real::{Real, real};
use crate::sys::text;

static SYSCALL: Real = Real::new(c"syscall");

/// All of them.
pub(super) static REALS: &[&Real] = &[&SYSCALL];

const WAIT: usize = 0;
const WAKE: usize = 1;
const WAIT_BITSET: usize = 9;
const WAKE_BITSET: usize = 10;

fn number(value: usize) -> u32 {
    let [a, b, c, d, ..] = value.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// The time limit; `None` for what is no time.
fn until(engine: &Engine, operation: usize, time: usize) -> Option<Until> {
    let until = deadline(core::ptr::with_exposed_provenance(time))?;
    Some(match until {
        Until::Deadline(span) if operation == WAIT => Until::Deadline(Nanoseconds(engine.model.borrow().now().0.saturating_add(span.0))),
        _ => until,
    })
}

fn wait(engine: &Engine, address: usize, expected: u32, until: Until) -> c_int {
    let site = engine.take_site();
    let word = Range { address: address as u64, length: 4 };
    engine.point_at(site, Ask::FutexWait { word });
    let place: *const u32 = core::ptr::with_exposed_provenance(address);
    if peek(place, 0).cast_unsigned() != expected {
        return libc::EAGAIN;
    }
    engine.model.borrow_mut().wait_at(engine.current(), word, until);
    engine.point_at(site, Ask::FutexReturn { word, until })
}

/// A futex operation of a controlled thread; `None` for what is not modelled.
pub(crate) fn perform(engine: &Engine, address: usize, operation: usize, value: usize, time: usize) -> Option<Result<usize, Errno>> {
    match operation & 0x7f {
        operation @ (WAIT | WAIT_BITSET) => {
            match until(engine, operation, time).map_or(libc::EINVAL, |until| wait(engine, address, number(value), until)) {
                0 => Some(Ok(0)),
                error => Some(Err(Errno(error))),
            }
        }
        WAKE | WAKE_BITSET => {
            let word = Range { address: address as u64, length: 4 };
            let woken = engine.point(Ask::FutexWake { word, count: number(value) });
            Some(Ok(usize::try_from(woken).unwrap_or(0)))
        }
        _ => {
            control::note(Note::OtherFutexes);
            None
        }
    }
}

/// Code that waits by futexes, or wakes those who do, has them meet over words in memory. In a library without hooks nobody sees these.
pub(crate) fn note_caller(address: u64) {
    if text::is_foreign(address) {
        control::note(Note::UnseenAtomics);
    }
}

/// Passes on where it was called from, behind its own arguments.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[unsafe(naked)]
extern "C" fn syscall(_: c_long, _: usize, _: usize, _: usize, _: usize, _: usize, _: usize) -> c_long {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "mov rax, [rsp]",
        "mov r10, [rsp + 8]",
        "sub rsp, 8",
        "push rax",
        "push r10",
        ".cfi_def_cfa_offset 32",
        "call {to}",
        "add rsp, 24",
        ".cfi_def_cfa_offset 8",
        "ret",
        ".cfi_endproc",
        to = sym syscall_from,
    )
}

extern "C" fn syscall_from(number: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize, caller: u64) -> c_long {
    if let Some(engine) = running().filter(|_| number == libc::SYS_futex) {
        note_caller(caller);
        if let Some(result) = perform(engine, a, b, c, d) {
            return match result {
                Ok(value) => c_long::try_from(value).unwrap_or(c_long::MAX),
                Err(Errno(error)) => super::fail(error).into(),
            };
        }
    }
    real!(SYSCALL, fn(c_long, usize, usize, usize, usize, usize, usize) -> c_long, number, a, b, c, d, e, f)
}
