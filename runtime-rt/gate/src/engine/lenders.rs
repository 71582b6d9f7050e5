//! Parked threads: real ones, created once and asleep for ever, which lend fibers their TLS blocks and stacks.
//!
//! A fiber then *is* that thread as far as the C library knows: `errno`, `__thread`, exceptions, `pthread_self` and the
//! bounds of the stack are right. A TLS block is lent once an execution, so that a thread never finds another's leavings.

use alloc::vec::Vec;
use core::ffi::c_void;
use core::sync::atomic::{
    AtomicU32, AtomicUsize,
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
    /// Its identity for the C library.
    pub(crate) identity: libc::pthread_t,
}

/// Where a new thread leaves what it lends.
#[derive(Default)]
struct Offer {
    tls: AtomicUsize,
    stack: AtomicUsize,
}

/// How many new threads have left theirs.
static OFFERS: AtomicU32 = AtomicU32::new(0);

/// What parked threads sleep on, always 0; and what they are moved to and back from, to count those who do.
static BED: AtomicU32 = AtomicU32::new(0);
static COUNTED: AtomicU32 = AtomicU32::new(0);

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
    let offers: Vec<Offer> = (lenders.len()..count).map(|_| Offer::default()).collect();
    OFFERS.store(0, Relaxed);
    // They come to life beside each other.
    let mut created: Vec<(libc::pthread_t, &Offer)> = Vec::new();
    for offer in &offers {
        let mut identity: libc::pthread_t = 0;
        type Routine = extern "C" fn(*mut c_void) -> *mut c_void;
        let result = real!(
            CREATE,
            fn(*mut libc::pthread_t, *const libc::pthread_attr_t, Routine, *mut c_void) -> i32,
            &raw mut identity,
            &raw const attributes,
            park as Routine,
            (&raw const *offer).cast_mut().cast()
        );
        if result != 0 {
            break;
        }
        created.push((identity, offer));
    }
    loop {
        let made = OFFERS.load(Acquire);
        if made as usize >= created.len() {
            break;
        }
        call::wait_on(&OFFERS, made);
    }
    lenders.extend(created.into_iter().map(|(identity, offer)| {
        let stack = offer.stack.load(Relaxed);
        let floor = stack.saturating_sub(bytes);
        Lender { tls: TlsBase(offer.tls.load(Relaxed)), stack, floor, identity }
    }));
    call::restore_signals(before);
    lenders.len()
}

/// Where free stack memory ends below this address: at the border of a page, so that what small threads need lies in one.
pub(crate) fn free_stack(address: usize) -> usize {
    (address - GAP - 256) & !4095
}

/// What a parked thread keeps on its stack.
#[repr(C)]
struct Parked<'a> {
    place: Place,
    offer: &'a Offer,
}

extern "C" fn park(offer: *mut c_void) -> *mut c_void {
    // SAFETY: what `ensure` passes, which stays until something is left there.
    let mut parked = Parked { place: Place::new(), offer: unsafe { &*offer.cast() } };
    // SAFETY: this frame is never left, and what runs on the stack is the program.
    unsafe { unwind::settle((&raw mut parked).cast(), rest, unwound) }
}

extern "C" fn rest(place: *mut Place) -> ! {
    let here = 0_u8;
    // SAFETY: the place is the first that `park` keeps.
    let offer = unsafe { (*place.cast::<Parked<'_>>()).offer };
    offer.stack.store(free_stack((&raw const here).expose_provenance()), Relaxed);
    offer.tls.store(tls_base().0, Relaxed);
    OFFERS.fetch_add(1, Release);
    call::wake(&OFFERS);
    loop {
        call::wait_on(&BED, 0);
    }
}

/// Waits until all of them sleep in the kernel, where they write to no memory; `false` when one never does.
pub(crate) fn all_asleep(lenders: &[Lender]) -> bool {
    const TRIES: u32 = 100_000;
    (0..TRIES).any(|_| {
        call::move_sleepers(&BED, &COUNTED);
        let all = call::move_sleepers(&COUNTED, &BED) >= lenders.len();
        if !all {
            call::yield_processor();
        }
        all
    })
}
