//! The functions that ours stand in front of, looked up when first needed.

use core::ffi::CStr;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Where a function's original is.
pub struct Next {
    name: &'static CStr,
    version: Option<&'static CStr>,
    address: AtomicUsize,
}

impl Next {
    /// The original of this name.
    #[must_use]
    pub const fn new(name: &'static CStr) -> Self {
        Self { name, version: None, address: AtomicUsize::new(0) }
    }

    /// The original of this name in this version of glibc's interface, where there are several.
    #[must_use]
    pub const fn versioned(name: &'static CStr, version: &'static CStr) -> Self {
        Self { name, version: Some(version), address: AtomicUsize::new(0) }
    }

    /// Its address. A program that calls a function which the libraries do not have cannot get here: it would not have linked.
    #[inline(always)]
    #[must_use]
    pub fn address(&self) -> usize {
        match self.address.load(Ordering::Relaxed) {
            0 => self.look_up(),
            address => address,
        }
    }

    #[cold]
    fn look_up(&self) -> usize {
        let versioned = self.version.map(|version| {
            // SAFETY: both names are zero-terminated.
            unsafe { libc::dlvsym(libc::RTLD_NEXT, self.name.as_ptr(), version.as_ptr()) }
        });
        let found = versioned.filter(|found| !found.is_null()).unwrap_or_else(|| {
            // SAFETY: the name is zero-terminated.
            unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) }
        });
        if found.is_null() {
            // SAFETY: the call has no preconditions; there is no original to go on with.
            unsafe { libc::abort() }
        }
        self.address.store(found.addr(), Ordering::Relaxed);
        found.expose_provenance()
    }
}

/// Defines a function that stands in front of libc's: `$original` in the body is the function that it hides.
///
/// A cancellation unwinds through these functions. The compiler does not know: under `panic = abort` it would make any function
/// that says it can unwind abort instead. They have unwind tables and nothing to clean up, so the unwinder just passes.
macro_rules! interpose {
    ($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty, $next:expr, |$original:ident| $body:expr) => {
        // Weak, so that a program with a function of its own of this name links, and keeps it.
        #[cfg(panic = "abort")]
        core::arch::global_asm!(
            concat!(".weak ", stringify!($name)),
            concat!(".type ", stringify!($name), ", @function"),
            concat!(".set ", stringify!($name), ", __atomfix_instead_of_", stringify!($name)),
        );

        $(#[$doc])*
        ///
        /// # Safety
        /// As the function of libc with this name.
        #[cfg_attr(panic = "abort", unsafe(export_name = concat!("__atomfix_instead_of_", stringify!($name))))]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            static NEXT: $crate::interpose::next::Next = $next;
            let address = core::ptr::with_exposed_provenance::<()>(NEXT.address());
            // SAFETY: the address is that of the function of this name, which has this type.
            let $original = unsafe { core::mem::transmute::<*const (), unsafe extern "C" fn($($type),*) -> $result>(address) };
            $body
        }
    };
}
pub(crate) use interpose;

/// Defines a function that stands in front of one of libc's which may wait: holds are given up before it.
macro_rules! interpose_blocking {
    ($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty, $next:expr, $blocked:expr) => {
        $crate::interpose::next::interpose! {
            $(#[$doc])*
            fn $name($($argument: $type),*) -> $result,
            $next,
            |original| {
                let blocking = $crate::interpose::begin_blocking($blocked);
                // SAFETY: the caller's duty, passed on.
                let result = unsafe { original($($argument),*) };
                $crate::interpose::end_blocking(blocking);
                result
            }
        }
    };
}
pub(crate) use interpose_blocking;
