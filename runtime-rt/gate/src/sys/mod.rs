//! What touches the machine: system calls, mappings, stacks and thread-local storage, the C library's own functions.

pub(crate) mod call;
pub(crate) mod fault;
pub(crate) mod guarded;
pub(crate) mod ipc;
pub(crate) mod maps;
pub(crate) mod memory;
pub(crate) mod poll;
pub(crate) mod real;
pub(crate) mod signal;
pub(crate) mod stream;
pub(crate) mod switch;
pub(crate) mod text;
pub(crate) mod trap;
pub(crate) mod unwind;
pub(crate) mod vdso;
