//! The recording as memory: the file of `model::recording`, mapped shared, so that it survives any death of the process.
//!
//! The file is sparse; before entries are used their pages are populated by the kernel, so a full disk makes a table look
//! full instead of killing the program (before Linux 5.14 the kernel cannot; then it is left to luck).

use core::ffi::CStr;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use model::recording::{BEGUN, COUNTS, DROPS, DROPS_OFFSET, Drop, HEADER, MAGIC, SIZE, Section, TAG, USED_AFTER_FREE, VERSION};

use crate::sys::{self, Zeroed};
use crate::table::SiteIndex;

/// The file's beginning.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Header {
    magic: AtomicU64,
    tag: AtomicU32,
    version: AtomicU32,
    run: [AtomicU64; 2],
    seed: AtomicU64,
    slide: AtomicU64,
    process: AtomicU64,
    pub(crate) counts: [AtomicU32; Section::ALL.len()],
    begun: AtomicU32,
    used_after_free: AtomicU32,
    unused: [AtomicU32; 10],
    drops: [AtomicU64; DROPS],
}

const _: () = assert!(core::mem::offset_of!(Header, counts) == COUNTS && core::mem::offset_of!(Header, drops) == DROPS_OFFSET);
const _: () = assert!(core::mem::offset_of!(Header, begun) == BEGUN && size_of::<Header>() <= HEADER);

/// `Section::Sites`
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) key: AtomicU64,
    pub(crate) seen: AtomicU64,
    pub(crate) shared: AtomicU64,
    pub(crate) locks: AtomicU32,
    pub(crate) kind: AtomicU32,
}

/// `Section::Pairs`
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) sites: [AtomicU32; 4],
    pub(crate) seen: AtomicU64,
    pub(crate) shared: AtomicU64,
    pub(crate) threads: AtomicU64,
    pub(crate) atomicity: AtomicU32,
    pub(crate) locks: AtomicU32,
    pub(crate) of: AtomicU32,
    unused: AtomicU32,
    pub(crate) near: AtomicU64,
}

/// `Section::Edges`
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Edge(pub(crate) [AtomicU32; 2]);

/// `Section::Locks`
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Lock {
    pub(crate) kind: AtomicU32,
    pub(crate) number: AtomicU32,
    pub(crate) a: AtomicU64,
    pub(crate) b: AtomicU64,
}

/// `Section::Sets`: the count, then the locks.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Set(pub(crate) [AtomicU16; 16]);

/// `Section::Joints`
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Joint {
    pub(crate) sites: [AtomicU32; 2],
    pub(crate) seen: AtomicU64,
    pub(crate) apart: AtomicU64,
    pub(crate) aligned: AtomicU64,
}

const _: () = assert!(core::mem::offset_of!(Header, used_after_free) == USED_AFTER_FREE);
const _: () = assert!(size_of::<Joint>() == Section::Joints.entry());
const _: () = assert!(size_of::<Site>() == Section::Sites.entry() && size_of::<Pair>() == Section::Pairs.entry());
const _: () = assert!(size_of::<Edge>() == Section::Edges.entry() && size_of::<Lock>() == Section::Locks.entry());
const _: () = assert!(size_of::<Set>() == Section::Sets.entry());

// SAFETY: atomic integers.
unsafe impl Zeroed for AtomicU8 {}

/// The mapped file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
}

// SAFETY: the memory behind it holds atomic integers only and is never unmapped.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

/// What a recording's header says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    pub(crate) run: [u64; 2],
    pub(crate) seed: u64,
    pub(crate) slide: u64,
    pub(crate) process: u64,
}

impl Mapping {
    /// In memory, for tests.
    #[cfg(test)]
    pub(crate) fn anonymous(identity: Identity) -> Option<Self> {
        let mapping = Self { start: sys::pages(SIZE)? };
        mapping.begin(identity);
        Some(mapping)
    }

    /// Over a new file.
    pub(crate) fn create(path: &CStr, identity: Identity) -> Option<Self> {
        let mapping = Self { start: sys::pages(SIZE)? };
        mapping.replace(path, identity).then_some(mapping)
    }

    /// Puts a new file in the place of what is mapped. `false` leaves zeroed memory that no file keeps; where the folder can be
    /// written but there is no room, an empty file stays, which says so.
    pub(crate) fn replace(&self, path: &CStr, identity: Identity) -> bool {
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
        // SAFETY: `path` is a C string.
        let file = unsafe { sys::call(libc::SYS_open, [path.as_ptr().expose_provenance(), sys::bits(flags), 0o600, 0, 0, 0]) };
        let mut kept = false;
        if let Ok(file) = usize::try_from(file) {
            // SAFETY: our own descriptor.
            let sized = unsafe { sys::call(libc::SYS_ftruncate, [file, SIZE, 0, 0, 0, 0]) } == 0;
            POPULATED.iter().for_each(|upto| upto.store(0, Ordering::Relaxed));
            kept = sized && self.map(libc::MAP_SHARED, file) && populated(self.start.as_ptr().expose_provenance(), HEADER);
            if !kept {
                // SAFETY: our own descriptor.
                unsafe { sys::call(libc::SYS_ftruncate, [file, 0, 0, 0, 0, 0]) };
            }
            // SAFETY: our own descriptor; the mapping keeps the file.
            unsafe { sys::call(libc::SYS_close, [file, 0, 0, 0, 0, 0]) };
        }
        if !kept {
            self.map(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, usize::MAX);
        }
        if kept {
            self.begin(identity);
        }
        kept
    }

    fn map(&self, flags: libc::c_int, file: usize) -> bool {
        let flags = sys::bits(flags | libc::MAP_FIXED | libc::MAP_NORESERVE);
        let protection = sys::bits(libc::PROT_READ | libc::PROT_WRITE);
        let start = self.start.as_ptr().expose_provenance();
        // SAFETY: replaces our own mapping of the same size, which holds nothing that is still needed.
        unsafe { sys::call(libc::SYS_mmap, [start, SIZE, protection, flags, file, 0]) >= 0 }
    }

    fn begin(&self, identity: Identity) {
        let header = self.header();
        header.magic.store(MAGIC, Ordering::Relaxed);
        header.tag.store(TAG, Ordering::Relaxed);
        header.version.store(VERSION, Ordering::Relaxed);
        header.run[0].store(identity.run[0], Ordering::Relaxed);
        header.run[1].store(identity.run[1], Ordering::Relaxed);
        header.seed.store(identity.seed, Ordering::Relaxed);
        header.slide.store(identity.slide, Ordering::Relaxed);
        header.process.store(identity.process, Ordering::Relaxed);
        header.begun.store(1, Ordering::Release);
    }

    pub(crate) fn header(&self) -> &'static Header {
        // SAFETY: the mapping begins with a header, holds atomic integers only, and is never unmapped.
        unsafe { self.start.cast::<Header>().as_ref() }
    }

    fn section<E>(&self, section: Section) -> &'static [E] {
        // SAFETY: the section lies within the mapping's `SIZE` bytes.
        let start = unsafe { self.start.add(section.offset()) }.cast::<E>();
        // SAFETY: page-aligned, `capacity` entries of `entry` bytes of atomic integers, never unmapped.
        unsafe { core::slice::from_raw_parts(start.as_ptr(), section.capacity()) }
    }

    pub(crate) fn sites(&self) -> &'static [Site] {
        self.section(Section::Sites)
    }

    pub(crate) fn pairs(&self) -> &'static [Pair] {
        self.section(Section::Pairs)
    }

    pub(crate) fn edges(&self) -> &'static [Edge] {
        self.section(Section::Edges)
    }

    pub(crate) fn locks(&self) -> &'static [Lock] {
        self.section(Section::Locks)
    }

    pub(crate) fn sets(&self) -> &'static [Set] {
        self.section(Section::Sets)
    }

    pub(crate) fn joints(&self) -> &'static [Joint] {
        self.section(Section::Joints)
    }

    pub(crate) fn count_of(&self, section: Section) -> &'static AtomicU32 {
        &self.header().counts[section as usize]
    }

    /// The entries in use of a section, as words, in memory of their own.
    pub(crate) fn copy_out(&self, section: Section) -> Option<&'static [AtomicU64]> {
        let used = self.count_of(section).load(Ordering::Relaxed) as usize * section.entry() / 8;
        let copy = sys::leak::<AtomicU64>(used.max(1))?.get(..used)?;
        for (to, from) in copy.iter().zip(self.words(section)) {
            to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        Some(copy)
    }

    /// Fills a section with such words, and gives their memory back. `false` when there is no room.
    pub(crate) fn copy_in(&self, section: Section, words: &'static [AtomicU64]) -> bool {
        for (to, from) in self.words(section).iter().zip(words) {
            if !populated(core::ptr::from_ref(to).addr(), 8) {
                return false;
            }
            to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        let count = u32::try_from(words.len() * 8 / section.entry()).unwrap_or(0);
        self.count_of(section).store(count, Ordering::Release);
        sys::zero(words);
        true
    }

    fn words(&self, section: Section) -> &'static [AtomicU64] {
        // SAFETY: the section lies within the mapping's `SIZE` bytes.
        let start = unsafe { self.start.add(section.offset()) }.cast::<AtomicU64>();
        // SAFETY: page-aligned, that many bytes of atomic integers, never unmapped.
        unsafe { core::slice::from_raw_parts(start.as_ptr(), section.capacity() * section.entry() / 8) }
    }

    /// Counts drops.
    pub(crate) fn drop_count(&self, cause: Drop, count: u64) {
        self.header().drops[cause as usize].fetch_add(count, Ordering::Relaxed);
    }

    /// Here memory was used that another thread had freed.
    #[cold]
    pub(crate) fn used_after_free(&self, site: SiteIndex) {
        let place = &self.header().used_after_free;
        let _ = place.compare_exchange(0, site.0 + 1, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The whole of it, as a reader of the file would see it.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> &'static [u8] {
        // SAFETY: the mapping has `SIZE` bytes; tests read it when nothing writes.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr(), SIZE) }
    }
}

/// Entries are populated in steps of this many bytes; the next step of each section is remembered by its address.
const STEP: usize = 1 << 16;
const MADV_POPULATE_WRITE: usize = 23;
/// Ends of the parts that were populated, one for each section and the header.
static POPULATED: [AtomicUsize; 8] = [const { AtomicUsize::new(0) }; 8];

/// Makes sure that these bytes of the mapping can be written.
pub(crate) fn populated(address: usize, length: usize) -> bool {
    let end = address + length;
    let covered = |part: &AtomicUsize| (part.load(Ordering::Relaxed).wrapping_sub(end)) <= STEP;
    if POPULATED.iter().any(covered) {
        return true;
    }
    let start = address / 4096 * 4096;
    // SAFETY: faults pages of our own mapping in without changing them.
    let result = unsafe { sys::call(libc::SYS_madvise, [start, STEP, MADV_POPULATE_WRITE, 0, 0, 0]) };
    if result == -libc::EFAULT as isize || result == -libc::ENOSPC as isize {
        return false;
    }
    // The part that this continues, or an unused one; any will do, a lost one is only populated again.
    let place = POPULATED.iter().find(|part| {
        let upto = part.load(Ordering::Relaxed);
        upto == 0 || upto.abs_diff(start) <= STEP
    });
    place.unwrap_or(&POPULATED[7]).store(start + STEP, Ordering::Relaxed);
    true
}
