//! Build once, relink for ever: the compiler driver, the link record, reading bitcode back, linking again.
//!
//! In the order of a program's life: `driver` is `atomfix cc`, which runs clang so that objects carry their bitcode
//! (`arguments` decides what it adds); clang calls `linker` in the place of its linker, which links and then appends a
//! `record` of the link to the output as a section (`section`). Later `open` reads the record, checks that no input
//! changed, and takes the bitcode (`bitcode`) out of objects and archives; `relink` compiles transformed modules
//! (`command`) and links once more.
//!
//! Objects that clang deletes after a compile-and-link call are kept inside the output itself, in a second section, so
//! a record needs no cache to stay valid. Not handled: 32-bit and non-ELF outputs (linked, but without a record), and
//! shared libraries (recorded as such, not covered).

pub mod driver;
pub mod linker;
pub mod toolchain;

mod arguments;
mod error;
mod link_arguments;
mod response;
mod section;

mod bitcode;
mod command;
mod coverage;
mod members;
mod open;
mod record;
mod relink;
mod version_script;

pub use error::CaptureError;
pub use open::{Capture, Unit, is_hardened, open};
pub use record::{Hardened, Input, InputKind, Language, LinkRecord, OutputKind};
pub use relink::{Relink, relink};
