//! Libraries that a hardened program opens while it runs: their waits are seen, although nothing that was linked makes such calls and
//! the user asked for no exports, or hides or versions what there is.

use std::fs;
use std::process::Command;

use benchmarks::campaign::counters;
use object::{Object, ObjectSymbol};

use super::{HEAD, compile, plan, run};

const LIBRARY: &str = "#include <semaphore.h>
static sem_t semaphore;
void let_go(void) { sem_post(&semaphore); }
void wait_there(void) { sem_wait(&semaphore); }
";

const BODY: &str = "#include <dlfcn.h>
static int a;
static void (*let_go)(void), (*wait_there)(void);
static void *other(void *unused) {
  a++; //@ acquire X lock0 l0
  let_go();
  return unused;
}
static void await(pthread_t *thread) {
  a++; //@ acquire X lock0 l1
  *thread = start(other);
  wait_there();
}
int main(void) {
  void *library = dlopen(\"./library.so\", RTLD_NOW);
  if (!library) abort();
  *(void **)&let_go = dlsym(library, \"let_go\");
  *(void **)&wait_there = dlsym(library, \"wait_there\");
  pthread_t thread;
  await(&thread);
  pthread_join(thread, 0);
  return a == 2 ? 0 : 1;
}
";

/// Links with these arguments, hardens and runs it.
fn check(arguments: &[&str]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("library.c"), LIBRARY).expect("a writable folder");
    fs::write(folder.path().join("hidden.map"), "/* nothing */ { local: *; };\n").expect("a writable folder");
    fs::write(folder.path().join("listed.map"), "{ global: main; local: *; };\n").expect("a writable folder");
    fs::write(folder.path().join("named.map"), "FIRST { global: main; local: *; };\nSECOND {} FIRST;\n").expect("a writable folder");
    let mut clang = Command::new("clang-22");
    clang.current_dir(folder.path()).args(["-shared", "-fPIC", "library.c", "-o", "library.so"]);
    assert!(clang.status().expect("clang-22 starts").success());
    let source = format!("{HEAD}{BODY}");
    let door = compile(folder.path(), &source, arguments);
    let hardened = folder.path().join("app.hard");
    door.harden(&plan(&door.program, door.build(), &source), &hardened).expect("it can be injected");

    let (code, _, errors) = run(folder.path(), "./app.hard", &[], &[("ATOMFIX_OPTIONS", "stats=1:log=log")]);
    let log = fs::read_to_string(folder.path().join("log")).unwrap_or_default();
    assert_eq!(code, 0, "{arguments:?}: {errors}{log}");
    assert_eq!(counters(&log).into_iter().collect::<Vec<_>>(), [("meet".to_owned(), 1)], "{arguments:?}: {log}");

    let content = fs::read(&hardened).expect("a program");
    let file = object::File::parse(&*content).expect("an executable");
    let exported: Vec<&str> = file.dynamic_symbols().filter(ObjectSymbol::is_definition).filter_map(|symbol| symbol.name().ok()).collect();
    assert!(exported.contains(&"sem_wait") && !exported.contains(&"__atomfix_acquire"), "{arguments:?}: {exported:?}");
}

#[test]
fn a_library_opened_at_run_time_waits_without_the_callers_locks() {
    check(&[]);
    check(&["-fuse-ld=lld"]);
}

#[test]
fn so_it_does_when_the_user_hides_symbols() {
    check(&["-Wl,--exclude-libs,ALL"]);
    check(&["-Wl,--version-script,hidden.map"]);
    check(&["-Wl,--version-script,listed.map"]);
    check(&["-fuse-ld=lld", "-Wl,--exclude-libs,ALL", "-Wl,--version-script=hidden.map"]);
}

#[test]
fn so_it_does_when_the_user_gives_symbols_versions() {
    check(&["-Wl,--version-script,named.map"]);
    check(&["-fuse-ld=lld", "-Wl,--version-script=named.map"]);
}
