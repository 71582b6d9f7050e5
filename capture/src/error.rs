//! What can go wrong between a compiler call and a relinked program, and what the user can do about it.

use std::io;
use std::path::PathBuf;

/// Why a program could not be compiled, opened or linked again.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// A file cannot be read.
    #[error("{}: cannot read: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file or folder cannot be written.
    #[error("{}: cannot write: {source}", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The program is not a 64-bit little-endian ELF file.
    #[error("{}: not a 64-bit ELF program", path.display())]
    NotElf {
        /// Which.
        path: PathBuf,
    },
    /// The program is the script that libtool puts in the place of a program.
    #[error("{}: a script that libtool made, not the program itself", path.display())]
    LibtoolScript {
        /// Which.
        path: PathBuf,
        /// Where libtool keeps the program.
        program: PathBuf,
    },
    /// The program carries no link record.
    #[error("{}: not linked with atomfix cc", path.display())]
    NotRecorded {
        /// Which.
        path: PathBuf,
    },
    /// It is a shared library.
    #[error("{}: a shared library, which atomfix does not cover yet", path.display())]
    SharedLibrary {
        /// Which.
        path: PathBuf,
    },
    /// The link record does not decode.
    #[error("{}: its link record (section {section}) is damaged: {why}", path.display())]
    DamagedRecord {
        /// The program.
        path: PathBuf,
        /// The section.
        section: &'static str,
        /// What does not fit.
        why: String,
    },
    /// Inputs of the link are no longer what they were.
    #[error("{}: {}", path.display(), stale(changed, gone))]
    Stale {
        /// The program.
        path: PathBuf,
        /// Inputs that changed.
        changed: Vec<PathBuf>,
        /// Inputs that vanished.
        gone: Vec<PathBuf>,
    },
    /// An input is not what its kind should look like.
    #[error("{origin}: {why}")]
    DamagedInput {
        /// The object or archive member.
        origin: String,
        /// What does not fit.
        why: String,
    },
    /// A tool of the toolchain is missing.
    #[error("{tool} is not installed{}", looked.as_ref().map(|folder| format!(" in {} (ATOMFIX_LLVM_BIN)", folder.display())).unwrap_or_default())]
    ToolMissing {
        /// Which.
        tool: String,
        /// The only folder where it may be, if the user named one.
        looked: Option<PathBuf>,
    },
    /// A tool could not be started.
    #[error("{}: cannot start: {source}", tool.display())]
    ToolStart {
        /// Which.
        tool: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A tool ran and failed.
    #[error("{tool} failed on {origin}:\n{}", stderr.trim_end())]
    ToolFailed {
        /// Which.
        tool: String,
        /// What it worked on.
        origin: String,
        /// What it said.
        stderr: String,
    },
}

impl CaptureError {
    /// Whether the toolchain is to blame, rather than the input.
    #[must_use]
    pub fn is_toolchain(&self) -> bool {
        matches!(self, Self::ToolMissing { .. } | Self::ToolStart { .. } | Self::ToolFailed { .. })
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Read { .. } => "name an existing, readable program".to_owned(),
            Self::Write { .. } => "make the folder writable, or free some space, and run this again".to_owned(),
            Self::NotElf { .. } | Self::NotRecorded { .. } => {
                "build it with `CC=\"atomfix cc\" CXX=\"atomfix c++\"`, and link it with them too".to_owned()
            }
            Self::LibtoolScript { program, .. } => format!("name the program itself: {}", program.display()),
            Self::SharedLibrary { .. } => "link its objects into the program, or leave it uncovered".to_owned(),
            Self::DamagedRecord { .. } | Self::Stale { .. } => "link it again: remove the program, and build it as before".to_owned(),
            Self::DamagedInput { .. } => "compile it again, and link the program again".to_owned(),
            Self::ToolMissing { .. } => "`atomfix doctor` says how to install it".to_owned(),
            Self::ToolStart { .. } => "`atomfix doctor` checks the toolchain".to_owned(),
            Self::ToolFailed { .. } => "`atomfix doctor` checks the toolchain; if all is well there, please report this".to_owned(),
        }
    }
}

fn stale(changed: &[PathBuf], gone: &[PathBuf]) -> String {
    let names = |paths: &[PathBuf]| {
        const SHOWN: usize = 5;
        let mut text: Vec<String> = paths.iter().take(SHOWN).map(|path| path.display().to_string()).collect();
        if paths.len() > SHOWN {
            text.push(format!("{} more", paths.len() - SHOWN));
        }
        text.join(", ")
    };
    let mut parts = Vec::new();
    if !changed.is_empty() {
        parts.push(format!("changed since the program was linked: {}", names(changed)));
    }
    if !gone.is_empty() {
        parts.push(format!("gone since the program was linked: {}", names(gone)));
    }
    parts.join("; ")
}
