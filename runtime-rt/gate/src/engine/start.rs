//! Taking over before `main`: constructors have run, no thread of the program has been created.

use core::cell::Cell;
use core::ffi::c_void;

use explorer::target::page::{Note, Phase, Word};

use super::execution::unwound;
use super::fiber::{Engine, Main};
use super::lenders::Lender;
use super::line::Line;
use super::{clock, control, exec, explore, lenders, signals};
use crate::sys::memory::{Sharing, map_at};
use crate::sys::real::{Real, real};
use crate::sys::switch::{StackPointer, detect, prepare, swap, tls_base};
use crate::sys::unwind::{Place, load, settle};
use crate::sys::vdso;

type MainFunction = extern "C" fn(i32, *mut *mut libc::c_char, *mut *mut libc::c_char) -> i32;

static REAL: Real = Real::new(c"__libc_start_main");

/// The program's `main`, until we know whether it is to be explored.
static MAIN: core::sync::atomic::AtomicUsize = core::sync::atomic::AtomicUsize::new(0);

/// What the C library's start-up code calls: passes on, with our own `main` in the place of the program's.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __libc_start_main(
    main: MainFunction,
    count: i32,
    arguments: *mut *mut libc::c_char,
    init: *mut c_void,
    fini: *mut c_void,
    rtld_fini: *mut c_void,
    stack_end: *mut c_void,
) -> i32 {
    MAIN.store(main as usize, core::sync::atomic::Ordering::Relaxed);
    real!(
        REAL,
        fn(MainFunction, i32, *mut *mut libc::c_char, *mut c_void, *mut c_void, *mut c_void, *mut c_void) -> i32,
        gated_main as MainFunction,
        count,
        arguments,
        init,
        fini,
        rtld_fini,
        stack_end
    )
}

/// The engine's own private memory: the flag that tells whether a fiber runs, the stack for signals, the engine's stack.
const ENGINE_STACK: usize = 1 << 20;
const FLAG_BYTES: usize = 4096;
const OWN_BYTES: usize = FLAG_BYTES + signals::STACK_BYTES + ENGINE_STACK;

extern "C" fn gated_main(count: i32, arguments: *mut *mut libc::c_char, environment: *mut *mut libc::c_char) -> i32 {
    let address = MAIN.load(core::sync::atomic::Ordering::Relaxed);
    // SAFETY: the start-up code gave this very function as `main`.
    let function = unsafe { core::mem::transmute::<usize, MainFunction>(address) };
    match named_descriptor() {
        Some(descriptor) if control::open(descriptor) => {
            PAGE.store(descriptor, core::sync::atomic::Ordering::Relaxed);
            take_over(Main { function, count, arguments, environment })
        }
        _ => function(count, arguments, environment),
    }
}

/// The descriptor that the environment names, which is then taken out of it: the program is to see its own environment.
fn named_descriptor() -> Option<i32> {
    // SAFETY: before `main`, no thread of the program runs.
    let value = unsafe { libc::getenv(c"ATOMFIX_CHECK".as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: the environment's strings end with a zero.
    let text = unsafe { core::ffi::CStr::from_ptr(value) };
    let descriptor = text.to_str().ok()?.parse().ok()?;
    for ours in [c"ATOMFIX_CHECK", c"GLIBC_TUNABLES", c"LD_BIND_NOW"] {
        // SAFETY: as above.
        unsafe { libc::unsetenv(ours.as_ptr()) };
    }
    Some(descriptor)
}

static PAGE: core::sync::atomic::AtomicI32 = core::sync::atomic::AtomicI32::new(-1);

/// The descriptor of the page.
pub(crate) fn page_descriptor() -> i32 {
    PAGE.load(core::sync::atomic::Ordering::Relaxed)
}

/// No further process will need our descriptors: the program is to find them free.
pub(crate) fn close_descriptors() {
    crate::sys::call::close(page_descriptor());
    if let Ok(arena @ 1..) = i32::try_from(control::get(Word::Arena)) {
        crate::sys::call::close(arena);
    }
}

/// Where the engine's own private memory lies: at the same address in every process.
const OWN_HOME: usize = 0x2f00_0000_0000;

fn take_over(main: Main) -> ! {
    detect();
    load();
    crate::interpose::at_exit::look();
    crate::sys::text::look();
    super::variables::look();
    let here = 0_u8;
    // Fibers of the initial thread begin below this frame, which is never left.
    let stack = lenders::free_stack((&raw const here).expose_provenance() - 4096);
    grow_stack(stack);
    // SAFETY: asks for the caller's own identity.
    let identity = unsafe { libc::pthread_self() };
    let Ok(own) = map_at(OWN_HOME, OWN_BYTES, Sharing::Private) else { control::broken("no memory for the engine's stack") };
    OWN.store(own, core::sync::atomic::Ordering::Relaxed);
    let active: *const Cell<bool> = core::ptr::with_exposed_provenance(own);
    // SAFETY: the far end of the stack that was just mapped, zeroed, and never unmapped; this one thread alone accesses it.
    let active = unsafe { &*active };
    let job = exec::job();
    // A process that was started by another one of ours has its limits.
    let floor = job.map_or_else(|| lenders::enlarge_initial(stack), |job| job.engine().initial.get().floor);
    let initial = Lender { tls: tls_base(), stack, floor, identity };
    match job {
        Some(job) if job.engine().active_address() == own => job.engine().move_in(main, initial),
        Some(_) => control::broken("the engine's own memory is not where it was"),
        None => {
            Engine::install(main, initial, active);
        }
    }
    if crate::interpose::threads::created_early() {
        control::note(Note::EarlyThread);
    }
    let mut place = Place::new();
    // SAFETY: this frame is never left, and what runs on the stack below is the program.
    unsafe { settle(&raw mut place, go_to_engine, unwound) }
}

/// Leaves the initial thread's stack to its fibers.
extern "C" fn go_to_engine(_: *mut Place) -> ! {
    let mut nowhere = StackPointer(0);
    // SAFETY: the end of a stack that was mapped there, and that nobody is on.
    let engine = unsafe { prepare(OWN.load(core::sync::atomic::Ordering::Relaxed) + OWN_BYTES, on_own_stack) };
    // SAFETY: it was just prepared.
    unsafe { swap(&raw mut nowhere, engine) };
    control::broken("the engine came to an end")
}

/// Where the engine's own private memory lies.
static OWN: core::sync::atomic::AtomicUsize = core::sync::atomic::AtomicUsize::new(0);

/// The initial stack grows by faults, which must not happen while it is write-protected: takes what a fiber may need now.
fn grow_stack(top: usize) {
    const BYTES: usize = 4 << 20;
    let lowest: *const u8 = core::ptr::with_exposed_provenance(top - BYTES);
    // SAFETY: within the limit that the kernel sets for stacks, below anything that is in use.
    unsafe { lowest.read_volatile() };
}

extern "C" fn on_own_stack() -> ! {
    let Some(engine) = super::fiber::installed() else { control::broken("the engine is not installed") };
    let here = 0_u8;
    engine.own_stack.set((&raw const here).expose_provenance());
    crate::interpose::look_up_all();
    engine.streams.look();
    signals::install(engine.active_address() + FLAG_BYTES);
    vdso::redirect();
    clock::take();
    if let Some(job) = exec::job() {
        close_descriptors();
        job.run(engine);
    }
    let line = Line::open();
    let setup = if control::is_told() { control::setup() } else { line.as_ref().and_then(Line::wait) };
    match setup {
        Some(setup) => explore::explore(engine, line, setup),
        None if !control::is_told() => crate::sys::call::exit_process(0),
        None => {
            control::set(Word::Phase, Phase::Broken as u64);
            control::broken("the setup is not one that this engine reads")
        }
    }
}
