//! What is static about a code location: where it stands in the source.
//!
//! Not here: what a site does (`program::NodeKind`) and what was seen of it (`profile::SiteEvidence`).

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// One source position. Absent debug information gives an empty `file` and line 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Position {
    /// The path as the compiler was given it.
    pub file: String,
    /// 1-based; 0 where unknown.
    pub line: u32,
    /// 1-based; 0 where unknown.
    pub column: u32,
    /// The function it stands in, as the source names it.
    pub function: String,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.file.is_empty() {
            return if self.function.is_empty() { f.write_str("?") } else { write!(f, "{}", self.function) };
        }
        write!(f, "{}:{}", self.file, self.line)?;
        if self.column != 0 {
            write!(f, ":{}", self.column)?;
        }
        Ok(())
    }
}

/// A site's source chain: the position itself first, then the calls through which it was inlined, innermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Source(pub Vec<Position>);

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.first() {
            Some(position) => position.fmt(f),
            None => f.write_str("?"),
        }
    }
}
