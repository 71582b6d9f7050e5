//! System calls that have the program see or change what no step tells of: looked for in each call, to be named in the result.
//!
//! One file for each kind: memory that is there twice (`memory_twice`), files that show the program to itself (`own_files`), and what the kernel
//! keeps for each thread (`own_state`).

use super::fiber::Engine;
use super::memory_twice::{self, Mapped};
use super::own_files::{self, OwnFiles};
use super::own_state::{self, OwnState};
use crate::sys::call::Errno;

/// What an execution has done so far that matters to them.
#[derive(Default)]
pub(crate) struct Unseen {
    /// What it has mapped.
    pub(super) mapped: Mapped,
    /// Files by which it looks at itself.
    pub(super) own_files: OwnFiles,
    /// Whose state the kernel keeps.
    pub(super) own_state: OwnState,
}

impl Unseen {
    /// An execution begins.
    pub(crate) fn begin(&self) {
        self.mapped.begin();
        self.own_files.begin();
        self.own_state.begin();
    }
}

/// Before a call.
pub(crate) fn before(engine: &Engine, number: libc::c_long, arguments: &[usize; 6]) {
    own_state::note(engine, number, arguments);
}

/// After it.
pub(crate) fn after(engine: &Engine, number: libc::c_long, arguments: &[usize; 6], result: Result<usize, Errno>) {
    memory_twice::look(engine, number, arguments, result);
    own_files::look(engine, number, arguments, result);
}
