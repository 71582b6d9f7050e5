//! System calls of the program under the restore driver: the kernel hands them to us (Syscall User Dispatch).
//!
//! Those that leave no trace are passed on; where the kernel writes to the program's memory, that memory is touched
//! first. All others end the execution: what they do cannot be undone here.

use super::fiber::{Engine, Stop};
use super::restore::Restorer;
use crate::sys::call::{Errno, system_call};
use crate::sys::signal::restorer_range;

/// Asks for the program's system calls while a fiber runs. `false` where the kernel cannot do that.
pub(crate) fn begin(engine: &Engine) -> bool {
    const SET: usize = 59;
    const ON: usize = 1;
    let (start, length) = restorer_range();
    // SAFETY: the selector byte is part of the engine, which is never freed.
    unsafe { system_call(libc::SYS_prctl, [SET, ON, start, length, engine.selector(), 0]) }.is_ok()
}

/// No longer asks.
pub(crate) fn end() {
    const SET: usize = 59;
    // SAFETY: switches a feature of the kernel off.
    let _ = unsafe { system_call(libc::SYS_prctl, [SET, 0, 0, 0, 0, 0]) };
}

/// Makes the system call that the program wanted, in its stead, or ends the execution. The call's result.
pub(crate) fn handle(engine: &Engine, number: libc::c_long, arguments: [usize; 6]) -> isize {
    if let libc::SYS_exit | libc::SYS_exit_group = number {
        let status = i32::try_from(arguments[0] & 0xff).unwrap_or(0);
        engine.leave_for_good(Stop::Exited(status));
    }
    let Some(written) = traceless(number, &arguments) else {
        engine.leave_for_good(Stop::NeedFork(name(number)));
    };
    touch(&engine.restorer, written);
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

/// What a call that leaves no trace writes to; `None` for calls that do leave one, or that we do not know.
fn traceless(number: libc::c_long, arguments: &[usize; 6]) -> Option<Written> {
    let at = |index: usize, length: usize| Some(Some((arguments[index], length)));
    match number {
        libc::SYS_write | libc::SYS_writev | libc::SYS_pwrite64 if matches!(arguments[0], 1 | 2) => Some(None),
        libc::SYS_fstat => at(1, size_of::<libc::stat>()),
        libc::SYS_newfstatat => at(2, size_of::<libc::stat>()),
        libc::SYS_ioctl if arguments[1] == 0x5401 => at(2, 64),
        libc::SYS_getpid | libc::SYS_gettid | libc::SYS_getppid | libc::SYS_getuid | libc::SYS_geteuid | libc::SYS_sched_yield => {
            Some(None)
        }
        libc::SYS_clock_gettime => at(1, size_of::<libc::timespec>()),
        libc::SYS_getrandom => at(0, arguments[1]),
        libc::SYS_rt_sigprocmask if arguments[1] == 0 => at(2, 8),
        libc::SYS_lseek if matches!(arguments[0], 1 | 2) => Some(None),
        libc::SYS_sched_getaffinity => at(2, arguments[1]),
        libc::SYS_uname => at(0, size_of::<libc::utsname>()),
        libc::SYS_sysinfo => at(0, size_of::<libc::sysinfo>()),
        libc::SYS_futex if arguments[1] & 0x7f == 1 => Some(None),
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
        libc::SYS_rt_sigaction | libc::SYS_rt_sigprocmask | libc::SYS_kill | libc::SYS_tgkill | libc::SYS_sigaltstack => {
            "the program uses signals"
        }
        libc::SYS_socket | libc::SYS_connect | libc::SYS_bind | libc::SYS_pipe2 | libc::SYS_pipe | libc::SYS_socketpair => {
            "the program uses sockets or pipes"
        }
        libc::SYS_futex => "the program waits in the kernel",
        _ => "the program makes system calls that cannot be undone",
    }
}
