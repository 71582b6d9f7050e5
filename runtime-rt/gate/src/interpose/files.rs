//! `fstat` and `fstatat`, told from the same system calls that streams make for the size of their buffers.
//!
//! Programs ask for what other threads change; streams would only add points. What asks by an instruction of its own is not told from a stream.

use core::ffi::{c_char, c_int};

use super::{export, fail};
use crate::engine::seen::ASKED;
use crate::sys::call::{Errno, system_call, word};

const NOTHING: &core::ffi::CStr = c"";

pub(super) fn ask(folder: c_int, path: *const c_char, place: *mut libc::stat, flags: usize) -> c_int {
    let asked = if flags & word(libc::AT_EMPTY_PATH) == 0 { flags } else { flags | ASKED };
    let arguments = [word(folder), path.expose_provenance(), place.expose_provenance(), asked, 0, 0];
    // SAFETY: the program passes a path, and room for what is known of a file, which the C library takes as the kernel gives it.
    match unsafe { system_call(libc::SYS_newfstatat, arguments) } {
        Ok(_) => 0,
        Err(Errno(error)) => fail(error),
    }
}

pub(super) fn ask_of(descriptor: c_int, place: *mut libc::stat) -> c_int {
    // Some of these would name a folder.
    if descriptor < 0 { fail(libc::EBADF) } else { ask(descriptor, NOTHING.as_ptr(), place, word(libc::AT_EMPTY_PATH)) }
}

export! {
    fn fstat(descriptor: c_int, place: *mut libc::stat) -> c_int {
        ask_of(descriptor, place)
    }

    fn fstat64(descriptor: c_int, place: *mut libc::stat) -> c_int {
        ask_of(descriptor, place)
    }

    fn fstatat(folder: c_int, path: *const c_char, place: *mut libc::stat, flags: c_int) -> c_int {
        ask(folder, path, place, word(flags))
    }

    fn fstatat64(folder: c_int, path: *const c_char, place: *mut libc::stat, flags: c_int) -> c_int {
        ask(folder, path, place, word(flags))
    }
}
