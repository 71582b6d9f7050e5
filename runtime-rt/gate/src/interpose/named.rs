//! Semaphores with a name. They are kept here, for the threads of this process alone: what other processes do with a semaphore of
//! the same name is not seen, which is noted.
//!
//! Opening, closing and unlinking are system calls as far as other threads can tell, and count as such.

use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_int, c_uint};
use core::ptr::null_mut;

use explorer::target::page::Note;
use model::cause::Cause;

use super::semaphore::Semaphore;
use super::{export, fail, set_errno, storage};
use crate::engine::control;
use crate::engine::fiber::{Engine, running};
use crate::engine::heap;
use crate::gate::ask::{Ask, Until};
use crate::gate::objects::State;
use crate::gate::readiness::Readiness;
use crate::sys::real::{Real, real};

static OPEN: Real = Real::new(c"sem_open");
static CLOSE: Real = Real::new(c"sem_close");
static UNLINK: Real = Real::new(c"sem_unlink");

/// All of them.
pub(super) static REALS: &[&Real] = &[&OPEN, &CLOSE, &UNLINK];

/// The named semaphores of an execution.
#[derive(Default)]
pub(crate) struct Names(Vec<Named>);

struct Named {
    /// `None` once it is unlinked.
    name: Option<Vec<u8>>,
    place: *mut Semaphore,
    opened: u32,
}

impl Names {
    /// A new execution begins.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    fn find(&mut self, name: &[u8]) -> Option<&mut Named> {
        self.0.iter_mut().find(|one| one.name.as_deref() == Some(name))
    }
}

fn point(engine: &Engine) {
    engine.point(Ask::Call { ready: Readiness::Always, until: Until::Forever, why: Cause::Meet });
}

fn bytes(name: *const c_char) -> Vec<u8> {
    if name.is_null() {
        return Vec::new();
    }
    // SAFETY: the C library demands a string that ends with a zero.
    unsafe { CStr::from_ptr(name) }.to_bytes().to_vec()
}

/// In a fiber: the semaphore, or the error.
fn open(engine: &Engine, name: &[u8], flags: c_int, count: c_uint) -> Result<*mut Semaphore, c_int> {
    let mut names = engine.names.borrow_mut();
    if let Some(known) = names.find(name) {
        if flags & libc::O_CREAT != 0 && flags & libc::O_EXCL != 0 {
            return Err(libc::EEXIST);
        }
        known.opened += 1;
        return Ok(known.place);
    }
    if flags & libc::O_CREAT == 0 {
        return Err(libc::ENOENT);
    }
    let place: *mut Semaphore = heap::allocate_zeroed(size_of::<Semaphore>()).cast();
    if place.is_null() {
        return Err(libc::ENOMEM);
    }
    engine.model.borrow_mut().objects.replace(storage(place), State::Semaphore(count));
    names.0.push(Named { name: Some(name.to_vec()), place, opened: 1 });
    Ok(place)
}

export! {
    fn sem_open(name: *const c_char, flags: c_int, mode: libc::mode_t, count: c_uint) -> *mut Semaphore {
        let Some(engine) = running() else {
            return real!(OPEN, fn(*const c_char, c_int, libc::mode_t, c_uint) -> *mut Semaphore, name, flags, mode, count);
        };
        control::note(Note::SharedObjects);
        point(engine);
        match open(engine, &bytes(name), flags, count) {
            Ok(place) => place,
            Err(error) => {
                set_errno(error);
                null_mut()
            }
        }
    }

    fn sem_close(semaphore: *mut Semaphore) -> c_int {
        let Some(engine) = running() else { return real!(CLOSE, fn(*mut Semaphore) -> c_int, semaphore) };
        point(engine);
        let mut names = engine.names.borrow_mut();
        match names.0.iter_mut().find(|one| one.place == semaphore && one.opened > 0) {
            Some(known) => {
                known.opened -= 1;
                0
            }
            None => fail(libc::EINVAL),
        }
    }

    fn sem_unlink(name: *const c_char) -> c_int {
        let Some(engine) = running() else { return real!(UNLINK, fn(*const c_char) -> c_int, name) };
        point(engine);
        match engine.names.borrow_mut().find(&bytes(name)) {
            Some(known) => {
                known.name = None;
                0
            }
            None => fail(libc::ENOENT),
        }
    }
}
