//! From a program to the bitcode of everything that was linked into it.
//!
//! Every static input that the user gave must still be what it was; start-up files and libraries that the compiler added
//! may be updated. Members of archives count only if the link pulled them in, which shows in the program's own
//! bitcode section: linkers join it from the objects that they take. What a hardened program was linked from its record says.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use model::program::{Gap, Uncovered};
use object::{Object, ObjectSection};

use super::record::{Giver, Input, InputKind, LINK_SECTION, LinkRecord, OBJECTS_SECTION, OutputKind, RECORD_VERSION};
use super::{CaptureError, bitcode, command, coverage, members, section};

/// A program, taken apart.
#[derive(Clone, Debug)]
pub struct Capture {
    /// How it was linked.
    pub record: LinkRecord,
    /// The bitcode in it, in link order.
    pub units: Vec<Unit>,
    /// What has no bitcode.
    pub uncovered: Vec<Uncovered>,
    /// The identity of the build: a hash, in hex, over the linker's arguments and the inputs.
    pub build: String,
    /// One for each input of the record.
    pub(super) parts: Vec<Part>,
}

/// One module, as the front end made it.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The object or archive member it comes from, for messages.
    pub origin: String,
    /// The source file's name.
    pub module: String,
    /// The module.
    pub bitcode: Vec<u8>,
    /// The arguments of `clang -cc1` that compiled it.
    pub(super) command: Vec<String>,
}

impl Unit {
    /// What tells it from others: BLAKE3 of its bitcode, in hex.
    pub(super) fn identity(&self) -> String {
        blake3::hash(&self.bitcode).to_hex().to_string()
    }
}

/// What a second link may replace an input by.
#[derive(Clone, Debug)]
pub(super) enum Part {
    /// Nothing: it is linked as it is.
    Whole,
    /// An object.
    Object(Piece),
    /// An archive's members.
    Archive(Vec<Piece>),
    /// What takes the place of an earlier input of the same name: link lines repeat libraries.
    As(usize),
}

/// An object or a member of an archive.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// Its file name.
    pub(super) name: String,
    /// What it was.
    pub(super) content: Vec<u8>,
    /// Its units, as indices of `Capture::units`. Empty: it stays as it is.
    pub(super) units: Range<usize>,
    /// Why it has none.
    bare: Option<&'static str>,
}

/// Reads a program that `atomfix cc` linked.
pub fn open(program: &Path) -> Result<Capture, CaptureError> {
    let content = fs::read(program).map_err(|source| CaptureError::Read { path: program.to_owned(), source })?;
    let file = parse(program, &content)?;
    let data = |name: &str| file.section_by_name(name).and_then(|section| section.data().ok());
    let text = data(LINK_SECTION).ok_or_else(|| CaptureError::NotRecorded { path: program.to_owned() })?;
    let record = record(program, text)?;
    if record.output == OutputKind::Shared {
        return Err(CaptureError::SharedLibrary { path: program.to_owned() });
    }
    let contents = contents(program, &record, data(OBJECTS_SECTION).unwrap_or_default())?;
    let linked = bitcode::units_of(&file).unwrap_or_default();
    let mut capture = Capture { build: build(&record), record, units: Vec::new(), uncovered: Vec::new(), parts: Vec::new() };
    for (index, content) in contents.into_iter().enumerate() {
        let input = capture.record.inputs[index].clone();
        let earlier = capture.record.inputs[..index].iter().position(|earlier| earlier.kept.is_none() && earlier.path == input.path);
        let part = match earlier {
            Some(earlier) if input.kept.is_none() => Part::As(earlier),
            _ => take(&mut capture, &input, content)?,
        };
        capture.parts.push(part);
    }
    match &capture.record {
        LinkRecord { hardened: None, .. } => keep_linked_by_bitcode(&mut capture, &linked),
        LinkRecord { linked: Some(linked), .. } => {
            let linked: BTreeSet<String> = linked.iter().cloned().collect();
            keep_linked(&mut capture, |unit| linked.contains(&unit.identity()));
        }
        // Nothing tells; then every member counts.
        LinkRecord { linked: None, .. } => {}
    }
    Ok(capture)
}

/// Whether a file is a hardened program.
#[must_use]
pub fn is_hardened(file: &Path) -> bool {
    let Ok(content) = fs::read(file) else { return false };
    let Ok(parsed) = parse(file, &content) else { return false };
    let text = parsed.section_by_name(LINK_SECTION).and_then(|section| section.data().ok());
    text.and_then(|text| record(file, text).ok()).is_some_and(|record| record.hardened.is_some())
}

fn parse<'a>(program: &Path, content: &'a [u8]) -> Result<object::File<'a>, CaptureError> {
    if content.starts_with(b"#!") && content.windows(15).take(4096).any(|window| window == b"libtool wrapper") {
        let name = program.file_name().unwrap_or_default();
        return Err(CaptureError::LibtoolScript { path: program.to_owned(), program: program.with_file_name(".libs").join(name) });
    }
    let not_elf = || CaptureError::NotElf { path: program.to_owned() };
    if !section::is_elf64(content) {
        return Err(not_elf());
    }
    object::File::parse(content).map_err(|_| not_elf())
}

fn record(program: &Path, text: &[u8]) -> Result<LinkRecord, CaptureError> {
    let damaged = |why: String| CaptureError::DamagedRecord { path: program.to_owned(), section: LINK_SECTION, why };
    let record: LinkRecord = serde_json::from_slice(text).map_err(|error| damaged(error.to_string()))?;
    if record.version != RECORD_VERSION {
        return Err(damaged(format!("version {} is not known to this atomfix, which reads {RECORD_VERSION}", record.version)));
    }
    match record.inputs.iter().find(|input| input.argument >= record.arguments.len()) {
        Some(input) => Err(damaged(format!("it has no argument {}", input.argument))),
        None => Ok(record),
    }
}

/// What each input holds, checked against the record.
fn contents(program: &Path, record: &LinkRecord, objects: &[u8]) -> Result<Vec<Vec<u8>>, CaptureError> {
    let mut contents = Vec::new();
    let (mut changed, mut gone): (Vec<PathBuf>, Vec<PathBuf>) = (Vec::new(), Vec::new());
    for input in &record.inputs {
        let content = match input.kept {
            Some(kept) => {
                let part = kept.offset.checked_add(kept.length).and_then(|end| objects.get(kept.offset..end));
                let why = || format!("{} does not lie in it", input.path.display());
                let damaged = || CaptureError::DamagedRecord { path: program.to_owned(), section: OBJECTS_SECTION, why: why() };
                part.ok_or_else(damaged)?.to_vec()
            }
            None if input.kind == InputKind::Shared || input.giver == Giver::Compiler => Vec::new(),
            None => match fs::read(record.absolute(&input.path)) {
                Ok(content) => content,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    gone.push(input.path.clone());
                    Vec::new()
                }
                Err(source) => return Err(CaptureError::Read { path: record.absolute(&input.path), source }),
            },
        };
        let is_same = || input.hash.as_ref().is_none_or(|hash| *hash == members::hash(&record.absolute(&input.path), &content));
        if input.giver == Giver::User && gone.last() != Some(&input.path) && !is_same() {
            changed.push(input.path.clone());
        }
        contents.push(content);
    }
    if changed.is_empty() && gone.is_empty() { Ok(contents) } else { Err(CaptureError::Stale { path: program.to_owned(), changed, gone }) }
}

fn build(record: &LinkRecord) -> String {
    let mut hasher = blake3::Hasher::new();
    for argument in &record.arguments {
        hasher.update(argument.as_bytes()).update(&[0]);
    }
    for input in record.inputs.iter().filter(|input| input.giver == Giver::User) {
        hasher.update(input.path.as_os_str().as_encoded_bytes()).update(&[0]).update(input.hash.as_deref().unwrap_or_default().as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// Takes an input's units.
fn take(capture: &mut Capture, input: &Input, content: Vec<u8>) -> Result<Part, CaptureError> {
    let path = input.path.display().to_string();
    let name = input.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match (input.kind, input.giver) {
        // Libraries that an option asked for, such as OpenMP's, are not of the language.
        (InputKind::Shared, Giver::Compiler) if !is_of_the_language(&name) => {
            uncovered(capture, path, "a shared library", Gap::Library);
            Ok(Part::Whole)
        }
        (_, Giver::Compiler) => Ok(Part::Whole),
        (InputKind::Object, Giver::User) => {
            let piece = piece(capture, &path, name, content)?;
            if let Some(why) = piece.bare {
                uncovered(capture, path, why, Gap::Code);
            }
            Ok(Part::Object(piece))
        }
        (InputKind::Archive, Giver::User) => {
            let damaged = |why| CaptureError::DamagedInput { origin: path.clone(), why };
            let mut pieces = Vec::new();
            for member in members::read(&capture.record.absolute(&input.path), &content).map_err(damaged)? {
                pieces.push(piece(capture, &format!("{path}({})", member.name), member.name, member.content)?);
            }
            if pieces.iter().all(|piece| piece.bare == Some(NO_BITCODE)) {
                // The C library's empty archives (libpthread.a) hold nothing to cover.
                if !pieces.is_empty() {
                    uncovered(capture, path, NO_BITCODE, Gap::Code);
                }
                return Ok(Part::Whole);
            }
            for piece in &pieces {
                if let Some(why) = piece.bare {
                    uncovered(capture, format!("{path}({})", piece.name), why, Gap::Code);
                }
            }
            Ok(Part::Archive(pieces))
        }
        (InputKind::Shared | InputKind::Other, Giver::User) if is_of_the_language(&name) => Ok(Part::Whole),
        (InputKind::Shared, Giver::User) => {
            uncovered(capture, path, "a shared library", Gap::Library);
            Ok(Part::Whole)
        }
        (InputKind::Other, Giver::User) => {
            uncovered(capture, path, "a linker script", Gap::Code);
            Ok(Part::Whole)
        }
    }
}

/// Whether a file is a library of C or C++ itself, such as `libm.so`: compilers add the others of these without being asked, and what
/// their functions do is known by name.
fn is_of_the_language(name: &str) -> bool {
    const STEMS: [&str; 14] = [
        "libanl",
        "libatomic",
        "libc",
        "libc++",
        "libdl",
        "libgcc_s",
        "libm",
        "libmvec",
        "libpthread",
        "libresolv",
        "librt",
        "libstdc++",
        "libunwind",
        "libutil",
    ];
    name.split_once(".so").is_some_and(|(stem, version)| STEMS.contains(&stem) && (version.is_empty() || version.starts_with('.')))
}

/// Assembly, or an object that another compiler made.
const NO_BITCODE: &str = "it has no bitcode";

fn uncovered(capture: &mut Capture, what: String, why: &str, gap: Gap) {
    let uncovered = Uncovered { what, why: why.to_owned(), gap };
    if !capture.uncovered.contains(&uncovered) {
        capture.uncovered.push(uncovered);
    }
}

fn piece(capture: &mut Capture, origin: &str, name: String, content: Vec<u8>) -> Result<Piece, CaptureError> {
    let first = capture.units.len();
    let damaged = |why| CaptureError::DamagedInput { origin: origin.to_owned(), why };
    let Ok(file) = object::File::parse(&*content) else {
        // Archives may hold anything; the linker passes over it.
        return Ok(Piece { name, content, units: first..first, bare: Some(NO_BITCODE) });
    };
    let bitcodes = bitcode::units_of(&file).map_err(damaged)?;
    let commands = bitcode::commands_of(&file);
    if bitcodes.len() != commands.len() {
        return Err(damaged(format!("it has {} units of bitcode, but {} commands", bitcodes.len(), commands.len())));
    }
    if let Some(why) = if bitcodes.is_empty() { Some(NO_BITCODE) } else { coverage::gap(&file, &bitcodes, origin)? } {
        return Ok(Piece { name, content, units: first..first, bare: Some(why) });
    }
    for (bitcode, command) in bitcodes.into_iter().zip(commands) {
        let module = command::source_name(&command).unwrap_or(&name).to_owned();
        capture.units.push(Unit { origin: origin.to_owned(), module, bitcode: bitcode.to_vec(), command });
    }
    Ok(Piece { name, units: first..capture.units.len(), content, bare: None })
}

/// Drops units of archive members that the link did not pull in, as the program's own bitcode shows.
fn keep_linked_by_bitcode(capture: &mut Capture, linked: &[&[u8]]) {
    let linked: BTreeSet<&[u8]> = linked.iter().copied().collect();
    let is_linked = |units: &[Unit]| units.iter().all(|unit| linked.contains(&*unit.bitcode));
    let objects_agree = capture.parts.iter().all(|part| match part {
        Part::Object(piece) => is_linked(&capture.units[piece.units.clone()]),
        Part::Whole | Part::Archive(_) | Part::As(_) => true,
    });
    // A program that was stripped of its bitcode cannot tell; then every member counts.
    if linked.is_empty() || !objects_agree {
        return;
    }
    keep_linked(capture, |unit| linked.contains(&*unit.bitcode));
}

/// Drops units of archive members that the link did not pull in.
fn keep_linked(capture: &mut Capture, is_linked: impl Fn(&Unit) -> bool) {
    let units = std::mem::take(&mut capture.units);
    let mut left = Vec::new();
    for part in &mut capture.parts {
        let (pieces, optional) = match part {
            Part::Whole | Part::As(_) => continue,
            Part::Object(piece) => (std::slice::from_mut(piece), false),
            Part::Archive(pieces) => (&mut pieces[..], true),
        };
        for piece in pieces {
            let first = left.len();
            if !optional || units[piece.units.clone()].iter().all(&is_linked) {
                left.extend_from_slice(&units[piece.units.clone()]);
            }
            piece.units = first..left.len();
        }
    }
    capture.units = left;
}
