//! Where the program's own code lies, and that of the libraries whose threads are known: the C library's, and C++'s.

use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The first is the program itself. Empty ones begin and end at 0.
static KNOWN: [Code; 8] = [const { Code { begin: AtomicU64::new(0), end: AtomicU64::new(0) } }; 8];

struct Code {
    begin: AtomicU64,
    end: AtomicU64,
}

impl Code {
    fn contains(&self, address: u64) -> bool {
        (self.begin.load(Relaxed)..self.end.load(Relaxed)).contains(&address)
    }
}

/// Libraries that synchronize only by what is interposed, or for words that the program's own code looks at.
const LIBRARIES: [&[u8]; 6] = [b"libc.so", b"libstdc++.so", b"libc++.so", b"libc++abi.so", b"libgcc_s.so", b"ld-linux"];

/// Before the program begins: looks where code is.
pub(crate) fn look() {
    let mut at = 0_usize;
    // SAFETY: the callback keeps to its type, and is passed a place of this type.
    unsafe { libc::dl_iterate_phdr(Some(look_at), (&raw mut at).cast()) };
}

/// The first object is the program itself.
unsafe extern "C" fn look_at(object: *mut libc::dl_phdr_info, _: usize, at: *mut c_void) -> c_int {
    // SAFETY: the dynamic linker passes a valid object.
    let object = unsafe { &*object };
    // SAFETY: `look` passes the place, and does not look at it meanwhile.
    let at = unsafe { &mut *at.cast::<usize>() };
    if *at > 0 && !is_known_library(object.dlpi_name) {
        return 0;
    }
    // SAFETY: the dynamic linker says how many headers there are.
    let headers = unsafe { core::slice::from_raw_parts(object.dlpi_phdr, usize::from(object.dlpi_phnum)) };
    let code = headers.iter().find(|header| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0);
    if let (Some(known), Some(code)) = (KNOWN.get(*at), code) {
        let begin = object.dlpi_addr.wrapping_add(code.p_vaddr);
        known.begin.store(begin, Relaxed);
        known.end.store(begin.saturating_add(code.p_memsz), Relaxed);
        *at += 1;
    }
    0
}

fn is_known_library(path: *const libc::c_char) -> bool {
    if path.is_null() {
        return false;
    }
    // SAFETY: the dynamic linker's names end with a zero.
    let path = unsafe { CStr::from_ptr(path) }.to_bytes();
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    LIBRARIES.iter().any(|library| name.starts_with(library))
}

/// Whether this is an address of the program's code.
#[inline]
pub(crate) fn is_code(word: u64) -> bool {
    KNOWN[0].contains(word)
}

/// Whether code there is a library's that may have threads meet in ways of its own.
pub(crate) fn is_foreign(address: u64) -> bool {
    !KNOWN.iter().any(|code| code.contains(address))
}
