//! Objects that end while others use them, by each way to give memory back; and objects whose end is in order, which cost nothing.

use std::fs;

use crate::sandbox::run;

/// A value is read under the lock that keeps its owner in place, and again behind it; the other thread gives it up in between.
fn used_behind_a_lock(declarations: &str, first: &str, second: &str, give_up: &str) -> String {
    format!(
        "#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
{declarations}
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static void *end(void *unused) {{
  {give_up}
  return unused;
}}
int main(void) {{
  pthread_t other;
  int a = 0, b = 0;
  make();
  pthread_create(&other, NULL, end, NULL);
  pthread_mutex_lock(&guard);
  {first}
  pthread_mutex_unlock(&guard);
  {second}
  pthread_join(other, NULL);
  printf(\"%d %d\\n\", a, b);
}}
"
    )
}

#[track_caller]
fn check(source: &str, compiler: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("main.c"), source).expect("a writable folder");
    let compile = format!("{compiler} -g -O1 main.c -o app -pthread");
    let steps = [
        (compile.as_str(), 0, ""),
        ("profile ./app --runs 30 --seed 1", 0, ""),
        ("harden ./app -o hard", 0, ""),
        ("check ./app", 1, "use-after-free"),
        ("check ./hard --require-complete --kept", 0, ""),
    ];
    for (arguments, code, word) in steps {
        let told = run(folder.path(), &format!("exec \"$ATOMFIX\" {arguments}"));
        assert!(told.code == code && told.out.contains(word), "{arguments}: {}{}", told.out, told.err);
    }
}

#[test]
fn an_object_is_not_deleted_between_two_uses() {
    let objects = "struct box { virtual ~box() {} int n = 4; };
static box *shared;
static void make() { shared = new box; }";
    let give_up = "pthread_mutex_lock(&guard); box *mine = shared; shared = nullptr; pthread_mutex_unlock(&guard); delete mine;";
    let source = used_behind_a_lock(objects, "box *found = shared; if (found) a = found->n;", "if (a) b = found->n;", give_up);
    check(&source, "c++ -x c++");
}

#[test]
fn an_array_is_not_moved_between_two_uses() {
    let arrays = "static int *shared;
static void make(void) { shared = (int *)calloc(2, sizeof *shared); shared[0] = 4; }";
    let give_up = "pthread_mutex_lock(&guard); int *mine = shared; shared = NULL; pthread_mutex_unlock(&guard);
  free(realloc(mine, 100000));";
    let source = used_behind_a_lock(arrays, "int *found = shared; if (found) a = *found;", "if (a) b = *found;", give_up);
    check(&source, "cc");
}

#[test]
fn objects_whose_end_is_in_order_cost_nothing() {
    // One that is handed to a thread, which frees it; one that all have left by then; one that is taken out of reach by its users' lock.
    let source = "#include <pthread.h>
#include <stdlib.h>
struct box { int n, m; };
static struct box *reached;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static struct box *left;
static void *use(void *handed) {
  struct box *own = handed;
  own->n = own->m + own->n;
  free(own);
  pthread_mutex_lock(&guard);
  if (reached) reached->n = reached->n + reached->m;
  pthread_mutex_unlock(&guard);
  return (void *)(long)(left->n + left->m + left->n);
}
int main(void) {
  pthread_t other;
  left = calloc(1, sizeof *left);
  reached = calloc(1, sizeof *reached);
  pthread_create(&other, NULL, use, calloc(1, sizeof(struct box)));
  pthread_mutex_lock(&guard);
  struct box *taken = reached;
  reached = NULL;
  pthread_mutex_unlock(&guard);
  free(taken);
  pthread_join(other, NULL);
  free(left);
}
";
    costs_nothing(source);
}

#[test]
fn objects_whose_users_are_counted_cost_nothing() {
    let source = "#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct box { atomic_int users; int n, m; };
static void *use(void *given) {
  struct box *box = given;
  int sum = box->n + box->m + box->n;
  if (atomic_fetch_sub(&box->users, 1) == 1) free(box);
  return sum == 11 ? NULL : given;
}
int main(void) {
  pthread_t other;
  struct box *box = malloc(sizeof *box);
  atomic_init(&box->users, 2);
  box->n = 4;
  box->m = 3;
  pthread_create(&other, NULL, use, box);
  use(box);
  pthread_join(other, NULL);
}
";
    costs_nothing(source);
}

#[track_caller]
fn costs_nothing(source: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("main.c"), source).expect("a writable folder");
    for arguments in ["cc -g -O1 main.c -o app -pthread", "profile ./app --runs 20 --seed 1", "infer ./app"] {
        let told = run(folder.path(), &format!("exec \"$ATOMFIX\" {arguments}"));
        assert_eq!(told.code, 0, "{arguments}: {}{}", told.out, told.err);
        assert!(!told.out.contains("protects box"), "{}{}", told.out, told.err);
    }
}
