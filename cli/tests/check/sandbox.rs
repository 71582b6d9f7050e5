//! A folder of its own for each test, and commands in it that have a time limit.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// Seconds after which a command counts as hung.
const LIMIT: &str = "120";

/// Two threads add one each, without a lock; the second is late in nearly every plain run.
pub(crate) const LOST_UPDATE: &str = "#include <assert.h>
#include <pthread.h>
#include <unistd.h>
static int fill;
static void *append(void *wait) {
  if (wait) usleep(20000);
  int at = fill;
  fill = at + 1;
  return NULL;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, append, &fill);
  append(NULL);
  pthread_join(t, NULL);
  assert(fill == 2);
}
";

/// A folder that is removed at the end.
pub(crate) struct Sandbox {
    folder: TempDir,
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

impl Sandbox {
    /// An empty folder.
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// A path in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("a file in the sandbox");
    }

    /// Reads a file.
    pub(crate) fn read(&self, name: impl AsRef<Path>) -> String {
        fs::read_to_string(self.folder.path().join(name)).expect("a file of the sandbox")
    }

    /// Runs `atomfix`.
    pub(crate) fn atomfix(&self, arguments: &[&str]) -> Said {
        self.run(env!("CARGO_BIN_EXE_atomfix"), arguments)
    }

    /// Runs another command.
    pub(crate) fn run(&self, program: &str, arguments: &[&str]) -> Said {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", LIMIT, program]).args(arguments);
        said(command.current_dir(self.folder.path()))
    }

    /// Runs `atomfix`, and sends it SIGINT after a second.
    pub(crate) fn interrupted(&self, arguments: &[&str]) -> Said {
        let mut command = Command::new("timeout");
        command.args(["--preserve-status", "--signal=INT", "--kill-after=30", "1", env!("CARGO_BIN_EXE_atomfix")]).args(arguments);
        said(command.current_dir(self.folder.path()))
    }

    /// Compiles a source file to `app`.
    pub(crate) fn compile(&self, source: &str, content: &str, flags: &[&str]) {
        self.write(source, content);
        let driver = if source.ends_with(".cpp") { "c++" } else { "cc" };
        let said = self.atomfix(&[&[driver, "-O1", "-g", source, "-o", "app", "-pthread"], flags].concat());
        assert_eq!(said.code, 0, "{source}: {}", said.err);
    }

    /// The schedules that `check` has stored, in order.
    pub(crate) fn schedules(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path("app.atomfix/schedules")) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.map(|entry| format!("app.atomfix/schedules/{}", entry.expect("an entry").file_name().display())).collect();
        names.sort();
        names
    }
}

fn said(command: &mut Command) -> Said {
    let Output { status, stdout, stderr } = command.stdin(Stdio::null()).output().expect("timeout is installed");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Said { code: status.code().unwrap_or(-1), out: text(stdout), err: text(stderr) }
}
