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
    /// Below this a thread counts as one whose stack has no room left; 0: nowhere. There are [`EXTRA`] bytes more, so that hooks can say so.
    pub(crate) floor: usize,
    /// Its number for the kernel.
    pub(crate) task: usize,
    /// Its identity for the C library.
    pub(crate) identity: libc::pthread_t,
}

/// Where a new thread leaves what it lends, one at a time.
static TLS: AtomicUsize = AtomicUsize::new(0);
static STACK: AtomicUsize = AtomicUsize::new(0);
static TASK: AtomicUsize = AtomicUsize::new(0);

/// How much larger stacks are than the program's own.
pub(crate) const EXTRA: usize = 1 << 18;

/// Makes the initial thread's stack, free below this address, larger. Its floor: the program has as much as it would without us, wherever
/// its environment ends.
pub(crate) fn enlarge_initial(stack: usize) -> usize {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: fills in the limit.
    if unsafe { libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) } != 0 || limit.rlim_cur == libc::RLIM_INFINITY {
        return 0;
    }
    limit.rlim_cur = (limit.rlim_cur + EXTRA as u64).min(limit.rlim_max);
    // SAFETY: as above.
    unsafe { libc::setrlimit(libc::RLIMIT_STACK, &raw const limit) };
    usize::try_from(limit.rlim_cur).ok().and_then(|bytes| stack.checked_sub(bytes.saturating_sub(EXTRA))).unwrap_or(0)
}

/// How parked threads are created, and how large the stack would be otherwise.
fn attributes() -> (libc::pthread_attr_t, usize) {
    let mut bytes = 0;
    let mut attributes = core::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: fills in the attributes.
    unsafe { libc::pthread_attr_init(attributes.as_mut_ptr()) };
    // SAFETY: they are filled in.
    let mut attributes = unsafe { attributes.assume_init() };
    // SAFETY: as above; who has set no size is told the one that there will be.
    unsafe { libc::pthread_attr_getstacksize(&raw const attributes, &raw mut bytes) };
    // SAFETY: as above.
    unsafe { libc::pthread_attr_setstacksize(&raw mut attributes, bytes + EXTRA) };
    (attributes, bytes)
}

/// Left free below the parked frame: more than the red zone.
const GAP: usize = 512;

pub(crate) static CREATE: Real = Real::new(c"pthread_create");

/// Creates parked threads until there are `count`. Returns how many there are, fewer when the system has no more.
pub(crate) fn ensure(lenders: &mut Vec<Lender>, count: usize) -> usize {
    let before = call::block_signals();
    let (attributes, bytes) = attributes();
    while lenders.len() < count {
        let mut identity: libc::pthread_t = 0;
        TLS.store(0, Relaxed);
        type Routine = extern "C" fn(*mut c_void) -> *mut c_void;
        let created = real!(
            CREATE,
            fn(*mut libc::pthread_t, *const libc::pthread_attr_t, Routine, *mut c_void) -> i32,
            &raw mut identity,
            &raw const attributes,
            park as Routine,
            core::ptr::null_mut()
        );
        if created != 0 {
            break;
        }
        while TLS.load(Acquire) == 0 {
            call::yield_processor();
        }
        let (stack, task) = (STACK.load(Relaxed), TASK.load(Relaxed));
        lenders.push(Lender { tls: TlsBase(TLS.load(Relaxed)), stack, floor: stack.saturating_sub(bytes), task, identity });
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
