//! Raw system calls. They bypass the C library so that they neither touch `errno`, which belongs to the fiber whose TLS
//! block is in place, nor run into our own interposed symbols.

use core::arch::asm;
use core::sync::atomic::AtomicU32;

/// A failed system call's `errno`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Errno(pub(crate) i32);

/// Makes a system call.
///
/// # Safety
///
/// The call must be sound with these arguments: pointers valid for what the kernel does with them, and no effect on
/// memory that Rust code relies on.
pub(crate) unsafe fn system_call(number: libc::c_long, arguments: [usize; 6]) -> Result<usize, Errno> {
    let result: libc::c_long;
    // SAFETY: the caller vouches for the call; the kernel changes no registers but those named.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") arguments[0],
            in("rsi") arguments[1],
            in("rdx") arguments[2],
            in("r10") arguments[3],
            in("r8") arguments[4],
            in("r9") arguments[5],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    match usize::try_from(result) {
        Ok(value) => Ok(value),
        Err(_) => Err(Errno(i32::try_from(-result).unwrap_or(i32::MAX))),
    }
}

/// A C `int` as a register holds it.
pub(crate) fn word(value: libc::c_int) -> usize {
    value.cast_unsigned() as usize
}

/// Ends the process at once.
pub(crate) fn exit_process(status: u8) -> ! {
    loop {
        // SAFETY: ending the process is always sound.
        let _ = unsafe { system_call(libc::SYS_exit_group, [usize::from(status), 0, 0, 0, 0, 0]) };
    }
}

/// Reads into the buffer; how many bytes there were.
pub(crate) fn read(descriptor: i32, bytes: &mut [u8]) -> Result<usize, Errno> {
    // SAFETY: the kernel writes only within the slice.
    unsafe { system_call(libc::SYS_read, [word(descriptor), bytes.as_mut_ptr().addr(), bytes.len(), 0, 0, 0]) }
}

/// Writes all of it, as far as the file takes it.
pub(crate) fn write(descriptor: i32, bytes: &[u8]) {
    let mut rest = bytes;
    while !rest.is_empty() {
        // SAFETY: the kernel only reads the slice.
        let written = unsafe { system_call(libc::SYS_write, [word(descriptor), rest.as_ptr().addr(), rest.len(), 0, 0, 0]) };
        match written.ok().and_then(|written| rest.get(written..)) {
            Some(left) if left.len() < rest.len() => rest = left,
            _ => return,
        }
    }
}

/// Reads at an offset; how many bytes there were.
pub(crate) fn read_at(descriptor: i32, bytes: &mut [u8], offset: usize) -> Result<usize, Errno> {
    // SAFETY: the kernel writes only within the slice.
    unsafe { system_call(libc::SYS_pread64, [word(descriptor), bytes.as_mut_ptr().addr(), bytes.len(), offset, 0, 0]) }
}

/// Opens a file for reading. `path` ends with a zero.
pub(crate) fn open(path: &core::ffi::CStr) -> Result<i32, Errno> {
    let flags = word(libc::O_RDONLY | libc::O_CLOEXEC);
    // SAFETY: the kernel only reads the path.
    let result = unsafe { system_call(libc::SYS_openat, [word(libc::AT_FDCWD), path.as_ptr().addr(), flags, 0, 0, 0]) };
    result.map(|descriptor| i32::try_from(descriptor).unwrap_or(i32::MAX))
}

/// Closes a descriptor.
pub(crate) fn close(descriptor: i32) {
    // SAFETY: callers close only descriptors that they opened.
    let _ = unsafe { system_call(libc::SYS_close, [word(descriptor), 0, 0, 0, 0, 0]) };
}

/// The length of a file.
pub(crate) fn length(descriptor: i32) -> Result<usize, Errno> {
    // SAFETY: moves a file offset, nothing in memory; the file is written to at its end whatever the offset.
    unsafe { system_call(libc::SYS_lseek, [word(descriptor), 0, word(libc::SEEK_END), 0, 0, 0]) }
}

/// A second descriptor for what another one names, out of the way of the program's own.
pub(crate) fn duplicate(descriptor: i32) -> Result<i32, Errno> {
    const LOWEST: usize = 900;
    // SAFETY: makes a new descriptor, nothing else.
    let result = unsafe { system_call(libc::SYS_fcntl, [word(descriptor), word(libc::F_DUPFD_CLOEXEC), LOWEST, 0, 0, 0]) };
    result.map(|descriptor| i32::try_from(descriptor).unwrap_or(i32::MAX))
}

/// Cuts a file to nothing.
pub(crate) fn truncate(descriptor: i32) {
    // SAFETY: changes a file that the caller owns, nothing in memory.
    let _ = unsafe { system_call(libc::SYS_ftruncate, [word(descriptor), 0, 0, 0, 0, 0]) };
}

/// Waits for a child's end; its wait status.
pub(crate) fn wait_for(child: i32) -> Result<i32, Errno> {
    let mut status = 0_i32;
    loop {
        let at = (&raw mut status).expose_provenance();
        // SAFETY: the kernel writes only `status`.
        match unsafe { system_call(libc::SYS_wait4, [word(child), at, 0, 0, 0, 0]) } {
            Err(Errno(libc::EINTR)) => {}
            result => return result.map(|_| status),
        }
    }
}

/// Gives the processor to another OS thread.
pub(crate) fn yield_processor() {
    // SAFETY: has no effect on memory.
    let _ = unsafe { system_call(libc::SYS_sched_yield, [0; 6]) };
}

/// Blocks every signal for this OS thread; what was blocked before.
pub(crate) fn block_signals() -> u64 {
    let all = u64::MAX;
    let mut before = 0_u64;
    set_mask(&all, Some(&mut before));
    before
}

/// Blocks exactly these signals for this OS thread.
pub(crate) fn restore_signals(mask: u64) {
    set_mask(&mask, None);
}

fn set_mask(mask: &u64, before: Option<&mut u64>) {
    let before = before.map_or(0, |before| (&raw mut *before).expose_provenance());
    let arguments = [word(libc::SIG_SETMASK), (&raw const *mask).expose_provenance(), before, 8, 0, 0];
    // SAFETY: the kernel reads `mask` and writes `before`, 8 bytes each.
    let _ = unsafe { system_call(libc::SYS_rt_sigprocmask, arguments) };
}

/// Sleeps until this word is woken, unless it holds something else. May return for no reason.
pub(crate) fn wait_on(place: &AtomicU32, value: u32) {
    let arguments = [place.as_ptr().expose_provenance(), word(libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG), value as usize, 0, 0, 0];
    // SAFETY: the kernel only reads the word.
    let _ = unsafe { system_call(libc::SYS_futex, arguments) };
}

/// Wakes one thread that sleeps on this word.
pub(crate) fn wake(place: &AtomicU32) {
    let arguments = [place.as_ptr().expose_provenance(), word(libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG), 1, 0, 0, 0];
    // SAFETY: touches no memory.
    let _ = unsafe { system_call(libc::SYS_futex, arguments) };
}

/// Lets all threads that sleep on one word, which holds 0, sleep on on another one; how many there are.
pub(crate) fn move_sleepers(from: &AtomicU32, to: &AtomicU32) -> usize {
    let all = i32::MAX as usize;
    let command = word(libc::FUTEX_CMP_REQUEUE | libc::FUTEX_PRIVATE_FLAG);
    let arguments = [from.as_ptr().expose_provenance(), command, 0, all, to.as_ptr().expose_provenance(), 0];
    // SAFETY: the kernel only reads the words.
    unsafe { system_call(libc::SYS_futex, arguments) }.unwrap_or(0)
}

/// Time since some point in the past, in nanoseconds.
pub(crate) fn monotonic_time() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let arguments = [word(libc::CLOCK_MONOTONIC), (&raw mut time).expose_provenance(), 0, 0, 0, 0];
    // SAFETY: the kernel writes only `time`.
    let _ = unsafe { system_call(libc::SYS_clock_gettime, arguments) };
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// This process's number.
pub(crate) fn process() -> usize {
    // SAFETY: has no effect.
    unsafe { system_call(libc::SYS_getpid, [0; 6]) }.unwrap_or(0)
}

/// Sleeps for real.
pub(crate) fn pause_for(microseconds: u64) {
    let nanoseconds = i64::try_from(microseconds.min(999_999) * 1000).unwrap_or(0);
    let time = libc::timespec { tv_sec: 0, tv_nsec: nanoseconds };
    // SAFETY: the kernel only reads the time.
    let _ = unsafe { system_call(libc::SYS_nanosleep, [(&raw const time).expose_provenance(), 0, 0, 0, 0, 0]) };
}
