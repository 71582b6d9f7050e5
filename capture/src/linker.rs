//! What clang calls in the place of its linker: the linker itself, and then a record of the link in the output.
//!
//! A link that fails, that makes one more object (`-r`) or that writes no 64-bit ELF file leaves no record. A record that
//! cannot be written is told in one line and changes nothing else: the program is what the user asked for.

use std::collections::BTreeSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use super::driver::{CALL_VARIABLE, Call, hide, note_to_user};
use super::link_arguments::{self, Link, Named};
use super::record::{Giver, Input, InputKind, Kept, LINK_SECTION, LinkRecord, OBJECTS_SECTION, RECORD_VERSION};
use super::{CaptureError, bitcode, members, response, section};

const SEARCH_VARIABLE: &str = "COMPILER_PATH";

/// Whether this process was called in the place of a linker, by a clang that `driver` runs.
#[must_use]
pub fn is_requested(program: &OsStr) -> bool {
    let name = Path::new(program).file_name().and_then(OsStr::to_str).unwrap_or_default();
    (name == "ld" || name.starts_with("ld.")) && env::var_os(CALL_VARIABLE).is_some()
}

/// Links, and records the link. `program` is the name that clang called.
pub fn run(program: &OsStr, arguments: &[OsString]) -> Result<ExitStatus, CaptureError> {
    let text = env::var(CALL_VARIABLE).unwrap_or_default();
    let call: Call = serde_json::from_str(&text)
        .map_err(|error| CaptureError::DamagedInput { origin: format!("the variable {CALL_VARIABLE}"), why: error.to_string() })?;
    let linker = real_linker(program, &call)?;
    let mut command = Command::new(&linker);
    command.args(arguments);
    restore_environment(&mut command, &call);
    let start = |source| CaptureError::ToolStart { tool: linker.clone(), source };

    let Some(line) = response::expand(arguments).into_iter().map(|argument| argument.into_string().ok()).collect::<Option<Vec<_>>>() else {
        note_to_user("this link has arguments that are not UTF-8: it is not recorded");
        return Err(start(command.exec()));
    };
    let folder = env::current_dir().map_err(|source| CaptureError::Read { path: ".".into(), source })?;
    let link = link_arguments::parse(&line, &folder);
    hide_objects(&link, &call, &folder);
    let Some(kind) = link.kind else {
        return Err(start(command.exec()));
    };
    let (inputs, objects) = inputs(&link, &call, &folder);
    let mut recorded = link.arguments;
    for input in inputs.iter().filter(|input| input.kept.is_some()) {
        // Clang's random names are gone after the link, and would make each record another one.
        recorded[input.argument] = input.path.display().to_string();
    }
    let before = state(&link.output);
    let status = command.status().map_err(start)?;
    if status.success() && state(&link.output) != before {
        let record = LinkRecord {
            version: RECORD_VERSION,
            output: kind,
            language: call.language,
            folder,
            call: call.arguments.unwrap_or_default(),
            linker,
            arguments: recorded,
            inputs,
            linked: None,
            hardened: None,
        };
        write(&link.output, &record, &objects);
    }
    Ok(status)
}

/// The linker that clang would have called.
fn real_linker(program: &OsStr, call: &Call) -> Result<PathBuf, CaptureError> {
    if let Some(linker) = &call.linker {
        return absolute(linker);
    }
    let name = Path::new(program).file_name().and_then(OsStr::to_str).unwrap_or("ld");
    let mut command = Command::new(&call.compiler);
    command.arg(format!("-print-prog-name={name}")).args(call.arguments.iter().flatten());
    restore_environment(&mut command, call);
    let answer = command.output().map_err(|source| CaptureError::ToolStart { tool: call.compiler.clone(), source })?;
    let path = PathBuf::from(String::from_utf8_lossy(&answer.stdout).trim_end());
    // A linker that is not found is answered by its bare name.
    if path.components().count() > 1 { absolute(&path) } else { Err(CaptureError::ToolMissing { tool: name.to_owned(), looked: None }) }
}

fn absolute(path: &Path) -> Result<PathBuf, CaptureError> {
    std::path::absolute(path).map_err(|source| CaptureError::Read { path: path.to_owned(), source })
}

fn restore_environment(command: &mut Command, call: &Call) {
    command.env_remove(CALL_VARIABLE);
    match &call.search {
        Some(search) => command.env(SEARCH_VARIABLE, search),
        None => command.env_remove(SEARCH_VARIABLE),
    };
}

/// What tells a file that was just written from an older one.
fn state(path: &Path) -> Option<(u64, u64, i64, i64)> {
    path.metadata().ok().map(|metadata| (metadata.ino(), metadata.len(), metadata.mtime(), metadata.mtime_nsec()))
}

fn inputs(link: &Link, call: &Call, folder: &Path) -> (Vec<Input>, Vec<u8>) {
    let given = Given::of(call);
    let mut objects = Vec::new();
    let mut inputs = Vec::new();
    for Named { argument, path } in &link.inputs {
        // What cannot be read, the linker will complain about.
        let Ok(content) = fs::read(folder.join(path)) else { continue };
        let kind = link_arguments::kind_of(&content);
        let hash = (kind != InputKind::Shared).then(|| members::hash(&folder.join(path), &content));
        let by_user = given.names(&link.arguments[*argument]);
        let original_name = if by_user == Some(true) { None } else { temporary_of(path) };
        let (path, giver, kept) = match original_name {
            Some(name) => {
                let kept = Kept { offset: objects.len(), length: content.len() };
                objects.extend_from_slice(&content);
                (name, Giver::User, Some(kept))
            }
            None if by_user == Some(false) && !has_bitcode(kind, &content) => (path.clone(), Giver::Compiler, None),
            None => (path.clone(), Giver::User, None),
        };
        inputs.push(Input { argument: *argument, path, kind, giver, hash, kept });
    }
    (inputs, objects)
}

/// Whether a file is an object that carries bitcode: one that `-save-temps` left, if the user did not name it.
fn has_bitcode(kind: InputKind, content: &[u8]) -> bool {
    kind == InputKind::Object
        && object::File::parse(content).is_ok_and(|file| bitcode::units_of(&file).is_ok_and(|units| !units.is_empty()))
}

/// Renames the bitcode section of objects that clang made in this very call.
fn hide_objects(link: &Link, call: &Call, folder: &Path) {
    let given = Given::of(call);
    for input in link.inputs.iter().filter(|input| !link.arguments[input.argument].starts_with('-')) {
        if given.names(&link.arguments[input.argument]) != Some(true) {
            hide(&folder.join(&input.path));
        }
    }
}

/// The arguments that the user gave.
struct Given(Option<BTreeSet<OsString>>);

impl Given {
    fn of(call: &Call) -> Self {
        Self(call.arguments.as_ref().map(|arguments| {
            let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            let mut names = BTreeSet::new();
            let mut library = false;
            for argument in response::expand(&arguments) {
                let text = argument.to_string_lossy().into_owned();
                if library {
                    names.insert(format!("-l{text}").into());
                }
                library = text == "-l";
                if let Some(passed) = text.strip_prefix("-Wl,") {
                    names.extend(passed.split(',').map(OsString::from));
                }
                names.insert(argument);
            }
            names
        }))
    }

    /// Whether the user named this argument of the linker; `None` if the user's arguments are not known.
    fn names(&self, argument: &str) -> Option<bool> {
        self.0.as_ref().map(|names| names.contains(OsStr::new(argument)))
    }
}

/// For an object that clang made for this call alone (`/tmp/a-1b2c3d.o`): the name it would have (`a.o`).
fn temporary_of(path: &Path) -> Option<PathBuf> {
    let folder =
        ["TMPDIR", "TMP", "TEMP", "TEMPDIR"].into_iter().find_map(env::var_os).map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
    let (name, random) = path.file_name()?.to_str()?.strip_suffix(".o")?.rsplit_once('-')?;
    let is_random = random.len() >= 6 && random.bytes().all(|byte| byte.is_ascii_hexdigit());
    let name = if name.is_empty() { "stdin" } else { name };
    (path.parent()? == folder.as_path() && is_random).then(|| PathBuf::from(format!("{name}.o")))
}

fn write(output: &Path, record: &LinkRecord, objects: &[u8]) {
    let is_program = output.metadata().is_ok_and(|metadata| metadata.is_file());
    let head = fs::File::open(output).and_then(|file| {
        let mut head = [0; 64];
        std::os::unix::fs::FileExt::read_exact_at(&file, &mut head, 0).map(|()| head)
    });
    if !is_program || !head.is_ok_and(|head| section::is_elf64(&head)) {
        return;
    }
    let text = serde_json::to_vec(record).expect("a record has a JSON form");
    let mut sections: Vec<(&str, &[u8])> = vec![(LINK_SECTION, &text)];
    if !objects.is_empty() {
        sections.push((OBJECTS_SECTION, objects));
    }
    if let Err(error) = section::append(output, &sections) {
        note_to_user(&format!("{}: the link cannot be recorded, so atomfix cannot work on it: {error}", output.display()));
    }
}
