//! A folder with source files, in which commands run with a time limit, a cache and a temporary folder of its own.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use capture::{Capture, Relink, open, relink};
use tempfile::TempDir;

/// Seconds that one command may take.
const LIMIT: &str = "120";
const ATOMFIX: &str = env!("CARGO_BIN_EXE_atomfix");

/// A folder that is removed at the end.
pub(crate) struct Sandbox {
    root: TempDir,
}

/// What a command did. Paths into the sandbox are written `$ROOT`, random letters in names of temporary files `-RANDOM`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Fails the test unless the command ended well.
    #[track_caller]
    pub(crate) fn good(self) -> Self {
        assert_eq!(self.code, Some(0), "{}{}", self.stdout, self.stderr);
        self
    }
}

impl Sandbox {
    /// A folder with these files.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let sandbox = Self { root: tempfile::tempdir().expect("a folder") };
        for folder in ["work", "tmp", "bin"] {
            fs::create_dir(sandbox.root.path().join(folder)).expect("a folder");
        }
        for name in ["atomfix", "atomfix-cc", "atomfix-c++"] {
            symlink(ATOMFIX, sandbox.root.path().join("bin").join(name)).expect("a link");
        }
        for (name, text) in files {
            sandbox.write(name, text);
        }
        sandbox
    }

    /// The path of a file.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join("work").join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.path(name)).expect(name)).into_owned()
    }

    /// What is left in the temporary folder.
    pub(crate) fn left_over(&self) -> Vec<PathBuf> {
        fs::read_dir(self.root.path().join("tmp")).expect("a folder").map(|entry| entry.expect("an entry").path()).collect()
    }

    /// A command in the sandbox, not started. `atomfix`, `atomfix-cc` and `atomfix-c++` are on its path.
    pub(crate) fn command(&self, program: &str) -> Command {
        let root = self.root.path();
        let path = format!("{}:{}", root.join("bin").display(), std::env::var("PATH").unwrap_or_default());
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", LIMIT, program]).current_dir(root.join("work")).stdin(Stdio::null());
        command.env("PATH", path).env("TMPDIR", root.join("tmp")).env("XDG_CACHE_HOME", root.join("cache")).env("LC_ALL", "C");
        command
    }

    /// Runs a started or unstarted command to its end. What this process has linked may be busy: a child that another test is starting
    /// has what it had open until it becomes another program.
    pub(crate) fn finish(&self, command: &mut Command) -> Ran {
        const TRIES: usize = 100;
        let mut run = || command.output().expect("timeout is a program of coreutils");
        let is_busy = |output: &Output| output.status.code() == Some(126) && output.stderr.ends_with(b"Text file busy\n");
        let mut output = run();
        for _ in 0..TRIES {
            if !is_busy(&output) {
                break;
            }
            output = run();
        }
        let text = |bytes: &[u8]| self.neutral(&String::from_utf8_lossy(bytes));
        let code = output.status.code().or_else(|| output.status.signal().map(|signal| -signal));
        assert!(!matches!(code, Some(124 | 137)), "{command:?} took too long");
        Ran { code, stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    pub(crate) fn run(&self, program: &str, arguments: &[&str]) -> Ran {
        self.finish(self.command(program).args(arguments))
    }

    /// Runs a shell script.
    pub(crate) fn shell(&self, script: &str) -> Ran {
        self.run("sh", &["-ec", script])
    }

    /// `atomfix cc` with words for arguments.
    pub(crate) fn cc(&self, line: &str) -> Ran {
        let words: Vec<&str> = std::iter::once("cc").chain(line.split_whitespace()).collect();
        self.run("atomfix", &words)
    }

    /// Opens a program of the sandbox.
    #[track_caller]
    pub(crate) fn open(&self, program: &str) -> Capture {
        open(&self.path(program)).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Links the program anew from its unchanged bitcode, and checks that the new one does what the old one does.
    #[track_caller]
    pub(crate) fn check_round_trip(&self, program: &str, modules: &[&str]) -> Capture {
        let capture = self.open(program);
        let found: Vec<&str> = capture.units.iter().map(|unit| unit.module.as_str()).collect();
        assert_eq!(found, modules, "units of {program}");
        let again = format!("{program}.again");
        relink(&capture, &unchanged(&capture, &self.path(&again))).unwrap_or_else(|error| panic!("{error}"));
        let run = |name: &str| self.run(self.path(name).to_str().expect("a UTF-8 path"), &["argument"]);
        let (before, after) = (run(program), run(&again));
        assert_eq!(before, after, "{program}, linked anew");
        assert!(!before.stdout.is_empty(), "a program that prints nothing shows nothing");
        capture
    }

    /// Every file in the working folder with its content; objects and programs by their name alone.
    pub(crate) fn files(&self) -> BTreeMap<String, Option<String>> {
        let mut found = BTreeMap::new();
        collect(&self.root.path().join("work"), "", &mut found);
        found.into_iter().map(|(name, text)| (name, text.map(|text| self.neutral(&text)))).collect()
    }

    fn neutral(&self, text: &str) -> String {
        let mut neutral = text.replace(&self.root.path().display().to_string(), "$ROOT");
        let mut from = 0;
        while let Some(at) = neutral[from..].find(".o").map(|at| from + at) {
            let start = at.saturating_sub(7);
            let is_random = neutral.is_char_boundary(start)
                && neutral[start..at]
                    .strip_prefix('-')
                    .is_some_and(|random| random.len() == 6 && random.bytes().all(|byte| byte.is_ascii_hexdigit()));
            if is_random {
                neutral.replace_range(start..at, "-RANDOM");
            }
            from = at + 2;
        }
        neutral
    }
}

fn collect(folder: &Path, prefix: &str, found: &mut BTreeMap<String, Option<String>>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = format!("{prefix}{}", path.file_name().expect("a name").to_string_lossy());
        if path.is_dir() {
            collect(&path, &format!("{name}/"), found);
        } else {
            let content = fs::read(&path).expect("a file");
            let is_text = !content.starts_with(b"\x7fELF") && !content.starts_with(b"!<arch>");
            found.insert(name, is_text.then(|| String::from_utf8_lossy(&content).into_owned()));
        }
    }
}

/// A second link that changes nothing.
pub(crate) fn unchanged(capture: &Capture, out: &Path) -> Relink {
    Relink {
        bitcode: capture.units.iter().map(|unit| Some(unit.bitcode.clone())).collect(),
        extra_bitcode: Vec::new(),
        archives: Vec::new(),
        link_args: Vec::new(),
        hardened: None,
        out: out.to_owned(),
    }
}
