//! The program's heap.

use core::ffi::{c_int, c_void};
use core::ptr::null_mut;

use model::event::Range;

use super::{export, set_errno};
use crate::engine::fiber::running;
use crate::engine::heap;

fn found(block: *mut u8) -> *mut c_void {
    if block.is_null() {
        set_errno(libc::ENOMEM);
    } else if let Some(engine) = running() {
        let length = u32::try_from(heap::usable(block)).unwrap_or(u32::MAX);
        engine.note_allocation(Range { address: block.expose_provenance() as u64, length });
    }
    block.cast()
}

export! {
    fn malloc(bytes: usize) -> *mut c_void {
        found(heap::allocate(bytes, 16))
    }

    fn free(block: *mut c_void) {
        if !block.is_null() {
            heap::free(block.cast());
        }
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
            heap::free(block.cast());
            return null_mut();
        }
        found(heap::reallocate(block.cast(), bytes))
    }

    fn reallocarray(block: *mut c_void, count: usize, size: usize) -> *mut c_void {
        match count.checked_mul(size) {
            Some(bytes) => found(heap::reallocate(block.cast(), bytes)),
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
