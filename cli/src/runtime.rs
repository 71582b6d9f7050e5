//! The runtime archives, as files for the linker.
//!
//! Not here: what they do (`runtime-rt`).

use std::io;
use std::path::{Path, PathBuf};

/// One archive to link into a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runtime {
    /// Records accesses (profile).
    Record,
    /// Injected locks (harden).
    Lock,
    /// The scheduling gate (check).
    Gate,
}

impl Runtime {
    fn archive(self) -> archives::Archive {
        match self {
            Self::Record => archives::RECORD,
            Self::Lock => archives::LOCK,
            Self::Gate => archives::GATE,
        }
    }

    fn file_name(self) -> &'static str {
        match self {
            Self::Record => "libatomfix_rt_record.a",
            Self::Lock => "libatomfix_rt_lock.a",
            Self::Gate => "libatomfix_rt_gate.a",
        }
    }

    /// A hash of the archive: part of the identity of what is built with it.
    pub(crate) fn hash(self) -> &'static str {
        self.archive().hash
    }

    /// Writes the archive into a folder, for the linker.
    pub(crate) fn unpack(self, folder: &Path) -> io::Result<PathBuf> {
        let path = folder.join(self.file_name());
        model::wire::write_atomically(&path, self.archive().content)?;
        Ok(path)
    }
}
