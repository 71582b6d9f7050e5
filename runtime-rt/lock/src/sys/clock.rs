//! Time: of the wall, and of one thread on the processor.
//!
//! libc answers for the wall without entering the kernel. The time of a thread, which may be gone, is asked of the kernel itself:
//! libc would set `errno`.

use super::call::call;

/// A length of time, or a point in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nanoseconds(pub u64);

const BILLION: u64 = 1_000_000_000;

impl Nanoseconds {
    /// So many milliseconds.
    #[must_use]
    pub const fn milliseconds(number: u64) -> Self {
        Self(number * 1_000_000)
    }

    /// How much later than `earlier` it is.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// As the kernel takes it.
    #[must_use]
    pub fn timespec(self) -> libc::timespec {
        libc::timespec {
            tv_sec: i64::try_from(self.0 / BILLION).unwrap_or(i64::MAX),
            tv_nsec: i64::try_from(self.0 % BILLION).unwrap_or(0),
        }
    }
}

/// Now, on a clock that never goes back.
#[must_use]
pub fn now() -> Nanoseconds {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes the live `time` only.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) } != 0;
    if failed { Nanoseconds(0) } else { of(time).unwrap_or(Nanoseconds(0)) }
}

/// How long the thread with this kernel number has run. `None`: it is gone.
#[must_use]
pub fn cpu_of(tid: u32) -> Option<Nanoseconds> {
    // The kernel's encoding of "scheduled time of this thread": the number inverted, shifted, 4 (a thread) and 2 (scheduled).
    let clock = (!i32::try_from(tid).ok()?) << 3 | 0b110;
    read(clock)
}

fn read(clock: i32) -> Option<Nanoseconds> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // The kernel takes the low 32 bits.
    let clock = clock.cast_unsigned() as usize;
    // SAFETY: the kernel writes the live `time` only.
    let result = unsafe { call(libc::SYS_clock_gettime, [clock, (&raw mut time).addr(), 0, 0, 0, 0]) };
    if result == 0 { of(time) } else { None }
}

fn of(time: libc::timespec) -> Option<Nanoseconds> {
    let seconds = u64::try_from(time.tv_sec).ok()?;
    Some(Nanoseconds(seconds * BILLION + u64::try_from(time.tv_nsec).unwrap_or(0)))
}
