//! A full fence in every running thread of the process: the heavy half of an asymmetric fence.
//!
//! Without it (an old kernel, a filter of system calls) the state is `Missing` for ever, and whoever relies on it must do with
//! less: readers fence, waiters look again every millisecond.

use core::sync::atomic::{AtomicU32, Ordering, fence};

use super::call::call;

const PRIVATE_EXPEDITED: usize = 1 << 3;
const REGISTER_PRIVATE_EXPEDITED: usize = 1 << 4;

const UNKNOWN: u32 = 0;
const READY: u32 = 1;
const MISSING: u32 = 2;

/// 0: not yet asked, 1: registered, 2: the kernel has none.
static STATE: AtomicU32 = AtomicU32::new(UNKNOWN);

/// Whether the kernel can do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// It can.
    Ready,
    /// It cannot.
    Missing,
}

/// Whether the kernel can do it. Registers the process when first asked, which is cheapest while it has one thread.
pub fn support() -> Support {
    let known = STATE.load(Ordering::Relaxed);
    let state = if known == UNKNOWN {
        let asked = if membarrier(REGISTER_PRIVATE_EXPEDITED) { READY } else { MISSING };
        STATE.store(asked, Ordering::Relaxed);
        asked
    } else {
        known
    };
    if state == READY { Support::Ready } else { Support::Missing }
}

/// The fence. Where the kernel has none, one of this thread alone.
pub fn barrier() {
    fence(Ordering::SeqCst);
    if support() == Support::Ready && !membarrier(PRIVATE_EXPEDITED) {
        // Not registered after all (a forked child of an odd kernel).
        let _ = membarrier(REGISTER_PRIVATE_EXPEDITED) && membarrier(PRIVATE_EXPEDITED);
    }
    fence(Ordering::SeqCst);
}

fn membarrier(command: usize) -> bool {
    // SAFETY: the call takes no pointers.
    unsafe { call(libc::SYS_membarrier, [command, 0, 0, 0, 0, 0]) == 0 }
}
