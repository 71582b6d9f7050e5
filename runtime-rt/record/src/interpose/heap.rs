//! The allocator: a block that begins is a new object, and where it was allocated names the locks in it. One that ends is kept for a
//! while (`quarantine`).
//!
//! The work is done by glibc's own entries behind `malloc`, which need no look-up, so this works before the loader is ready.

use core::ffi::{c_int, c_void};

use super::weak;
use crate::process::{last_call, with};
use crate::quarantine::End;
use crate::shadow::Address;

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(block: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_memalign(alignment: usize, size: usize) -> *mut c_void;
    fn __libc_free(block: *mut c_void);
}

/// How large the block is that begins here.
pub(crate) fn block_size(start: Address) -> usize {
    // SAFETY: the shadow knows only starts of blocks that live.
    unsafe { libc::malloc_usable_size(core::ptr::with_exposed_provenance_mut(start.0)) }
}

fn begins(block: *mut c_void) -> *mut c_void {
    if !block.is_null() {
        with(|recorder, thread, _| recorder.allocate(thread, last_call(), Address(block.expose_provenance())));
    }
    block
}

/// The block ends. Whether it is kept: then it is not to be given back yet.
fn ends(block: *mut c_void, end: End) -> bool {
    if block.is_null() {
        return false;
    }
    let start = Address(block.addr());
    let size = block_size(start);
    with(|recorder, thread, public| recorder.free(thread, public, (start, size), end, give_back)).unwrap_or(false)
}

fn give_back(block: Address) {
    // SAFETY: the program has freed it, and it was not given back since.
    unsafe { __libc_free(core::ptr::with_exposed_provenance_mut(block.0)) };
}

/// The process exits: what is kept is given back, so that the C library sees what it would have seen.
pub(crate) fn give_all_back() {
    with(|recorder, _, _| recorder.quarantine.empty(&recorder.shadow, give_back));
}

extern "C" fn malloc_(size: usize) -> *mut c_void {
    // SAFETY: takes no pointers.
    begins(unsafe { __libc_malloc(size) })
}

extern "C" fn calloc_(count: usize, size: usize) -> *mut c_void {
    // SAFETY: takes no pointers.
    begins(unsafe { __libc_calloc(count, size) })
}

extern "C" fn realloc_(block: *mut c_void, size: usize) -> *mut c_void {
    // Before, not after: by then the block may be another thread's.
    ends(block, End::Reallocated);
    // SAFETY: the program's own call, passed on.
    begins(unsafe { __libc_realloc(block, size) })
}

extern "C" fn memalign_(alignment: usize, size: usize) -> *mut c_void {
    // SAFETY: takes no pointers.
    begins(unsafe { __libc_memalign(alignment, size) })
}

extern "C" fn posix_memalign_(result: *mut *mut c_void, alignment: usize, size: usize) -> c_int {
    if !alignment.is_power_of_two() || !alignment.is_multiple_of(size_of::<usize>()) {
        return libc::EINVAL;
    }
    let block = memalign_(alignment, size);
    if block.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: the program's own pointer, which the function is to fill in.
    unsafe { result.write(block) };
    0
}

extern "C" fn free_(block: *mut c_void) {
    if !ends(block, End::Freed) {
        // SAFETY: the program's own call, passed on.
        unsafe { __libc_free(block) };
    }
}

weak!(
    malloc => malloc_,
    calloc => calloc_,
    realloc => realloc_,
    memalign => memalign_,
    aligned_alloc => memalign_,
    posix_memalign => posix_memalign_,
    free => free_,
);
