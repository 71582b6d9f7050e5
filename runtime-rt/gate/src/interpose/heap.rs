//! The program's heap.

use core::ffi::{c_int, c_void};
use core::ptr::null_mut;

use super::{export, set_errno};
use crate::engine::fiber::running;
use crate::engine::heap::{self, Standing};
use crate::engine::lifetime;

fn found(block: *mut u8) -> *mut c_void {
    if block.is_null() {
        set_errno(libc::ENOMEM);
    } else if let Some(engine) = running() {
        lifetime::begin(engine, block);
    }
    block.cast()
}

fn give_back(block: *mut u8) {
    match running() {
        _ if block.is_null() => {}
        Some(engine) => lifetime::free(engine, block),
        None => heap::free(block),
    }
}

/// Makes a block larger or smaller, where it is or in a new one.
fn resize(block: *mut u8, bytes: usize) -> *mut c_void {
    if block.is_null() || running().is_none() {
        return found(heap::reallocate(block, bytes));
    }
    match heap::standing(block) {
        Standing::InUse if heap::fits(block, bytes) => return heap::reallocate(block, bytes).cast(),
        Standing::Foreign => return found(heap::reallocate(block, bytes)),
        Standing::InUse | Standing::GivenBack | Standing::NoBlock => {}
    }
    let new = found(heap::allocate(bytes, 16));
    if !new.is_null() {
        let kept = bytes.min(heap::usable(block));
        // SAFETY: both blocks are at least as long, and different ones.
        unsafe { core::ptr::copy_nonoverlapping(block, new.cast(), kept) };
        give_back(block);
    }
    new
}

export! {
    fn malloc(bytes: usize) -> *mut c_void {
        found(heap::allocate(bytes, 16))
    }

    fn free(block: *mut c_void) {
        give_back(block.cast());
    }

    fn calloc(count: usize, size: usize) -> *mut c_void {
        let block = match count.checked_mul(size) {
            Some(bytes) => heap::allocate_zeroed(bytes),
            None => null_mut(),
        };
        found(block)
    }

    fn realloc(block: *mut c_void, bytes: usize) -> *mut c_void {
        if bytes == 0 && !block.is_null() {
            give_back(block.cast());
            return null_mut();
        }
        resize(block.cast(), bytes)
    }

    fn reallocarray(block: *mut c_void, count: usize, size: usize) -> *mut c_void {
        match count.checked_mul(size) {
            Some(bytes) => resize(block.cast(), bytes),
            None => found(null_mut()),
        }
    }

    fn memalign(align: usize, bytes: usize) -> *mut c_void {
        found(heap::allocate(bytes, align.next_power_of_two()))
    }

    fn aligned_alloc(align: usize, bytes: usize) -> *mut c_void {
        found(heap::allocate(bytes, align.next_power_of_two()))
    }

    fn valloc(bytes: usize) -> *mut c_void {
        found(heap::allocate(bytes, 4096))
    }

    fn pvalloc(bytes: usize) -> *mut c_void {
        found(heap::allocate(bytes.next_multiple_of(4096), 4096))
    }

    fn posix_memalign(place: *mut *mut c_void, align: usize, bytes: usize) -> c_int {
        if !align.is_power_of_two() || align < size_of::<*mut c_void>() {
            return libc::EINVAL;
        }
        let block = heap::allocate(bytes, align);
        if block.is_null() {
            return libc::ENOMEM;
        }
        super::store(place, block.cast());
        0
    }

    fn malloc_usable_size(block: *mut c_void) -> usize {
        heap::usable(block.cast())
    }
}
