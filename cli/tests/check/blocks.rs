//! Orders of atomic blocks: the eight programs of Bruening's thesis (MIT 1999, chapter 4), in C; as there, the initial thread ends
//! first. Each bug is found, and no more
//! executions are begun than the thesis counts paths.

use serde_json::Value;

use crate::sandbox::Sandbox;

const HEAD: &str = "#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, c = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static void in(pthread_mutex_t *m) { pthread_mutex_lock(m); }
static void out(pthread_mutex_t *m) { pthread_mutex_unlock(m); }
static void both(pthread_mutex_t *m, pthread_mutex_t *n) { in(m); in(n); out(n); out(m); }
typedef void *(*body)(void *);
static void run(int count, body *bodies) {
  pthread_t threads[8];
  for (int at = 0; at < count; at++) pthread_create(&threads[at], NULL, bodies[at], NULL);
  pthread_exit(NULL);
}
";

/// A bounded buffer of one element, with what the producer does when it is full, and how waiters are woken.
fn buffer(full: &str, wake: &str, threads: &str) -> String {
    format!(
        "static int items[2], first, last;
static void enqueue(int item) {{
  in(&a);
  {full} ((last + 1) % 2 == first) pthread_cond_wait(&ready, &a);
  assert((last + 1) % 2 != first);
  items[last] = item;
  last = (last + 1) % 2;
  {wake}(&ready);
  out(&a);
}}
static int dequeue(void) {{
  in(&a);
  while (first == last) pthread_cond_wait(&ready, &a);
  int item = items[first];
  first = (first + 1) % 2;
  {wake}(&ready);
  out(&a);
  return item;
}}
static void *produce(void *p) {{ enqueue(1); enqueue(2); return p; }}
static void *consume(void *p) {{ for (int n = 0; n < 4; n++) dequeue(); return p; }}
int main(void) {{ run(3, (body[]){{{threads}}}); }}
"
    )
}

/// Explores with pruning and lock chains, and compares: what is found, at most how many executions are begun.
fn check(name: &str, source: &str, options: &[&str], expected: &[&str], most: u64) {
    let sandbox = Sandbox::new();
    sandbox.compile("app.c", &format!("{HEAD}{source}"), &["-Wno-unused-function"]);
    let said = sandbox.atomfix(&[&["check", "./app", "--strategy", "exitblock-rwdd", "--json", "result.json"], options].concat());
    let report: Value = serde_json::from_str(&sandbox.read("result.json")).expect("JSON");
    let result = &report["results"][0];
    let kinds: Vec<&str> =
        result["failures"].as_array().expect("a list").iter().map(|failure| failure["kind"].as_str().expect("a kind")).collect();
    for kind in expected {
        assert!(kinds.contains(kind), "{name}: {kinds:?}: {}{}", said.out, said.err);
    }
    assert_eq!(kinds.is_empty(), expected.is_empty(), "{name}: {kinds:?}");
    let number = |key: &str| result[key].as_u64().expect("a number");
    let begun = number("schedules") + number("abandoned");
    assert!(begun <= most, "{name}: {begun} executions, at most {most} expected: {}", said.out);
    assert_eq!(number("diverged"), 0, "{name}");
}

#[test]
fn the_bugs_of_the_thesis_are_found_within_its_numbers_of_paths() {
    check(
        "SplitSync",
        "static int x;
static void *step(void *p) { in(&a); int y = x; out(&a); in(&a); assert(x == y); x = y + 1; out(&a); return p; }
int main(void) { run(2, (body[]){step, step}); }",
        &[],
        &["assert"],
        18,
    );
    check(
        "NoEraser",
        "static int x;
static void *locked(void *p) { in(&a); int y = x; (void)y; out(&a); in(&a); x++; out(&a); return p; }
static void *careless(void *p) { in(&a); int y = x; out(&a); if (y == 0) x++; else { in(&a); x++; out(&a); } return p; }
int main(void) { run(2, (body[]){locked, careless}); }",
        &["--races"],
        &["data-race"],
        16,
    );
    check(
        "Deadlock",
        "static void *one(void *p) { both(&a, &b); return p; }
static void *two(void *p) { both(&b, &a); return p; }
int main(void) { run(2, (body[]){one, two}); }",
        &[],
        &["deadlock-lock"],
        10,
    );
    check(
        "Deadlock3",
        "static void *one(void *p) { both(&a, &b); return p; }
static void *two(void *p) { both(&b, &c); return p; }
static void *three(void *p) { both(&c, &a); return p; }
int main(void) { run(3, (body[]){one, two, three}); }",
        &[],
        &["deadlock-lock"],
        79,
    );
    check(
        "DeadlockWait",
        "static void *one(void *p) { in(&a); in(&b); pthread_cond_wait(&ready, &b); out(&b); out(&a); return p; }
static void *two(void *p) { in(&a); out(&a); in(&b); pthread_cond_signal(&ready); out(&b); return p; }
int main(void) { run(2, (body[]){one, two}); }",
        &[],
        &["deadlock-condition"],
        7,
    );
    check("BufferIf", &buffer("if", "pthread_cond_broadcast", "produce, consume, produce"), &[], &["assert"], 22_958);
    check("BufferNotify", &buffer("while", "pthread_cond_signal", "produce, produce, consume"), &[], &["deadlock-condition"], 29_350);
    check(
        "Performance 2 3",
        "static void *one(void *p) { in(&a); out(&a); in(&b); out(&b); in(&c); out(&c); return p; }
int main(void) { run(2, (body[]){one, one}); }",
        &[],
        &[],
        12,
    );
}
