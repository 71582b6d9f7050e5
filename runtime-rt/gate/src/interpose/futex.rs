//! Futexes, as C++20's `wait`, `latch`, `barrier` and semaphores use them, by way of `syscall`, or by instructions of their own
//! (`engine::calls`).
//!
//! Other system calls made this way pass through, but those that streams make too (`files`). Not handled: operations on futexes other than waiting and waking, and the
//! atomic accesses of libraries without hooks, which are noted.

use core::ffi::{c_int, c_long};

use explorer::target::page::Note;
use model::event::Range;
use model::pair::Rw;

use super::{deadline, files, peek};
use crate::engine::control;
use crate::engine::fiber::{Engine, running};
use crate::engine::shapes;
use crate::gate::ask::{Ask, Nanoseconds, Until};
use crate::sys::call::Errno;
use crate::sys::guarded;
use crate::sys::real::{Real, real};
use crate::sys::text;

static SYSCALL: Real = Real::new(c"syscall");

/// All of them.
pub(super) static REALS: &[&Real] = &[&SYSCALL];

const WAIT: usize = 0;
const WAKE: usize = 1;
const UNLOCK_PI: usize = 7;
const WAIT_BITSET: usize = 9;
const WAKE_BITSET: usize = 10;

fn number(value: usize) -> u32 {
    shapes::descriptor(value).cast_unsigned()
}

/// The time limit; `None` for what is no time.
fn until(engine: &Engine, operation: usize, time: usize) -> Option<Until> {
    let until = deadline(engine, core::ptr::with_exposed_provenance(time))?;
    Some(match until {
        Until::Deadline(span) if operation == WAIT => Until::Deadline(Nanoseconds(engine.model.borrow().now().0.saturating_add(span.0))),
        _ => until,
    })
}

fn word(address: usize) -> Range {
    Range { address: address as u64, length: 4 }
}

/// What is at the word; `None` where nothing can be read.
fn look(address: usize) -> Option<u32> {
    let place: *const u32 = core::ptr::with_exposed_provenance(address);
    (address.is_multiple_of(4) && guarded::byte(address).is_some()).then(|| peek(place, 0).cast_unsigned())
}

fn wait(engine: &Engine, address: usize, expected: u32, until: Until, bits: u32) -> c_int {
    let (site, word) = (engine.take_site(), word(address));
    loop {
        // The call reads the word: who writes there without an atomic instruction has to stop before that.
        engine.shadow.borrow_mut().touch(engine.current(), word, Rw::Read);
        engine.point_at(site, Ask::FutexWait { word });
        match look(address) {
            Some(found) if found == expected => {}
            Some(_) => return libc::EAGAIN,
            None => return if address.is_multiple_of(4) { libc::EFAULT } else { libc::EINVAL },
        }
        engine.model.borrow_mut().wait_at(engine.current(), word, until);
        let result = engine.point_at(site, Ask::FutexReturn { word, until, bits });
        // A call that is made again looks at the word again, which a handler may have written to.
        if result != libc::ERESTART {
            return result;
        }
    }
}

/// A futex operation of a controlled thread, by the arguments of the call; `None` for what is not modelled.
pub(crate) fn perform(engine: &Engine, [address, operation, value, time, _, bits]: [usize; 6]) -> Option<Result<usize, Errno>> {
    let operation = operation & 0x7f;
    let bits = if matches!(operation, WAIT_BITSET | WAKE_BITSET) { number(bits) } else { u32::MAX };
    match operation {
        WAIT_BITSET | WAKE_BITSET if bits == 0 => Some(Err(Errno(libc::EINVAL))),
        WAIT | WAIT_BITSET => {
            match until(engine, operation, time).map_or(libc::EINVAL, |until| wait(engine, address, number(value), until, bits)) {
                0 => Some(Ok(0)),
                error => Some(Err(Errno(error))),
            }
        }
        WAKE | WAKE_BITSET => {
            let woken = engine.point(Ask::FutexWake { word: word(address), count: number(value), bits });
            Some(Ok(usize::try_from(woken).unwrap_or(0)))
        }
        // So the C library asks whether the kernel knows such locks.
        UNLOCK_PI if look(address) == Some(0) => Some(Err(Errno(libc::EPERM))),
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
        if let Some(result) = perform(engine, [a, b, c, d, e, f]) {
            return match result {
                Ok(value) => c_long::try_from(value).unwrap_or(c_long::MAX),
                Err(Errno(error)) => super::fail(error).into(),
            };
        }
    }
    // Streams make these by instructions of their own.
    match number {
        libc::SYS_fstat => return files::ask_of(shapes::descriptor(a), core::ptr::with_exposed_provenance_mut(b)).into(),
        libc::SYS_newfstatat => {
            let (path, place) = (core::ptr::with_exposed_provenance(b), core::ptr::with_exposed_provenance_mut(c));
            return files::ask(shapes::descriptor(a), path, place, d).into();
        }
        _ => {}
    }
    real!(SYSCALL, fn(c_long, usize, usize, usize, usize, usize, usize) -> c_long, number, a, b, c, d, e, f)
}
