//! The exec driver: each execution in a fresh process, which starts the program anew and finds the engine's memory, strategy included,
//! in a file at the same address. For what a fork does not copy: threads made before `main`, memory shared with others.
//!
//! Invariant: the program is loaded at the same addresses in all processes, which `atomfix` sees to; a process that finds itself
//! elsewhere says so and ends.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::ffi::c_char;

use explorer::strategy::Strategy;
use explorer::target::page::{Phase, Word};

use super::execution::{self, Ended};
use super::fiber::{Engine, Main};
use super::lenders::{self, Lender};
use super::{arena, clock, control, dispatch, fork, output, start};
use crate::sys::call;

/// What a fresh process is to do. In the engine's memory.
pub(crate) struct Job {
    engine: *const Engine,
    strategy: *mut dyn Strategy,
    limit: u64,
    lenders: usize,
    /// Where the code lies in the process that asks.
    code: usize,
    result: RefCell<Option<Ended>>,
}

/// Whether this driver can be used.
pub(crate) fn is_possible(engine: &Engine) -> bool {
    arena::is_shared((&raw const *engine).expose_provenance())
}

/// Runs one execution in a fresh process. The strategy lies in the engine's memory.
pub(crate) fn execute(engine: &Engine, strategy: &mut dyn Strategy, limit: u64) -> Ended {
    let own = (engine.main.get(), engine.initial.get(), engine.own_stack.get());
    let lenders: Vec<Lender> = core::mem::take(&mut *engine.lenders.borrow_mut());
    let strategy = &raw mut *strategy;
    if !arena::is_shared(strategy.expose_provenance()) {
        control::broken("a strategy outside of the engine's memory");
    }
    // SAFETY: only the lifetime changes; the pointer is used while this call waits.
    let strategy = unsafe { core::mem::transmute::<*mut (dyn Strategy + '_), *mut (dyn Strategy + 'static)>(strategy) };
    let job = Box::new(Job { engine, strategy, limit, lenders: lenders.len(), code: code(), result: RefCell::default() });
    control::set(Word::Job, (&raw const *job).expose_provenance() as u64);
    let page = alloc::format!("ATOMFIX_CHECK={}\0", start::page_descriptor());
    let environment = environment(own.0, &page);
    let child = fork::fork();
    if child == 0 {
        start_anew(own.0, &environment);
    }
    if child < 0 {
        control::unable("no process can be started for an execution", fork::TOO_LITTLE);
    }
    control::set(Word::Child, u64::from(child.unsigned_abs()));
    let status = call::wait_for(child);
    control::set(Word::Child, 0);
    control::set(Word::Job, 0);
    engine.main.set(own.0);
    engine.initial.set(own.1);
    engine.own_stack.set(own.2);
    engine.come_home();
    *engine.lenders.borrow_mut() = lenders;
    if control::get(Word::Phase) == Phase::Broken as u64 {
        call::exit_process(70);
    }
    fork::conclude(engine, job.result.take(), status)
}

fn code() -> usize {
    execute as *const () as usize
}

/// What a fresh process finds in its environment: what this one found, with what it took out of it.
fn environment(main: Main, page: &str) -> Vec<*const c_char> {
    let mut list = Vec::new();
    let mut at = main.environment;
    loop {
        // SAFETY: the environment is a list that ends with null.
        let entry = unsafe { at.read() };
        if entry.is_null() {
            break;
        }
        list.push(entry.cast_const());
        at = at.wrapping_add(1);
    }
    list.push(page.as_ptr().cast());
    list.extend([c"GLIBC_TUNABLES=glibc.pthread.rseq=0", c"LD_BIND_NOW=1"].map(core::ffi::CStr::as_ptr));
    list.push(core::ptr::null());
    list
}

/// In the child: becomes the program, from its start.
fn start_anew(main: Main, environment: &[*const c_char]) -> ! {
    clock::give_back();
    let path = c"/proc/self/exe";
    let arguments = [path.as_ptr().addr(), main.arguments.addr(), environment.as_ptr().addr(), 0, 0, 0];
    // SAFETY: the path ends with a zero, the lists with null. On success it does not return.
    let _ = unsafe { call::system_call(libc::SYS_execve, arguments) };
    control::broken("the program could not be started again")
}

/// What this process is to do, if it is a fresh one that goes on with another one's work.
pub(crate) fn job() -> Option<&'static Job> {
    let address = usize::try_from(control::get(Word::Job)).ok().filter(|&address| address != 0)?;
    if !arena::is_shared(address) {
        control::broken("the engine's memory could not be mapped again");
    }
    let job: *const Job = core::ptr::with_exposed_provenance(address);
    // SAFETY: the process that asks has put it there and waits.
    let job = unsafe { &*job };
    if job.code != code() {
        control::unable(
            "the program is at other addresses in each process, where a fresh one for each execution needs them to be the same",
            "explore it with `--driver fork`",
        );
    }
    Some(job)
}

impl Job {
    /// The engine, which moves in here.
    pub(crate) fn engine(&self) -> &'static Engine {
        // SAFETY: engines are never freed.
        unsafe { &*self.engine }
    }

    /// On the engine's stack: does it, and ends the process.
    pub(crate) fn run(&self, engine: &Engine) -> ! {
        output::keep();
        lenders::ensure(&mut engine.lenders.borrow_mut(), self.lenders);
        // Where it is missing, calls pass unseen, as has been said.
        let _ = dispatch::begin(engine);
        // SAFETY: the process that asks waits, and uses it no more until this one has ended.
        let strategy = unsafe { &mut *self.strategy };
        let ended = execution::execute(engine, strategy, self.limit);
        *self.result.borrow_mut() = Some(ended);
        call::exit_process(0)
    }
}
