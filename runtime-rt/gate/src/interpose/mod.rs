//! The exported symbols: each stands in front of a function of the C library, or is a hook that instrumented code calls.
//!
//! They are doors without logic: a call by a controlled thread becomes a request to the model, any other passes through.
//! One family a file.

pub(crate) mod at_exit;
pub(crate) mod barrier;
pub(crate) mod condition;
pub(crate) mod files;
pub(crate) mod futex;
pub(crate) mod heap;
pub(crate) mod hooks;
pub(crate) mod keys;
pub(crate) mod mutex;
pub(crate) mod named;
pub(crate) mod once;
pub(crate) mod process;
pub(crate) mod rwlock;
pub(crate) mod semaphore;
pub(crate) mod signals;
pub(crate) mod spin;
pub(crate) mod standard;
pub(crate) mod threads;
pub(crate) mod time;

use core::ffi::c_int;

use model::event::Range;
use model::pair::Rw;

use crate::engine::fiber::Engine;
use crate::engine::{clocks, destroyed, lifetime};
use crate::gate::ask::{Ask, Nanoseconds, Until};
use crate::sys::stream;

/// Defines exported functions. In tests they keep to themselves, so that the test runner is not interposed.
macro_rules! export {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block)*) => {$(
        $(#[$doc])*
        #[cfg_attr(not(test), unsafe(no_mangle))]
        extern "C" fn $name($($argument: $type),*) $(-> $result)? $body
    )*};
}
use export;

/// The storage of an object that the program points to.
fn storage<T>(object: *const T) -> Range {
    Range { address: object.expose_provenance() as u64, length: u32::try_from(size_of::<T>()).unwrap_or(u32::MAX) }
}

/// In a fiber: an absolute time as the C library's timed functions take it; `None` for what is no time.
fn deadline(engine: &Engine, at: *const libc::timespec) -> Option<Until> {
    if at.is_null() {
        return Some(Until::Forever);
    }
    lifetime::meet_out_of_sight(engine, storage(at), Rw::Read);
    // SAFETY: the C library demands a valid time.
    let libc::timespec { tv_sec, tv_nsec } = unsafe { at.read() };
    // What lies before the beginning is over.
    clocks::span(tv_sec.max(0), tv_nsec).map(Until::Deadline)
}

/// A span of time; `None` for what is none.
fn time(span: *const libc::timespec) -> Option<Nanoseconds> {
    // SAFETY: the program passes a valid time.
    let libc::timespec { tv_sec, tv_nsec } = *unsafe { span.as_ref() }?;
    clocks::span(tv_sec, tv_nsec)
}

/// Reads a word of an object's own storage, where the C library keeps what initialization said.
fn peek<T>(object: *const T, offset: usize) -> c_int {
    let word = object.cast::<c_int>().wrapping_byte_add(offset);
    // SAFETY: callers name words within the object, and the program passes a valid one.
    unsafe { word.read() }
}

/// In a fiber: a step that looks at an object without changing it.
fn look(engine: &Engine, object: Range) {
    engine.take_site();
    engine.point_at(None, Ask::Access { range: object, rw: Rw::Read, atomic: true });
    lifetime::look(engine, object.address, None, "a synchronization object is used");
    destroyed::look(engine, object, None);
}

/// Stores through a pointer that the program may leave null.
fn store<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: the program passes a valid place.
        unsafe { place.write(value) };
    }
}

/// Reports an error as functions do that return -1.
fn fail(error: c_int) -> c_int {
    set_errno(error);
    -1
}

/// Sets the running thread's `errno`.
fn set_errno(error: c_int) {
    // SAFETY: every thread has an `errno`.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    unsafe { place.write(error) };
}

/// Looks up all of the C library's functions behind ours, so that no execution has to.
pub(crate) fn look_up_all() {
    let all = [
        at_exit::REALS,
        futex::REALS,
        barrier::REALS,
        condition::REALS,
        keys::REALS,
        mutex::REALS,
        named::REALS,
        once::REALS,
        process::REALS,
        rwlock::REALS,
        semaphore::REALS,
        signals::REALS,
        spin::REALS,
        standard::REALS,
        threads::REALS,
        time::REALS,
        stream::REALS,
    ];
    for real in all.into_iter().flatten() {
        real.address();
    }
}

#[cfg(test)]
mod tests {
    use model::external::{Unseen, unseen};

    #[test]
    fn functions_that_are_modeled_count_as_ones_without_state_of_their_own() {
        const SOURCES: [&str; 15] = [
            include_str!("barrier.rs"),
            include_str!("condition.rs"),
            include_str!("futex.rs"),
            include_str!("heap.rs"),
            include_str!("keys.rs"),
            include_str!("mutex.rs"),
            include_str!("once.rs"),
            include_str!("process.rs"),
            include_str!("rwlock.rs"),
            include_str!("semaphore.rs"),
            include_str!("signals.rs"),
            include_str!("spin.rs"),
            include_str!("standard.rs"),
            include_str!("threads.rs"),
            include_str!("time.rs"),
        ];
        let doors = SOURCES.iter().flat_map(|source| source.split("#[cfg(test)]").next().unwrap_or_default().lines());
        let names: Vec<&str> =
            doors.filter(|line| !line.contains("&self")).filter_map(|line| line.strip_prefix("    fn ")?.split('(').next()).collect();
        assert!(names.len() > 100, "{}", names.len());
        let odd: Vec<&&str> = names.iter().filter(|name| unseen(name) != Unseen::Nothing).collect();
        assert!(odd.is_empty(), "{odd:?}");
    }
}
