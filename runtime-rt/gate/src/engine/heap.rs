//! The program's heap: `malloc` whose addresses depend on the schedule alone.
//!
//! Each thread allocates from a part of its own, so that an object's address depends on its thread's history and not on
//! how threads were interleaved. Blocks go back to the part they came from. All of it is private memory: a forked child
//! has its own, and a restore undoes it.
//!
//! | bytes before the block | content |
//! |---|---|
//! | 8 | size class |
//! | 8 | distance from the class's block to the address handed out (16, or more for alignment) |
//!
//! Where the program is not position-independent, its code and data lie below 4 GiB, and so does the C library's heap: programs of that kind
//! may keep pointers in 32 bits. So each thread then has a small part below 2 GiB too, and allocates from it as long as there is room.
//!
//! Size classes: 4 to each power of two from 32 bytes. Fresh memory is zero; reused memory is as it was left.
//! Not handled: OS threads that we do not control allocate without mutual exclusion from part 0 (they are reported).

use core::ptr::{null_mut, with_exposed_provenance_mut};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::sys::memory::{Sharing, map_at};

/// Parts, one a thread; further threads share the last.
const PARTS: usize = 256;
/// Address space of one part: the first of these that the system grants for all parts together.
const PART_SIZES: [usize; 4] = [1 << 32, 1 << 28, 1 << 24, 1 << 22];
/// Where the heap lies if that is free: the same in every process.
const HINT: usize = 0x2000_0000_0000;
/// Where the small parts lie, and how large each is.
const LOW_HINT: usize = 0x3000_0000;
const LOW_PART: usize = 1 << 22;
const HEADER: usize = 16;
const CLASSES: usize = 128;

struct Part {
    fresh: AtomicUsize,
    /// The same in its small part; 0 before the first use.
    low: AtomicUsize,
    free: [AtomicUsize; CLASSES],
}

static START: AtomicUsize = AtomicUsize::new(0);
static OWNER: AtomicUsize = AtomicUsize::new(0);
static PART_BYTES: AtomicUsize = AtomicUsize::new(0);
/// Where the small parts begin; 0 where there are none.
static LOW: AtomicUsize = AtomicUsize::new(0);

/// A size class: bytes are `(4 + low) << (high + 3)` for the class `4 * high + low`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Class(usize);

impl Class {
    fn holding(bytes: usize) -> Option<Self> {
        // Blocks follow each other, and each has to begin at a multiple of 16.
        let bytes = bytes.max(32).checked_next_multiple_of(16)?;
        let shift = (bytes.ilog2() as usize).checked_sub(2)?;
        let low = bytes.div_ceil(1 << shift) - 4;
        let class = 4 * (shift - 3) + low;
        (class < 4 * 27).then_some(Self(class))
    }

    fn bytes(self) -> usize {
        (4 + self.0 % 4) << (self.0 / 4 + 3)
    }
}

/// Says which thread allocates from now on.
pub(crate) fn set_owner(thread: model::ids::ThreadId) {
    OWNER.store(thread.index().min(PARTS - 1), Relaxed);
}

fn start() -> Option<usize> {
    let known = START.load(Relaxed);
    if known != 0 {
        return Some(known);
    }
    let (start, part) = PART_SIZES.into_iter().find_map(|part| Some((map_at(HINT, PARTS * part, Sharing::Private).ok()?, part)))?;
    PART_BYTES.store(part, Relaxed);
    START.store(start, Relaxed);
    // We are part of the program.
    if u32::try_from(self::start as fn() -> Option<usize> as usize).is_ok()
        && map_at(LOW_HINT, PARTS * LOW_PART, Sharing::Private) == Ok(LOW_HINT)
    {
        LOW.store(LOW_HINT, Relaxed);
    }
    Some(start)
}

/// Memory that was never handed out.
fn fresh(start: usize, owner: usize, bytes: usize) -> Option<usize> {
    let part = part(start, owner);
    let low = LOW.load(Relaxed);
    let at = part.low.load(Relaxed).max(low + owner * LOW_PART);
    if low != 0 && at + bytes <= low + (owner + 1) * LOW_PART {
        part.low.store(at + bytes, Relaxed);
        return Some(at);
    }
    let at = part.fresh.load(Relaxed);
    if at + bytes > start + (owner + 1) * part_bytes() {
        return None;
    }
    part.fresh.store(at + bytes, Relaxed);
    Some(at)
}

/// Whose part an address lies in, if it is one of the heap.
fn owner(address: usize) -> Option<usize> {
    let within = |start: usize, part: usize| (start != 0).then(|| address.checked_sub(start)).flatten().map(|offset| offset / part);
    let small = within(LOW.load(Relaxed), LOW_PART).filter(|&index| index < PARTS);
    small.or_else(|| within(START.load(Relaxed), part_bytes()).filter(|&index| index < PARTS))
}

fn part_bytes() -> usize {
    PART_BYTES.load(Relaxed)
}

/// The part at this address of the heap, which begins with its state.
fn part(start: usize, index: usize) -> &'static Part {
    let address = start + index * part_bytes();
    let part: *const Part = with_exposed_provenance_mut(address);
    // SAFETY: the mapping is zeroed, which is a valid `Part`, and is never unmapped.
    let part = unsafe { &*part };
    if part.fresh.load(Relaxed) == 0 {
        part.fresh.store((address + size_of::<Part>()).next_multiple_of(4096), Relaxed);
    }
    part
}

/// Allocates; null when there is no memory. `align` is a power of two.
pub(crate) fn allocate(bytes: usize, align: usize) -> *mut u8 {
    let align = align.max(16);
    let padding = if align > 16 { align } else { 0 };
    let wanted = bytes.checked_add(HEADER + padding);
    let Some((start, class)) = start().zip(wanted.and_then(Class::holding)) else { return null_mut() };
    let owner = OWNER.load(Relaxed);
    let part = part(start, owner);
    let free = &part.free[class.0];
    let mut block = free.load(Relaxed);
    if block == 0 {
        let Some(fresh) = fresh(start, owner, class.bytes()) else { return null_mut() };
        block = fresh;
    } else {
        let link: *const usize = with_exposed_provenance_mut(block);
        // SAFETY: a free block holds its successor.
        free.store(unsafe { link.read() }, Relaxed);
    }
    let at = (block + HEADER).next_multiple_of(align);
    let header: *mut [usize; 2] = with_exposed_provenance_mut(at - HEADER);
    // SAFETY: the header lies within the block, before what is handed out.
    unsafe { header.write([class.0, at - block]) };
    with_exposed_provenance_mut(at)
}

/// Allocates zeroed memory; null when there is none.
pub(crate) fn allocate_zeroed(bytes: usize) -> *mut u8 {
    let block = allocate(bytes, 16);
    if !block.is_null() {
        // SAFETY: it is at least as long.
        unsafe { block.write_bytes(0, bytes) };
    }
    block
}

/// The class of a block that was handed out, and where it begins. `None` when it is not one of ours.
fn header(block: *mut u8) -> Option<(Class, usize)> {
    let at = block.expose_provenance();
    owner(at)?;
    let header: *const [usize; 2] = with_exposed_provenance_mut(at - HEADER);
    // SAFETY: callers give addresses that `allocate` handed out.
    let [class, distance] = unsafe { header.read() };
    (class < CLASSES).then_some((Class(class), at - distance))
}

/// How many bytes a block has for its user.
pub(crate) fn usable(block: *mut u8) -> usize {
    header(block).map_or(0, |(class, begin)| begin + class.bytes() - block.addr())
}

/// Gives a block back. What is not ours is left alone (the dynamic linker's own early allocations).
pub(crate) fn free(block: *mut u8) {
    let Some((class, begin)) = header(block) else { return };
    let Some(owner) = owner(begin) else { return };
    let free = &part(START.load(Relaxed), owner).free[class.0];
    let link: *mut usize = with_exposed_provenance_mut(begin);
    // SAFETY: the block is ours and at least 32 bytes long.
    unsafe { link.write(free.load(Relaxed)) };
    free.store(begin, Relaxed);
}

/// Makes a block larger or smaller, keeping its content.
pub(crate) fn reallocate(block: *mut u8, bytes: usize) -> *mut u8 {
    if block.is_null() {
        return allocate(bytes, 16);
    }
    let usable = usable(block);
    if bytes <= usable && usable <= bytes.saturating_mul(2) + 64 {
        return block;
    }
    let new = allocate(bytes, 16);
    if !new.is_null() {
        // SAFETY: both are at least as long, and a new block overlaps no other.
        unsafe { core::ptr::copy_nonoverlapping(block, new, bytes.min(usable)) };
        free(block);
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_holds_what_it_was_asked_for_and_little_more() {
        for bytes in (1..5000).chain([1 << 20, (1 << 30) + 1]) {
            let class = Class::holding(bytes).expect("a class");
            assert!(class.bytes() >= bytes && class.bytes() <= bytes.max(32) * 5 / 4 + 16, "{bytes}: {}", class.bytes());
        }
        assert_eq!(Class::holding(usize::MAX), None);
    }

    #[test]
    fn a_block_is_as_long_as_what_it_was_asked_for_whatever_lies_before_it() {
        for bytes in 1..300 {
            let block = allocate(bytes, 16);
            assert!(usable(block) >= bytes, "{bytes}: {}", usable(block));
        }
    }

    #[test]
    fn blocks_are_aligned_reused_and_keep_their_content() {
        let first = allocate(100, 16);
        assert!(usable(first) >= 100);
        free(first);
        assert_eq!(allocate(100, 16), first);
        let aligned = allocate(10, 4096);
        assert_eq!(aligned.addr() % 4096, 0);
        // SAFETY: ten bytes were asked for.
        unsafe { aligned.write_bytes(7, 10) };
        let grown = reallocate(aligned, 9000);
        // SAFETY: 9000 bytes were asked for.
        let content = unsafe { core::slice::from_raw_parts(grown, 10) };
        assert_eq!(content, [7; 10]);
        free(grown);
    }
}
