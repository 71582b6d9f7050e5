//! Memory that the program has at two addresses, one of them to write, and files that are memory and are read and written by calls too.
//!
//! Accesses are told apart by addresses, so what one thread writes at one address another one never seems to read at the other. That is
//! found in the process's memory map when it may have come to be so, and named. A file that is mapped once, or only to be read, is as any other memory.
//! Not handled: mappings that are made writable later; memory of which another process has the other part.

use alloc::vec::Vec;

use explorer::target::page::Note;

use super::control;
use super::fiber::Engine;
use super::shapes::descriptor;
use crate::sys::call::word;
use crate::sys::maps::{self, Mapping};
use crate::sys::poll;

/// What a call may have done.
enum Deed {
    /// Mapped what may be there already.
    Mapped,
    /// Read a file.
    Read(i32),
    /// Written to one, or cut it.
    Wrote(i32),
}

/// After a call: notes what is memory twice.
pub(crate) fn look(engine: &Engine, number: libc::c_long, arguments: &[usize; 6]) {
    let [first, second, _, flags, ..] = *arguments;
    let deed = match number {
        libc::SYS_mmap if flags & word(libc::MAP_SHARED) != 0 => Deed::Mapped,
        libc::SYS_mremap if second == 0 => Deed::Mapped,
        libc::SYS_shmat => Deed::Mapped,
        libc::SYS_read | libc::SYS_readv | libc::SYS_pread64 | libc::SYS_preadv | libc::SYS_preadv2 => Deed::Read(descriptor(first)),
        libc::SYS_write | libc::SYS_writev | libc::SYS_pwrite64 | libc::SYS_pwritev | libc::SYS_pwritev2 => Deed::Wrote(descriptor(first)),
        libc::SYS_ftruncate | libc::SYS_fallocate => Deed::Wrote(descriptor(first)),
        _ => return,
    };
    let is_twice = match deed {
        Deed::Mapped => {
            engine.maps_files.set(true);
            maps::mappings().is_ok_and(|mappings| has_twice(&mappings))
        }
        Deed::Read(_) | Deed::Wrote(_) if !engine.maps_files.get() || engine.model.borrow().is_last() => false,
        Deed::Read(file) => is_mapped(file, |mapping| mapping.shared),
        Deed::Wrote(file) => is_mapped(file, |_| true),
    };
    if is_twice {
        control::note(Note::MemoryTwice);
    }
}

/// Whether a file is memory, in a way that matters.
fn is_mapped(file: i32, matters: impl Fn(&Mapping) -> bool) -> bool {
    let Some((_, number)) = poll::identity(file).filter(|_| poll::is_regular(file)) else { return false };
    maps::mappings()
        .is_ok_and(|mappings| mappings.iter().any(|mapping| mapping.file.is_some_and(|file| file.number == number) && matters(mapping)))
}

/// Whether two mappings have a part of one file in common, and one of them can be written to. Files are told apart by number alone: few
/// file systems agree on what their device is.
fn has_twice(mappings: &[Mapping]) -> bool {
    let files: Vec<_> = mappings.iter().filter_map(|mapping| Some((mapping, mapping.file?))).collect();
    files.iter().enumerate().any(|(index, (one, file))| {
        files[index + 1..].iter().any(|(other, same)| {
            let begins_before_end = |a: u64, b: u64, mapping: &Mapping| a < b + (mapping.end - mapping.start) as u64;
            let overlap = begins_before_end(file.offset, same.offset, other) && begins_before_end(same.offset, file.offset, one);
            file.number == same.number && file.name == same.name && overlap && (one.shared || other.shared)
        })
    })
}
