//! Opening a named pipe, which waits for its other end. All other files open at once.
//!
//! `open` takes a mode only with some flags; it is passed on whether or not there is one, as libc does.

use core::ffi::{CStr, c_char, c_int};

use super::holds_something;
use super::next::{Next, interpose_blocking};
use crate::protocol::graph::Blocked;
use crate::sys;

type Path = *const c_char;

/// Whether opening this waits for a peer.
///
/// # Safety
/// `path` is null or a zero-terminated string.
#[inline(never)]
unsafe fn opening(folder: c_int, path: Path, flags: c_int) -> Option<Blocked> {
    let waits = holds_something() && flags & (libc::O_NONBLOCK | libc::O_PATH) == 0 && flags & libc::O_ACCMODE != libc::O_RDWR;
    // SAFETY: all-zero is a value of this structure of integers.
    let mut status = unsafe { core::mem::zeroed::<libc::stat>() };
    // Sign-extended: the kernel takes the low half.
    let folder = folder as isize;
    let arguments = [folder.cast_unsigned(), path.addr(), (&raw mut status).addr(), 0, 0, 0];
    // SAFETY: the kernel reads the caller's string, which it checks, and writes the live `status`.
    let is_known = || unsafe { sys::call::call(libc::SYS_newfstatat, arguments) } == 0;
    (waits && is_known() && status.st_mode & libc::S_IFMT == libc::S_IFIFO).then_some(Blocked::Stream)
}

/// As `opening`, with a mode of `fopen`'s.
///
/// # Safety
/// Both are null or zero-terminated strings.
unsafe fn opening_stream(path: Path, mode: Path) -> Option<Blocked> {
    // SAFETY: the caller's string.
    let both = mode.is_null() || unsafe { CStr::from_ptr(mode) }.to_bytes().contains(&b'+');
    // SAFETY: as above.
    if both { None } else { unsafe { opening(libc::AT_FDCWD, path, libc::O_RDONLY) } }
}

/// Defines functions that open.
macro_rules! interpose_open {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty, $symbol:literal, $opening:expr;)*) => {$(
        interpose_blocking! {
            /// As libc's, but gives up what is held before it waits for the other end of a pipe.
            fn $name($($argument: $type),*) -> $result,
            Next::new($symbol),
            // SAFETY: the caller's strings.
            unsafe { $opening }
        }
    )*};
}

const HERE: c_int = libc::AT_FDCWD;

interpose_open! {
    open(path: Path, flags: c_int, mode: libc::mode_t) -> c_int, c"open", opening(HERE, path, flags);
    open64(path: Path, flags: c_int, mode: libc::mode_t) -> c_int, c"open64", opening(HERE, path, flags);
    openat(folder: c_int, path: Path, flags: c_int, mode: libc::mode_t) -> c_int, c"openat", opening(folder, path, flags);
    openat64(folder: c_int, path: Path, flags: c_int, mode: libc::mode_t) -> c_int, c"openat64", opening(folder, path, flags);
    creat(path: Path, mode: libc::mode_t) -> c_int, c"creat", opening(HERE, path, libc::O_WRONLY);
    creat64(path: Path, mode: libc::mode_t) -> c_int, c"creat64", opening(HERE, path, libc::O_WRONLY);
    // What fortified builds call where there is no mode.
    __open_2(path: Path, flags: c_int) -> c_int, c"__open_2", opening(HERE, path, flags);
    __open64_2(path: Path, flags: c_int) -> c_int, c"__open64_2", opening(HERE, path, flags);
    __openat_2(folder: c_int, path: Path, flags: c_int) -> c_int, c"__openat_2", opening(folder, path, flags);
    __openat64_2(folder: c_int, path: Path, flags: c_int) -> c_int, c"__openat64_2", opening(folder, path, flags);
    fopen(path: Path, mode: Path) -> usize, c"fopen", opening_stream(path, mode);
    fopen64(path: Path, mode: Path) -> usize, c"fopen64", opening_stream(path, mode);
    freopen(path: Path, mode: Path, stream: usize) -> usize, c"freopen", opening_stream(path, mode);
    freopen64(path: Path, mode: Path, stream: usize) -> usize, c"freopen64", opening_stream(path, mode);
}
