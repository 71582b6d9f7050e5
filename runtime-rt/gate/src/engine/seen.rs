//! Which system calls the fiber that wants them makes at scheduling points (`calls`), and in which of them a cancelled thread ends.
//!
//! All of which it is not known that no other thread sees what they do, nor changes what they say.

use crate::sys::call::word;

/// Has `fstat` and its kin be seen when the program asks, and changes nothing else of what they do: streams ask too, once each, for the size of
/// their buffers (`interpose::files`).
pub(crate) const ASKED: usize = libc::AT_NO_AUTOMOUNT.cast_unsigned() as usize;

/// Whether the fiber makes a call at a scheduling point.
pub(crate) fn is_seen(number: libc::c_long, arguments: &[usize; 6]) -> bool {
    /// Names memory without files, which shows nowhere but in `/proc`.
    const PR_SET_VMA: usize = 0x5356_4d41;
    match number {
        // Only what replaces memory shows, what is asked for where others may have mapped something, and what is in a file.
        libc::SYS_mmap => arguments[0] != 0 || arguments[3] & word(libc::MAP_ANONYMOUS) == 0,
        // Streams ask whether standard output is a terminal.
        libc::SYS_ioctl => !matches!((arguments[0], arguments[1]), (0..=2, 0x5401 | 0x5413)),
        libc::SYS_newfstatat => arguments[3] != word(libc::AT_EMPTY_PATH),
        libc::SYS_prctl => arguments[0] != PR_SET_VMA,
        _ => UNSEEN.binary_search(&number).is_err(),
    }
}

/// What no other thread sees or changes, or what is answered without the kernel, may return elsewhere, or is the engine's to send. In ascending order.
const UNSEEN: &[libc::c_long] = &[
    libc::SYS_fstat,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_msync,
    libc::SYS_pause,
    libc::SYS_getitimer,
    libc::SYS_alarm,
    libc::SYS_setitimer,
    libc::SYS_getpid,
    libc::SYS_clone,
    libc::SYS_fork,
    libc::SYS_vfork,
    libc::SYS_kill,
    libc::SYS_uname,
    libc::SYS_gettimeofday,
    libc::SYS_getrusage,
    libc::SYS_sysinfo,
    libc::SYS_times,
    libc::SYS_getppid,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_sigsuspend,
    libc::SYS_sigaltstack,
    libc::SYS_getpriority,
    libc::SYS_setpriority,
    libc::SYS_sched_setparam,
    libc::SYS_sched_getparam,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_getscheduler,
    libc::SYS_sched_get_priority_max,
    libc::SYS_sched_get_priority_min,
    libc::SYS_sched_rr_get_interval,
    libc::SYS_mlock,
    libc::SYS_munlock,
    libc::SYS_mlockall,
    libc::SYS_munlockall,
    libc::SYS_arch_prctl,
    libc::SYS_sync,
    libc::SYS_gettid,
    libc::SYS_tkill,
    libc::SYS_time,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_getaffinity,
    libc::SYS_set_tid_address,
    libc::SYS_restart_syscall,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_tgkill,
    libc::SYS_set_robust_list,
    libc::SYS_get_robust_list,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_getcpu,
    libc::SYS_sched_setattr,
    libc::SYS_sched_getattr,
    libc::SYS_getrandom,
    libc::SYS_membarrier,
    libc::SYS_mlock2,
    libc::SYS_rseq,
    libc::SYS_clone3,
];

/// Calls in which a thread that was cancelled ends, whether they wait or not.
pub(crate) const CANCELLABLE: &[libc::c_long] = &[
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_pwrite64,
    libc::SYS_open,
    libc::SYS_openat,
    libc::SYS_creat,
    libc::SYS_close,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_connect,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_poll,
    libc::SYS_ppoll,
    libc::SYS_select,
    libc::SYS_pselect6,
    libc::SYS_epoll_wait,
    libc::SYS_epoll_pwait,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_mq_timedsend,
    libc::SYS_mq_timedreceive,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calls_that_nobody_sees_are_in_order() {
        assert!(UNSEEN.is_sorted());
    }
}
