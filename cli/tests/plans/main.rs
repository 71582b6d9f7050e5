//! Plans that nobody should apply, in real builds: the hardened program ends all the same, with its own result and with the reason
//! counted; `check` says which lock was lost, where it had been taken and why.
//!
//! A program says in comments where its plan acquires: `//@ acquire X lock0 l1` stands before what the line does first, and the release
//! before every return of the function. It is run with an argument, which makes its threads meet where it hurts.

mod causes;
mod libraries;
mod size;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use benchmarks::campaign::counters;
use benchmarks::door::Door;
use model::cause::Cause;
use model::ids::{LockId, NodeId};
use model::plan::{Action, At, Lock, Operation, PLAN_SCHEMA, Plan};
use model::program::{Function, NodeKind, Program};

/// What every program begins with.
const HEAD: &str = "#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static int meet;
static void met(int *mine, int *other) {
  __atomic_store_n(mine, 1, __ATOMIC_SEQ_CST);
  if (meet) while (!__atomic_load_n(other, __ATOMIC_SEQ_CST)) {}
}
static pthread_t start(void *(*body)(void *)) {
  pthread_t thread;
  if (pthread_create(&thread, 0, body, 0)) abort();
  return thread;
}
";

fn archive() -> &'static Path {
    static ARCHIVE: OnceLock<PathBuf> = OnceLock::new();
    ARCHIVE.get_or_init(|| benchmarks::archive::lock(Path::new(env!("CARGO_TARGET_TMPDIR"))).expect("the archive builds"))
}

fn run(folder: &Path, program: &str, arguments: &[&str], environment: &[(&str, &str)]) -> (i32, String, String) {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "60", program]).args(arguments).envs(environment.iter().copied()).current_dir(folder);
    let output = command.output().expect("timeout is installed");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

fn compile(folder: &Path, source: &str, more: &[&str]) -> Door {
    fs::write(folder.join("app.c"), source).expect("a writable folder");
    let arguments = [&["cc", "-O1", "-g", "-pthread", "app.c", "-o", "app"], more].concat();
    let (code, _, errors) = run(folder, env!("CARGO_BIN_EXE_atomfix"), &arguments, &[]);
    assert_eq!(code, 0, "{errors}");
    Door::open(&folder.join("app"), archive()).expect("a captured program")
}

/// The plan that the source's comments ask for.
fn plan(program: &Program, build: &str, source: &str) -> Plan {
    let mut locks: BTreeMap<u32, Vec<Operation>> = BTreeMap::new();
    for (index, line) in source.lines().enumerate() {
        let Some((_, directive)) = line.split_once("//@ ") else { continue };
        let [verb, mode, lock, label] = directive.split(' ').collect::<Vec<_>>()[..] else { panic!("not understood: {directive}") };
        let lock: u32 = lock.strip_prefix("lock").and_then(|number| number.parse().ok()).expect("lockN");
        let action: Action = format!("{verb} {mode} {label}").parse().expect("an action");
        let Action::Acquire(_, origin) = action else { panic!("only acquisitions are marked") };
        let number = u32::try_from(index + 1).expect("a short source");
        let (function, node) = first_at(program, number).unwrap_or_else(|| panic!("nothing at line {number}"));
        let source = format!("app.c:{number} ({})", function.name);
        let operations = locks.entry(lock).or_default();
        operations.push(Operation { function: function.key, at: At::Before(node), action, source });
        for (index, node) in function.nodes.iter().enumerate().filter(|(_, node)| node.kind == NodeKind::Return) {
            let source = node.source.to_string();
            operations.push(Operation {
                function: function.key,
                at: At::Before(NodeId::new(index)),
                action: Action::Release(origin),
                source,
            });
        }
    }
    let lock = |(id, operations)| {
        let id = LockId(id);
        Lock { id, enabled: true, variable: format!("variable{}", id.0), cost: 0, pairs: Vec::new(), operations }
    };
    Plan { schema: PLAN_SCHEMA, build: build.to_owned(), locks: locks.into_iter().map(lock).collect(), ..Plan::default() }
}

fn first_at(program: &Program, line: u32) -> Option<(&Function, NodeId)> {
    program.functions.iter().find_map(|function| {
        let acts = |node: &model::program::Node| matches!(node.kind, NodeKind::Access(_) | NodeKind::Call(_));
        let found =
            function.nodes.iter().position(|node| acts(node) && node.source.0.first().is_some_and(|position| position.line == line))?;
        Some((function, NodeId::new(found)))
    })
}

/// `cause` is what the runtime counts, and what `check` says of the hold that was taken at label l1.
fn check(body: &str, cause: Cause) {
    check_listed(body, cause, &[]);
}

/// As `check`, with functions that the plan lists as ones that may wait.
fn check_listed(body: &str, cause: Cause, blocking: &[&str]) {
    check_says(body, cause, &[&format!("l1: {}", cause.story())], blocking);
}

/// As `check_listed`, with what `check` says.
fn check_says(body: &str, cause: Cause, said: &[&str], blocking: &[&str]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = format!("{HEAD}{body}");
    let door = compile(folder.path(), &source, &[]);
    let mut plan = plan(&door.program, door.build(), &source);
    plan.blocking = blocking.iter().map(|name| (*name).to_owned()).collect();
    door.harden(&plan, &folder.path().join("app.hard")).expect("it can be injected");
    let options = "stats=1:log=log:inspect_ms=20";
    for _ in 0..5 {
        let (code, _, errors) = run(folder.path(), "./app.hard", &["meet"], &[("ATOMFIX_OPTIONS", options)]);
        let log = fs::read_to_string(folder.path().join("log")).unwrap_or_default();
        assert_eq!(code, 0, "{errors}\n{log}");
        assert!(counters(&log).contains_key(cause.name()), "{log}");
        fs::remove_file(folder.path().join("log")).expect("statistics");
    }
    assert_explored(folder.path(), said);
}

/// `check` finds nothing wrong with the program in this folder, and says this.
fn assert_explored(folder: &Path, said: &[&str]) {
    assert_explored_by(folder, &[], said);
}

/// As `assert_explored`, with options of `check`.
fn assert_explored_by(folder: &Path, options: &[&str], said: &[&str]) {
    let arguments = [&["check", "./app.hard", "--timeout", "20"], options].concat();
    let (code, out, errors) = run(folder, env!("CARGO_BIN_EXE_atomfix"), &arguments, &[]);
    assert_eq!(code, 0, "{out}{errors}");
    for said in said {
        assert!(out.lines().any(|line| line.contains(said)), "no '{said}' in\n{out}");
    }
}

/// What `check` with these options says of a program.
fn explored(body: &str, options: &[&str], said: &[&str]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = format!("{HEAD}{body}");
    let door = compile(folder.path(), &source, &[]);
    door.harden(&plan(&door.program, door.build(), &source), &folder.path().join("app.hard")).expect("it can be injected");
    assert_explored_by(folder.path(), options, said);
}

#[test]
fn locks_in_both_orders() {
    let body = "static int a, b, x, y;
static void *other(void *unused) {
  b++; //@ acquire X lock1 l0
  met(&y, &x);
  a++; //@ acquire X lock0 l1
  return unused;
}
static void work(void) {
  a++; //@ acquire X lock0 l2
  met(&x, &y);
  b++; //@ acquire X lock1 l3
}
int main(int count, char **arguments) {
  (void)arguments;
  meet = count > 1;
  pthread_t thread = start(other);
  work();
  pthread_join(thread, 0);
  return a == 2 && b == 2 ? 0 : 1;
}
";
    let line = |marker: &str| format!("{HEAD}{body}").lines().position(|line| line.contains(marker)).expect("a marked line") + 1;
    // Either may be taken away, and exploration goes both ways.
    let first = format!("lock1 (variable1), taken at app.c:{} (other), l0: revoked (cycle)", line("l0"));
    let second = format!("lock0 (variable0), taken at app.c:{} (work), l2: revoked (cycle)", line("l2"));
    check_says(body, Cause::Cycle, &[&first, &second], &[]);
}

#[test]
fn a_lock_held_across_a_join() {
    let body = "static int a;
static void *other(void *unused) {
  a++; //@ acquire X lock0 l0
  return unused;
}
int main(void) {
  a++; //@ acquire X lock0 l1
  pthread_t thread = start(other);
  pthread_join(thread, 0);
  return a == 2 ? 0 : 1;
}
";
    check(body, Cause::Join);
}

#[test]
fn a_lock_held_across_a_condition_wait() {
    let body = "static int a, ready;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static void *other(void *unused) {
  pthread_mutex_lock(&mutex);
  ready = 1; //@ acquire X lock0 l0
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  return unused;
}
static void await(void) {
  a++; //@ acquire X lock0 l1
  while (!ready) pthread_cond_wait(&condition, &mutex);
}
int main(void) {
  pthread_mutex_lock(&mutex);
  pthread_t thread = start(other);
  await();
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, 0);
  return a == 1 ? 0 : 1;
}
";
    check(body, Cause::Condition);
}

#[test]
fn a_lock_held_across_a_blocking_read() {
    // The thread is made under the lock, so that it can never write first.
    let body = "static int a, ends[2];
static pthread_t thread;
static void *other(void *unused) {
  a++; //@ acquire X lock0 l0
  if (write(ends[1], \"x\", 1) != 1) abort();
  return unused;
}
static void receive(void) {
  char byte;
  a++; //@ acquire X lock0 l1
  thread = start(other);
  if (read(ends[0], &byte, 1) != 1) abort();
}
int main(void) {
  if (pipe(ends)) abort();
  receive();
  pthread_join(thread, 0);
  return a == 2 ? 0 : 1;
}
";
    check(body, Cause::Stream);
}

#[test]
fn a_lock_held_while_spinning_on_a_flag_that_is_set_under_it() {
    let body = "static int flag, a, x;
static void *other(void *unused) {
  while (!__atomic_load_n(&x, __ATOMIC_ACQUIRE)) {}
  __atomic_store_n(&flag, 1, __ATOMIC_RELEASE); //@ acquire X lock0 l0
  return unused;
}
static void await(void) {
  a++; //@ acquire X lock0 l1
  __atomic_store_n(&x, 1, __ATOMIC_RELEASE);
  while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE)) {}
}
int main(void) {
  pthread_t thread = start(other);
  await();
  pthread_join(thread, 0);
  return a == 1 ? 0 : 1;
}
";
    check(body, Cause::Spinning);
}

#[test]
fn a_thread_that_has_seen_the_end_of_its_loop_does_not_go_round() {
    // Before the news and after it the thread waits for the same lock, with nothing but what it has read to tell them apart.
    let body = "#include <sched.h>
static int stop, a;
static __attribute__((noinline)) int look(void) {
  return a; //@ acquire R lock0 l0
}
static void *other(void *unused) {
  int sum = 0;
  // After two signs of a thread that gives way, states are looked at.
  sched_yield();
  sched_yield();
  do sum += look();
  while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE));
  return look() + sum == 0 ? unused : &stop;
}
int main(void) {
  pthread_t thread = start(other);
  __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
  pthread_join(thread, 0);
  a = 1; //@ acquire X lock0 l1
  return 0;
}
";
    explored(body, &["--strategy", "random", "--max-schedules", "2000"], &["no failure found"]);
}
