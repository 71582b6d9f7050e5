//! Signals that mean death: recorded as failures of the execution, on a stack of their own.
//!
//! A handler that the program installs itself takes precedence; if it then dies, the parent process sees how.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::c_void;

use explorer::target::page::{Note, Word};
use model::ids::{SiteKey, ThreadId};
use model::report::FailureKind;

use super::clock;
use super::control;
use super::dispatch::{self, Verdict};
use super::endings;
use super::failure::Failed;
use super::fiber::{Engine, Stop, installed, running};
use crate::interpose::futex;
use crate::sys::{fault, guarded, signal, trap};

/// Bytes of the stack that handlers run on.
pub(crate) const STACK_BYTES: usize = 1 << 16;

const DEADLY: [(i32, &str); 6] = [
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGFPE, "SIGFPE"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGTRAP, "SIGTRAP"),
    (libc::SIGABRT, "SIGABRT"),
];

/// What `atomfix` sends when nothing moves.
const HUNG: i32 = libc::SIGXCPU;

/// Installs the handlers. Their stack begins at this address: memory that is never write-protected, and that children which
/// the program forks have a copy of.
pub(crate) fn install(stack: usize) {
    let stack = libc::stack_t { ss_sp: core::ptr::with_exposed_provenance_mut(stack), ss_flags: 0, ss_size: STACK_BYTES };
    // SAFETY: the caller vouches for the stack.
    unsafe { libc::sigaltstack(&raw const stack, core::ptr::null_mut()) };
    for (signal, _) in DEADLY {
        signal::install(signal, on_signal);
    }
    signal::install(HUNG, on_hang);
    signal::install(libc::SIGSYS, on_system_call);
}

/// In a child that the program forked: takes the handlers away, but for those that the program put in their place.
pub(crate) fn give_back() {
    for (deadly, _) in DEADLY {
        signal::uninstall(deadly, on_signal);
    }
    signal::uninstall(HUNG, on_hang);
    signal::uninstall(libc::SIGSYS, on_system_call);
}

/// Others that end the process unless it handles them.
const OTHERS: [(i32, &str); 10] = [
    (libc::SIGHUP, "SIGHUP"),
    (libc::SIGINT, "SIGINT"),
    (libc::SIGQUIT, "SIGQUIT"),
    (libc::SIGKILL, "SIGKILL"),
    (libc::SIGUSR1, "SIGUSR1"),
    (libc::SIGUSR2, "SIGUSR2"),
    (libc::SIGPIPE, "SIGPIPE"),
    (libc::SIGALRM, "SIGALRM"),
    (libc::SIGTERM, "SIGTERM"),
    (libc::SIGSYS, "SIGSYS"),
];

/// What a deadly signal says.
pub(crate) fn message(signal: i32, address: Option<usize>) -> String {
    let Some(&(_, name)) = DEADLY.iter().chain(&OTHERS).find(|(number, _)| *number == signal) else {
        return alloc::format!("signal {signal}");
    };
    match (signal, address) {
        (libc::SIGSEGV | libc::SIGBUS, Some(address)) if address < 4096 => alloc::format!("{name} at a null pointer"),
        (libc::SIGILL, _) => String::from("SIGILL: an illegal instruction, often a function that ends without returning a value"),
        _ => String::from(name),
    }
}

extern "C" fn on_signal(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a valid `siginfo_t`.
    let info = unsafe { &*info };
    // SAFETY: every deadly signal has an address field, if of no meaning.
    let address = unsafe { info.si_addr() }.addr();
    let Some(engine) = installed() else { control::broken("a signal before the engine is installed") };
    if matches!(signal, libc::SIGSEGV | libc::SIGBUS) && guarded::recover(context) {
        return;
    }
    let ran = engine.suspend();
    if signal == libc::SIGSEGV && engine.restorer.touch(address) {
        engine.go_on(ran);
        return;
    }
    if signal == libc::SIGSEGV && ran && clock::answer(engine, context) {
        engine.go_on(ran);
        return;
    }
    if !ran {
        control::broken(&alloc::format!("signal {signal} inside the engine, at address {address:#x}"));
    }
    let of_stack = signal == libc::SIGSEGV && fault::is_of_stack(context, address);
    let fault = if of_stack { Fault::Stack } else { Fault::Signal(signal, address) };
    if engine.is_at_rest() && land(engine, context, fault) {
        engine.fault.set(fault);
        engine.go_on(true);
        return;
    }
    control::note(Note::SuddenEnd);
    let site = engine.with_current(|fiber| fiber.last_site.get());
    engine.leave_for_good(Stop::Failed(deadly(engine, site, fault)))
}

/// What a fiber dies of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A deadly signal, and its address.
    Signal(i32, usize),
    /// Its stack has no room left.
    Stack,
}

fn land(engine: &Engine, context: *mut c_void, fault: Fault) -> bool {
    if fault == Fault::Stack {
        fault::land_on(context, engine.refuges.borrow_mut().next_end(), die);
        return true;
    }
    fault::land(context, die)
}

/// Where a fiber goes on that has got a deadly signal: there its end can be a step.
extern "C" fn die() -> ! {
    let Some(engine) = running() else { control::broken("a deadly signal of no fiber has landed") };
    let fault = engine.fault.get();
    endings::fail(engine, |site| deadly(engine, site, fault))
}

/// In a fiber: ends an execution in which a thread's stack has no room left for what comes at this place.
#[cold]
pub(crate) fn end_full(engine: &Engine, site: SiteKey) -> ! {
    engine.with_current(|fiber| fiber.last_site.set(Some(site)));
    endings::fail(engine, |site| deadly(engine, site, Fault::Stack))
}

fn deadly(engine: &Engine, site: Option<SiteKey>, fault: Fault) -> Failed {
    let message = match fault {
        Fault::Signal(signal, address) => message(signal, Some(address)),
        Fault::Stack => String::from("SIGSEGV: the thread's stack has no room left"),
    };
    Failed::new(FailureKind::Signal, Some(engine.current()), site, &message)
}

/// Stacks for fibers whose own has no room left: what is left for them to do is to end.
#[derive(Default)]
pub(crate) struct Refuges {
    stacks: Vec<Box<[u8]>>,
    /// How many of them are in use in this execution.
    used: usize,
}

impl Refuges {
    const BYTES: usize = 1 << 16;

    /// A new execution begins.
    pub(crate) fn begin(&mut self) {
        self.used = 0;
    }

    /// The end of one that nobody uses.
    fn next_end(&mut self) -> usize {
        if self.used == self.stacks.len() {
            self.stacks.push(alloc::vec![0; Self::BYTES].into_boxed_slice());
        }
        self.used += 1;
        self.stacks[self.used - 1].as_ptr_range().end.expose_provenance()
    }
}

/// `atomfix` has seen no step for too long.
extern "C" fn on_hang(_: i32, _: *mut libc::siginfo_t, _: *mut c_void) {
    if let Some(engine) = running().filter(|engine| engine.is_at_rest()) {
        end_hanging(engine);
    }
    // A hook is at work, or the engine: what hangs is ended at its next hook, unless it has come to a point by then.
    if let Some(engine) = installed() {
        engine.hangs.set(true);
    }
}

/// In a fiber: ends an execution in which nothing moves.
pub(crate) fn end_hanging(engine: &Engine) -> ! {
    engine.hangs.set(false);
    engine.suspend();
    let site = engine.with_current(|fiber| fiber.last_site.get());
    engine.leave_for_good(Stop::Failed(hung(Some(engine.current()), site)))
}

/// That nothing moved.
pub(crate) fn hung(thread: Option<ThreadId>, site: Option<SiteKey>) -> Failed {
    let message = match control::get(Word::Asleep) {
        _ if control::get(Word::AwaitsOutside) != 0 => {
            "the program waits for something outside of it, which did not come within the time limit"
        }
        0 => "the program neither ended nor reached a scheduling point within the time limit",
        _ => "the program blocks in a system call that is not explored, which other threads of it cannot end",
    };
    Failed::new(FailureKind::StepLimit, thread, site, message)
}

/// A system call of the program.
extern "C" fn on_system_call(_: i32, _: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(engine) = running() else { control::broken("a system call of the engine's own was caught") };
    engine.suspend();
    // SAFETY: the kernel passes a valid `ucontext_t`.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let argument = |register: i32| {
        let value = usize::try_from(register).ok().and_then(|at| registers.get(at)).copied().unwrap_or(0);
        usize::try_from(value.cast_unsigned()).unwrap_or(0)
    };
    let arguments = [libc::REG_RDI, libc::REG_RSI, libc::REG_RDX, libc::REG_R10, libc::REG_R8, libc::REG_R9].map(argument);
    const RAX: usize = libc::REG_RAX.cast_unsigned() as usize;
    const RIP: usize = libc::REG_RIP.cast_unsigned() as usize;
    let address = |value: usize| (value as u64).cast_signed();
    if registers[RAX] == libc::SYS_futex {
        futex::note_caller(registers[RIP].cast_unsigned());
    }
    match dispatch::handle(engine, registers[RAX], arguments) {
        Verdict::Done(result) => registers[RAX] = result as i64,
        Verdict::ByFiber => trap::land(registers),
        Verdict::Past => {
            let then = usize::try_from(registers[RIP].cast_unsigned()).unwrap_or(0);
            registers[RIP] = address(signal::past(then));
        }
        Verdict::Return => registers[RIP] = address(signal::returning()),
    }
    if installed().is_some() {
        engine.go_on(true);
    }
}
