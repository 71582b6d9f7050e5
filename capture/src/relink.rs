//! The second link: transformed modules in the place of the originals, and one runtime archive more.
//!
//! Units are compiled in parallel in a temporary folder that is removed at the end, also after an error. The linker gets
//! the arguments of the first link, with transformed objects and rebuilt archives in their places; what we add stands
//! before the first input of the user's, so that the runtime's functions win over those of every library behind it. The
//! output appears whole or not at all.
//!
//! The objects of a runtime archive are linked whether or not something refers to them, and their global symbols, that is, hooks and
//! interposed functions, are roots (`-u`). Shared libraries have to meet what is interposed, also those that are opened later:
//! linkers export what a library defines too, unless they are told not to. So the objects are not handed over as an archive, which
//! `--exclude-libs` would hide, and `version_script` adds the symbols to what hides them.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use rayon::prelude::*;
use tempfile::NamedTempFile;

use super::open::{Capture, Part, Piece, Unit};
use super::record::{Giver, Hardened, LINK_SECTION, OBJECTS_SECTION};
use super::toolchain::{self, Tool};
use super::{CaptureError, command, link_arguments, members, section, version_script};

/// What to link anew.
#[derive(Clone, Debug)]
pub struct Relink {
    /// For each unit, in the order of `Capture::units`: its new bitcode, or `None` if it stays as it is.
    pub bitcode: Vec<Option<Vec<u8>>>,
    /// Further modules: a name for messages, and bitcode.
    pub extra_bitcode: Vec<(String, Vec<u8>)>,
    /// Static archives to link in, with all that their global symbols reach.
    pub archives: Vec<PathBuf>,
    /// Further arguments, in the compiler's form (`-lm`, `-Wl,--wrap=f`).
    pub link_args: Vec<String>,
    /// For a hardened program: from what it is made. It gets a record of its own.
    pub hardened: Option<Hardened>,
    /// Where to write the program.
    pub out: PathBuf,
}

/// Compiles what was transformed and links the program anew.
pub fn relink(capture: &Capture, relink: &Relink) -> Result<(), CaptureError> {
    assert_eq!(capture.units.len(), relink.bitcode.len(), "one entry for each unit");
    claim(&relink.out)?;
    let temporary = tempfile::tempdir().map_err(|source| CaptureError::Write { path: std::env::temp_dir(), source })?;
    let clang = toolchain::find(Tool::Clang)?;
    let objects = compile_units(capture, relink, &clang, temporary.path())?;
    let extra = compile_extras(relink, &clang, temporary.path())?;
    let replaced = replacements(capture, &objects, temporary.path())?;
    let program = temporary.path().join("program");
    let runtime = runtime(&relink.archives, temporary.path())?;
    let mut line = arguments(capture, replaced, &added(relink, &extra, &runtime));
    let versioned = version_script::open_up(&mut line, capture, &runtime.interposed(), temporary.path())?;
    let mut linker = Command::new(&capture.record.linker);
    linker.current_dir(&capture.record.folder).args(line).arg("-o").arg(&program);
    command::run(&mut linker, &capture.record.linker.display().to_string(), &relink.out.display().to_string())?;
    version_script::unversion(&program, &versioned)?;
    if let Some(hardened) = &relink.hardened {
        record(capture, hardened, &program)?;
    }
    publish(&program, &relink.out)
}

/// Fails if the output cannot be written: told before the work begins, and leaving nothing there while it goes on.
fn claim(path: &Path) -> Result<(), CaptureError> {
    if path.is_dir() {
        return Err(CaptureError::Write { path: path.to_owned(), source: io::ErrorKind::IsADirectory.into() });
    }
    part_of(path).map(drop)
}

/// A file beside the output, removed unless it is renamed to it.
fn part_of(path: &Path) -> Result<NamedTempFile, CaptureError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let part = tempfile::Builder::new().prefix(".atomfix-").suffix(".part").tempfile_in(folder);
    part.map_err(|error| CaptureError::Write { path: path.to_owned(), source: error.kind().into() })
}

/// Puts a finished program in its place, whole or not at all.
fn publish(program: &Path, path: &Path) -> Result<(), CaptureError> {
    let failed = |source| CaptureError::Write { path: path.to_owned(), source };
    let mut part = part_of(path)?;
    let mut from = fs::File::open(program).map_err(failed)?;
    let permissions = from.metadata().map_err(failed)?.permissions();
    io::copy(&mut from, part.as_file_mut()).map_err(failed)?;
    part.as_file().set_permissions(permissions).map_err(failed)?;
    part.as_file().sync_all().map_err(failed)?;
    part.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// The new object of each unit that was transformed.
fn compile_units(capture: &Capture, relink: &Relink, clang: &Path, folder: &Path) -> Result<Vec<Option<PathBuf>>, CaptureError> {
    let work: Vec<_> = capture.units.iter().zip(&relink.bitcode).enumerate().collect();
    work.into_par_iter()
        .map(|(index, (unit, bitcode))| {
            let Some(bitcode) = bitcode else { return Ok(None) };
            let object = fresh(folder, &format!("unit{index}"), "unit.o")?;
            command::compile(clang, &unit.command, bitcode, &unit.origin, &object)?;
            Ok(Some(object))
        })
        .collect()
}

fn compile_extras(relink: &Relink, clang: &Path, folder: &Path) -> Result<Vec<PathBuf>, CaptureError> {
    let compile = |(index, (name, bitcode)): (usize, &(String, Vec<u8>))| {
        let object = fresh(folder, &format!("extra{index}"), "extra.o")?;
        command::compile_extra(clang, bitcode, name, &object)?;
        Ok(object)
    };
    relink.extra_bitcode.iter().enumerate().map(compile).collect()
}

/// A path in a folder of its own, which is made. The name may be a path, as that of a thin archive's member is; only its end counts.
fn fresh(folder: &Path, own: &str, name: &str) -> Result<PathBuf, CaptureError> {
    let folder = folder.join(own);
    fs::create_dir_all(&folder).map_err(|source| CaptureError::Write { path: folder.clone(), source })?;
    Ok(folder.join(Path::new(name).file_name().unwrap_or(OsStr::new("unnamed.o"))))
}

fn store(path: &Path, content: &[u8]) -> Result<(), CaptureError> {
    fs::write(path, content).map_err(|source| CaptureError::Write { path: path.to_owned(), source })
}

/// For each input of the record: the file that takes its place, if one does.
fn replacements(capture: &Capture, objects: &[Option<PathBuf>], folder: &Path) -> Result<Vec<Option<PathBuf>>, CaptureError> {
    let mut replaced: Vec<Option<PathBuf>> = Vec::new();
    for (index, (input, part)) in capture.record.inputs.iter().zip(&capture.parts).enumerate() {
        let own = format!("input{index}");
        let is_new = |piece: &Piece| objects[piece.units.clone()].iter().any(Option::is_some);
        replaced.push(match part {
            Part::Object(piece) if is_new(piece) => Some(piece_file(capture, piece, objects, folder, &own)?),
            Part::Object(piece) if input.kept.is_some() => {
                let path = fresh(folder, &own, &piece.name)?;
                store(&path, &piece.content)?;
                Some(path)
            }
            Part::Archive(pieces) if pieces.iter().any(is_new) => {
                let name = input.path.file_name().unwrap_or_default().to_string_lossy();
                let mut members = Vec::new();
                for (number, piece) in pieces.iter().enumerate() {
                    members.push(piece_file(capture, piece, objects, folder, &format!("{own}/{number}"))?);
                }
                let path = fresh(folder, &own, &name)?;
                archive(&path, &members, &input.path.display().to_string())?;
                Some(path)
            }
            Part::As(earlier) => replaced[*earlier].clone(),
            Part::Whole | Part::Object(_) | Part::Archive(_) => None,
        });
    }
    Ok(replaced)
}

/// The file of an object or member, under its own name: as it was, or compiled anew, joined again if it was joined.
fn piece_file(capture: &Capture, piece: &Piece, objects: &[Option<PathBuf>], folder: &Path, own: &str) -> Result<PathBuf, CaptureError> {
    let path = fresh(folder, own, &piece.name)?;
    let new = &objects[piece.units.clone()];
    match new {
        _ if new.iter().all(Option::is_none) => store(&path, &piece.content)?,
        [Some(object)] => fs::rename(object, &path).map_err(|source| CaptureError::Write { path: path.clone(), source })?,
        _ => {
            let objects: Option<Vec<_>> = new.iter().cloned().collect();
            let objects = objects.ok_or_else(|| CaptureError::DamagedInput {
                origin: piece.name.clone(),
                why: "an object joined by `ld -r` is transformed whole or not at all".to_owned(),
            })?;
            let mut linker = Command::new(&capture.record.linker);
            linker.arg("-r").arg("-o").arg(&path).args(objects);
            command::run(&mut linker, &capture.record.linker.display().to_string(), &piece.name)?;
        }
    }
    Ok(path)
}

/// Builds an archive of members in their order, names repeated where they were.
fn archive(path: &Path, members: &[PathBuf], origin: &str) -> Result<(), CaptureError> {
    let ar = toolchain::find(Tool::Ar)?;
    command::run(Command::new(&ar).arg("qcS").arg(path).args(members), "llvm-ar", origin)?;
    command::run(Command::new(&ar).arg("s").arg(path), "llvm-ar", origin)
}

/// What runtime archives hold.
#[derive(Default)]
struct Runtime {
    objects: Vec<PathBuf>,
    /// The symbols that they define for others.
    doors: BTreeSet<String>,
}

impl Runtime {
    /// Functions that stand in front of a library's: the others are hooks, which only transformed modules call.
    fn interposed(&self) -> BTreeSet<String> {
        self.doors.iter().filter(|symbol| !symbol.starts_with("__atomfix_")).cloned().collect()
    }
}

/// The objects of the archives, as files.
fn runtime(archives: &[PathBuf], folder: &Path) -> Result<Runtime, CaptureError> {
    let mut runtime = Runtime::default();
    for path in archives {
        let damaged = |why: String| CaptureError::DamagedInput { origin: path.display().to_string(), why };
        let content = fs::read(path).map_err(|source| CaptureError::Read { path: path.to_owned(), source })?;
        for member in members::read(path, &content).map_err(damaged)? {
            let object = object::File::parse(&*member.content).map_err(|error| damaged(error.to_string()))?;
            runtime.doors.extend(version_script::defined(&object));
            let object = fresh(folder, &format!("runtime{}", runtime.objects.len()), &member.name)?;
            store(&object, &member.content)?;
            runtime.objects.push(object);
        }
    }
    Ok(runtime)
}

/// The linker's arguments for what is added.
fn added(relink: &Relink, extra: &[PathBuf], runtime: &Runtime) -> Vec<String> {
    let mut added: Vec<String> = extra.iter().map(|path| path.display().to_string()).collect();
    for argument in &relink.link_args {
        match argument.strip_prefix("-Wl,") {
            Some(passed) => added.extend(passed.split(',').map(str::to_owned)),
            None => added.push(argument.clone()),
        }
    }
    added.extend(runtime.doors.iter().flat_map(|symbol| ["-u".to_owned(), symbol.clone()]));
    added.extend(runtime.objects.iter().map(|path| path.display().to_string()));
    added
}

fn arguments(capture: &Capture, replaced: Vec<Option<PathBuf>>, added: &[String]) -> Vec<String> {
    let record = &capture.record;
    let first = record.inputs.iter().find(|input| input.giver == Giver::User).map_or(0, |input| input.argument);
    let mut line: Vec<Option<String>> = record.arguments.iter().cloned().map(Some).collect();
    for (input, path) in record.inputs.iter().zip(replaced) {
        if let Some(path) = path {
            line[input.argument] = Some(path.display().to_string());
        }
    }
    line.splice(first..first, added.iter().cloned().map(Some));
    link_arguments::without_side_outputs(&line)
}

/// Gives a hardened program the record of its original, with what it was made from.
fn record(capture: &Capture, hardened: &Hardened, program: &Path) -> Result<(), CaptureError> {
    let mut record = capture.record.clone();
    record.hardened = Some(hardened.clone());
    record.linked = Some(capture.units.iter().map(Unit::identity).collect());
    let text = serde_json::to_vec(&record).expect("a record has a JSON form");
    let mut objects = Vec::new();
    for (input, part) in record.inputs.iter().zip(&capture.parts) {
        if let (Some(_), Part::Object(piece)) = (input.kept, part) {
            objects.extend_from_slice(&piece.content);
        }
    }
    let mut sections: Vec<(&str, &[u8])> = vec![(LINK_SECTION, &text)];
    if !objects.is_empty() {
        sections.push((OBJECTS_SECTION, &objects));
    }
    section::append(program, &sections).map_err(|source| CaptureError::Write { path: program.to_owned(), source })
}
