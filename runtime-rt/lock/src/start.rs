//! Before `main`, and before the constructors of all libraries: options, and what is cheapest while there is one thread.
//!
//! Nothing depends on it having run; without it everything is set up when first needed.

use core::ffi::{c_char, c_int};

use crate::options::{self, Setting};
use crate::protocol::lock::Lock;
use crate::protocol::word::OFF;
use crate::text::Line;
use crate::{fork, process, statistics, sys, table};

/// Listed among the functions that the loader calls first.
#[cfg(panic = "abort")]
#[used]
#[unsafe(link_section = ".preinit_array")]
static START: unsafe extern "C" fn(c_int, *const *const c_char, *const *const c_char) = start;

/// Reads the options, registers for process-wide barriers, for thread ends and for forks.
///
/// # Safety
/// `environment` is the null-terminated array of zero-terminated strings that the process was started with.
pub unsafe extern "C" fn start(_: c_int, _: *const *const c_char, environment: *const *const c_char) {
    // SAFETY: the call has no preconditions.
    let secure = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    // SAFETY: the loader's promise to the functions that it calls.
    let text = if secure { None } else { unsafe { options::find(environment) } };
    for setting in text.into_iter().flat_map(options::parse) {
        apply(setting);
    }
    if let Err(log) = statistics::prepare() {
        warn(b"counters go to standard error at exit, since nothing can be written to '", log);
    }
    let _ = sys::membarrier::support();
    let _ = process::key();
    fork::arrange();
}

fn apply(setting: Setting<'static>) {
    match setting {
        Setting::Off(off) => table::locks().iter().for_each(|lock| switch(lock, off)),
        Setting::OffLock(name) => {
            let mut found = false;
            for (number, lock) in (0_u64..).zip(table::locks()) {
                if is_named(number, name) {
                    found = true;
                    lock.set(OFF);
                }
            }
            if !found {
                warn(b"no lock is called '", name);
            }
        }
        Setting::Unknown(option) => warn(b"not understood: '", option),
        Setting::Statistics(_) | Setting::Log(_) | Setting::Inspect(_) => options::set(setting),
    }
}

fn switch(lock: &Lock, off: bool) {
    if off {
        lock.set(OFF);
    } else {
        lock.unset(OFF);
    }
}

/// Whether a name means the lock of this number: `lockN`, or the variable that it protects.
fn is_named(number: u64, name: &[u8]) -> bool {
    let digits = name.strip_prefix(b"lock").filter(|digits| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit));
    let by_number = digits.is_some_and(|digits| {
        let value = digits.iter().fold(0_u64, |value, digit| value.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
        value == number
    });
    let by_variable =
        || usize::try_from(number).ok().and_then(|number| table::names().nth(number)).is_some_and(|own| own.to_bytes() == name);
    by_number || by_variable()
}

fn warn(what: &[u8], which: &[u8]) {
    Line::new().text(model::abi::ENV_OPTIONS.as_bytes()).text(b": ").text(what).text(which).text(b"'").write(libc::STDERR_FILENO);
}
