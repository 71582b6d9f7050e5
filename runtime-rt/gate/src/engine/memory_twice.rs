//! Memory that the program has at two addresses, one of them to write; files that are memory and are read and written by calls too; and memory
//! that calls reach for by themselves, or that is left to the kernel.
//!
//! Accesses are told apart by addresses, so what one thread writes at one address another one never seems to read at the other. That is
//! found in the process's memory map when it may have come to be so, and named. A file that is mapped once, or only to be read, is as any other memory.
//! Which files were mapped is kept, so that the map is looked at only for those.
//! Not handled: files that were mapped before `main`, or are cut by their path before they are mapped; memory of which another process has the other part.

use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use explorer::target::page::Note;

use super::control;
use super::fiber::Engine;
use super::shapes::descriptor;
use crate::sys::call::{Errno, process, word};
use crate::sys::maps::{self, Mapping};
use crate::sys::poll;

/// What was mapped that may be a file, or be mapped again.
#[derive(Default)]
pub(crate) struct Mapped {
    any: Cell<bool>,
    /// The numbers of files. They are told apart by number alone: few file systems agree on what their device is.
    files: RefCell<Vec<u64>>,
}

impl Mapped {
    /// An execution begins.
    pub(crate) fn begin(&self) {
        self.any.set(false);
        self.files.borrow_mut().clear();
    }

    /// A file is mapped; whether it was before.
    fn add(&self, file: u64) -> bool {
        self.any.set(true);
        let mut files = self.files.borrow_mut();
        let was = files.contains(&file);
        if !was {
            files.push(file);
        }
        was
    }
}

/// What a call may have done.
enum Deed {
    /// Mapped this file.
    MappedFile(i32),
    /// Mapped what is there already, or made it writable.
    MappedAgain,
    /// Read a file, written to one, or cut it.
    Moved { from: Option<i32>, to: Option<i32> },
    /// Done to memory what no access shows.
    Reached,
    /// Left memory to the kernel, which looks at it later.
    Left,
}

/// After a call: notes what is memory twice.
pub(crate) fn look(engine: &Engine, number: libc::c_long, arguments: &[usize; 6], result: Result<usize, Errno>) {
    // Said once, it is said.
    if control::has_noted(Note::MemoryTwice) {
        return;
    }
    let [first, second, third, flags, fifth, _] = *arguments;
    let file = |argument: usize| Some(descriptor(argument));
    let has_mapped = engine.unseen.mapped.any.get();
    let deed = match number {
        libc::SYS_mmap if flags & word(libc::MAP_ANONYMOUS) == 0 => Deed::MappedFile(descriptor(fifth)),
        libc::SYS_mmap if flags & word(libc::MAP_SHARED) != 0 => return engine.unseen.mapped.any.set(true),
        libc::SYS_mremap if second == 0 => Deed::MappedAgain,
        libc::SYS_mprotect | libc::SYS_pkey_mprotect if has_mapped && third & word(libc::PROT_WRITE) != 0 => Deed::MappedAgain,
        libc::SYS_remap_file_pages | libc::SYS_shmat => Deed::MappedAgain,
        libc::SYS_process_vm_readv | libc::SYS_process_vm_writev if first == process() => Deed::Reached,
        libc::SYS_process_madvise => Deed::Reached,
        libc::SYS_vmsplice => Deed::Left,
        libc::SYS_truncate if has_mapped => Deed::Reached,
        _ if !has_mapped => return,
        libc::SYS_read | libc::SYS_readv | libc::SYS_pread64 | libc::SYS_preadv | libc::SYS_preadv2 => {
            Deed::Moved { from: file(first), to: None }
        }
        libc::SYS_write | libc::SYS_writev | libc::SYS_pwrite64 | libc::SYS_pwritev | libc::SYS_pwritev2 => {
            Deed::Moved { from: None, to: file(first) }
        }
        libc::SYS_ftruncate | libc::SYS_fallocate => Deed::Moved { from: None, to: file(first) },
        libc::SYS_open if second & word(libc::O_TRUNC) != 0 => Deed::Moved { from: None, to: result.ok().and_then(file) },
        libc::SYS_openat if third & word(libc::O_TRUNC) != 0 => Deed::Moved { from: None, to: result.ok().and_then(file) },
        libc::SYS_sendfile => Deed::Moved { from: file(second), to: file(first) },
        libc::SYS_splice | libc::SYS_copy_file_range => Deed::Moved { from: file(first), to: file(third) },
        _ => return,
    };
    let beside_others = !engine.model.borrow().is_last();
    let is_twice = match deed {
        Deed::MappedFile(file) => number_of(file).is_some_and(|file| engine.unseen.mapped.add(file)) && is_at_two_addresses(),
        Deed::MappedAgain => {
            engine.unseen.mapped.any.set(true);
            is_at_two_addresses()
        }
        Deed::Reached => beside_others,
        Deed::Left => true,
        Deed::Moved { from, to } => beside_others && (is_mapped(engine, from, |mapping| mapping.shared) || is_mapped(engine, to, |_| true)),
    };
    if is_twice {
        control::note(Note::MemoryTwice);
    }
}

fn number_of(file: i32) -> Option<u64> {
    poll::identity(file).map(|(_, number)| number)
}

/// Whether a file is memory, in a way that matters.
fn is_mapped(engine: &Engine, file: Option<i32>, matters: impl Fn(&Mapping) -> bool) -> bool {
    let Some(number) = file.and_then(number_of).filter(|number| engine.unseen.mapped.files.borrow().contains(number)) else { return false };
    maps::mappings()
        .is_ok_and(|mappings| mappings.iter().any(|mapping| mapping.file.is_some_and(|file| file.number == number) && matters(mapping)))
}

/// Whether two mappings have a part of one file in common, and one of them can be written to.
fn is_at_two_addresses() -> bool {
    let Ok(mappings) = maps::mappings() else { return false };
    let files: Vec<_> = mappings.iter().filter_map(|mapping| Some((mapping, mapping.file?))).collect();
    files.iter().enumerate().any(|(index, (one, file))| {
        files[index + 1..].iter().any(|(other, same)| {
            let begins_before_end = |a: u64, b: u64, mapping: &Mapping| a < b + (mapping.end - mapping.start) as u64;
            let overlap = begins_before_end(file.offset, same.offset, other) && begins_before_end(same.offset, file.offset, one);
            file.number == same.number && file.name == same.name && overlap && (one.shared || other.shared)
        })
    })
}
