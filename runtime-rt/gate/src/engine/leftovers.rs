//! What an execution leaves in the kernel though nobody else can come to it: queues, semaphores and memory of System V without a key.
//!
//! They stay when a process ends, so executions that fail, are cut or abandoned before the program removes them would fill up the machine,
//! of which each has a few thousand: then the program's calls fail, for others too. So they are removed when an execution is over. Not handled: those
//! that were made before `main`, and, as with files, what has a key or a name.

use alloc::vec::Vec;
use core::cell::RefCell;

use super::shapes::descriptor;
use crate::sys::call::{Errno, word};
use crate::sys::ipc::{self, Kind};

/// What the current execution has made and not removed.
#[derive(Default)]
pub(crate) struct Leftovers {
    made: RefCell<Vec<(Kind, usize)>>,
}

impl Leftovers {
    /// After a call: keeps what it made, and forgets what it removed.
    pub(crate) fn look(&self, number: libc::c_long, arguments: &[usize; 6], result: Result<usize, Errno>) {
        let [first, second, third, ..] = *arguments;
        let Ok(result) = result else { return };
        let (kind, command) = match number {
            libc::SYS_msgget => (Kind::Messages, None),
            libc::SYS_semget => (Kind::Semaphores, None),
            libc::SYS_shmget => (Kind::Memory, None),
            libc::SYS_msgctl => (Kind::Messages, Some(second)),
            libc::SYS_semctl => (Kind::Semaphores, Some(third)),
            libc::SYS_shmctl => (Kind::Memory, Some(second)),
            _ => return,
        };
        let mut made = self.made.borrow_mut();
        match command {
            None if descriptor(first) == libc::IPC_PRIVATE => made.push((kind, result)),
            Some(command) if command == word(libc::IPC_RMID) => made.retain(|&one| one != (kind, first)),
            _ => {}
        }
    }

    /// The execution is over: removes what it has left.
    pub(crate) fn remove(&self) {
        for (kind, id) in self.made.borrow_mut().drain(..) {
            ipc::remove(kind, id);
        }
    }

    /// Whether no hook is in the middle of something.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.made.try_borrow_mut().is_ok()
    }
}
