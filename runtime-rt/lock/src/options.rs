//! Options: read once before `main` from `ATOMFIX_OPTIONS`, and from nowhere when the process has more rights than its user.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::sys::clock::Nanoseconds;

/// The inspection interval when none is given.
const INSPECT_MS: u64 = 100;

static INSPECT: AtomicU64 = AtomicU64::new(INSPECT_MS);
/// 0: not counted yet.
static PROCESSORS: AtomicU32 = AtomicU32::new(0);

/// How long a waiter waits before it inspects the holders.
#[must_use]
pub fn inspection() -> Nanoseconds {
    Nanoseconds::milliseconds(INSPECT.load(Ordering::Relaxed))
}

/// How many processors this process may use.
#[must_use]
pub fn processors() -> u32 {
    let known = PROCESSORS.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    // 1024 processors; a larger set makes the call fail, and then there are certainly two.
    let mut set = [0_u64; 16];
    // SAFETY: the kernel writes at most the given number of bytes into the live array.
    let result = unsafe { crate::sys::call::call(libc::SYS_sched_getaffinity, [0, size_of_val(&set), (&raw mut set).addr(), 0, 0, 0]) };
    let counted = if result > 0 { set.iter().map(|word| word.count_ones()).sum::<u32>().max(1) } else { 2 };
    PROCESSORS.store(counted, Ordering::Relaxed);
    counted
}
