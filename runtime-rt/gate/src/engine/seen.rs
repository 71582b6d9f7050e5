//! Which system calls the fiber that wants them makes at scheduling points (`calls`), and in which of them a cancelled thread ends.

use super::calls::descriptor;

/// Whether the fiber makes a call at a scheduling point.
pub(crate) fn is_seen(number: libc::c_long, arguments: &[usize; 6]) -> bool {
    match number {
        libc::SYS_fcntl => !matches!(descriptor(arguments[1]), libc::F_GETFD | libc::F_SETFD | libc::F_GETFL | libc::F_GETLK),
        libc::SYS_ioctl => !matches!(arguments[1], 0x5401 | 0x5413),
        _ => SEEN.binary_search(&number).is_ok(),
    }
}

/// In ascending order.
const SEEN: &[libc::c_long] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_open,
    libc::SYS_close,
    libc::SYS_poll,
    libc::SYS_lseek,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_pipe,
    libc::SYS_select,
    libc::SYS_sched_yield,
    libc::SYS_dup,
    libc::SYS_dup2,
    libc::SYS_nanosleep,
    libc::SYS_sendfile,
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_accept,
    libc::SYS_sendto,
    libc::SYS_recvfrom,
    libc::SYS_sendmsg,
    libc::SYS_recvmsg,
    libc::SYS_shutdown,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_socketpair,
    libc::SYS_execve,
    libc::SYS_exit,
    libc::SYS_wait4,
    libc::SYS_flock,
    libc::SYS_truncate,
    libc::SYS_ftruncate,
    libc::SYS_rename,
    libc::SYS_mkdir,
    libc::SYS_rmdir,
    libc::SYS_creat,
    libc::SYS_link,
    libc::SYS_unlink,
    libc::SYS_symlink,
    libc::SYS_rt_sigpending,
    libc::SYS_futex,
    libc::SYS_epoll_create,
    libc::SYS_clock_nanosleep,
    libc::SYS_exit_group,
    libc::SYS_epoll_wait,
    libc::SYS_epoll_ctl,
    libc::SYS_waitid,
    libc::SYS_openat,
    libc::SYS_mkdirat,
    libc::SYS_unlinkat,
    libc::SYS_renameat,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_pselect6,
    libc::SYS_ppoll,
    libc::SYS_splice,
    libc::SYS_tee,
    libc::SYS_vmsplice,
    libc::SYS_epoll_pwait,
    libc::SYS_signalfd,
    libc::SYS_timerfd_create,
    libc::SYS_eventfd,
    libc::SYS_timerfd_settime,
    libc::SYS_timerfd_gettime,
    libc::SYS_accept4,
    libc::SYS_signalfd4,
    libc::SYS_eventfd2,
    libc::SYS_epoll_create1,
    libc::SYS_dup3,
    libc::SYS_pipe2,
    libc::SYS_preadv,
    libc::SYS_pwritev,
    libc::SYS_recvmmsg,
    libc::SYS_sendmmsg,
    libc::SYS_renameat2,
    libc::SYS_memfd_create,
    libc::SYS_execveat,
    libc::SYS_copy_file_range,
    libc::SYS_preadv2,
    libc::SYS_pwritev2,
    libc::SYS_close_range,
    libc::SYS_openat2,
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
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calls_that_others_see_are_in_order() {
        assert!(SEEN.is_sorted());
    }
}
