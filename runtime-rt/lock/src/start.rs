//! Before `main`, and before the constructors of all libraries: what is cheapest, or only safe, while there is one thread.
//!
//! Nothing depends on it having run; without it everything is set up when first needed.

use core::ffi::{c_char, c_int};

use crate::{fork, process, sys};

/// Listed among the functions that the loader calls first.
#[cfg(not(test))]
#[used]
#[unsafe(link_section = ".preinit_array")]
static START: extern "C" fn(c_int, *const *const c_char, *const *const c_char) = start;

/// Registers for process-wide barriers, for thread ends and for forks.
pub extern "C" fn start(_: c_int, _: *const *const c_char, _: *const *const c_char) {
    let _ = sys::membarrier::support();
    let _ = process::key();
    fork::arrange();
}
