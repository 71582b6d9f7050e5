//! Mappings of our own.

use super::call::{Errno, system_call, word};

/// Whose writes a mapping keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// A forked child's writes are its own, and a restore undoes them.
    Private,
    /// Forked children write to the same memory, and it is never restored.
    Shared,
}

/// Maps zeroed memory; costs address space only until it is touched.
pub(crate) fn map(bytes: usize, sharing: Sharing) -> Result<usize, Errno> {
    map_at(0, bytes, sharing)
}

/// As `map`, at an address of choice if it is free.
pub(crate) fn map_at(hint: usize, bytes: usize, sharing: Sharing) -> Result<usize, Errno> {
    let kind = match sharing {
        Sharing::Private => libc::MAP_PRIVATE,
        Sharing::Shared => libc::MAP_SHARED,
    };
    let protection = word(libc::PROT_READ | libc::PROT_WRITE);
    let flags = word(kind | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
    // SAFETY: a new mapping touches no existing memory.
    unsafe { system_call(libc::SYS_mmap, [hint, bytes, protection, flags, usize::MAX, 0]) }
}

/// Maps a file that another process also maps.
pub(crate) fn map_file(descriptor: i32, bytes: usize) -> Result<usize, Errno> {
    let protection = word(libc::PROT_READ | libc::PROT_WRITE);
    // SAFETY: a new mapping touches no existing memory.
    unsafe { system_call(libc::SYS_mmap, [0, bytes, protection, word(libc::MAP_SHARED), word(descriptor), 0]) }
}

/// As `map_file`, at this very address.
pub(crate) fn map_file_at(address: usize, descriptor: i32, bytes: usize) -> Result<usize, Errno> {
    let protection = word(libc::PROT_READ | libc::PROT_WRITE);
    let flags = word(libc::MAP_SHARED | libc::MAP_FIXED_NOREPLACE | libc::MAP_NORESERVE);
    // SAFETY: a new mapping takes the place of none.
    unsafe { system_call(libc::SYS_mmap, [address, bytes, protection, flags, word(descriptor), 0]) }
}

/// What may be done with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protection {
    /// Reading only: writes fault.
    Read,
    /// Reading and writing.
    ReadWrite,
}

/// Changes what may be done with memory.
pub(crate) fn protect(start: usize, length: usize, protection: Protection) -> Result<(), Errno> {
    let protection = match protection {
        Protection::Read => libc::PROT_READ,
        Protection::ReadWrite => libc::PROT_READ | libc::PROT_WRITE,
    };
    // SAFETY: writes to read-only memory fault, which the engine's handler answers; content stays as it is.
    unsafe { system_call(libc::SYS_mprotect, [start, length, word(protection), 0, 0, 0]) }.map(|_| ())
}
