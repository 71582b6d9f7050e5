//! The program's heap: `malloc` whose addresses depend on the schedule alone.
//!
//! Each thread allocates from a part of its own, so that an object's address depends on its thread's history and not on
//! how threads were interleaved. Blocks go back to the part they came from. All of it is private memory: a forked child
//! has its own, and a restore undoes it.
//!
//! | bytes before the block | content |
//! |---|---|
//! | 8 | bits 0-7: size class; 8-47: distance from the class's block to the address handed out (16, or more for alignment); 48-63: whether it is in use |
//! | 8 | in use: the bytes that were asked for; given back: the address of the block of its class that was given back before it |
//!
//! Where the program is not position-independent, its code and data lie below 4 GiB, and so does the C library's heap: programs of that kind
//! may keep pointers in 32 bits. So each thread then has a small part below 2 GiB too, and allocates from it as long as there is room.
//!
//! Size classes: 4 to each power of two from 32 bytes. Fresh memory is zero; reused memory is as it was left.
//! Not handled: OS threads that we do not control allocate without mutual exclusion from part 0 (they are reported).

use core::ptr::{null_mut, with_exposed_provenance_mut};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use explorer::target::page::Note;
use model::event::Range;

use super::control;
use super::fiber::installed;
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
/// No process has so much.
const ALL_THERE_IS: usize = 1 << 47;
const CLASSES: usize = 128;
/// Bits 48-63 of the header of a block in use, and of one that was given back.
const IN_USE: usize = 0xa70f;
const GIVEN_BACK: usize = 0xf4ee;

/// What is at an address that is said to be a block's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// A block in use.
    InUse,
    /// A block that was given back, and not handed out again.
    GivenBack,
    /// No block, though it lies in the heap.
    NoBlock,
    /// Not of this heap.
    Foreign,
}

/// The header of a block.
#[derive(Clone, Copy)]
struct Header {
    class: Class,
    distance: usize,
    state: usize,
    /// The bytes that were asked for, or the block that was given back before it.
    word: usize,
}

struct Part {
    fresh: AtomicUsize,
    /// The same in its small part; 0 before the first use.
    low: AtomicUsize,
    free: [AtomicUsize; CLASSES],
}

static START: AtomicUsize = AtomicUsize::new(0);
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

/// Which part is allocated from: the running thread's.
fn own_part() -> usize {
    installed().map_or(0, |engine| engine.current().index().min(PARTS - 1))
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
#[inline]
fn owner(address: usize) -> Option<usize> {
    // Who only asks whether there is one divides nothing.
    let within = |start: usize, part: usize| {
        let offset = address.checked_sub(start).filter(|&offset| start != 0 && offset < PARTS * part)?;
        offset.checked_div(part)
    };
    within(LOW.load(Relaxed), LOW_PART).or_else(|| within(START.load(Relaxed), part_bytes()))
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
    let block = take(bytes, align);
    if block.is_null() && bytes < ALL_THERE_IS {
        control::note(Note::HeapFull);
    }
    block
}

fn take(bytes: usize, align: usize) -> *mut u8 {
    let align = align.max(16);
    let padding = if align > 16 { align } else { 0 };
    let wanted = bytes.checked_add(HEADER + padding);
    let Some((start, class)) = start().zip(wanted.and_then(Class::holding)) else { return null_mut() };
    let owner = own_part();
    let part = part(start, owner);
    let free = &part.free[class.0];
    let begin = match free.load(Relaxed) {
        0 => match fresh(start, owner, class.bytes()) {
            Some(fresh) => fresh,
            None => return null_mut(),
        },
        last => {
            let header = Header::read(last);
            free.store(header.word, Relaxed);
            last - header.distance
        }
    };
    let at = (begin + HEADER).next_multiple_of(align);
    Header { class, distance: at - begin, state: IN_USE, word: bytes }.write(at);
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

impl Header {
    /// Of the block at this address, which lies in the heap.
    fn read(at: usize) -> Self {
        let header: *const [usize; 2] = with_exposed_provenance_mut(at - HEADER);
        // SAFETY: the heap is readable as far as it was handed out, and a block's header is before it.
        let [first, word] = unsafe { header.read_unaligned() };
        Self { class: Class(first & 0xff), distance: first >> 8 & 0xff_ffff_ffff, state: first >> 48, word }
    }

    fn write(self, at: usize) {
        let header: *mut [usize; 2] = with_exposed_provenance_mut(at - HEADER);
        // SAFETY: the header lies within the block, before what is handed out.
        unsafe { header.write([self.class.0 | self.distance << 8 | self.state << 48, self.word]) };
    }
}

/// What is at an address that is said to be a block's.
pub(crate) fn standing(block: *mut u8) -> Standing {
    let at = block.expose_provenance();
    let Some(owner) = owner(at) else { return Standing::Foreign };
    if !is_handed_out(at, owner) {
        return Standing::NoBlock;
    }
    match Header::read(at) {
        Header { class, .. } if class.0 >= CLASSES => Standing::NoBlock,
        Header { state: IN_USE, .. } => Standing::InUse,
        Header { state: GIVEN_BACK, .. } => Standing::GivenBack,
        _ => Standing::NoBlock,
    }
}

/// Whether an address lies in the heap.
#[inline]
pub(crate) fn owns(address: u64) -> bool {
    usize::try_from(address).is_ok_and(|address| owner(address).is_some())
}

/// Whether a part has ever handed out memory that far.
fn is_handed_out(at: usize, owner: usize) -> bool {
    let part = part(START.load(Relaxed), owner);
    let is_low = at < START.load(Relaxed);
    let (begin, end) = if is_low {
        (LOW.load(Relaxed) + owner * LOW_PART, part.low.load(Relaxed))
    } else {
        let begin = START.load(Relaxed) + owner * part_bytes();
        ((begin + size_of::<Part>()).next_multiple_of(4096), part.fresh.load(Relaxed))
    };
    (begin + HEADER..end).contains(&at)
}

/// The header of a block that was handed out. `None` when it is not one of ours.
fn header(block: *mut u8) -> Option<Header> {
    matches!(standing(block), Standing::InUse | Standing::GivenBack).then(|| Header::read(block.addr()))
}

/// How many bytes a block has for its user.
pub(crate) fn usable(block: *mut u8) -> usize {
    header(block).map_or(0, |header| header.class.bytes() - header.distance)
}

/// All bytes of a block that a user may have had, whatever it was aligned to.
pub(crate) fn extent(block: *mut u8) -> Option<Range> {
    let header = header(block)?;
    let length = u32::try_from(header.class.bytes() - HEADER).unwrap_or(u32::MAX);
    Some(Range { address: (block.addr() - header.distance + HEADER) as u64, length })
}

/// The bytes that were asked for.
pub(crate) fn asked_for(block: *mut u8) -> Option<Range> {
    let header = header(block).filter(|header| header.state == IN_USE)?;
    Some(Range { address: block.addr() as u64, length: u32::try_from(header.word.max(1)).unwrap_or(u32::MAX) })
}

/// From an address to the end of the block in use in which it lies, if that begins not far before. What lies in front is looked through
/// for a block's header, so memory that looks like one may be taken for it.
pub(crate) fn rest_of_block(address: u64) -> Option<Range> {
    const FAR: usize = 1024;
    let at = usize::try_from(address).ok()?;
    owner(at)?;
    let begin = (at & !15).saturating_sub(FAR);
    let whole = (begin..=at & !15).rev().step_by(16).find_map(|block| asked_for(with_exposed_provenance_mut(block)))?;
    let end = whole.address + u64::from(whole.length);
    (address < end).then(|| Range { address, length: u32::try_from(end - address).unwrap_or(u32::MAX) })
}

/// Gives a block back. What is no block in use is left alone: the dynamic linker's own early allocations, and what the caller has looked at.
pub(crate) fn free(block: *mut u8) {
    let at = block.addr();
    let Some(header) = header(block).filter(|header| header.state == IN_USE) else { return };
    let Some(owner) = owner(at) else { return };
    let free = &part(START.load(Relaxed), owner).free[header.class.0];
    Header { state: GIVEN_BACK, word: free.load(Relaxed), ..header }.write(at);
    free.store(at, Relaxed);
}

/// Whether a block may stay where it is if it is to have so many bytes.
pub(crate) fn fits(block: *mut u8, bytes: usize) -> bool {
    let usable = usable(block);
    bytes <= usable && usable <= bytes.saturating_mul(2) + 64
}

/// Makes a block larger or smaller, keeping its content.
pub(crate) fn reallocate(block: *mut u8, bytes: usize) -> *mut u8 {
    if block.is_null() {
        return allocate(bytes, 16);
    }
    if fits(block, bytes) {
        if let Some(header) = header(block) {
            Header { word: bytes, ..header }.write(block.addr());
        }
        return block;
    }
    let new = allocate(bytes, 16);
    if !new.is_null() {
        // SAFETY: both are at least as long, and a new block overlaps no other.
        unsafe { core::ptr::copy_nonoverlapping(block, new, bytes.min(usable(block))) };
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
    fn a_block_says_whether_it_is_in_use() {
        for align in [16, 64] {
            let block = allocate(100, align);
            assert_eq!((standing(block), standing(block.wrapping_add(16))), (Standing::InUse, Standing::NoBlock));
            assert_eq!(asked_for(block), Some(Range { address: block.addr() as u64, length: 100 }));
            free(block);
            assert_eq!(standing(block), Standing::GivenBack);
            free(block);
            let (first, second) = (allocate(100, align), allocate(100, align));
            assert_ne!(first, second, "a block that was freed twice is handed out once");
        }
        assert_eq!(standing(allocate(10, 16).wrapping_add(1 << 24)), Standing::NoBlock);
        let mut local = 0_u8;
        assert_eq!(standing(&raw mut local), Standing::Foreign);
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
