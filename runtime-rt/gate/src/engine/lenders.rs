//! Parked threads: real ones, created once and asleep for ever, which lend fibers their TLS blocks and stacks.
//!
//! A fiber then *is* that thread as far as the C library knows: `errno`, `__thread`, exceptions, `pthread_self` and the
//! bounds of the stack are right. A TLS block is lent once an execution, so that a thread never finds another's leavings.

use alloc::vec::Vec;
use core::ffi::c_void;
use core::sync::atomic::{
    AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

use super::execution::unwound;
use crate::sys::call;
use crate::sys::real::{Real, real};
use crate::sys::switch::{TlsBase, tls_base};
use crate::sys::unwind::{self, Place};

/// What a parked thread lends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lender {
    /// Its TLS block.
    pub(crate) tls: TlsBase,
    /// The end of its free stack.
    pub(crate) stack: usize,
    /// Its number for the kernel.
    pub(crate) task: usize,
    /// Its identity for the C library.
    pub(crate) identity: libc::pthread_t,
}

/// Where a new thread leaves what it lends, one at a time.
static TLS: AtomicUsize = AtomicUsize::new(0);
static STACK: AtomicUsize = AtomicUsize::new(0);
static TASK: AtomicUsize = AtomicUsize::new(0);

/// Left free below the parked frame: more than the red zone.
const GAP: usize = 512;

pub(crate) static CREATE: Real = Real::new(c"pthread_create");

/// Creates parked threads until there are `count`. Returns how many there are, fewer when the system has no more.
pub(crate) fn ensure(lenders: &mut Vec<Lender>, count: usize) -> usize {
    let before = call::block_signals();
    while lenders.len() < count {
        let mut identity: libc::pthread_t = 0;
        TLS.store(0, Relaxed);
        type Routine = extern "C" fn(*mut c_void) -> *mut c_void;
        let created = real!(
            CREATE,
            fn(*mut libc::pthread_t, *const libc::pthread_attr_t, Routine, *mut c_void) -> i32,
            &raw mut identity,
            core::ptr::null(),
            park as Routine,
            core::ptr::null_mut()
        );
        if created != 0 {
            break;
        }
        while TLS.load(Acquire) == 0 {
            call::yield_processor();
        }
        lenders.push(Lender { tls: TlsBase(TLS.load(Relaxed)), stack: STACK.load(Relaxed), task: TASK.load(Relaxed), identity });
    }
    call::restore_signals(before);
    lenders.len()
}

/// Where free stack memory ends below this address: at the border of a page, so that what small threads need lies in one.
pub(crate) fn free_stack(address: usize) -> usize {
    (address - GAP - 256) & !4095
}

extern "C" fn park(_: *mut c_void) -> *mut c_void {
    let mut place = Place::new();
    // SAFETY: this frame is never left, and what runs on the stack is the program.
    unsafe { unwind::settle(&raw mut place, rest, unwound) }
}

extern "C" fn rest() -> ! {
    let here = 0_u8;
    STACK.store(free_stack((&raw const here).expose_provenance()), Relaxed);
    TASK.store(call::task(), Relaxed);
    TLS.store(tls_base().0, Release);
    call::sleep_for_ever()
}

/// Waits until all of them sleep in the kernel, where they write to no memory; `false` when one never does.
pub(crate) fn all_asleep(lenders: &[Lender]) -> bool {
    const TRIES: u32 = 100_000;
    lenders.iter().all(|lender| {
        (0..TRIES).any(|_| {
            let asleep = is_asleep(lender.task);
            if !asleep {
                call::yield_processor();
            }
            asleep
        })
    })
}

fn is_asleep(task: usize) -> bool {
    let path = alloc::format!("/proc/self/task/{task}/stat\0");
    let Ok(path) = core::ffi::CStr::from_bytes_with_nul(path.as_bytes()) else { return false };
    let Ok(file) = call::open(path) else { return false };
    let mut text = [0_u8; 256];
    let length = call::read(file, &mut text).unwrap_or(0);
    call::close(file);
    // The state follows the name, which is in parentheses and may contain anything.
    let end = text[..length].iter().rposition(|&byte| byte == b')');
    end.and_then(|end| text.get(end + 2)) == Some(&b'S')
}
