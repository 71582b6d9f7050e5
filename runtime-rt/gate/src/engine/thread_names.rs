//! The names of threads, which the kernel would keep for the one OS thread that runs them all.
//!
//! A thread begins with its creator's name, the initial one with that of the process. Most threads name themselves and nobody asks: names are
//! scheduling points only where one is given by one thread and asked for by another. What is seen of names in `/proc` is named (`own_files`).

use core::cell::Cell;
use core::ffi::{CStr, c_int};

use model::ids::ThreadId;
use model::pair::Rw;

use super::fiber::Engine;
use super::habits::{self, Habit};
use crate::gate::ask::Ask;

/// What a thread has told the kernel of itself that is kept here.
#[derive(Default)]
pub(crate) struct Told {
    /// What it is called, if that is not what the process is.
    pub(crate) name: Cell<Option<Name>>,
    /// Who has used that name, as the bits below.
    used: Cell<u8>,
    /// Another stack for handlers, as the kernel has it: where it is, flags, how long.
    pub(crate) other_stack: Cell<Option<[usize; 3]>>,
}

/// A name that ends with a zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Name([u8; 16]);

/// The system call `prctl`, where it is about the caller's name.
pub(crate) fn answer(engine: &Engine, what: usize, place: usize) -> Option<isize> {
    match c_int::try_from(what) {
        Ok(libc::PR_SET_NAME) => {
            let text: *const u8 = core::ptr::with_exposed_provenance(place);
            set(engine, engine.current(), read(text));
        }
        Ok(libc::PR_GET_NAME) => {
            let place: *mut Name = core::ptr::with_exposed_provenance_mut(place);
            // SAFETY: the program passes room for a name.
            unsafe { place.write_unaligned(get(engine, engine.current())) };
        }
        _ => return None,
    }
    Some(0)
}

/// Whether the fiber makes this `prctl` itself: it has a scheduling point.
pub(crate) fn is_seen(engine: &Engine, what: usize) -> bool {
    matches!(c_int::try_from(what), Ok(libc::PR_SET_NAME | libc::PR_GET_NAME)) && engine.habits.has(Habit::AsksForNames)
}

/// The name at this address, cut to the length that names have.
pub(crate) fn read(text: *const u8) -> Name {
    let mut name = Name::default();
    for (at, place) in name.0.iter_mut().take(15).enumerate() {
        // SAFETY: the program passes a string that ends with a zero, which was not met yet.
        let next = unsafe { text.add(at) };
        // SAFETY: as above.
        match unsafe { next.read() } {
            0 => break,
            byte => *place = byte,
        }
    }
    name
}

/// What was done with a thread's name, as bits.
const ASKED_BY_ITSELF: u8 = 1;
const GIVEN_BY_ANOTHER: u8 = 2;
const ASKED_BY_ANOTHER: u8 = 4;

/// In a fiber: it uses a thread's name.
fn announce(engine: &Engine, thread: ThreadId, rw: Rw) {
    let is_own = thread == engine.current();
    let how = match rw {
        Rw::Read if is_own => ASKED_BY_ITSELF,
        Rw::Read => ASKED_BY_ANOTHER,
        _ if is_own => 0,
        _ => GIVEN_BY_ANOTHER,
    };
    let used = {
        let fibers = engine.fibers.borrow();
        let used = &fibers[thread.index()].told.used;
        used.set(used.get() | how);
        used.get()
    };
    let by_several = used & ASKED_BY_ANOTHER != 0 || used == ASKED_BY_ITSELF | GIVEN_BY_ANOTHER;
    if by_several && !engine.model.borrow().is_last() {
        habits::show(engine, Habit::AsksForNames);
    }
    if engine.habits.has(Habit::AsksForNames) {
        let range = engine.model.borrow().threads[thread.index()].called;
        engine.point_at(None, Ask::Access { range, rw, atomic: true });
    }
}

/// In a fiber: names a thread.
pub(crate) fn set(engine: &Engine, thread: ThreadId, name: Name) {
    announce(engine, thread, Rw::Write);
    engine.fibers.borrow()[thread.index()].told.name.set(Some(name));
}

/// In a fiber: the name of a thread.
pub(crate) fn get(engine: &Engine, thread: ThreadId) -> Name {
    announce(engine, thread, Rw::Read);
    engine.fibers.borrow()[thread.index()].told.name.get().unwrap_or_else(|| of_process(engine))
}

impl Name {
    /// It, with the zero that ends it.
    pub(crate) fn bytes(&self) -> &[u8] {
        let end = self.0.iter().position(|&byte| byte == 0).unwrap_or(15);
        &self.0[..=end]
    }
}

/// What the kernel calls a process: its file's name. The file that is explored is another one, but the program is told its own.
fn of_process(engine: &Engine) -> Name {
    // SAFETY: what `main` is given; there may be no argument.
    let path = unsafe { engine.main.get().arguments.read() };
    if path.is_null() {
        return Name::default();
    }
    // SAFETY: arguments are strings that end with a zero.
    let path = unsafe { CStr::from_ptr(path) }.to_bytes_with_nul();
    let begin = path.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
    read(path[begin..].as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_with_a_zero_wherever_they_are_cut() {
        for (text, expected) in [(c"", &b"\0"[..]), (c"a", b"a\0"), (c"abcdefghijklmnopqrs", b"abcdefghijklmno\0")] {
            assert_eq!(read(text.as_ptr().cast()).bytes(), expected);
        }
    }
}
