//! Steps that end the process while others could go on: what only happens if those go first is found too, though no execution has
//! the end and what it conflicts with.

use crate::sandbox::Sandbox;

/// What a search says has both words.
fn check(source: &str, words: [&str; 2]) {
    let sandbox = Sandbox::new();
    sandbox.compile("app.c", source, &[]);
    for strategy in ["portfolio", "dfs", "sleep", "dpor"] {
        let said = sandbox.atomfix(&["check", "./app", "--outcomes", "--strategy", strategy]);
        assert!(said.out.contains("covering all sequentially consistent schedules"), "{strategy}: {}{}", said.out, said.err);
        for word in words {
            assert!(said.out.contains(word), "{strategy}, {word}: {}{}", said.out, said.err);
        }
    }
}

#[test]
fn an_exit_shows_what_a_thread_wrote_right_before_it_failed() {
    let source = r#"#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int a, b;
static void show(void) { printf("%d%d", a, b); }
static void *leave(void *p) { exit(0); return p; }
static void *fail(void *p) {
  __atomic_store_n(&a, 2, __ATOMIC_SEQ_CST);
  b = 1;
  assert(!p);
  return p;
}
int main(void) {
  pthread_t t[2];
  atexit(show);
  pthread_create(&t[0], 0, leave, 0);
  pthread_create(&t[1], 0, fail, &t);
  pthread_join(t[0], 0);
}
"#;
    check(source, ["printed \"00\"", "printed \"20\""]);
}

#[test]
fn a_failure_that_another_thread_averts_leaves_what_comes_after_it() {
    let source = "#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
static int x;
static sem_t never;
static pthread_cond_t nobody = PTHREAD_COND_INITIALIZER;
static void *look(void *p) {
  pthread_cond_broadcast(&nobody);
  assert(x);
  return p;
}
static void *stay(void *p) {
  x = 1;
  sem_wait(&never);
  return p;
}
int main(void) {
  pthread_t t[2];
  sem_init(&never, 0, 0);
  pthread_create(&t[0], 0, look, 0);
  pthread_create(&t[1], 0, stay, 0);
  pthread_join(t[0], 0);
  pthread_join(t[1], 0);
}
";
    check(source, ["failure: assert", "failure: deadlock"]);
}
