//! Signals that mean death: recorded as failures of the execution, on a stack of their own.
//!
//! A handler that the program installs itself takes precedence; if it then dies, the parent process sees how.

use alloc::string::String;
use core::ffi::c_void;

use model::report::FailureKind;

use super::control;
use super::failure::Failed;
use super::fiber::{Stop, running};
use crate::sys::memory::{Sharing, map};
use crate::sys::real::{Real, real};

const STACK_BYTES: usize = 1 << 16;

const DEADLY: [(i32, &str); 6] = [
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGFPE, "SIGFPE"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGTRAP, "SIGTRAP"),
    (libc::SIGABRT, "SIGABRT"),
];

pub(crate) static SIGACTION: Real = Real::new(c"sigaction");

/// Installs the handlers.
pub(crate) fn install() {
    let Ok(stack) = map(STACK_BYTES, Sharing::Shared) else { return };
    let stack = libc::stack_t { ss_sp: core::ptr::with_exposed_provenance_mut(stack), ss_flags: 0, ss_size: STACK_BYTES };
    // SAFETY: the stack is mapped and never unmapped.
    unsafe { libc::sigaltstack(&raw const stack, core::ptr::null_mut()) };
    for (signal, _) in DEADLY {
        // SAFETY: all zeroes are a valid action.
        let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
        action.sa_sigaction = on_signal as extern "C" fn(i32, *mut libc::siginfo_t, *mut c_void) as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        real!(SIGACTION, fn(i32, *const libc::sigaction, *mut libc::sigaction) -> i32, signal, &raw const action, core::ptr::null_mut());
    }
}

/// What a deadly signal says.
pub(crate) fn message(signal: i32, address: Option<usize>) -> String {
    let name = DEADLY.iter().find(|(number, _)| *number == signal).map_or("a signal", |&(_, name)| name);
    match (signal, address) {
        (libc::SIGSEGV | libc::SIGBUS, Some(address)) if address < 4096 => alloc::format!("{name} at a null pointer"),
        (libc::SIGILL, _) => String::from("SIGILL: an illegal instruction, often a function that ends without returning a value"),
        _ if name == "a signal" => alloc::format!("signal {signal}"),
        _ => String::from(name),
    }
}

extern "C" fn on_signal(signal: i32, info: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: the kernel passes a valid `siginfo_t`.
    let info = unsafe { &*info };
    // SAFETY: every deadly signal has an address field, if of no meaning.
    let address = unsafe { info.si_addr() }.addr();
    match running() {
        Some(engine) => {
            let site = engine.with_current(|fiber| fiber.last_site.get());
            let failed = Failed::new(FailureKind::Signal, Some(engine.current()), site, &message(signal, Some(address)));
            engine.leave_for_good(Stop::Failed(failed))
        }
        None => control::broken(&alloc::format!("signal {signal} inside the engine, at address {address:#x}")),
    }
}
