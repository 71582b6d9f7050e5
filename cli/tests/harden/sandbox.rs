//! A folder with a kernel, its profile and its plan, made once for all tests, and commands in copies of it that have a time limit.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use tempfile::TempDir;

/// Seconds after which a command counts as hung.
const LIMIT: &str = "120";

/// What a project consists of, as paths in its folder.
const FILES: [&str; 3] = ["app", "app.atomfix/profile", "app.atomfix/plan.toml"];

/// Built, profiled, inferred: one lock with one pair.
fn project() -> &'static TempDir {
    static MADE: OnceLock<TempDir> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let kernel = Path::new(env!("CARGO_MANIFEST_DIR")).join("../benchmarks/programs/lost_update/main.c");
        fs::copy(kernel, folder.path().join("main.c")).expect("a kernel of the benchmarks");
        for arguments in ["cc -g main.c -o app -pthread", "profile ./app --runs 10 --seed 1", "infer ./app"] {
            let said = run(folder.path(), &format!("exec \"$ATOMFIX\" {arguments}"));
            assert_eq!(said.code, 0, "{arguments}: {}{}", said.out, said.err);
        }
        folder
    })
}

/// Runs a shell script in a folder, in which `$ATOMFIX` is our program.
pub(crate) fn run(folder: &Path, script: &str) -> Said {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", LIMIT, "sh", "-c", script]).env("ATOMFIX", env!("CARGO_BIN_EXE_atomfix"));
    let Output { status, stdout, stderr } = command.current_dir(folder).stdin(Stdio::null()).output().expect("timeout is installed");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Said { code: status.code().unwrap_or(-1), out: text(stdout), err: text(stderr) }
}

/// What a command said.
#[derive(Debug)]
pub(crate) struct Said {
    /// Its exit code; -1 for a signal.
    pub(crate) code: i32,
    /// On standard output.
    pub(crate) out: String,
    /// On standard error.
    pub(crate) err: String,
}

/// A copy of the project in a folder of its own. The program in it still links from the objects of the first one.
pub(crate) struct Sandbox {
    folder: TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(folder.path().join("app.atomfix")).expect("a folder");
        for file in FILES {
            fs::copy(project().path().join(file), folder.path().join(file)).expect("a copy");
        }
        Self { folder }
    }

    /// A path in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Its plan.
    pub(crate) fn plan(&self) -> String {
        fs::read_to_string(self.path("app.atomfix/plan.toml")).expect("a plan")
    }

    /// Runs a shell script in it, in which `$ATOMFIX` is our program.
    pub(crate) fn shell(&self, script: &str) -> Said {
        run(self.folder.path(), script)
    }

    /// Fails the test unless program, profile and plan are what they were, and nothing else was left in the folders beside `expected`.
    #[track_caller]
    pub(crate) fn check_untouched(&self, expected: &[&str]) {
        for file in FILES {
            let same = fs::read(self.path(file)).ok() == fs::read(project().path().join(file)).ok();
            assert!(same, "{file} is not what it was");
        }
        for folder in ["", "app.atomfix"] {
            for entry in fs::read_dir(self.path(folder)).expect("a folder") {
                let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
                // Folders of the project may be made, empty or with whole files.
                let known = ["app", "app.atomfix", "profile", "plan.toml", "certificate.json", "certificate.txt", "build", "recordings"];
                let known = known.contains(&name.as_str());
                assert!(known || expected.contains(&name.as_str()), "{folder}/{name} was left");
            }
        }
    }
}
