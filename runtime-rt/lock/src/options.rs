//! Options: read once before `main` from `ATOMFIX_OPTIONS`, and from nowhere when the process has more rights than its user.
//!
//! | option | meaning |
//! |---|---|
//! | `stats=1` | print counters at exit, to standard error or the log |
//! | `log=FILE` | append them to this file |
//! | `inspect_ms=N` | the inspection interval, 100 if not given |
//! | `off=1` | no lock does anything |
//! | `off=LOCK` | this one does not: its name, or `lockN` |
//!
//! They are joined by `:`; a double one belongs to a C++ name. What is not understood is warned of, and skipped.

use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crate::sys::clock::Nanoseconds;

/// The inspection interval when none is given.
const INSPECT_MS: u64 = 100;

static INSPECT: AtomicU64 = AtomicU64::new(INSPECT_MS);
/// 0: not counted yet.
static PROCESSORS: AtomicU32 = AtomicU32::new(0);
static STATISTICS: AtomicBool = AtomicBool::new(false);
/// The rest of the environment's entry from the log's name on.
static LOG: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());
static LOG_LENGTH: AtomicU64 = AtomicU64::new(0);

/// One option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting<'a> {
    /// Whether to print counters.
    Statistics(bool),
    /// Where to.
    Log(&'a [u8]),
    /// The inspection interval in milliseconds.
    Inspect(u64),
    /// Whether every lock is off.
    Off(bool),
    /// This lock is off.
    OffLock(&'a [u8]),
    /// Not understood.
    Unknown(&'a [u8]),
}

/// The options in a text.
pub fn parse(text: &[u8]) -> impl Iterator<Item = Setting<'_>> {
    let mut rest = text;
    core::iter::from_fn(move || {
        while !rest.is_empty() {
            let (option, after) = split(rest);
            rest = after;
            if !option.is_empty() {
                return Some(setting(option));
            }
        }
        None
    })
}

/// Splits at the first single `:`.
fn split(text: &[u8]) -> (&[u8], &[u8]) {
    let mut at = 0;
    loop {
        match (text.get(at), text.get(at + 1)) {
            (None, _) => return (text, &[]),
            (Some(b':'), Some(b':')) => at += 2,
            (Some(b':'), _) => {
                let (option, rest) = text.split_at_checked(at).unwrap_or((text, &[]));
                return (option, rest.get(1..).unwrap_or_default());
            }
            _ => at += 1,
        }
    }
}

fn setting(option: &[u8]) -> Setting<'_> {
    let after = |key: &[u8]| option.strip_prefix(key);
    let understood = if let Some(value) = after(b"stats=") {
        truth(value).map(Setting::Statistics)
    } else if let Some(value) = after(b"log=").filter(|value| !value.is_empty()) {
        Some(Setting::Log(value))
    } else if let Some(value) = after(b"inspect_ms=") {
        number(value).filter(|&value| value > 0).map(Setting::Inspect)
    } else {
        let off = |value| truth(value).map_or(Setting::OffLock(value), Setting::Off);
        after(b"off=").filter(|value| !value.is_empty()).map(off)
    };
    understood.unwrap_or(Setting::Unknown(option))
}

fn truth(value: &[u8]) -> Option<bool> {
    match value {
        b"0" => Some(false),
        b"1" => Some(true),
        _ => None,
    }
}

fn number(value: &[u8]) -> Option<u64> {
    if value.is_empty() {
        return None;
    }
    value.iter().try_fold(0_u64, |number, byte| {
        let digit = byte.checked_sub(b'0').filter(|&digit| digit < 10)?;
        number.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// Puts a setting into force. The locks are `start`'s part.
pub fn set(setting: Setting<'static>) {
    match setting {
        Setting::Statistics(on) => STATISTICS.store(on, Ordering::Relaxed),
        Setting::Inspect(milliseconds) => INSPECT.store(milliseconds, Ordering::Relaxed),
        Setting::Log(name) => {
            LOG.store(name.as_ptr().cast_mut(), Ordering::Relaxed);
            LOG_LENGTH.store(name.len() as u64, Ordering::Relaxed);
        }
        Setting::Off(_) | Setting::OffLock(_) | Setting::Unknown(_) => {}
    }
}

/// The value of `ATOMFIX_OPTIONS` in an environment.
///
/// # Safety
/// `environment` is the null-terminated array of zero-terminated strings that the process was started with.
#[must_use]
pub unsafe fn find(environment: *const *const core::ffi::c_char) -> Option<&'static [u8]> {
    let mut at = environment;
    loop {
        // SAFETY: not beyond the terminator, where the loop ends.
        let entry = unsafe { at.read() };
        if entry.is_null() {
            return None;
        }
        // SAFETY: entries are zero-terminated and stay where they are.
        let entry = unsafe { CStr::from_ptr(entry) }.to_bytes();
        let value = entry.strip_prefix(model::abi::ENV_OPTIONS.as_bytes()).and_then(|rest| rest.strip_prefix(b"="));
        if value.is_some() {
            return value;
        }
        // SAFETY: the entry was not the terminator, so there is a next one.
        at = unsafe { at.add(1) };
    }
}

/// Whether counters are to be printed.
#[must_use]
pub fn statistics() -> bool {
    STATISTICS.load(Ordering::Relaxed)
}

/// The name of the log.
#[must_use]
pub fn log() -> Option<&'static [u8]> {
    let name = LOG.load(Ordering::Relaxed);
    let length = usize::try_from(LOG_LENGTH.load(Ordering::Relaxed)).ok()?;
    // SAFETY: both were set from one slice of the environment, before `main`.
    (!name.is_null()).then(|| unsafe { core::slice::from_raw_parts(name.cast_const(), length) })
}

/// How long a waiter waits before it inspects the holders.
#[must_use]
pub fn inspection() -> Nanoseconds {
    Nanoseconds::milliseconds(INSPECT.load(Ordering::Relaxed))
}

/// How many processors this process may use.
#[must_use]
pub fn processors() -> u32 {
    let known = PROCESSORS.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    // 1024 processors; a larger set makes the call fail, and then there are certainly two.
    let mut set = [0_u64; 16];
    // SAFETY: the kernel writes at most the given number of bytes into the live array.
    let result = unsafe { crate::sys::call::call(libc::SYS_sched_getaffinity, [0, size_of_val(&set), (&raw mut set).addr(), 0, 0, 0]) };
    let counted = if result > 0 { set.iter().map(|word| word.count_ones()).sum::<u32>().max(1) } else { 2 };
    PROCESSORS.store(counted, Ordering::Relaxed);
    counted
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::Setting::{Inspect, Log, Off, OffLock, Statistics, Unknown};
    use super::parse;

    #[test]
    fn options_are_understood_or_named() {
        let cases: &[(&[u8], &[super::Setting<'_>])] = &[
            (b"", &[]),
            (b"stats=1", &[Statistics(true)]),
            (b"stats=1:log=/tmp/a b", &[Statistics(true), Log(b"/tmp/a b")]),
            (b":inspect_ms=25:", &[Inspect(25)]),
            (b"off=1:off=0", &[Off(true), Off(false)]),
            (b"off=ns::counter:off=lock3", &[OffLock(b"ns::counter"), OffLock(b"lock3")]),
            (
                b"stat=1:stats=2:inspect_ms=x:inspect_ms=:log=:off",
                &[
                    Unknown(b"stat=1"),
                    Unknown(b"stats=2"),
                    Unknown(b"inspect_ms=x"),
                    Unknown(b"inspect_ms="),
                    Unknown(b"log="),
                    Unknown(b"off"),
                ],
            ),
            (b"inspect_ms=99999999999999999999", &[Unknown(b"inspect_ms=99999999999999999999")]),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text).collect::<Vec<_>>(), *expected, "{}", text.escape_ascii());
        }
    }
}
