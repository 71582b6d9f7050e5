//! The one way in which any file of ours is framed, checked and written.
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 8 | `atomfix\0` |
//! | 8 | 4 | what it is: four ASCII letters, such as `prof` |
//! | 12 | 4 | version of its form, little endian |
//! | 16 | 8 | length of the body |
//! | 24 | 8 | FNV-1a of the body |
//! | 32 | … | the body |
//!
//! Text files (plan, schedule) are not framed; they are written by `write_atomically` all the same.
//! Not here: what bodies mean.

use alloc::vec::Vec;
use core::fmt;

use crate::ids::fnv1a;

const MAGIC: &[u8; 8] = b"atomfix\0";
const HEADER: usize = 32;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Four ASCII letters.
    pub tag: [u8; 4],
    /// The version of its form that we read and write.
    pub version: u32,
}

/// A profile: a set of runs.
pub const PROFILE: Kind = Kind { tag: *b"prof", version: 6 };
/// An extracted program.
pub const PROGRAM: Kind = Kind { tag: *b"prog", version: 1 };

/// Why bytes are not a sound file of the expected kind. `offset` is where that shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Shorter than its header, or than its header says.
    Truncated {
        /// How many bytes there are.
        offset: usize,
    },
    /// Does not begin as our files do.
    Foreign,
    /// One of ours, but of another kind.
    OtherKind {
        /// What it is.
        found: [u8; 4],
    },
    /// Made by another version of atomfix.
    OtherVersion {
        /// Its version.
        found: u32,
    },
    /// The checksum does not match.
    Corrupt {
        /// Where the body begins.
        offset: usize,
    },
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { offset } => write!(f, "it is truncated at byte {offset}"),
            Self::Foreign => f.write_str("it is not a file of atomfix (offset 0)"),
            Self::OtherKind { found } => write!(f, "it holds '{}', which is not what belongs here (offset 8)", found.escape_ascii()),
            Self::OtherVersion { found } => write!(f, "it has format version {found}, which this atomfix does not read (offset 12)"),
            Self::Corrupt { offset } => write!(f, "it is damaged: the checksum of the body at offset {offset} does not match"),
        }
    }
}

impl core::error::Error for Damage {}

/// Frames a body.
#[must_use]
pub fn frame(kind: Kind, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + body.len());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&kind.tag);
    bytes.extend_from_slice(&kind.version.to_le_bytes());
    bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&fnv1a(body).to_le_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// The body of a framed file.
pub fn unframe(kind: Kind, bytes: &[u8]) -> Result<&[u8], Damage> {
    let (header, body) = bytes.split_at_checked(HEADER).ok_or(if bytes.starts_with(MAGIC) || MAGIC.starts_with(bytes) {
        Damage::Truncated { offset: bytes.len() }
    } else {
        Damage::Foreign
    })?;
    let word = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("eight bytes"));
    let tag: [u8; 4] = header[8..12].try_into().expect("four bytes");
    let version = u32::from_le_bytes(header[12..16].try_into().expect("four bytes"));
    if &header[..8] != MAGIC {
        return Err(Damage::Foreign);
    }
    if tag != kind.tag {
        return Err(Damage::OtherKind { found: tag });
    }
    if version != kind.version {
        return Err(Damage::OtherVersion { found: version });
    }
    if (body.len() as u64) < word(16) {
        return Err(Damage::Truncated { offset: bytes.len() });
    }
    if body.len() as u64 != word(16) || fnv1a(body) != word(24) {
        return Err(Damage::Corrupt { offset: HEADER });
    }
    Ok(body)
}

/// Writes a file whole or not at all: into a neighbour, synced, then renamed over it. A link stays one, and what it leads to is written;
/// a device or pipe is written to as it stands, and nothing is put in its place.
#[cfg(feature = "std")]
pub fn write_atomically(path: &std::path::Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write;

    if std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return std::fs::OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut name = path.file_name().ok_or(std::io::ErrorKind::InvalidInput)?.to_os_string();
    name.push(std::format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let written = std::fs::File::create(&part).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let result = written.and_then(|()| std::fs::rename(&part, path));
    if result.is_err() {
        // The write's own error is the one to report; a part that cannot be removed loses nothing.
        let _ = std::fs::remove_file(&part);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_gives_its_body_back() {
        assert_eq!(unframe(PROFILE, &frame(PROFILE, b"body")), Ok(&b"body"[..]));
        assert_eq!(unframe(PROFILE, &frame(PROFILE, b"")), Ok(&b""[..]));
    }

    #[test]
    fn every_truncation_and_every_flipped_bit_is_noticed() {
        let whole = frame(PROFILE, b"some body");
        for length in 0..whole.len() {
            assert_eq!(unframe(PROFILE, &whole[..length]), Err(Damage::Truncated { offset: length }));
        }
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(unframe(PROFILE, &bytes).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn only_a_file_is_replaced() {
        use std::fs;

        let folder = std::env::temp_dir().join(std::format!("atomfix-wire-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let (file, link, socket) = (folder.join("file"), folder.join("link"), folder.join("socket"));
        fs::write(&file, "old").expect("written");
        std::os::unix::fs::symlink("file", &link).expect("linked");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("bound");
        write_atomically(&link, b"new").expect("written");
        let refused = write_atomically(&socket, b"new");
        let kept = [&link, &socket].map(|path| fs::symlink_metadata(path).expect("there").is_file());
        let content = fs::read(&file).expect("read");
        fs::remove_dir_all(&folder).expect("removed");
        assert!(refused.is_err(), "nobody can open a socket");
        assert_eq!((content.as_slice(), kept), (&b"new"[..], [false, false]));
    }

    #[test]
    fn a_foreign_file_and_another_kind_are_told_apart() {
        assert_eq!(unframe(PROFILE, b"#!/bin/sh\n"), Err(Damage::Foreign));
        assert_eq!(unframe(PROFILE, &frame(PROGRAM, b"x")), Err(Damage::OtherKind { found: *b"prog" }));
    }
}
