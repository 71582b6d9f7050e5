//! Code that runs before any thread is started.

use std::fs;

use crate::sandbox::Sandbox;

/// The threads take turns by an atomic, which counts as no order, so that no run interleaves them.
const PROGRAM: &str = "#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
static int count;
static atomic_int turn;
static void prepare(int start) {
  count = start;
  count += 1;
}
static void *work(void *mine) {
  while (atomic_load(&turn) != *(int *)mine) sched_yield();
  count++;
  atomic_fetch_add(&turn, 1);
  return 0;
}
int main(int argc, char **argv) {
  static int turns[2] = {0, 1};
  pthread_t threads[2];
  (void)argv;
  prepare(argc);
  for (int i = 0; i < 2; i++) if (pthread_create(&threads[i], 0, work, &turns[i])) return 2;
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  return count != argc + 3;
}
";

#[test]
fn code_before_the_first_thread_takes_no_lock() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path("early.c"), PROGRAM).expect("a writable folder");
    let build = "\"$ATOMFIX\" cc -g early.c -o early -pthread && \"$ATOMFIX\" profile ./early --runs 5 --seed 1";
    let said = sandbox
        .shell(&format!("{build} && \"$ATOMFIX\" infer ./early --stats && \"$ATOMFIX\" harden ./early -o early.hard && ./early.hard"));
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let row = said.out.lines().find(|line| line.starts_with("accesses of locked variables before any thread is started"));
    let early = row.and_then(|line| line.split_whitespace().last());
    // One write, one read and one write in `prepare`.
    assert_eq!(early, Some("3"), "{}", said.out);
    let plan = fs::read_to_string(sandbox.path("early.atomfix/plan.toml")).expect("a plan");
    assert!(plan.contains("variable = \"count"), "{plan}");
}
