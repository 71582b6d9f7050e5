//! The C library's own functions behind the symbols that we interpose.
//!
//! Each is looked up once, by name, among the libraries behind the executable.

use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

/// A function of the C library, looked up at its first use.
pub(crate) struct Real {
    name: &'static CStr,
    version: Option<&'static CStr>,
    address: AtomicUsize,
}

impl Real {
    /// The function's default version.
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self { name, version: None, address: AtomicUsize::new(0) }
    }

    /// A function that the C library has in several versions, of which the look-up without a version finds the oldest.
    pub(crate) const fn versioned(name: &'static CStr, version: &'static CStr) -> Self {
        Self { name, version: Some(version), address: AtomicUsize::new(0) }
    }

    /// Its address; `None` where the C library has no such function.
    pub(crate) fn address(&self) -> Option<*mut c_void> {
        let known = self.address.load(Ordering::Relaxed);
        if known != 0 {
            return Some(core::ptr::with_exposed_provenance_mut(known));
        }
        let found = match self.version {
            // SAFETY: both strings end with a zero.
            Some(version) => unsafe { libc::dlvsym(libc::RTLD_NEXT, self.name.as_ptr(), version.as_ptr()) },
            // SAFETY: as above.
            None => unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) },
        };
        self.address.store(found.expose_provenance(), Ordering::Relaxed);
        (!found.is_null()).then_some(found)
    }
}

/// Calls a `Real` with the C signature given: `real!(LOCK, fn(*mut Mutex) -> c_int, mutex)`.
macro_rules! real {
    ($real:expr, fn($($type:ty),*) $(-> $result:ty)?, $($argument:expr),*) => {{
        match $real.address() {
            Some(address) => {
                // SAFETY: the signature is the one that the C library documents for the symbol.
                let function = unsafe {
                    core::mem::transmute::<*mut core::ffi::c_void, unsafe extern "C" fn($($type),*) $(-> $result)?>(address)
                };
                // SAFETY: our caller called the symbol with these arguments, which makes them the caller's to vouch for.
                unsafe { function($($argument),*) }
            }
            None => $crate::engine::control::missing_symbol(),
        }
    }};
}
pub(crate) use real;
