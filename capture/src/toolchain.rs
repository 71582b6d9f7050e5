//! Where the tools of LLVM 22 are.
//!
//! `ATOMFIX_LLVM_BIN` names the only folder to look in, if it is set; else it is `TOOL-22` on `PATH`, as Debian installs
//! them, or `TOOL` in `/usr/lib/llvm-22/bin`.

use std::env;
use std::path::{Path, PathBuf};

use super::CaptureError;

/// Names the only folder to take tools from.
pub const FOLDER_VARIABLE: &str = "ATOMFIX_LLVM_BIN";
/// The major version of LLVM that everything here is made for.
pub const VERSION: u32 = 22;

const DEBIAN_FOLDER: &str = "/usr/lib/llvm-22/bin";

/// A tool that we run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tool {
    /// The C compiler, also used to compile bitcode.
    Clang,
    /// The C++ compiler.
    ClangCxx,
    /// LLVM's linker.
    Lld,
    /// Builds archives of transformed members.
    Ar,
    /// Lists the symbols of objects and of bitcode.
    Nm,
}

impl Tool {
    /// Its name, without a version.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Clang => "clang",
            Self::ClangCxx => "clang++",
            Self::Lld => "ld.lld",
            Self::Ar => "llvm-ar",
            Self::Nm => "llvm-nm",
        }
    }

    /// The Debian package that has it.
    #[must_use]
    pub fn package(self) -> &'static str {
        match self {
            Self::Clang | Self::ClangCxx => "clang-22",
            Self::Lld => "lld-22",
            Self::Ar | Self::Nm => "llvm-22",
        }
    }
}

/// The path of a tool.
pub fn find(tool: Tool) -> Result<PathBuf, CaptureError> {
    let versioned = format!("{}-{VERSION}", tool.name());
    let folder = env::var_os(FOLDER_VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let found = match &folder {
        Some(folder) => [folder.join(&versioned), folder.join(tool.name())].into_iter().find(|path| is_program(path)),
        None => {
            let path = env::var_os("PATH").unwrap_or_default();
            let on_path = env::split_paths(&path).filter(|folder| folder.is_absolute()).map(|folder| folder.join(&versioned));
            on_path.chain([Path::new(DEBIAN_FOLDER).join(tool.name())]).find(|path| is_program(path))
        }
    };
    found.ok_or(CaptureError::ToolMissing { tool: versioned, looked: folder })
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;

    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
