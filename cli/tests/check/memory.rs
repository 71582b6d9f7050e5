//! Memory whose life is over: what is used after it was freed, freed twice, or was never allocated; and what the C library itself stores.

use crate::sandbox::Sandbox;

/// The failure is found in every way of exploring, and its schedule repeats it.
fn check(source: &str, words: &[&str]) {
    let sandbox = Sandbox::new();
    sandbox.compile("app.c", source, &[]);
    for options in [
        ["--strategy", "portfolio", "--driver", "auto"],
        ["--strategy", "dpor", "--driver", "auto"],
        ["--strategy", "dpor", "--driver", "fork"],
        ["--strategy", "dfs", "--driver", "exec"],
    ] {
        let said = sandbox.atomfix(&[&["check", "./app"], &options[..]].concat());
        assert_eq!(said.code, 1, "{options:?}: {}{}", said.out, said.err);
        for word in words {
            assert!(said.out.contains(word), "{options:?}, {word}: {}{}", said.out, said.err);
        }
        for schedule in sandbox.schedules() {
            let said = sandbox.atomfix(&["replay", &schedule]);
            assert_eq!(said.code, 1, "{options:?}: {}{}", said.out, said.err);
            assert!(said.out.contains("the same failure as recorded"), "{options:?}: {}{}", said.out, said.err);
        }
    }
}

/// Nothing fails in any schedule.
fn passes(source: &str) {
    let sandbox = Sandbox::new();
    sandbox.compile("app.c", source, &[]);
    for strategy in ["portfolio", "dpor"] {
        let said = sandbox.atomfix(&["check", "./app", "--strategy", strategy]);
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        assert!(said.out.contains("covering all sequentially consistent schedules"), "{}{}", said.out, said.err);
    }
}

/// Two threads that run `first` and `second` with `shared`, a box with a lock, and with a global lock.
fn two(first: &str, second: &str) -> String {
    let head = "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct box { int n; atomic_int count; pthread_mutex_t lock; pthread_cond_t full; char text[40]; };
static struct box *shared;
static pthread_mutex_t global = PTHREAD_MUTEX_INITIALIZER;
static struct box *get(void) {
  pthread_mutex_lock(&global);
  struct box *box = shared;
  pthread_mutex_unlock(&global);
  return box;
}
static struct box *take(void) {
  pthread_mutex_lock(&global);
  struct box *box = shared;
  shared = 0;
  pthread_mutex_unlock(&global);
  return box;
}
";
    format!(
        "{head}static void *other(void *p) {{\n  {first}\n  return p;\n}}
int main(void) {{
  shared = calloc(1, sizeof *shared);
  shared->count = 2;
  pthread_mutex_init(&shared->lock, 0);
  pthread_cond_init(&shared->full, 0);
  pthread_t t;
  pthread_create(&t, 0, other, 0);
  {second}
  pthread_join(t, 0);
  return 0;
}}
"
    )
}

#[test]
fn what_is_used_after_it_was_freed_is_found() {
    let read = two("struct box *box = get(); if (box) box->n++;", "free(take());");
    check(&read, &["use-after-free: memory is read that was freed", "t0 freed it at app.c:32"]);
    let write = two("struct box *box = get(); if (box) box->text[39] = 1;", "free(take());");
    check(&write, &["use-after-free: memory is written that was freed", "at app.c:22"]);
}

#[test]
fn a_lock_in_freed_memory_is_found() {
    let locks =
        two("struct box *box = get(); if (box) { pthread_mutex_lock(&box->lock); pthread_mutex_unlock(&box->lock); }", "free(take());");
    check(&locks, &["use-after-free: a synchronization object is used that was freed"]);
}

#[test]
fn a_block_that_moves_is_freed_where_it_was() {
    let moves = two("struct box *box = get(); if (box) box->n++;", "struct box *box = take(); free(realloc(box, 100000));");
    check(&moves, &["use-after-free: memory is read that was freed"]);
}

#[test]
fn a_block_freed_twice_is_found() {
    check(&two("free(get());", "free(take());"), &["double-free: a block is freed that was freed already", "freed it at app.c"]);
    let resized = two("struct box *box = get(); if (box) free(realloc(box, 100000));", "free(take());");
    check(&resized, &["double-free: a block is freed that was freed already"]);
}

#[test]
fn what_is_freed_and_no_block_is_found() {
    let inside = two("char *volatile block = malloc(100); if (!get()) free(block + 32);", "take();");
    check(&inside, &["bad-free: what is freed is no block of the heap"]);
}

#[test]
fn memory_that_its_last_user_frees_is_in_order() {
    passes(&two(
        "if (atomic_fetch_sub(&shared->count, 1) == 1) free(shared);",
        "if (atomic_fetch_sub(&shared->count, 1) == 1) free(shared);",
    ));
}

#[test]
fn a_condition_may_go_as_soon_as_all_were_woken() {
    passes(
        &two(
            "struct box *box = shared;
  pthread_mutex_lock(&box->lock);
  box->n = 1;
  pthread_cond_broadcast(&box->full);
  pthread_mutex_unlock(&box->lock);",
            "struct box *box = shared;
  pthread_mutex_lock(&box->lock);
  while (!box->n) pthread_cond_wait(&box->full, &box->lock);
  pthread_mutex_unlock(&box->lock);
  pthread_join(t, 0);
  free(box);
  pthread_create(&t, 0, take_nothing, 0);",
        )
        .replace("static void *other", "static void *take_nothing(void *p) { return p; }\nstatic void *other"),
    );
}

#[test]
fn a_block_that_is_handed_out_again_is_no_freed_one() {
    passes(&two(
        "for (int i = 0; i < 2; i++) { int *p = malloc(40); *p = i; free(p); }",
        "for (int i = 0; i < 2; i++) { int *p = malloc(40); *p = i; p = realloc(p, 200); p[30] = 1; free(p); }",
    ));
}

#[test]
fn who_looks_at_the_name_of_a_thread_sees_whether_it_was_created() {
    let source = "#include <assert.h>
#include <pthread.h>
static pthread_t name;
static void *inner(void *p) { assert(pthread_equal(name, pthread_self())); return p; }
static void *outer(void *p) { pthread_create(&name, 0, inner, 0); return p; }
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, outer, 0);
  pthread_t seen = name;
  assert(WHAT);
  pthread_join(t, 0);
  return 0;
}
";
    check(&source.replace("WHAT", "!seen"), &["Assertion `!seen' failed"]);
    check(&source.replace("WHAT", "seen"), &["Assertion `seen' failed"]);
    let sandbox = Sandbox::new();
    sandbox.compile("app.c", &source.replace("WHAT", "seen || !seen"), &[]);
    let said = sandbox.atomfix(&["check", "./app", "--strategy", "dpor", "--races"]);
    assert!(said.out.contains("t1 writes at app.c:5") && said.out.contains("t0 reads at app.c:9"), "{}{}", said.out, said.err);
    assert!(!said.out.contains("app.c:4"), "who is created may look: {}", said.out);
}

/// Whoever looks at a field first, and only then: the write of the whole record is what `dpor` has to turn round.
#[test]
fn a_write_to_a_large_record_conflicts_with_a_look_at_its_field_before() {
    let source = "#include <assert.h>
#include <pthread.h>
#include <string.h>
static struct { char text[100]; int n; char more[100]; } record;
static int open = 1, seen;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *other(void *p) {
  pthread_mutex_lock(&m);
  int may = open;
  pthread_mutex_unlock(&m);
  if (may) seen = record.n;
  return p;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, other, 0);
  pthread_mutex_lock(&m);
  open = 0;
  pthread_mutex_unlock(&m);
  memset(&record, 1, sizeof record);
  pthread_join(t, 0);
  assert(!seen);
  return 0;
}
";
    check(source, &["Assertion `!seen' failed"]);
}

/// Steps that no hook announces have no number among the accesses of the thread, or one of their own: a replay takes no other access for them.
#[test]
fn what_no_hook_announces_is_replayed() {
    let head = "#include <assert.h>
#include <pthread.h>
static pthread_cond_t full = PTHREAD_COND_INITIALIZER;
static void *result;
static int seen;
";
    let destroys = format!(
        "{head}static void *other(void *p) {{
  pthread_cond_signal(&full);
  return p;
}}
int main(void) {{
  pthread_t t;
  pthread_create(&t, 0, other, 0);
  pthread_detach(t);
  pthread_cond_destroy(&full);
}}
"
    );
    check(&destroys, &["misuse: a synchronization object is used that was destroyed", "t0 destroyed it at app.c:14"]);
    let joins = format!(
        "{head}static void *first(void *p) {{ return &seen; }}
static void *second(void *p) {{
  void *before = result;
  seen = before != result;
  return p;
}}
int main(void) {{
  pthread_t t, u;
  pthread_create(&t, 0, first, 0);
  pthread_create(&u, 0, second, 0);
  pthread_join(t, &result);
  pthread_join(u, 0);
  assert(!seen);
}}
"
    );
    check(&joins, &["Assertion `!seen' failed"]);
}

/// A copy is one step. Where another thread could come into the middle of it, that is said, and nothing is called complete.
#[test]
fn a_copy_that_others_could_come_between_is_named() {
    let source = |before: &str, after: &str| {
        format!(
            "#include <pthread.h>
#include <string.h>
static struct {{ long a, b, c; }} pair;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *other(void *p) {{
  {before}
  pair.a++;
  pair.b++;
  {after}
  return p;
}}
int main(void) {{
  pthread_t t;
  pthread_create(&t, 0, other, 0);
  char copy[sizeof pair];
  {before}
  memcpy(copy, &pair, sizeof pair);
  {after}
  pthread_join(t, 0);
  return copy[0] != copy[0];
}}
"
        )
    };
    passes(&source("pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);"));
    for strategy in ["portfolio", "dpor", "dfs"] {
        let sandbox = Sandbox::new();
        sandbox.compile("app.c", &source("", ""), &[]);
        let said = sandbox.atomfix(&["check", "./app", "--strategy", strategy]);
        assert!(said.out.contains("schedules of what is seen"), "{strategy}: {}{}", said.out, said.err);
        assert!(said.out.contains("note: copies: what one call or assignment reads or writes is one step"), "{strategy}: {}", said.out);
    }
}
