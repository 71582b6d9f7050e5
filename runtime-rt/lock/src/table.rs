//! The table of locks that relinking a hardened build defines.

use core::ffi::CStr;

use crate::protocol::lock::Lock;

/// The locks, by `LockId`.
#[cfg(panic = "abort")]
pub fn locks() -> &'static [Lock] {
    unsafe extern "C" {
        static __atomfix_locks: [Lock; 0];
        static __atomfix_lock_count: u32;
    }
    // SAFETY: relinking defines the count as a constant.
    let count = unsafe { __atomfix_lock_count } as usize;
    // SAFETY: only the address is taken.
    let first = unsafe { __atomfix_locks.as_ptr() };
    // SAFETY: relinking defines so many locks there, zeroed, aligned and alive for ever.
    unsafe { core::slice::from_raw_parts(first, count) }
}

/// No program, no table.
#[cfg(not(panic = "abort"))]
pub fn locks() -> &'static [Lock] {
    &[]
}

/// Their names, in the same order; none where the array ends early.
#[cfg(panic = "abort")]
pub fn names() -> impl Iterator<Item = &'static CStr> {
    unsafe extern "C" {
        static __atomfix_lock_names: [*const core::ffi::c_char; 0];
    }
    // SAFETY: only the address is taken.
    let first = unsafe { __atomfix_lock_names.as_ptr() };
    (0..locks().len()).map_while(move |index| {
        // SAFETY: the array has one more entry than there are locks, and this stops at the first that is null.
        let entry = unsafe { first.add(index) };
        // SAFETY: as above.
        let name = unsafe { entry.read() };
        // SAFETY: an entry that is not null points to a zero-terminated constant.
        (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) })
    })
}

/// No program, no names.
#[cfg(not(panic = "abort"))]
pub fn names() -> impl Iterator<Item = &'static CStr> {
    core::iter::empty()
}
