//! Correlated sets: variables that a program uses together, so that one lock should protect them all (seed 002, section 5).
//!
//! They are found in two steps. First runs count which sites run near each other (`Joint`), in the manner of MUVI (Lu et al., SOSP
//! 2007). From that, candidates are chosen, and further runs *watch* them: each instance of a set counts as one more address with a last
//! access and remote flags of its own. What to watch is a list of sites that the recorder reads from a file:
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 8 | `atomfix\0` |
//! | 8 | 4 | `watc` |
//! | 12 | 4 | version of this form |
//! | 16 | 8 | how many entries follow |
//! | 24 | 16 each | `site u64, offset u32 (all ones: the set has one instance), set u16, member u8 (255: depends), kinds u8 (1 reads, 2 writes)`, by site |
//!
//! Not here: what makes a candidate (`inference::correlate`).

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::fmt;

use crate::ids::SiteKey;
use crate::program::Place;

/// A correlated set as profiles name it: one place for each of its variables, the least that has a name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CorrelatedSet(pub BTreeSet<Place>);

impl fmt::Display for CorrelatedSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, place) in self.0.iter().enumerate() {
            write!(f, "{}{place}", if n == 0 { "{" } else { ", " })?;
        }
        f.write_str("}")
    }
}

/// How often two sites ran near each other, the first before the second, in one activation or in calls that it made, as far as executions
/// of the second were looked at. For a site with itself: how many were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Joint {
    /// How often.
    pub seen: u64,
    /// Address of the second access minus that of the first, in bytes, at the first time.
    pub apart: i64,
    /// How often they were so far apart: always, for two fields of one object.
    pub aligned: u64,
}

impl Joint {
    /// Adds what another run saw of the same two sites.
    pub fn absorb(&mut self, other: &Self) {
        self.seen += other.seen;
        if self.apart == other.apart {
            self.aligned += other.aligned;
        } else if other.aligned > self.aligned {
            (self.apart, self.aligned) = (other.apart, other.aligned);
        }
    }
}

/// Which instance of a set an access belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Instance {
    /// There is only one: globals.
    Only,
    /// That of the object in which the access lies at this offset, in bytes.
    Object(u32),
}

/// A site whose accesses are accesses of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Watched {
    /// The site.
    pub site: SiteKey,
    /// Which accesses of it: a copy reads one variable and writes another.
    pub kinds: Kinds,
    /// Which set, by its place in the list of sets.
    pub set: u16,
    /// Which of its variables; `None`: that depends on the address.
    pub member: Option<u8>,
    /// Which instance.
    pub instance: Instance,
}

/// Reads, writes, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kinds {
    /// What it reads.
    Reads = 1,
    /// What it writes.
    Writes = 2,
    /// All.
    Both = 3,
}

/// Sets that one profile can watch at once.
pub const MOST_SETS: usize = 512;
/// Bytes before the first entry of a watch list.
pub const WATCH_HEADER: usize = 24;
/// Bytes of one entry.
pub const WATCH_ENTRY: usize = 16;
const ONLY: u32 = u32::MAX;
const DEPENDS: u8 = u8::MAX;
/// Variables that one set may have.
pub const MOST_MEMBERS: usize = 64;
const BEGINNING: [u8; 16] = *b"atomfix\0watc\x01\0\0\0";

/// A watch list as a file. The entries are put in order.
#[must_use]
pub fn encode_watched(watched: &[Watched]) -> Vec<u8> {
    let mut sorted = watched.to_vec();
    sorted.sort();
    let mut bytes = BEGINNING.to_vec();
    bytes.extend((sorted.len() as u64).to_le_bytes());
    for entry in sorted {
        bytes.extend(entry.site.0.to_le_bytes());
        let offset = match entry.instance {
            Instance::Only => ONLY,
            Instance::Object(offset) => offset,
        };
        bytes.extend(offset.to_le_bytes());
        bytes.extend(entry.set.to_le_bytes());
        bytes.extend([entry.member.unwrap_or(DEPENDS), entry.kinds as u8]);
    }
    bytes
}

/// How many entries a watch list has; `None` for anything that is none.
#[must_use]
pub fn watched_count(bytes: &[u8]) -> Option<usize> {
    let count = u64::from_le_bytes(bytes.get(16..WATCH_HEADER)?.try_into().ok()?);
    let count = usize::try_from(count).ok()?;
    let length = count.checked_mul(WATCH_ENTRY)?.checked_add(WATCH_HEADER)?;
    (bytes[..16] == BEGINNING && bytes.len() >= length).then_some(count)
}

/// One entry of a watch list; `None` beyond its end.
#[must_use]
pub fn watched_at(bytes: &[u8], index: usize) -> Option<Watched> {
    let start = index.checked_mul(WATCH_ENTRY)?.checked_add(WATCH_HEADER)?;
    let entry = bytes.get(start..start.checked_add(WATCH_ENTRY)?)?;
    let offset = u32::from_le_bytes(entry[8..12].try_into().ok()?);
    Some(Watched {
        site: SiteKey(u64::from_le_bytes(entry[..8].try_into().ok()?)),
        kinds: match entry[15] {
            1 => Kinds::Reads,
            2 => Kinds::Writes,
            _ => Kinds::Both,
        },
        set: u16::from_le_bytes(entry[12..14].try_into().ok()?),
        member: Some(entry[14]).filter(|&member| member != DEPENDS),
        instance: if offset == ONLY { Instance::Only } else { Instance::Object(offset) },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_list_reads_back_in_order_of_sites() {
        let entry = |site, set, instance| {
            let member = Some(1).filter(|_| set != 1);
            Watched { site: SiteKey(site), kinds: Kinds::Writes, set, member, instance }
        };
        let bytes = encode_watched(&[entry(9, 3, Instance::Object(40)), entry(2, 1, Instance::Only)]);
        assert_eq!(watched_count(&bytes), Some(2));
        assert_eq!(watched_at(&bytes, 0), Some(entry(2, 1, Instance::Only)));
        assert_eq!(watched_at(&bytes, 1), Some(entry(9, 3, Instance::Object(40))));
        assert_eq!(watched_at(&bytes, 2), None);
        for cut in 0..bytes.len() {
            assert_eq!(watched_count(&bytes[..cut]), None, "{cut}");
        }
    }

    #[test]
    fn joint_runs_add_up_and_the_more_frequent_distance_stays() {
        let joint = |seen, apart, aligned| Joint { seen, apart, aligned };
        for (a, b, expected) in [
            (joint(3, 8, 3), joint(2, 8, 1), joint(5, 8, 4)),
            (joint(3, 8, 3), joint(4, 16, 4), joint(7, 16, 4)),
            (joint(3, 8, 3), joint(2, 16, 2), joint(5, 8, 3)),
        ] {
            let mut sum = a;
            sum.absorb(&b);
            assert_eq!(sum, expected);
        }
    }
}
