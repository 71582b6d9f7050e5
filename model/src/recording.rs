//! The recording of one process: the form of the shared file mapping between `runtime-rt/record`, which fills it while the
//! program runs, and `profiler`, which reads it after the process ended, however it ended.
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 8 | `atomfix\0` |
//! | 8 | 4 | `reco` |
//! | 12 | 4 | version of this form |
//! | 16 | 16 | the run's identity |
//! | 32 | 8 | seed of the perturbation |
//! | 40 | 8 | how far the executable was moved from its link-time addresses |
//! | 48 | 8 | process id |
//! | 56 | 4 × 6 | entries in use of each section, in the order of `Section` |
//! | 80 | 4 | 1 as soon as the header is whole |
//! | 84 | 4 | 1 + the first site that used memory which another thread had freed; 0: none did |
//! | 128 | 8 × `DROPS` | drops, by cause |
//! | `Section::offset` | | entries of `Section::entry` bytes each |
//!
//! Invariant: an entry is written before the count that covers it, and only its counters change afterwards, so a process
//! may be killed at any instruction. The file is sparse; sections are filled from their beginning.
//! Not here: names of locks in globals; the reader has the executable's symbols, the process has not.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::fmt;

use crate::correlation::Joint;
use crate::ids::{RunId, SiteKey};
use crate::pair::{Atomicity, Meeting, Rw};

/// The first eight bytes.
pub const MAGIC: u64 = u64::from_le_bytes(*b"atomfix\0");
/// The next four.
pub const TAG: u32 = u32::from_le_bytes(*b"reco");
/// The version of this form.
pub const VERSION: u32 = 7;
/// Bytes before the first section.
pub const HEADER: usize = 4096;
/// Where the counts begin.
pub const COUNTS: usize = 56;
/// Where it says that the header is whole.
pub const BEGUN: usize = COUNTS + 4 * Section::ALL.len();
/// Where it says who used freed memory.
pub const USED_AFTER_FREE: usize = BEGUN + 4;
/// Where the drops begin.
pub const DROPS_OFFSET: usize = 128;

/// A part of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// `key u64, seen u64, shared u64, locks u32 (0 none yet, or 1 + set), kind u32 (0 call only, or 1 + Rw; bit 31: `SITE_CONCURRENT`)`
    Sites,
    /// `head, tail, first, second u32 (sites), seen u64, shared u64, threads u64 (a bit each, modulo 64), atomicity u32, locks u32 (set; bit 31: `PAIR_LOCKS_SHARED`), of u32 (0 one address, or 1 + correlated set), 4 unused, near u64`
    Pairs,
    /// `site u32, site u32 (from bit MEETING_SHIFT on: 0, or a Meeting of the two)`
    Edges,
    /// `kind u32 (1 executable, 2 heap, 3 other, 4 made by a loop), number u32, a u64 (address, or allocating site), b u64 (offset)`
    Locks,
    /// `count u16, locks u16 × 15`, ascending; entry 0 is the empty set
    Sets,
    /// `first, second u32 (sites), seen u64, apart i64, aligned u64`: `correlation::Joint`
    Joints,
}

impl Section {
    /// All, in file order.
    pub const ALL: [Self; 6] = [Self::Sites, Self::Pairs, Self::Edges, Self::Locks, Self::Sets, Self::Joints];

    /// Bytes of one entry.
    #[must_use]
    pub const fn entry(self) -> usize {
        match self {
            Self::Sites | Self::Sets | Self::Joints => 32,
            Self::Pairs => 64,
            Self::Edges => 8,
            Self::Locks => 24,
        }
    }

    /// How many entries there is room for.
    #[must_use]
    pub const fn capacity(self) -> usize {
        match self {
            Self::Sites => 1 << 20,
            Self::Pairs | Self::Edges => 1 << 19,
            Self::Locks => 1 << 14,
            Self::Sets => 1 << 15,
            Self::Joints => 1 << 18,
        }
    }

    /// Where it begins in the file: page-aligned.
    #[must_use]
    pub const fn offset(self) -> usize {
        let mut at = HEADER;
        let mut index = 0;
        while index < self as usize {
            let section = Self::ALL[index];
            at += (section.entry() * section.capacity()).next_multiple_of(4096);
            index += 1;
        }
        at
    }
}

/// Bytes of the whole (sparse) file.
pub const SIZE: usize = Section::Joints.offset() + Section::Joints.entry() * Section::Joints.capacity();

/// The bit of a site's kind that says that it met an access of another thread which could have come at another time.
pub const SITE_CONCURRENT: u32 = 1 << 31;

/// Where an edge's second word says how its sites met.
pub const MEETING_SHIFT: u32 = 30;

/// The bit of a pair's lock set that says that it was held on shared memory; without it, on memory of one thread.
pub const PAIR_LOCKS_SHARED: u32 = 1 << 31;

/// Locks that one set holds at most.
pub const SET_LOCKS: usize = 15;

/// Why something that happened is not in the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
pub enum Drop {
    /// Both accesses of a pair lie inside one execution of one call.
    WithinOneCall,
    /// No instrumented activation contains both accesses of a pair.
    NoCommonActivation,
    /// The common activation made too many calls since the first access.
    CallForgotten,
    /// More fields or threads at one word than it has room for.
    WordFull,
    /// No room for another site, pair, edge, lock or lock set.
    TableFull,
    /// No memory for the shadow of an address.
    OutOfMemory,
    /// An access in a signal handler that interrupted the recorder.
    Interrupted,
    /// A part of a range beyond `RANGE_LIMIT`.
    LongRange,
    /// An access in a recursion deeper than the recorder follows.
    TooDeep,
    /// A thread beyond the number that can be told apart.
    TooManyThreads,
    /// A lock beyond the number that one thread may hold at once.
    TooManyHolds,
    /// A thread's serial numbers began anew.
    SerialRestart,
    /// Recording paused in hot code where nothing new was met.
    Paused,
    /// The order of one access was not certain: its thread ended, or was thrown out of it by a signal handler.
    Unordered,
}

/// Bytes of one range that are recorded.
pub const RANGE_LIMIT: u64 = 1 << 20;

/// How many causes there are.
pub const DROPS: usize = Drop::ALL.len();

impl Drop {
    /// All, in file order.
    pub const ALL: [Self; 14] = [
        Self::WithinOneCall,
        Self::NoCommonActivation,
        Self::CallForgotten,
        Self::WordFull,
        Self::TableFull,
        Self::OutOfMemory,
        Self::Interrupted,
        Self::LongRange,
        Self::TooDeep,
        Self::TooManyThreads,
        Self::TooManyHolds,
        Self::SerialRestart,
        Self::Paused,
        Self::Unordered,
    ];

    /// One lower-case fragment.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::WithinOneCall => "pairs within one execution of one call",
            Self::NoCommonActivation => "pairs without a common activation",
            Self::CallForgotten => "pairs whose first call lies too far back",
            Self::WordFull => "accesses forgotten because a word has many fields or threads",
            Self::TableFull => "entries beyond the size of a table",
            Self::OutOfMemory => "accesses without memory to record them",
            Self::Interrupted => "events in signal handlers that interrupted the recorder",
            Self::LongRange => "long ranges recorded in part",
            Self::TooDeep => "accesses in very deep recursion",
            Self::TooManyThreads => "threads beyond the number that can be told apart",
            Self::TooManyHolds => "locks beyond the number one thread may hold",
            Self::SerialRestart => "restarts of a thread's serial numbers",
            Self::Paused => "pauses in hot code where nothing new was seen",
            Self::Unordered => "accesses of uncertain order",
        }
    }
}

/// One recording as it was read, every index checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// The run's identity.
    pub run: Option<RunId>,
    /// The seed of its perturbation.
    pub seed: u64,
    /// How far the executable was moved.
    pub slide: u64,
    /// Sites; other parts index them.
    pub sites: Vec<RecordedSite>,
    /// Pairs.
    pub pairs: Vec<RecordedPair>,
    /// Sites that touched the same memory, as indices.
    pub edges: Vec<(usize, usize)>,
    /// Sites that met there, as indices.
    pub meetings: Vec<(usize, usize, Meeting)>,
    /// Locks; sets index them.
    pub locks: Vec<RecordedLock>,
    /// Sets of locks.
    pub sets: Vec<BTreeSet<usize>>,
    /// Sites that ran near each other, as indices.
    pub joints: Vec<(usize, usize, Joint)>,
    /// The first site that used memory which another thread had freed: the run was not correct.
    pub used_after_free: Option<usize>,
    /// Drops that happened.
    pub drops: Vec<(Drop, u64)>,
}

/// One site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedSite {
    /// Its key.
    pub key: SiteKey,
    /// What it did; `None` for a call that only contained accesses.
    pub rw: Option<Rw>,
    /// How often it ran.
    pub seen: u64,
    /// How often on memory that more than one thread used.
    pub shared: u64,
    /// The set of locks held each time on shared memory.
    pub locks: Option<usize>,
    /// Whether it met an access of another thread that no synchronization put in its place.
    pub concurrent: bool,
}

/// One pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedPair {
    /// Head, tail, first, second: indices of sites.
    pub sites: [usize; 4],
    /// The weakest observation.
    pub atomicity: Atomicity,
    /// How often it was seen.
    pub seen: u64,
    /// How many of these on shared memory.
    pub shared: u64,
    /// By how many threads (at most 64 are told apart).
    pub threads: u32,
    /// The set of locks whose same instance was held at both accesses, each time on shared memory if there was such a time.
    pub locks: usize,
    /// The correlated set whose instance was accessed, by its number in the watch list; `None`: one address.
    pub of: Option<usize>,
    /// How many of the times it was seen another thread was near enough to interleave.
    pub near: u64,
}

/// One lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedLock {
    /// In the executable's own data, at this link-time address.
    Executable(u64),
    /// In a heap object: who allocated it, and the offset.
    Heap(SiteKey, u64),
    /// One of those that a loop initialized at this call.
    Made(SiteKey),
    /// Elsewhere: a number within the run.
    Other(u32),
}

/// Why a file is not a sound recording. `offset` is where that shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadRecording {
    /// In bytes from the file's beginning.
    pub offset: usize,
    /// One lower-case fragment.
    pub why: &'static str,
}

impl fmt::Display for BadRecording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (offset {})", self.why, self.offset)
    }
}

impl core::error::Error for BadRecording {}

/// A recording's bytes, wherever they are; only the parts in use are asked for.
pub trait Bytes {
    /// The `length` bytes at `offset`; `None` if the file ends before.
    fn at(&self, offset: usize, length: usize) -> Option<Vec<u8>>;
}

impl Bytes for [u8] {
    fn at(&self, offset: usize, length: usize) -> Option<Vec<u8>> {
        self.get(offset..offset.checked_add(length)?).map(<[u8]>::to_vec)
    }
}

/// One entry, read field by field.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.0[at], self.0[at + 1]])
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from(self.u16(at)) | u32::from(self.u16(at + 2)) << 16
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from(self.u32(at)) | u64::from(self.u32(at + 4)) << 32
    }
}

/// Reads a recording and checks that every number in it is one it can be.
///
/// A process that ended before its recording began leaves a file without a whole header: `Ok(None)`.
pub fn decode(bytes: &(impl Bytes + ?Sized)) -> Result<Option<Recording>, BadRecording> {
    let bad = |offset, why| BadRecording { offset, why };
    let header = bytes.at(0, HEADER).ok_or(bad(0, "it is shorter than a recording's header"))?;
    let header = Fields(&header);
    if header.u32(BEGUN) == 0 && header.0.iter().all(|&byte| byte == 0) {
        return Ok(None);
    }
    if header.u64(0) != MAGIC || header.u32(8) != TAG {
        return Err(bad(0, "it is not a recording of atomfix"));
    }
    if header.u32(12) != VERSION {
        return Err(bad(12, "it has a version that this atomfix does not read"));
    }
    if header.u32(BEGUN) != 1 {
        return Ok(None);
    }
    let mut parts: [Vec<u8>; 6] = Default::default();
    for (section, part) in Section::ALL.into_iter().zip(&mut parts) {
        let count = header.u32(COUNTS + 4 * section as usize) as usize;
        if count > section.capacity() {
            return Err(bad(COUNTS + 4 * section as usize, "it counts more entries than there is room for"));
        }
        *part = bytes.at(section.offset(), count * section.entry()).ok_or(bad(section.offset(), "it ends before its last entry"))?;
    }
    let entries = |section: Section| {
        let size = section.entry();
        parts[section as usize].chunks_exact(size).enumerate().map(move |(n, chunk)| (section.offset() + n * size, Fields(chunk)))
    };
    let index = |number: u32, section: Section, offset| {
        let count = parts[section as usize].len() / section.entry();
        Some(number as usize).filter(|&n| n < count).ok_or(bad(offset, "it refers to an entry that is not there"))
    };

    let mut recording = Recording {
        run: Some(RunId(u128::from(header.u64(16)) | u128::from(header.u64(24)) << 64)),
        seed: header.u64(32),
        slide: header.u64(40),
        used_after_free: header.u32(USED_AFTER_FREE).checked_sub(1).map(|site| index(site, Section::Sites, USED_AFTER_FREE)).transpose()?,
        ..Recording::default()
    };
    for (at, f) in entries(Section::Sites) {
        let rw = match f.u32(28) & !SITE_CONCURRENT {
            0 => None,
            1 => Some(Rw::Read),
            2 => Some(Rw::Write),
            3 => Some(Rw::Update),
            _ => return Err(bad(at + 28, "it holds a kind of access that does not exist")),
        };
        let locks = f.u32(24).checked_sub(1).map(|set| index(set, Section::Sets, at + 24)).transpose()?;
        let concurrent = f.u32(28) & SITE_CONCURRENT != 0;
        recording.sites.push(RecordedSite { key: SiteKey(f.u64(0)), rw, seen: f.u64(8), shared: f.u64(16), locks, concurrent });
    }
    for (at, f) in entries(Section::Pairs) {
        let site = |field| index(f.u32(field), Section::Sites, at + field);
        let atomicity = match f.u32(40) {
            0 => Atomicity::None,
            1 => Atomicity::Read,
            2 => Atomicity::Exclusive,
            _ => return Err(bad(at + 40, "it holds an atomicity that does not exist")),
        };
        recording.pairs.push(RecordedPair {
            sites: [site(0)?, site(4)?, site(8)?, site(12)?],
            atomicity,
            seen: f.u64(16),
            shared: f.u64(24),
            threads: f.u64(32).count_ones(),
            locks: index(f.u32(44) & !PAIR_LOCKS_SHARED, Section::Sets, at + 44)?,
            of: f.u32(48).checked_sub(1).map(|set| set as usize),
            near: f.u64(56),
        });
    }
    for (at, f) in entries(Section::Edges) {
        let (first, second) = (f.u32(0), f.u32(4) & !(!0 << MEETING_SHIFT));
        let ends = (index(first, Section::Sites, at)?, index(second, Section::Sites, at + 4)?);
        match f.u32(4) >> MEETING_SHIFT {
            0 => recording.edges.push(ends),
            1 => recording.meetings.push((ends.0, ends.1, Meeting::UnderOneLock)),
            2 => recording.meetings.push((ends.0, ends.1, Meeting::Unordered)),
            _ => return Err(bad(at + 4, "it holds a meeting that does not exist")),
        }
    }
    for (at, f) in entries(Section::Locks) {
        recording.locks.push(match f.u32(0) {
            1 => RecordedLock::Executable(f.u64(8)),
            2 => RecordedLock::Heap(SiteKey(f.u64(8)), f.u64(16)),
            3 => RecordedLock::Other(f.u32(4)),
            4 => RecordedLock::Made(SiteKey(f.u64(8))),
            _ => return Err(bad(at, "it holds a kind of lock that does not exist")),
        });
    }
    for (at, f) in entries(Section::Sets) {
        let count = usize::from(f.u16(0));
        if count > SET_LOCKS {
            return Err(bad(at, "it holds a lock set that is too large"));
        }
        let locks = (0..count).map(|n| index(u32::from(f.u16(2 + 2 * n)), Section::Locks, at + 2 + 2 * n));
        recording.sets.push(locks.collect::<Result<_, _>>()?);
    }
    for (at, f) in entries(Section::Joints) {
        let sites = (index(f.u32(0), Section::Sites, at)?, index(f.u32(4), Section::Sites, at + 4)?);
        let joint = Joint { seen: f.u64(8), apart: f.u64(16).cast_signed(), aligned: f.u64(24) };
        recording.joints.push((sites.0, sites.1, joint));
    }
    for cause in Drop::ALL {
        let count = header.u64(DROPS_OFFSET + 8 * cause as usize);
        if count != 0 {
            recording.drops.push((cause, count));
        }
    }
    Ok(Some(recording))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A recording with one entry in each section, cut after the last.
    fn sample() -> Vec<u8> {
        let mut bytes = alloc::vec![0; SIZE];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, b"atomfix\0reco");
        put(12, &VERSION.to_le_bytes());
        put(16, &7_u128.to_le_bytes());
        for section in Section::ALL {
            put(COUNTS + 4 * section as usize, &1_u32.to_le_bytes());
        }
        put(BEGUN, &1_u32.to_le_bytes());
        put(USED_AFTER_FREE, &1_u32.to_le_bytes());
        put(DROPS_OFFSET + 8, &3_u64.to_le_bytes());
        put(Section::Sites.offset(), &0x55_u64.to_le_bytes());
        put(Section::Sites.offset() + 24, &1_u32.to_le_bytes());
        put(Section::Sites.offset() + 28, &(2 | SITE_CONCURRENT).to_le_bytes());
        put(Section::Pairs.offset() + 40, &1_u32.to_le_bytes());
        put(Section::Pairs.offset() + 56, &6_u64.to_le_bytes());
        put(Section::Locks.offset(), &3_u32.to_le_bytes());
        put(Section::Sets.offset(), &[1, 0, 0, 0]);
        put(Section::Joints.offset() + 16, &(-8_i64).to_le_bytes());
        bytes
    }

    #[test]
    fn a_recording_reads_back() {
        let recording = decode(&sample()[..]).expect("sound").expect("begun");
        assert_eq!((recording.run, recording.used_after_free), (Some(RunId(7)), Some(0)));
        assert_eq!(
            recording.sites,
            [RecordedSite { key: SiteKey(0x55), rw: Some(Rw::Write), seen: 0, shared: 0, locks: Some(0), concurrent: true }]
        );
        assert_eq!((recording.pairs[0].atomicity, recording.pairs[0].sites, recording.pairs[0].near), (Atomicity::Read, [0; 4], 6));
        assert_eq!(recording.joints, [(0, 0, Joint { seen: 0, apart: -8, aligned: 0 })]);
        assert_eq!((recording.edges, recording.locks), (alloc::vec![(0, 0)], alloc::vec![RecordedLock::Other(0)]));
        assert_eq!(recording.drops, [(Drop::NoCommonActivation, 3)]);
    }

    #[test]
    fn every_number_out_of_bounds_is_an_error_with_its_offset() {
        let pairs = Section::Pairs.offset();
        for (at, value) in [
            (0, 9),
            (12, 9),
            (COUNTS, u32::MAX),
            (USED_AFTER_FREE, 2),
            (pairs, 1),
            (pairs + 40, 3),
            (pairs + 44, 1),
            (Section::Edges.offset(), 1),
            (Section::Edges.offset() + 4, 3 << MEETING_SHIFT),
            (Section::Joints.offset(), 1),
        ] {
            let mut bytes = sample();
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
            assert_eq!(decode(&bytes[..]).map_err(|bad| bad.offset), Err(at));
        }
        assert_eq!(decode(&sample()[..pairs]).map_err(|bad| bad.offset), Err(pairs));
        assert_eq!(decode(&[0; 100][..]).map_err(|bad| bad.offset), Err(0));
    }

    #[test]
    fn a_process_that_never_began_left_nothing() {
        assert_eq!(decode(&alloc::vec![0; SIZE][..]), Ok(None));
    }

    #[test]
    fn drops_are_numbered_as_they_are_listed() {
        assert!(Drop::ALL.iter().enumerate().all(|(n, drop)| *drop as usize == n));
        const { assert!(DROPS_OFFSET + 8 * DROPS <= HEADER) };
    }
}
