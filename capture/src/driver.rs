//! `atomfix cc`: clang, called so that its objects carry their bitcode and its links leave a record.
//!
//! Where it can, this process *becomes* clang (`exec`), so that status, signals and output are clang's own. A call that
//! makes objects is waited for: the section with the bitcode gets another name then, since GNU tools take an object with
//! a `.llvmbc` section for one to be optimized at link time, and load whichever LLVM they find. Where the call may link, a
//! folder whose `ld`, `ld.lld`, .. are symbolic links to this program is put in front of clang's search path by
//! `COMPILER_PATH`: clang then calls `linker` with the whole truth about the link, response files, temporary objects and
//! start-up files included. What that linker must know travels in the variable `ATOMFIX_CALL`.
//!
//! The folder is kept in the user's cache; where there is none to write to, it is temporary, and this process waits for
//! clang to remove it.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use serde::{Deserialize, Serialize};

use super::arguments::{self, Additions, Linker, Stage};
use super::bitcode::{BITCODE_SECTION, CLANG_SECTION};
use super::toolchain::{self, Tool};
use super::{CaptureError, Language, response, section};

/// The variable in which the driver tells the linker about the call.
pub const CALL_VARIABLE: &str = "ATOMFIX_CALL";

/// Where clang looks for programs first.
const SEARCH_VARIABLE: &str = "COMPILER_PATH";
const LINKERS: [&str; 6] = ["ld", "ld.bfd", "ld.gold", "ld.lld", "ld.mold", "ld.wild"];
/// The kernel refuses longer variables (131072); beyond this the linker does without the arguments.
const LONGEST_CALL: usize = 120_000;

/// What the linker must know about the driver's call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Call {
    /// Which driver.
    pub(super) language: Language,
    /// The compiler.
    pub(super) compiler: PathBuf,
    /// The user's arguments, response files not expanded; `None` if there are too many to pass on, or some are not UTF-8.
    pub(super) arguments: Option<Vec<String>>,
    /// The linker that `--ld-path` names.
    pub(super) linker: Option<PathBuf>,
    /// The user's own `COMPILER_PATH`.
    pub(super) search: Option<String>,
}

/// Runs the compiler. Returns only if it could not be started, or if it had to be waited for.
pub fn run(language: Language, arguments: &[OsString]) -> Result<ExitStatus, CaptureError> {
    let tool = match language {
        Language::C => Tool::Clang,
        Language::Cxx => Tool::ClangCxx,
    };
    let compiler = toolchain::find(tool)?;
    let expanded = response::expand(arguments);
    let additions = arguments::additions(&expanded);
    if let Some(note) = additions.note {
        note_to_user(note);
    }
    let mut command = Command::new(&compiler);
    command.args(&additions.before);
    let start = |source| CaptureError::ToolStart { tool: compiler.clone(), source };
    match &additions.stage {
        Stage::Objects(objects) => {
            let status = command.args(placed(arguments, &additions.after)).status().map_err(start)?;
            if status.success() {
                objects.iter().for_each(|object| hide(object));
            }
            return Ok(status);
        }
        // Of a linker that is not installed, clang itself says so best.
        Stage::Link if is_installed(&additions.linker, &compiler) => {}
        Stage::Link | Stage::Neither => return Err(start(command.args(placed(arguments, &additions.after)).exec())),
    }
    let program = env::current_exe().map_err(|source| CaptureError::Read { path: "/proc/self/exe".into(), source })?;
    let kept = cache().map(|cache| cache.join(folder_name(&program))).filter(|folder| fill(folder, &program, &additions.linker).is_ok());
    let temporary = match kept {
        Some(_) => None,
        None => Some(tempfile::tempdir().map_err(|source| CaptureError::Write { path: env::temp_dir(), source })?),
    };
    let folder = match (&kept, &temporary) {
        (Some(folder), _) => folder,
        (None, Some(temporary)) => {
            fill(temporary.path(), &program, &additions.linker)
                .map_err(|source| CaptureError::Write { path: temporary.path().to_owned(), source })?;
            temporary.path()
        }
        (None, None) => unreachable!("one of them was made"),
    };
    interpose(&mut command, folder, &compiler, language, arguments, &additions);
    if temporary.is_none() {
        return Err(start(command.exec()));
    }
    command.status().map_err(start)
}

/// Gives the bitcode of an object its own section name. What is no object (`-o /dev/null`) stays as it is.
pub(super) fn hide(object: &Path) {
    if object.metadata().is_ok_and(|metadata| metadata.is_file())
        && let Err(error) = section::rename(object, CLANG_SECTION, BITCODE_SECTION)
    {
        note_to_user(&format!("{}: the section {CLANG_SECTION} cannot be renamed: {error}", object.display()));
    }
}

/// Whether the linker that a call asks for can be found.
fn is_installed(linker: &Linker, compiler: &Path) -> bool {
    let name = match linker {
        Linker::Default => return true,
        Linker::Path(path) => return Path::new(path).is_file(),
        Linker::Named(name) => format!("ld.{name}"),
    };
    let real = fs::canonicalize(compiler).ok().and_then(|path| path.parent().map(Path::to_owned));
    let path = env::var_os("PATH").unwrap_or_default();
    let search = env::var_os(SEARCH_VARIABLE).unwrap_or_default();
    real.into_iter().chain(env::split_paths(&path)).chain(env::split_paths(&search)).any(|folder| folder.join(&name).is_file())
}

/// Says one line on stderr, where a compiler's notes go.
pub(super) fn note_to_user(note: &str) {
    use std::io::Write;

    // Nobody is left to tell if stderr is closed.
    let _ = writeln!(io::stderr(), "atomfix: note: {note}");
}

/// The user's arguments with ours behind their options: before a `--`, after which all are inputs.
fn placed<'a>(arguments: &'a [OsString], after: &[&'static str]) -> Vec<&'a OsStr> {
    let end = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    let (options, inputs) = arguments.split_at(end);
    let after = after.iter().map(|argument| OsStr::new(*argument));
    options.iter().map(OsString::as_os_str).chain(after).chain(inputs.iter().map(OsString::as_os_str)).collect()
}

fn interpose(command: &mut Command, folder: &Path, compiler: &Path, language: Language, arguments: &[OsString], additions: &Additions) {
    // A `-B` of the user's comes before the variable, ours before it.
    if response::expand(arguments).iter().any(|argument| argument.as_encoded_bytes().starts_with(b"-B")) {
        let mut ours = OsString::from("-B");
        ours.push(folder);
        command.arg(ours);
    }
    let mut after: Vec<OsString> = placed(arguments, &additions.after).into_iter().map(OsStr::to_owned).collect();
    let mut linker = None;
    if let Linker::Path(path) = &additions.linker {
        let mut ours = OsString::from("--ld-path=");
        ours.push(folder.join("ld"));
        let end = after.iter().position(|argument| argument == "--").unwrap_or(after.len());
        after.insert(end, ours);
        linker = Some(PathBuf::from(path));
    }
    let user = env::var(SEARCH_VARIABLE).ok().filter(|path| !path.is_empty());
    let mut call = Call {
        language,
        compiler: compiler.to_owned(),
        arguments: arguments.iter().map(|argument| argument.to_str().map(str::to_owned)).collect(),
        linker,
        search: user.clone(),
    };
    let mut text = serde_json::to_string(&call).expect("a call has a JSON form");
    if text.len() > LONGEST_CALL {
        call.arguments = None;
        text = serde_json::to_string(&call).expect("a call has a JSON form");
    }
    let mut search = folder.as_os_str().to_owned();
    if let Some(user) = user {
        search.push(":");
        search.push(user);
    }
    command.args(after).env(CALL_VARIABLE, text).env(SEARCH_VARIABLE, search);
}

/// The user's cache of ours: `$XDG_CACHE_HOME/atomfix` or `~/.cache/atomfix`.
fn cache() -> Option<PathBuf> {
    let folder = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")))?;
    Some(base.join("atomfix"))
}

/// One folder for each place where this program may lie.
fn folder_name(program: &Path) -> String {
    format!("linkers-{:016x}", model::ids::fnv1a(program.as_os_str().as_encoded_bytes()))
}

fn fill(folder: &Path, program: &Path, linker: &Linker) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let named = match linker {
        Linker::Named(name) if !name.contains('/') => Some(format!("ld.{name}")),
        _ => None,
    };
    for name in LINKERS.iter().copied().chain(named.as_deref()) {
        let link = folder.join(name);
        match symlink(program, &link) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && fs::read_link(&link)? == program => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
