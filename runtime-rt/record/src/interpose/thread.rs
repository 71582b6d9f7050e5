//! Creation and join of threads: places to disturb the schedule, and the order that they make between threads.
//!
//! A new thread begins in a few instructions of ours, which fetch what its creator passed on and jump to the program's own
//! function, so that no frame of ours lies below it when it is unwound.

use core::cell::UnsafeCell;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::{Next, weak, weak_before};
use crate::order::Clock;
use crate::process::{perturb, perturb_creation, with};
use crate::shadow::Address;

static CREATE: Next = Next::new(c"pthread_create");
static JOIN: Next = Next::new(c"pthread_join");

/// A thread that was created and has not begun. Whoever set `taken` owns the rest, and passes it to the new thread.
struct Departure {
    taken: AtomicBool,
    content: UnsafeCell<Content>,
}

#[derive(Clone, Copy)]
struct Content {
    start: *const c_void,
    argument: *mut c_void,
    clock: Clock,
}

// SAFETY: `content` belongs to whoever set `taken`.
unsafe impl Sync for Departure {}

/// How many threads may be on their way at once; more begin without what their creators know.
const DEPARTURES: usize = 64;
const NOTHING: Content = Content { start: core::ptr::null(), argument: core::ptr::null_mut(), clock: Clock::START };
static WAITING: [Departure; DEPARTURES] =
    [const { Departure { taken: AtomicBool::new(false), content: UnsafeCell::new(NOTHING) } }; DEPARTURES];
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// A free place, now taken.
fn departure() -> Option<&'static Departure> {
    let first = NEXT.fetch_add(1, Ordering::Relaxed);
    (0..DEPARTURES).map(|n| &WAITING[(first + n) % DEPARTURES]).find(|place| !place.taken.swap(true, Ordering::Acquire))
}

/// What the new thread does next, in the two registers of a result.
#[repr(C)]
struct Onward {
    start: *const c_void,
    argument: *mut c_void,
}

/// The first thing that a new thread does.
extern "C" fn arrive(departure: *mut c_void) -> Onward {
    // SAFETY: `create` passed a place of `WAITING`.
    let departure = unsafe { &*departure.cast::<Departure>().cast_const() };
    // SAFETY: the place is taken, and its creator has passed it to this thread.
    let content = unsafe { *departure.content.get() };
    departure.taken.store(false, Ordering::Release);
    with(|_, thread, _| thread.clock.join(&content.clock));
    Onward { start: content.start, argument: content.argument }
}

core::arch::global_asm!(
    ".type __atomfix_record_begin_thread,@function",
    "__atomfix_record_begin_thread:",
    ".cfi_startproc",
    "sub rsp, 8",
    ".cfi_adjust_cfa_offset 8",
    "call {arrive}",
    "add rsp, 8",
    ".cfi_adjust_cfa_offset -8",
    "mov rdi, rdx",
    "jmp rax",
    ".cfi_endproc",
    arrive = sym arrive,
);

unsafe extern "C" {
    fn __atomfix_record_begin_thread(departure: *mut c_void) -> *mut c_void;
}

extern "C" fn create(thread: *mut c_void, attributes: *const c_void, start: *const c_void, argument: *mut c_void) -> c_int {
    type Function = unsafe extern "C" fn(*mut c_void, *const c_void, *const c_void, *mut c_void) -> c_int;
    // SAFETY: this is its type.
    let function = unsafe { core::mem::transmute::<*mut c_void, Function>(CREATE.address()) };
    let clock = with(|recorder, thread, _| recorder.departure(thread));
    let departure = clock.and_then(|clock| Some((clock, departure()?)));
    let (start, argument) = match departure {
        Some((clock, departure)) => {
            // SAFETY: the place was free and is taken by this thread.
            unsafe { *departure.content.get() = Content { start, argument, clock } };
            (__atomfix_record_begin_thread as *const c_void, core::ptr::from_ref(departure).cast_mut().cast())
        }
        None => (start, argument),
    };
    // SAFETY: the program's own call, passed on.
    let result = unsafe { function(thread, attributes, start, argument) };
    if let Some((_, departure)) = departure.filter(|_| result != 0) {
        departure.taken.store(false, Ordering::Release);
    }
    perturb_creation();
    result
}

extern "C" fn join(thread: *mut c_void) -> *mut c_void {
    with(|recorder, own, _| recorder.wait(own, Address(thread.addr())));
    perturb();
    JOIN.address()
}

weak!(pthread_create => create);
weak_before!(pthread_join => join);
