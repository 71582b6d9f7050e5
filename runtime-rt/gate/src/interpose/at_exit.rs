//! What `exit` would run: registering it, and whether any of it is the program's own.
//!
//! The C library and those that come with the compiler have handlers and destructors in every process. They give back memory that no
//! execution looks at again, and write to nearly as many pages as a small program does itself; they are left out where there are no
//! others, and no library was loaded while the program ran.
//!
//! Handlers of `on_exit`, which want to know the status, are registered as ones of `atexit` that do: so the C library keeps the order of
//! both.

use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering::Relaxed};

use super::export;
use crate::sys::real::{Real, real};

static AT_EXIT: Real = Real::new(c"__cxa_atexit");

/// All of them.
pub(super) static REALS: &[&Real] = &[&AT_EXIT];

/// Whether something of the program's own is to be run. In the program's memory: what an execution registers is forgotten with it.
static OWN: AtomicBool = AtomicBool::new(false);

/// The status with which the process ends.
static STATUS: AtomicI32 = AtomicI32::new(0);

/// Libraries whose handlers and destructors nobody misses.
const SYSTEM: [&[u8]; 10] = [
    b"libatomic.so.",
    b"libdl.so.",
    b"librt.so.",
    b"libc.so.",
    b"libm.so.",
    b"libgcc_s.so.",
    b"libstdc++.so.",
    b"libpthread.so.",
    b"ld-linux",
    b"linux-vdso.so.",
];

/// How many libraries had been loaded when the program began.
static LOADED: AtomicU64 = AtomicU64::new(0);

/// Whether something of the program's own is to be run at its end.
pub(crate) fn has_own() -> bool {
    OWN.load(Relaxed)
}

/// Whether libraries were loaded while the program ran, which may be its own.
pub(crate) fn has_loaded() -> bool {
    loaded() != LOADED.load(Relaxed)
}

/// Before the program begins: looks for destructors of its own, and of libraries that are its own.
pub(crate) fn look() {
    // SAFETY: the callback keeps to its type.
    unsafe { libc::dl_iterate_phdr(Some(look_at), core::ptr::null_mut()) };
    LOADED.store(loaded(), Relaxed);
}

/// How many libraries have been loaded so far.
fn loaded() -> u64 {
    unsafe extern "C" fn read(object: *mut libc::dl_phdr_info, _: usize, count: *mut c_void) -> c_int {
        // SAFETY: the dynamic linker passes a valid object.
        let object = unsafe { &*object };
        // SAFETY: `loaded` passes a place for the number.
        unsafe { count.cast::<u64>().write(object.dlpi_adds) };
        1
    }
    let mut count: u64 = 0;
    // SAFETY: the callback keeps to its type, and ends after the first object.
    unsafe { libc::dl_iterate_phdr(Some(read), (&raw mut count).cast()) };
    count
}

unsafe extern "C" fn look_at(object: *mut libc::dl_phdr_info, _: usize, _: *mut c_void) -> c_int {
    // SAFETY: the dynamic linker passes a valid object.
    let object = unsafe { &*object };
    let own = match name(object.dlpi_name) {
        [] => has_destructors(object),
        path => !is_system(path),
    };
    if own {
        OWN.store(true, Relaxed);
    }
    0
}

/// Whether the program has destructors beside the one of the compiler's start-up code. Yes when that cannot be told.
fn has_destructors(program: &libc::dl_phdr_info) -> bool {
    const BYTES_OF_ARRAY: u64 = 28;
    // SAFETY: the dynamic linker says how many headers there are.
    let headers = unsafe { core::slice::from_raw_parts(program.dlpi_phdr, usize::from(program.dlpi_phnum)) };
    let Some(dynamic) = headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC) else { return true };
    let bytes = usize::try_from(dynamic.p_memsz).unwrap_or(0);
    let entries: *const [u64; 2] = core::ptr::with_exposed_provenance(usize::try_from(program.dlpi_addr + dynamic.p_vaddr).unwrap_or(0));
    // SAFETY: the dynamic section of a program that was loaded: pairs of tags and values.
    let entries = unsafe { core::slice::from_raw_parts(entries, bytes / size_of::<[u64; 2]>()) };
    entries.iter().any(|&[tag, value]| tag == BYTES_OF_ARRAY && value > size_of::<usize>() as u64)
}

fn name<'a>(text: *const core::ffi::c_char) -> &'a [u8] {
    if text.is_null() {
        return &[];
    }
    // SAFETY: the dynamic linker's names of objects end with a zero, and stay while these are loaded.
    unsafe { CStr::from_ptr(text) }.to_bytes()
}

fn is_system(path: &[u8]) -> bool {
    let file = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    SYSTEM.iter().any(|known| file.starts_with(known))
}

/// Whether a handle that a library registers with is one of the system's.
fn is_of_system(library: *const c_void) -> bool {
    let mut found: libc::Dl_info = libc::Dl_info {
        dli_fname: core::ptr::null(),
        dli_fbase: core::ptr::null_mut(),
        dli_sname: core::ptr::null(),
        dli_saddr: core::ptr::null_mut(),
    };
    // SAFETY: looks an address up, whatever it is.
    let known = !library.is_null() && unsafe { libc::dladdr(library, &raw mut found) } != 0;
    known && is_system(name(found.dli_fname))
}

type Handler = extern "C" fn(*mut c_void);

/// A handler of `on_exit` and its argument, in memory of the program.
#[repr(C)]
struct Knowing {
    handler: extern "C" fn(c_int, *mut c_void),
    argument: *mut c_void,
}

/// Says with which status the process ends.
pub(crate) fn set_status(status: i32) {
    STATUS.store(status, Relaxed);
}

extern "C" fn run_knowing(knowing: *mut c_void) {
    // SAFETY: what `on_exit` has registered, which nobody frees.
    let Knowing { handler, argument } = unsafe { core::ptr::read(knowing.cast::<Knowing>()) };
    handler(STATUS.load(Relaxed), argument);
}

export! {
    fn __cxa_atexit(function: Handler, argument: *mut c_void, library: *mut c_void) -> c_int {
        if !has_own() && !is_of_system(library) {
            OWN.store(true, Relaxed);
        }
        real!(AT_EXIT, fn(Handler, *mut c_void, *mut c_void) -> c_int, function, argument, library)
    }

    fn on_exit(handler: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int {
        // SAFETY: asks for memory.
        let knowing: *mut Knowing = unsafe { libc::malloc(size_of::<Knowing>()) }.cast();
        if knowing.is_null() {
            return -1;
        }
        // SAFETY: it has the size of what is written.
        unsafe { knowing.write(Knowing { handler, argument }) };
        __cxa_atexit(run_knowing, knowing.cast(), core::ptr::null_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_the_system_are_known_by_name() {
        for (path, system) in [
            ("/lib/x86_64-linux-gnu/libc.so.6", true),
            ("/lib64/ld-linux-x86-64.so.2", true),
            ("linux-vdso.so.1", true),
            ("/usr/lib/libcrypto.so.3", false),
            ("./libmine.so", false),
            ("/opt/libc.so.6/libmine.so", false),
        ] {
            assert_eq!(is_system(path.as_bytes()), system, "{path}");
        }
    }
}
