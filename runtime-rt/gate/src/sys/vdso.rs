//! The shared object that the kernel maps into every process (vDSO): its functions read clocks and random numbers without a system call.
//!
//! The C library calls them directly, past all symbols that can be interposed, as where it makes names of temporary files. They compute
//! with the processor's clock, which faults while an execution runs; virtual time in its place lets the kernel's arithmetic take half
//! a second a call. So each begins with the system call that it stands for, from now on.
//!
//! Not handled: `__vdso_getcpu`, which says what processor the process is on. Where the object cannot be written to, it stays as it is.

use core::ffi::CStr;
use core::ptr::with_exposed_provenance_mut;

use super::call::{system_call, word};
use super::maps::{Mapping, mappings};

const FUNCTIONS: [(&CStr, libc::c_long); 4] = [
    (c"__vdso_clock_gettime", libc::SYS_clock_gettime),
    (c"__vdso_gettimeofday", libc::SYS_gettimeofday),
    (c"__vdso_getrandom", libc::SYS_getrandom),
    (c"__vdso_time", libc::SYS_time),
];

/// Makes the functions system calls, with the same arguments and results.
pub(crate) fn redirect() {
    // SAFETY: the name ends with a zero; nothing is loaded.
    let object = unsafe { libc::dlopen(c"linux-vdso.so.1".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if object.is_null() {
        return;
    }
    let maps = mappings().unwrap_or_default();
    for (name, number) in FUNCTIONS {
        // SAFETY: an object that is loaded, and a name that ends with a zero.
        let function = unsafe { libc::dlsym(object, name.as_ptr()) }.expose_provenance();
        if let Some(whole) = maps.iter().find(|mapping| (mapping.start..mapping.end).contains(&function)) {
            replace(*whole, function, stub(number));
        }
    }
}

/// The code of a function that makes this system call.
fn stub(number: libc::c_long) -> [u8; 8] {
    let [first, second, third, fourth, ..] = number.to_le_bytes();
    // mov eax, number; syscall; ret
    [0xb8, first, second, third, fourth, 0x0f, 0x05, 0xc3]
}

/// Only the whole mapping can be made writable: the kernel does not split it.
fn replace(whole: Mapping, function: usize, code: [u8; 8]) {
    let length = whole.end - whole.start;
    // SAFETY: no other thread runs, and this code is not of the object.
    let protect = |protection| unsafe { system_call(libc::SYS_mprotect, [whole.start, length, word(protection), 0, 0, 0]) };
    if protect(libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC).is_err() {
        return;
    }
    let place: *mut [u8; 8] = with_exposed_provenance_mut(function);
    // SAFETY: the function's own code, longer than this, was just made writable.
    unsafe { place.write_unaligned(code) };
    let _ = protect(libc::PROT_READ | libc::PROT_EXEC);
}
