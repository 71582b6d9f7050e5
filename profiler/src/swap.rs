//! Puts the instrumented program in the place of the original while something runs, and puts the original back.
//!
//! The original stays what it is, inode and time included, under a second name in `APP.atomfix/` (a hard link; a copy where links
//! cannot be made). Steps: link, journal, rename the instrumented program over the original. A process killed anywhere in
//! between leaves at most a journal, which the next command undoes (`recover`). The instrumented program gets the original's
//! time of change, so `make` does not build it anew.
//!
//! `swap.record` says where to record and how, for processes that somebody starts with an environment of his own (`model::abi::RECORD_BESIDE`).
//!
//! `swap.journal` is text: `atomfix swap 1`, then the hash of the instrumented program.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use model::abi::RECORD_BESIDE;
use model::ids::fnv1a_from;
use model::wire::write_atomically;
use rustix::fs::{FlockOperation, flock};

use crate::ProfileError;

/// What undoing a swap did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// There was none.
    Nothing,
    /// The original is back in its place.
    Undone,
    /// Somebody had built the program anew in the meantime: that stays, and the older original is gone.
    Replaced,
}

/// A swap that is in effect.
#[derive(Debug)]
pub struct Swap {
    names: Names,
    /// Locked as long as the process lives.
    _lock: File,
}

#[derive(Clone, Debug)]
struct Names {
    program: PathBuf,
    journal: PathBuf,
    original: PathBuf,
    setting: PathBuf,
    lock: PathBuf,
}

const FIRST_LINE: &str = "atomfix swap 1";

impl Names {
    fn of(program: &Path, folder: &Path) -> Self {
        Self {
            program: program.to_owned(),
            journal: folder.join("swap.journal"),
            original: folder.join("original"),
            setting: folder.join(RECORD_BESIDE.rsplit('/').next().unwrap_or_default()),
            lock: folder.join("swap.lock"),
        }
    }

    /// Whoever holds it may swap, or undo.
    fn lock(&self) -> Result<File, ProfileError> {
        let file = File::options().create(true).append(true).open(&self.lock).map_err(ProfileError::write(&self.lock))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(file),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(ProfileError::Swapped { path: self.program.clone() }),
            Err(error) => Err(ProfileError::Write { path: self.lock.clone(), error: error.into() }),
        }
    }
}

/// Puts `instrumented` in the place of `program`, whose folder is `folder`, and says there how it is to record (`perturb::record_setting`).
pub fn swap(program: &Path, instrumented: &Path, folder: &Path, setting: &OsStr) -> Result<Swap, ProfileError> {
    let names = Names::of(program, folder);
    let lock = names.lock()?;
    undo(&names)?;
    keep(program, &names.original).map_err(ProfileError::write(&names.original))?;
    let hash = hash(instrumented).map_err(ProfileError::read(instrumented))?;
    let journal = format!("{FIRST_LINE}\n{hash:016x}\n");
    let placed = write_atomically(&names.journal, journal.as_bytes())
        .map_err(ProfileError::write(&names.journal))
        .and_then(|()| write_atomically(&names.setting, setting.as_bytes()).map_err(ProfileError::write(&names.setting)))
        .and_then(|()| place(instrumented, program).map_err(ProfileError::write(program)));
    if let Err(error) = placed {
        undo(&names)?;
        return Err(error);
    }
    Ok(Swap { names, _lock: lock })
}

impl Swap {
    /// Puts the original back.
    pub fn undo(self) -> Result<Recovery, ProfileError> {
        undo(&self.names)
    }
}

/// Undoes a swap that a killed process left. An error when one is in effect right now.
pub fn recover(program: &Path, folder: &Path) -> Result<Recovery, ProfileError> {
    let names = Names::of(program, folder);
    if !exists(&names.journal) {
        return Ok(Recovery::Nothing);
    }
    let _lock = names.lock()?;
    undo(&names)
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

fn undo(names: &Names) -> Result<Recovery, ProfileError> {
    if !exists(&names.journal) {
        // Killed between link and journal: the program is the original still.
        remove(&names.original)?;
        return Ok(Recovery::Nothing);
    }
    let text = fs::read_to_string(&names.journal).map_err(ProfileError::read(&names.journal))?;
    let swapped = parse(&text).ok_or_else(|| ProfileError::Journal {
        path: names.journal.clone(),
        why: "it does not begin with its first line and a hash (offset 0)",
    })?;
    let recovery = match hash(&names.program) {
        Ok(found) if found != swapped && !same_file(&names.program, &names.original) => Recovery::Replaced,
        Ok(_) | Err(_) => Recovery::Undone,
    };
    if recovery == Recovery::Undone && exists(&names.original) {
        // Where both names are one file this does nothing, and is right.
        fs::rename(&names.original, &names.program).map_err(ProfileError::write(&names.program))?;
    }
    remove(&names.original)?;
    remove(&names.setting)?;
    remove(&names.journal)?;
    Ok(recovery)
}

fn parse(text: &str) -> Option<u64> {
    let digits = text.strip_prefix(FIRST_LINE)?.strip_prefix('\n')?.strip_suffix('\n')?;
    u64::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 16)
}

fn remove(path: &Path) -> Result<(), ProfileError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(ProfileError::Write { path: path.to_owned(), error }),
        _ => Ok(()),
    }
}

fn same_file(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    matches!((fs::metadata(a), fs::metadata(b)), (Ok(a), Ok(b)) if (a.dev(), a.ino()) == (b.dev(), b.ino()))
}

/// A second name for a file, or a copy.
fn keep(file: &Path, name: &Path) -> io::Result<()> {
    // A symbolic link as program: what it points to is what is swapped in its place, so the link itself is kept.
    fs::hard_link(file, name).or_else(|_| copy_with_time(file, file, name))
}

/// A copy of `from`, with permissions and time of `like`, renamed over `to`.
fn place(from: &Path, to: &Path) -> io::Result<()> {
    let mut name = to.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_os_string();
    name.push(format!(".{}.part", std::process::id()));
    let part = to.with_file_name(name);
    let placed = copy_with_time(from, to, &part).and_then(|()| fs::rename(&part, to));
    if placed.is_err() {
        // The copy's own error is the one to report.
        let _ = fs::remove_file(&part);
    }
    placed
}

fn copy_with_time(from: &Path, like: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to)?;
    let like = fs::metadata(like)?;
    fs::set_permissions(to, like.permissions())?;
    let file = File::options().append(true).open(to)?;
    file.set_modified(like.modified()?)?;
    file.sync_all()
}

fn hash(path: &Path) -> io::Result<u64> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 16];
    let mut hash = model::ids::fnv1a(b"");
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hash),
            count => hash = fnv1a_from(hash, &buffer[..count]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    struct Fixture {
        _folder: tempfile::TempDir,
        program: PathBuf,
        instrumented: PathBuf,
        project: PathBuf,
    }

    fn fixture() -> Fixture {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let (program, instrumented, project) = (at("app"), at("instrumented"), at("app.atomfix"));
        fs::write(&program, "original").expect("written");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o751)).expect("set");
        fs::write(&instrumented, "instrumented").expect("written");
        fs::create_dir(&project).expect("made");
        Fixture { program, instrumented, project, _folder: folder }
    }

    fn content(path: &Path) -> String {
        fs::read_to_string(path).expect("readable")
    }

    fn left(project: &Path) -> Vec<String> {
        let names =
            fs::read_dir(project).expect("the folder").map(|entry| entry.expect("an entry").file_name().into_string().expect("text"));
        names.filter(|name| name != "swap.lock").collect()
    }

    #[test]
    fn the_original_comes_back_as_it_was() {
        let f = fixture();
        let before = fs::metadata(&f.program).expect("it is there");
        let swap = swap(&f.program, &f.instrumented, &f.project, OsStr::new("/folder:seed=1")).expect("swapped");
        let during = fs::metadata(&f.program).expect("it is there");
        assert_eq!(
            (content(&f.program), during.mode(), during.modified().ok()),
            ("instrumented".into(), before.mode(), before.modified().ok())
        );
        assert_eq!(swap.undo().expect("undone"), Recovery::Undone);
        let after = fs::metadata(&f.program).expect("it is there");
        assert_eq!((content(&f.program), after.ino(), after.modified().ok()), ("original".into(), before.ino(), before.modified().ok()));
        assert_eq!(left(&f.project), Vec::<String>::new());
    }

    #[test]
    fn a_killed_process_is_undone_whatever_it_had_done() {
        // Each step that `swap` makes, and what a kill after it leaves.
        for steps in 0..=3 {
            let f = fixture();
            let names = Names::of(&f.program, &f.project);
            if steps >= 1 {
                keep(&f.program, &names.original).expect("kept");
            }
            if steps >= 2 {
                let journal = format!("{FIRST_LINE}\n{:016x}\n", hash(&f.instrumented).expect("read"));
                write_atomically(&names.journal, journal.as_bytes()).expect("written");
            }
            if steps >= 3 {
                place(&f.instrumented, &f.program).expect("placed");
            }
            recover(&f.program, &f.project).expect("recovered");
            assert_eq!(content(&f.program), "original", "after {steps} steps");
            let again = swap(&f.program, &f.instrumented, &f.project, OsStr::new("/folder:seed=1")).expect("swapped").undo();
            assert_eq!(again.expect("undone"), Recovery::Undone);
            assert_eq!((content(&f.program), left(&f.project)), ("original".into(), vec![]), "after {steps} steps");
        }
    }

    #[test]
    fn a_program_built_anew_in_the_meantime_stays() {
        let f = fixture();
        let swap = swap(&f.program, &f.instrumented, &f.project, OsStr::new("/folder:seed=1")).expect("swapped");
        fs::remove_file(&f.program).expect("removed");
        fs::write(&f.program, "newer").expect("written");
        assert_eq!(swap.undo().expect("undone"), Recovery::Replaced);
        assert_eq!((content(&f.program), left(&f.project)), ("newer".into(), vec![]));
    }

    #[test]
    fn nobody_undoes_a_swap_that_is_in_effect() {
        let f = fixture();
        let swap = swap(&f.program, &f.instrumented, &f.project, OsStr::new("/folder:seed=1")).expect("swapped");
        let error = recover(&f.program, &f.project).expect_err("in effect").to_string();
        assert!(error.ends_with("another atomfix has the instrumented program in its place right now"), "{error}");
        assert_eq!(content(&f.program), "instrumented");
        swap.undo().expect("undone");
        assert_eq!(recover(&f.program, &f.project).expect("nothing to do"), Recovery::Nothing);
    }

    #[test]
    fn a_journal_that_is_none_is_an_error_and_nothing_is_touched() {
        let f = fixture();
        for text in ["", "atomfix swap 1\n12", "something\n0123456789abcdef\n"] {
            fs::write(f.project.join("swap.journal"), text).expect("written");
            let error = recover(&f.program, &f.project).expect_err("no journal").to_string();
            assert!(error.contains("swap.journal: not a swap journal"), "{error}");
            assert_eq!(content(&f.program), "original");
        }
    }
}
