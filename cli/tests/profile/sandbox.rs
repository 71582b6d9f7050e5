//! A folder with one program, built once for all tests, and commands in it that have a time limit.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

use model::profile::Profile;
use model::wire::{PROFILE, unframe};
use tempfile::TempDir;

/// Seconds after which a command counts as hung.
const LIMIT: &str = "120";

/// What it does depends on its first argument.
pub(crate) const SOURCE: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, mode;
static void add(int n) { total = total + n; }
static void *work(void *unused) {
  for (int i = 0; i < 3; i++) { pthread_mutex_lock(&lock); add(i); pthread_mutex_unlock(&lock); }
  return unused;
}
static void both(void) {
  pthread_t t;
  pthread_create(&t, NULL, work, NULL);
  work(NULL);
  pthread_join(t, NULL);
}
static int *block;
static void *release(void *unused) { free(block); return unused; }
static int stale(void) {
  pthread_t t;
  block = malloc(64);
  *block = 1;
  pthread_create(&t, NULL, release, NULL);
  pthread_join(t, NULL);
  return *block == 0; /* too late */
}
int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  both();
  if (!strcmp(what, "fail")) { fprintf(stderr, "no good\n"); return 3; }
  if (!strcmp(what, "abort")) abort();
  if (!strcmp(what, "hang")) for (;;) pause();
  if (!strcmp(what, "fork")) { if (fork() == 0) { both(); _exit(0); } wait(NULL); }
  if (!strcmp(what, "stale")) stale();
  if (!strcmp(what, "stale-child")) { if (fork() == 0) { stale(); _exit(0); } wait(NULL); }
  if (!strcmp(what, "serve")) {
    FILE *ready = fopen(argv[2], "w");
    fprintf(ready, "ready\n");
    fclose(ready);
    for (;;) pause();
  }
  printf("%d\n", total);
  return 0;
}
"#;

/// The program, built.
fn program() -> &'static TempDir {
    static BUILT: OnceLock<TempDir> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("app.c"), SOURCE).expect("a file");
        let said = finish(timed().args(["cc", "-g", "app.c", "-o", "app", "-pthread"]).current_dir(folder.path()));
        assert_eq!(said.code, 0, "{}", said.err);
        folder
    })
}

fn timed() -> Command {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", LIMIT, env!("CARGO_BIN_EXE_atomfix")]).stdin(Stdio::null());
    command
}

fn finish(command: &mut Command) -> Said {
    let Output { status, stdout, stderr } = command.output().expect("timeout is installed");
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

impl Said {
    /// Fails the test unless it was refused with these words, and with help.
    #[track_caller]
    pub(crate) fn refused(&self, words: &str) {
        assert_eq!(self.code, 2, "{}{}", self.out, self.err);
        assert!(self.err.contains(words), "{}", self.err);
        assert!(self.err.contains("help: "), "{}", self.err);
    }

    /// Fails the test unless it went well.
    #[track_caller]
    pub(crate) fn good(self) -> Self {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        self
    }
}

/// A copy of the program in a folder of its own.
pub(crate) struct Sandbox {
    folder: TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::copy(program().path().join("app"), folder.path().join("app")).expect("a copy");
        Self { folder }
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
    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("a file of the sandbox")
    }

    /// Runs `atomfix`.
    pub(crate) fn atomfix(&self, arguments: &[&str]) -> Said {
        finish(timed().args(arguments).current_dir(self.folder.path()))
    }

    /// Starts `atomfix`, without a time limit in between, so that signals reach it.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_atomfix"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("atomfix starts")
    }

    /// Runs a shell script, in which `$ATOMFIX` is our program.
    pub(crate) fn shell(&self, script: &str) -> Said {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", LIMIT, "sh", "-c", script]).env("ATOMFIX", env!("CARGO_BIN_EXE_atomfix"));
        finish(command.current_dir(self.folder.path()).stdin(Stdio::null()))
    }

    /// The profile that was stored.
    pub(crate) fn profile(&self) -> Profile {
        self.profile_of("app")
    }

    /// That of another program.
    pub(crate) fn profile_of(&self, program: &str) -> Profile {
        let bytes = self.read(&format!("{program}.atomfix/profile"));
        postcard::from_bytes(unframe(PROFILE, &bytes).expect("framed")).expect("a profile")
    }

    /// Whether a profile was stored.
    pub(crate) fn has_profile(&self) -> bool {
        self.path("app.atomfix/profile").exists()
    }

    /// Whether the program is what was built, and nothing of a swap is left.
    #[track_caller]
    pub(crate) fn check_original(&self) {
        let built = fs::read(program().path().join("app")).expect("the program");
        assert!(self.read("app") == built, "the program is not the original");
        assert!(!self.path("app.atomfix/swap.journal").exists() && !self.path("app.atomfix/original").exists());
        let recordings = fs::read_dir(self.path("app.atomfix/recordings")).map_or(0, Iterator::count);
        assert_eq!(recordings, 0, "recordings were left");
    }
}
