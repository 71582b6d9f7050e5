//! The engine's memory: one shared mapping that forked children write to and that no restore puts back.
//!
//! Blocks are powers of two from a bump pointer, with a free list for each size. There is one user at a time: the engine
//! and its forked child never run together, and the engine has one OS thread.
//! The allocator's own state lies at the start of the mapping, so that a child's allocations are known to its parent.

use core::alloc::{GlobalAlloc, Layout};
use core::ptr::{null_mut, with_exposed_provenance_mut};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use explorer::target::page::Word;

use super::control;
use crate::sys::memory::{Sharing, map, map_file_at};

/// Address space for strategies, traces and models; memory is used only as far as it is touched.
const BYTES: usize = 1 << 36;
/// Where it lies when it is a file that fresh processes map again: what points into it is then right in all of them.
const HOME: usize = 0x3000_0000_0000;
const SMALLEST: u32 = 4;
const CLASSES: usize = 37;

/// What lies at the start of the mapping.
struct State {
    /// The next byte that was never handed out.
    fresh: AtomicUsize,
    /// By power of two: the first free block, whose first word leads to the next.
    free: [AtomicUsize; CLASSES],
}

/// The global allocator.
pub(crate) struct Arena;

static STATE: AtomicUsize = AtomicUsize::new(0);

fn state() -> Option<&'static State> {
    let known = STATE.load(Relaxed);
    let address = if known == 0 {
        let file = i32::try_from(control::get(Word::Arena)).ok().filter(|&file| file > 0);
        let mapped = file.and_then(|file| map_file_at(HOME, file, BYTES).ok());
        let start = mapped.map_or_else(|| map(BYTES, Sharing::Shared), Ok).ok()?;
        STATE.store(start, Relaxed);
        start
    } else {
        known
    };
    let state: *const State = with_exposed_provenance_mut(address);
    // SAFETY: the mapping is zeroed, which is a valid `State`, and is never unmapped.
    let state = unsafe { &*state };
    if known == 0 && state.fresh.load(Relaxed) == 0 {
        state.fresh.store(address + size_of::<State>(), Relaxed);
    }
    Some(state)
}

/// Whether an address is that of memory which fresh processes share with this one.
pub(crate) fn is_shared(address: usize) -> bool {
    state().is_some() && STATE.load(Relaxed) == HOME && (HOME..HOME + BYTES).contains(&address)
}

/// Bytes of the arena in use, for telling whether an exploration's memory grows.
pub(crate) fn used() -> usize {
    state().map_or(0, |state| state.fresh.load(Relaxed) - STATE.load(Relaxed))
}

fn class(layout: Layout) -> u32 {
    layout.size().max(layout.align()).max(1).next_power_of_two().trailing_zeros().max(SMALLEST)
}

// SAFETY: blocks are disjoint, as large as their class, and aligned to it.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let class = class(layout);
        let Some((state, free)) = state().and_then(|state| Some((state, state.free.get(class as usize)?))) else {
            return null_mut();
        };
        let first = free.load(Relaxed);
        if first != 0 {
            let link: *const usize = with_exposed_provenance_mut(first);
            // SAFETY: a free block holds its successor.
            free.store(unsafe { link.read() }, Relaxed);
            return with_exposed_provenance_mut(first);
        }
        let bytes = 1_usize << class;
        // Blocks of a page or less align to their size, larger ones to a page.
        let start = state.fresh.load(Relaxed).next_multiple_of(bytes.min(4096).max(layout.align()));
        if start + bytes > STATE.load(Relaxed) + BYTES {
            return null_mut();
        }
        state.fresh.store(start + bytes, Relaxed);
        with_exposed_provenance_mut(start)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some(free) = state().and_then(|state| state.free.get(class(layout) as usize)) else { return };
        let link = block.cast::<usize>();
        // SAFETY: the block is at least 16 bytes long, aligned to as many, and no longer used by anyone.
        unsafe { link.write(free.load(Relaxed)) };
        free.store(block.expose_provenance(), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_disjoint_and_reused() {
        let layout = Layout::from_size_align(40, 32).expect("a layout");
        // SAFETY: the layout is not empty.
        let first = unsafe { Arena.alloc(layout) };
        // SAFETY: as above.
        let second = unsafe { Arena.alloc(layout) };
        assert_eq!(first.addr() % 32, 0);
        assert!(second.addr().abs_diff(first.addr()) >= 40);
        // SAFETY: it was allocated with this layout.
        unsafe { Arena.dealloc(first, layout) };
        // SAFETY: as above.
        let third = unsafe { Arena.alloc(layout) };
        assert_eq!(third, first);
        assert!(used() > 0);
    }
}
