//! The end of the process, in all its forms, and new processes.

use alloc::string::String;
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};

use explorer::target::page::Note;
use model::report::FailureKind;

use super::{at_exit, export};
use crate::engine::child;
use crate::engine::clock;
use crate::engine::control;
use crate::engine::endings::{end_process, end_process_at_once, fail};
use crate::engine::failure::Failed;
use crate::engine::fiber::{Engine, running};
use crate::engine::interrupts;
use crate::sys::real::{Real, real};
use crate::sys::stream;

static EXIT: Real = Real::new(c"exit");
static QUICK_EXIT: Real = Real::new(c"_exit");
static ABORT: Real = Real::new(c"abort");
static RAISE: Real = Real::new(c"raise");
static ASSERT: Real = Real::new(c"__assert_fail");
static FORK: Real = Real::new(c"fork");
static VFORK: Real = Real::new(c"fork");
static SYSTEM: Real = Real::new(c"system");
static POPEN: Real = Real::new(c"popen");
static SPAWN: Real = Real::new(c"posix_spawn");
static SPAWN_BY_NAME: Real = Real::new(c"posix_spawnp");
static FINALIZE: Real = Real::new(c"__cxa_finalize");
static FLUSH: Real = Real::new(c"fflush");

/// All of them.
pub(super) static REALS: &[&Real] =
    &[&EXIT, &QUICK_EXIT, &ABORT, &RAISE, &ASSERT, &FORK, &VFORK, &SYSTEM, &POPEN, &SPAWN, &SPAWN_BY_NAME, &FINALIZE, &FLUSH];

/// In a fiber that ends the process: runs what `exit` runs, as far as it is registered with the C library.
pub(crate) fn run_exit_handlers(engine: &Engine, status: i32) {
    at_exit::set_status(status);
    // Where memory is put back nothing is loaded, and asking would write to a page more.
    if at_exit::has_own() || (!engine.restorer.is_protecting() && at_exit::has_loaded()) {
        real!(FINALIZE, fn(*mut c_void), core::ptr::null_mut());
    }
    stream::empty(|descriptor, address, length| engine.printed.take(descriptor, address, length));
    // Flushing writes to two pages, even where there is nothing to flush.
    if stream::any_waits() {
        real!(FLUSH, fn(*mut c_void) -> c_int, core::ptr::null_mut());
    }
}

fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::from("?");
    }
    // SAFETY: the compiler passes strings that end with a zero.
    String::from_utf8_lossy(unsafe { CStr::from_ptr(pointer) }.to_bytes()).into_owned()
}

/// In a fiber: the thread sends itself a signal.
pub(super) fn send_to_self(signal: c_int) -> c_int {
    match running() {
        Some(engine) => interrupts::raise(engine, signal),
        None => real!(RAISE, fn(c_int) -> c_int, signal),
    }
}

/// What another process does is not explored. Whether this one is.
fn note_fork() -> bool {
    let running = running();
    if let Some(engine) = running {
        control::note(Note::Forks);
        child::prepare(engine);
        let ran = engine.suspend();
        clock::give_back();
        engine.go_on(ran);
    }
    running.is_some()
}

export! {
    fn exit(status: c_int) -> ! {
        if let Some(engine) = running() {
            end_process(engine, status);
        }
        at_exit::set_status(status);
        real!(EXIT, fn(c_int), status);
        control::missing_symbol()
    }

    fn _exit(status: c_int) -> ! {
        if let Some(engine) = running() {
            end_process_at_once(engine, status);
        }
        real!(QUICK_EXIT, fn(c_int), status);
        control::missing_symbol()
    }

    #[cfg_attr(test, expect(non_snake_case, reason = "the C library's name"))]
    fn _Exit(status: c_int) -> ! {
        _exit(status)
    }

    fn abort() -> ! {
        if let Some(engine) = running() {
            let thread = Some(engine.current());
            fail(engine, |site| Failed::new(FailureKind::Assert, thread, site, "the program called abort"));
        }
        real!(ABORT, fn(),);
        control::missing_symbol()
    }

    fn raise(signal: c_int) -> c_int {
        send_to_self(signal)
    }

    fn __assert_fail(expression: *const c_char, file: *const c_char, line: c_uint, function: *const c_char) -> ! {
        if let Some(engine) = running() {
            let thread = Some(engine.current());
            fail(engine, |site| {
                let message = alloc::format!("Assertion `{}' failed", text(expression));
                let location = Some(alloc::format!("{}:{line}", text(file)));
                Failed { location, ..Failed::new(FailureKind::Assert, thread, site, &message) }
            });
        }
        real!(ASSERT, fn(*const c_char, *const c_char, c_uint, *const c_char), expression, file, line, function);
        control::missing_symbol()
    }

    fn fork() -> libc::pid_t {
        let explored = note_fork();
        let made = real!(FORK, fn() -> libc::pid_t,);
        if made == 0 && explored {
            child::settle();
        }
        made
    }

    fn vfork() -> libc::pid_t {
        let explored = note_fork();
        // A child that shares our memory would share the engine: a copy does the same for programs that keep to the rules.
        let made = real!(VFORK, fn() -> libc::pid_t,);
        if made == 0 && explored {
            child::settle();
        }
        made
    }

    fn system(command: *const c_char) -> c_int {
        note_fork();
        real!(SYSTEM, fn(*const c_char) -> c_int, command)
    }

    fn popen(command: *const c_char, mode: *const c_char) -> *mut c_void {
        note_fork();
        real!(POPEN, fn(*const c_char, *const c_char) -> *mut c_void, command, mode)
    }

    fn posix_spawn(
        place: *mut libc::pid_t,
        path: *const c_char,
        actions: *const c_void,
        attributes: *const c_void,
        arguments: *const c_void,
        environment: *const c_void,
    ) -> c_int {
        note_fork();
        real!(
            SPAWN,
            fn(*mut libc::pid_t, *const c_char, *const c_void, *const c_void, *const c_void, *const c_void) -> c_int,
            place,
            path,
            actions,
            attributes,
            arguments,
            environment
        )
    }

    fn posix_spawnp(
        place: *mut libc::pid_t,
        file: *const c_char,
        actions: *const c_void,
        attributes: *const c_void,
        arguments: *const c_void,
        environment: *const c_void,
    ) -> c_int {
        note_fork();
        real!(
            SPAWN_BY_NAME,
            fn(*mut libc::pid_t, *const c_char, *const c_void, *const c_void, *const c_void, *const c_void) -> c_int,
            place,
            file,
            actions,
            attributes,
            arguments,
            environment
        )
    }
}
