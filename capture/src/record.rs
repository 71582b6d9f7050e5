//! The link record: what was linked, from what, how. It lies in the program itself.
//!
//! | section | content |
//! |---|---|
//! | `.atomfix.link` | `LinkRecord` as JSON |
//! | `.atomfix.objects` | the objects that the compiler deleted after the link, one after the other |
//!
//! ```json
//! {"version":1,"output":"executable","language":"c","folder":"/src","call":["a.o","-o","app"],
//!  "linker":"/usr/bin/ld","arguments":["-pie","crt1.o","a.o","-lc"],
//!  "inputs":[{"argument":2,"path":"a.o","kind":"object","giver":"user","hash":"6ac1..","kept":null}],"hardened":null}
//! ```
//!
//! `arguments` are the *linker's*: response files expanded, without the output's name. Not here: bitcode, which lies in
//! the inputs.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The section with the record.
pub(super) const LINK_SECTION: &str = ".atomfix.link";
/// The section with the objects that the compiler deleted.
pub(super) const OBJECTS_SECTION: &str = ".atomfix.objects";
/// The version of the record that we write and read.
pub(super) const RECORD_VERSION: u32 = 1;

/// Which driver compiled and linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Language {
    /// `clang`.
    #[serde(rename = "c")]
    C,
    /// `clang++`.
    #[serde(rename = "c++")]
    Cxx,
}

/// What a link made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputKind {
    /// A program, static, dynamic or position-independent.
    Executable,
    /// A shared library.
    Shared,
}

/// How a program was linked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkRecord {
    /// `RECORD_VERSION`.
    pub version: u32,
    /// What was made.
    pub output: OutputKind,
    /// Which driver was called.
    pub language: Language,
    /// The working folder.
    pub folder: PathBuf,
    /// The driver's arguments, for people to read.
    pub call: Vec<String>,
    /// The linker that the driver called.
    pub linker: PathBuf,
    /// Its arguments, without the output.
    pub arguments: Vec<String>,
    /// The arguments that are inputs.
    pub inputs: Vec<Input>,
    /// For a hardened program: from what it was made.
    pub hardened: Option<Hardened>,
    /// For a hardened program: BLAKE3, in hex, of the bitcode of each unit that its original was linked from. Transformed objects carry none
    /// that could tell. `None` for programs hardened before this was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linked: Option<Vec<String>>,
}

/// One input of a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Which of the linker's arguments it is.
    pub argument: usize,
    /// Its path, relative to the record's folder. For a kept object: the name it would have.
    pub path: PathBuf,
    /// What it is.
    pub kind: InputKind,
    /// Who put it on the command line.
    pub giver: Giver,
    /// BLAKE3 of its content, in hex, thin archives' members included; `None` for shared libraries, which may be updated.
    pub hash: Option<String>,
    /// Where in the objects' section it lies, if the compiler deleted it.
    pub kept: Option<Kept>,
}

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InputKind {
    /// A relocatable object.
    Object,
    /// A static archive, thin ones included.
    Archive,
    /// A shared library.
    Shared,
    /// Anything else: a linker script.
    Other,
}

/// Who put an input on the linker's command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Giver {
    /// The user, source files that were compiled in the same call included.
    User,
    /// The compiler: start-up files and its own libraries.
    Compiler,
}

/// A part of the objects' section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Its first byte.
    pub offset: usize,
    /// How many bytes.
    pub length: usize,
}

/// From what a hardened program was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hardened {
    /// The original program.
    pub original: PathBuf,
    /// Its `Capture::build`.
    pub original_hash: String,
    /// The plan, as TOML.
    pub plan: String,
    /// BLAKE3 of the plan's certificate, as JSON, in hex; `None` for programs hardened before there were certificates.
    #[serde(default)]
    pub certificate: Option<String>,
}

impl LinkRecord {
    /// Whether the program starts without a dynamic linker.
    #[must_use]
    pub fn is_static(&self) -> bool {
        let names_linker = |argument: &String| argument.trim_start_matches('-').split('=').next() == Some("dynamic-linker");
        self.output == OutputKind::Executable && !self.arguments.iter().any(names_linker)
    }

    /// Where an input is now.
    #[must_use]
    pub fn absolute(&self, path: &Path) -> PathBuf {
        self.folder.join(path)
    }
}
