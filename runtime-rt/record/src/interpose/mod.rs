//! Functions of the C library that the recorder must know of. Each wrapper stands under the function's name as a weak symbol, so
//! that a program that brings its own (an allocator, say) keeps it.
//!
//! Not handled: calls inside the C library that do not go through the symbol.

mod c11;
mod condition;
mod heap;
mod lock;
mod meeting;
mod thread;

use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};

/// Defines weak symbols that jump to functions of ours.
macro_rules! weak {
    ($($symbol:ident => $function:ident),* $(,)?) => {$(
        core::arch::global_asm!(
            concat!(".weak ", stringify!($symbol)),
            concat!(".type ", stringify!($symbol), ",@function"),
            concat!(stringify!($symbol), ": jmp {function}"),
            function = sym $function,
        );
    )*};
}

/// Defines weak symbols that call a function of ours with their arguments and then jump to where it says, so that no frame of
/// ours is on the stack when the function is canceled.
macro_rules! weak_before {
    ($($symbol:ident => $before:ident),* $(,)?) => {$(
        core::arch::global_asm!(
            concat!(".weak ", stringify!($symbol)),
            concat!(".type ", stringify!($symbol), ",@function"),
            concat!(stringify!($symbol), ":"),
            "push rdi", "push rsi", "push rdx", "push rcx", "sub rsp, 8",
            "call {before}",
            "add rsp, 8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
            "jmp rax",
            before = sym $before,
        );
    )*};
}

pub(crate) use heap::{block_size, give_all_back};
use {weak, weak_before};

/// The C library's own function behind a wrapper.
pub(super) struct Next {
    name: &'static CStr,
    version: Option<&'static CStr>,
    address: AtomicPtr<c_void>,
}

impl Next {
    pub(super) const fn new(name: &'static CStr) -> Self {
        Self { name, version: None, address: AtomicPtr::new(core::ptr::null_mut()) }
    }

    /// Of this version: for functions of which the C library has several.
    pub(super) const fn versioned(name: &'static CStr, version: &'static CStr) -> Self {
        Self { name, version: Some(version), address: AtomicPtr::new(core::ptr::null_mut()) }
    }

    pub(super) fn address(&self) -> *mut c_void {
        let known = self.address.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        let found = match self.version {
            // SAFETY: both are C strings.
            Some(version) => unsafe { libc::dlvsym(libc::RTLD_NEXT, self.name.as_ptr(), version.as_ptr()) },
            // SAFETY: a C string.
            None => unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) },
        };
        self.address.store(found, Ordering::Relaxed);
        found
    }

    /// Calls it with one pointer.
    ///
    /// # Safety
    /// As for the function, which must take a pointer and return an `int`.
    pub(super) unsafe fn call(&self, object: *mut c_void) -> libc::c_int {
        // SAFETY: the caller says that this is its type.
        let function = unsafe { core::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void) -> libc::c_int>(self.address()) };
        // SAFETY: the caller vouches for the argument.
        unsafe { function(object) }
    }
}
