//! Where the program's own code lies.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

static BEGIN: AtomicU64 = AtomicU64::new(0);
static END: AtomicU64 = AtomicU64::new(0);

/// Before the program begins: looks where its code is.
pub(crate) fn look() {
    // SAFETY: the callback keeps to its type.
    unsafe { libc::dl_iterate_phdr(Some(look_at), core::ptr::null_mut()) };
}

/// The first object is the program itself.
unsafe extern "C" fn look_at(object: *mut libc::dl_phdr_info, _: usize, _: *mut c_void) -> c_int {
    // SAFETY: the dynamic linker passes a valid object.
    let object = unsafe { &*object };
    // SAFETY: the dynamic linker says how many headers there are.
    let headers = unsafe { core::slice::from_raw_parts(object.dlpi_phdr, usize::from(object.dlpi_phnum)) };
    if let Some(code) = headers.iter().find(|header| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0) {
        let begin = object.dlpi_addr.wrapping_add(code.p_vaddr);
        BEGIN.store(begin, Relaxed);
        END.store(begin.saturating_add(code.p_memsz), Relaxed);
    }
    1
}

/// Whether this is an address of the program's code.
pub(crate) fn is_code(word: u64) -> bool {
    (BEGIN.load(Relaxed)..END.load(Relaxed)).contains(&word)
}
