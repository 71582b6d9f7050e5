//! System calls of the program: the kernel hands them to us (Syscall User Dispatch), whoever makes them, the C library included.
//!
//! Some are answered here (`answers`); some leave no trace and are passed on; those that other threads may see, or that may
//! wait, are made by the fiber at a scheduling point (`calls`). Under the restore driver the kernel's state cannot be undone, so
//! calls that change it end the execution, and the exploration begins anew by forking.

use explorer::target::page::Note;

use super::fiber::{Engine, Stop};
use super::restore::Restorer;
use super::{answers, child, clock, control, handlers, seen, thread_names, unseen};
use crate::sys::call::{Errno, process, system_call, word};
use crate::sys::signal::restorer_range;
use crate::sys::trap;

/// Asks for the program's system calls while a fiber runs. `false` where the kernel cannot do that.
pub(crate) fn begin(engine: &Engine) -> bool {
    const SET: usize = 59;
    const ON: usize = 1;
    let (start, length) = restorer_range();
    // SAFETY: the selector byte is part of the engine, which is never freed.
    unsafe { system_call(libc::SYS_prctl, [SET, ON, start, length, engine.active_address(), 0]) }.is_ok()
}

/// No longer asks.
pub(crate) fn end() {
    const SET: usize = 59;
    // SAFETY: switches a feature of the kernel off.
    let _ = unsafe { system_call(libc::SYS_prctl, [SET, 0, 0, 0, 0, 0]) };
}

/// How a call goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is done: this is its result.
    Done(isize),
    /// The fiber makes it, outside of the handler.
    ByFiber,
    /// The code itself makes it, past us: it may return twice, on another stack.
    Past,
    /// It is the return from a handler of the program's.
    Return,
}

/// Decides on the system call that the program wanted, or ends the execution.
pub(crate) fn handle(engine: &Engine, number: libc::c_long, arguments: [usize; 6]) -> Verdict {
    if let libc::SYS_exit_group = number {
        if trap::is_possible() {
            return Verdict::ByFiber;
        }
        let status = i32::try_from(arguments[0] & 0xff).unwrap_or(0);
        engine.leave_for_good(Stop::Exited(status));
    }
    if number == libc::SYS_prctl && trap::is_possible() && thread_names::is_seen(engine, arguments[0]) {
        return Verdict::ByFiber;
    }
    if number == libc::SYS_rt_sigaction && trap::is_possible() && handlers::is_seen(engine, arguments[0]) {
        return Verdict::ByFiber;
    }
    if let Some(result) = answers::answer(engine, number, &arguments) {
        return Verdict::Done(result);
    }
    unseen::before(engine, number, &arguments);
    let arguments = as_caller(engine, number, arguments);
    if let Some(result) = print(engine, number, &arguments) {
        return Verdict::Done(result);
    }
    // While nothing in the kernel can be changed, nobody can see a change.
    let sees_changes = is_question(number) && !engine.restorer.is_protecting() && seen::is_seen(number, &arguments);
    if let Some(written) = traceless(number, &arguments).filter(|_| !sees_changes) {
        touch(&engine.restorer, written);
        return Verdict::Done(pass(number, arguments));
    }
    let modelled = matches!(
        number,
        libc::SYS_sched_yield
            | libc::SYS_nanosleep
            | libc::SYS_clock_nanosleep
            | libc::SYS_exit
            | libc::SYS_futex
            | libc::SYS_rt_sigpending
    ) || own_signal(number, &arguments).is_some();
    if engine.restorer.is_protecting() && !modelled {
        engine.leave_for_good(Stop::NeedFork(name(number)));
    }
    if trap::is_possible() && seen::is_seen(number, &arguments) {
        return Verdict::ByFiber;
    }
    irregular(engine, number, &arguments).unwrap_or_else(|| {
        let result = pass(number, arguments);
        let told = usize::try_from(result).map_err(|_| Errno(i32::try_from(-result).unwrap_or(i32::MAX)));
        unseen::after(engine, number, &arguments, told);
        Verdict::Done(result)
    })
}

/// Calls about how a thread is to run name it by its number. The kernel knows none that `gettid` gave, and what it is asked of the caller,
/// 0, holds for the one OS thread that runs them all.
fn as_caller(engine: &Engine, number: libc::c_long, mut arguments: [usize; 6]) -> [usize; 6] {
    let at = match number {
        libc::SYS_sched_setaffinity
        | libc::SYS_sched_getaffinity
        | libc::SYS_sched_setscheduler
        | libc::SYS_sched_getscheduler
        | libc::SYS_sched_setparam
        | libc::SYS_sched_getparam
        | libc::SYS_sched_setattr
        | libc::SYS_sched_getattr => 0,
        libc::SYS_setpriority | libc::SYS_getpriority if arguments[0] == libc::PRIO_PROCESS as usize => 1,
        _ => return arguments,
    };
    if answers::thread(engine, arguments[at]).is_some() {
        arguments[at] = 0;
    }
    arguments
}

/// What is printed is kept in memory where that is possible; the kernel sees it where the program asks about the file.
fn print(engine: &Engine, number: libc::c_long, arguments: &[usize; 6]) -> Option<isize> {
    let [descriptor, address, length, ..] = *arguments;
    match number {
        libc::SYS_write if engine.printed.take(descriptor, address, length) => isize::try_from(length).ok(),
        libc::SYS_write | libc::SYS_writev => {
            engine.printed.pass(descriptor);
            None
        }
        libc::SYS_fstat | libc::SYS_newfstatat | libc::SYS_lseek => {
            engine.printed.spill(descriptor);
            None
        }
        _ => None,
    }
}

/// Whether what a call makes runs beside us in our memory. One for which we wait (`posix_spawn`) does not.
fn shares_memory(number: libc::c_long, arguments: &[usize; 6]) -> bool {
    let flags = match number {
        libc::SYS_clone => arguments[0] as u64,
        libc::SYS_clone3 if arguments[0] != 0 => {
            let first: *const u64 = core::ptr::with_exposed_provenance(arguments[0]);
            // SAFETY: the program passes a description, which begins with the flags.
            unsafe { first.read() }
        }
        _ => 0,
    };
    flags & (libc::CLONE_VM | libc::CLONE_VFORK) as u64 == libc::CLONE_VM as u64
}

/// Calls that do not simply return.
fn irregular(engine: &Engine, number: libc::c_long, arguments: &[usize; 6]) -> Option<Verdict> {
    match number {
        libc::SYS_rt_sigreturn => Some(Verdict::Return),
        libc::SYS_execve | libc::SYS_execveat => {
            control::note(Note::Forks);
            engine.leave_for_good(Stop::Exited(0))
        }
        libc::SYS_fork => Some(Verdict::Done(fork(engine, number, *arguments))),
        libc::SYS_clone if arguments[1] == 0 && arguments[0] & word(libc::CLONE_VM) == 0 => {
            Some(Verdict::Done(fork(engine, number, *arguments)))
        }
        libc::SYS_vfork | libc::SYS_clone | libc::SYS_clone3 => {
            if shares_memory(number, arguments) {
                if number == libc::SYS_clone {
                    control::unable(
                        "it makes a thread by the system call `clone`, beside which nothing can be controlled",
                        "have it made by pthread_create, or leave it out where the program is explored",
                    );
                }
                // The C library's own, for `aio` and its like.
                control::note(Note::RawThreads);
            } else {
                control::note(Note::Forks);
            }
            clock::give_back();
            Some(Verdict::Past)
        }
        libc::SYS_kill | libc::SYS_tkill | libc::SYS_tgkill | libc::SYS_rt_sigqueueinfo | libc::SYS_rt_tgsigqueueinfo => {
            own_signal(number, arguments).map(|signal| {
                // The C library's own, by which `setuid` tells other threads: parked ones have nothing to be told. Others are sent by the
                // fiber itself where that is possible.
                match signal {
                    32 | 33 => Verdict::Done(-(libc::ESRCH as isize)),
                    _ if trap::is_possible() => Verdict::ByFiber,
                    _ => Verdict::Done(0),
                }
            })
        }
        libc::SYS_rt_sigaction if matches!(i32::try_from(arguments[0]), Ok(libc::SIGSYS | libc::SIGXCPU)) => Some(Verdict::Done(0)),
        libc::SYS_rt_sigaction => {
            if arguments[1] != 0 {
                control::note(Note::Signals);
            }
            None
        }
        _ => None,
    }
}

/// The signal that a call sends to the program itself.
pub(super) fn own_signal(number: libc::c_long, arguments: &[usize; 6]) -> Option<i32> {
    let [first, second, third, ..] = *arguments;
    let own = process();
    match number {
        libc::SYS_tgkill | libc::SYS_rt_tgsigqueueinfo if first == own => i32::try_from(third).ok(),
        libc::SYS_rt_sigqueueinfo if first == own => i32::try_from(second).ok(),
        libc::SYS_kill if first == own || first == 0 => i32::try_from(second).ok(),
        libc::SYS_tkill => i32::try_from(second).ok(),
        _ => None,
    }
}

fn fork(engine: &Engine, number: libc::c_long, arguments: [usize; 6]) -> isize {
    control::note(Note::Forks);
    child::prepare(engine);
    clock::give_back();
    let made = pass(number, arguments);
    if made == 0 {
        end();
        child::begin();
    }
    made
}

fn pass(number: libc::c_long, arguments: [usize; 6]) -> isize {
    // SAFETY: the program's own call, as it made it.
    match unsafe { system_call(number, arguments) } {
        Ok(value) => value.cast_signed(),
        Err(Errno(error)) => -(error as isize),
    }
}

/// Memory that a call writes to: where, and how long.
type Written = Option<(usize, usize)>;

fn touch(restorer: &Restorer, written: Written) {
    if let Some((address, length)) = written.filter(|&(address, _)| address != 0) {
        restorer.touch_range(address, length);
    }
}

/// Whether the answer of a call that leaves no trace depends on what others of the program's calls do.
fn is_question(number: libc::c_long) -> bool {
    matches!(
        number,
        libc::SYS_newfstatat
            | libc::SYS_access
            | libc::SYS_faccessat
            | libc::SYS_faccessat2
            | libc::SYS_getcwd
            | libc::SYS_getpgrp
            | libc::SYS_getpgid
            | libc::SYS_getsid
            | libc::SYS_getuid
            | libc::SYS_geteuid
            | libc::SYS_getgid
            | libc::SYS_getegid
            | libc::SYS_getrlimit
            | libc::SYS_prlimit64
            | libc::SYS_ioctl
    )
}

/// What a call that leaves no trace writes to; `None` for calls that do leave one, or that we do not know.
fn traceless(number: libc::c_long, arguments: &[usize; 6]) -> Option<Written> {
    let at = |index: usize, length: usize| Some(Some((arguments[index], length)));
    match number {
        libc::SYS_write | libc::SYS_writev if super::output::is_kept(i32::try_from(arguments[0]).unwrap_or(-1)) => Some(None),
        libc::SYS_fstat => at(1, size_of::<libc::stat>()),
        libc::SYS_newfstatat => at(2, size_of::<libc::stat>()),
        libc::SYS_ioctl if arguments[1] == 0x5401 => at(2, 64),
        libc::SYS_getpid | libc::SYS_getppid | libc::SYS_getpgrp | libc::SYS_getpgid | libc::SYS_getsid => Some(None),
        libc::SYS_getuid | libc::SYS_geteuid | libc::SYS_getgid | libc::SYS_getegid => Some(None),
        libc::SYS_getpriority | libc::SYS_sched_getscheduler | libc::SYS_membarrier => Some(None),
        libc::SYS_sched_get_priority_max | libc::SYS_sched_get_priority_min => Some(None),
        libc::SYS_sched_getparam => at(1, size_of::<libc::sched_param>()),
        libc::SYS_access | libc::SYS_faccessat | libc::SYS_faccessat2 => Some(None),
        libc::SYS_getcwd => at(0, arguments[1]),
        libc::SYS_getrlimit => at(1, size_of::<libc::rlimit>()),
        libc::SYS_prlimit64 if arguments[2] == 0 => at(3, size_of::<libc::rlimit>()),
        libc::SYS_lseek if matches!(arguments[0], 1 | 2) => Some(None),
        libc::SYS_sched_getaffinity => at(2, arguments[1]),
        libc::SYS_uname => at(0, size_of::<libc::utsname>()),
        libc::SYS_sysinfo => at(0, size_of::<libc::sysinfo>()),
        _ => None,
    }
}

/// The reason that is shown.
fn name(number: libc::c_long) -> &'static str {
    match number {
        libc::SYS_read | libc::SYS_pread64 | libc::SYS_readv => "the program reads input",
        libc::SYS_write | libc::SYS_writev | libc::SYS_pwrite64 => "the program writes files",
        libc::SYS_openat | libc::SYS_open | libc::SYS_creat | libc::SYS_close => "the program opens files",
        libc::SYS_mmap | libc::SYS_munmap | libc::SYS_brk | libc::SYS_mremap | libc::SYS_mprotect | libc::SYS_madvise => {
            "the program maps memory"
        }
        libc::SYS_clone | libc::SYS_clone3 | libc::SYS_fork | libc::SYS_vfork | libc::SYS_execve | libc::SYS_wait4 => {
            "the program starts processes"
        }
        libc::SYS_rt_sigaction | libc::SYS_kill | libc::SYS_tgkill | libc::SYS_tkill => "the program uses signals",
        libc::SYS_socket | libc::SYS_connect | libc::SYS_bind | libc::SYS_pipe2 | libc::SYS_pipe | libc::SYS_socketpair => {
            "the program uses sockets or pipes"
        }
        libc::SYS_eventfd2 | libc::SYS_epoll_create1 | libc::SYS_poll => "the program waits for descriptors",
        libc::SYS_sched_setaffinity | libc::SYS_sched_setscheduler | libc::SYS_sched_setparam | libc::SYS_setpriority => {
            "the program says where or how urgently its threads are to run"
        }
        libc::SYS_prctl => "the program has the kernel keep something of a thread, such as its name",
        _ => "the program makes system calls that cannot be undone",
    }
}
