//! Shared libraries without hooks: that they are there is named, and what they keep from being seen.

use crate::sandbox::Sandbox;

#[test]
fn a_library_that_an_option_asks_for_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write("omp.c", "int of_the_library;");
    let said = sandbox.run("clang-22", &["-shared", "-fPIC", "omp.c", "-o", "libomp.so"]);
    assert_eq!(said.code, 0, "{}", said.err);
    for (options, expected) in [(&["-fopenmp", "-L.", "-Wl,-rpath,."][..], true), (&[], false)] {
        sandbox.compile("app.c", "int main(void) { return 0; }", options);
        let said = sandbox.atomfix(&["check", "./app"]);
        assert_eq!(said.out.contains("libomp.so (a shared library)"), expected, "{options:?}: {}{}", said.out, said.err);
    }
}

#[test]
fn a_library_whose_atomics_nobody_sees_is_named_and_nothing_is_called_complete() {
    // Waking is left out where nobody seemed to wait: between the look and the wait another thread may come, which only the atomics show.
    const SIGNALS: &str = "#define _GNU_SOURCE
#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>
static atomic_int waits, word;
void await_it(void) {
  int before = word;
  waits = 1;
  CALL(FUTEX_WAIT, before);
}
void give_it(void) {
  if (!waits) return;
  word++;
  CALL(FUTEX_WAKE, 1);
}
";
    const BY_LIBRARY: &str = "-DCALL(what,value)=syscall(SYS_futex,&word,what,value,NULL)";
    const BY_ITSELF: &str = "-DCALL(what,value)=({long r;register long t __asm__(\"r10\")=0;__asm__ \
volatile(\"syscall\":\"=a\"(r):\"a\"((long)SYS_futex),\"D\"(&word),\"S\"((long)what),\"d\"((long)value),\"r\"(t):\"rcx\",\"r11\",\"memory\");})";
    const PROGRAM: &str = "#include <pthread.h>
void await_it(void);
void give_it(void);
static void *give(void *p) {
  give_it();
  return p;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, give, 0);
  await_it();
  pthread_join(t, 0);
}
";
    let sandbox = Sandbox::new();
    sandbox.write("signals.c", SIGNALS);
    sandbox.write("app.c", PROGRAM);
    for call in [BY_LIBRARY, BY_ITSELF] {
        let call = call.replace("\\\n", "");
        let said = sandbox.run("clang-22", &["-shared", "-fPIC", &call, "signals.c", "-o", "libsignals.so"]);
        assert_eq!(said.code, 0, "{}", said.err);
        let said = sandbox.atomfix(&["cc", "-g", "-pthread", "app.c", "-o", "app", "-L.", "-lsignals", "-Wl,-rpath,."]);
        assert_eq!(said.code, 0, "{}", said.err);
        let said = sandbox.atomfix(&["check", "./app", "--require-complete"]);
        let named = said.out.contains("note: a library that is not instrumented has threads wait for each other by futexes");
        let claimed = said.out.lines().next().is_some_and(|line| line.ends_with("schedules"));
        assert!(named && !claimed && said.code != 0, "{}{}{}", said.code, said.out, said.err);
        // With hooks all is seen: who waits after the other one has come waits for ever.
        let said = sandbox.atomfix(&["cc", "-g", "-pthread", &call, "app.c", "signals.c", "-o", "app"]);
        assert_eq!(said.code, 0, "{}", said.err);
        let said = sandbox.atomfix(&["check", "./app"]);
        assert_eq!(said.code, 1, "{}{}", said.out, said.err);
        assert!(
            said.out.contains("covering all sequentially consistent schedules\n") && !said.out.contains("note: a library"),
            "{}",
            said.out
        );
    }
}

#[test]
fn a_library_that_is_handed_shared_memory_is_named_and_what_it_does_there_is_explored() {
    const LIBRARY: &str = "void add(int *n) { ++*n; }
void (*pointer)(int *) = add;
";
    const MODULE: &str = "void add_here(int *n) { ++*n; }
";
    const PROGRAM: &str = "#include <pthread.h>
#include <stdio.h>
void add(int *n), add_here(int *n);
extern void (*pointer)(int *);
static int n;
static void *other(void *p) {
  int own = 0;
  add(&own);
  CALL(&n);
  return p;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, other, 0);
  int before = n;
  pthread_join(t, 0);
  printf(\"%d\", before);
}
";
    let sandbox = Sandbox::new();
    sandbox.write("library.c", LIBRARY);
    sandbox.write("module.c", MODULE);
    sandbox.write("app.c", PROGRAM);
    let said = sandbox.run("clang-22", &["-shared", "-fPIC", "library.c", "-o", "libadd.so"]);
    assert_eq!(said.code, 0, "{}", said.err);
    for (call, options, is_named) in
        [("add", "-fPIE", true), ("pointer", "-fPIE", true), ("(&add)", "-fno-pie", true), ("add_here", "-fPIE", false)]
    {
        let link = if options == "-fno-pie" { "-no-pie" } else { "-pie" };
        let call = format!("-DCALL={call}");
        let said = sandbox.atomfix(&[
            "cc",
            "-g",
            "-pthread",
            options,
            link,
            &call,
            "app.c",
            "module.c",
            "-o",
            "app",
            "-L.",
            "-ladd",
            "-Wl,-rpath,.",
        ]);
        assert_eq!(said.code, 0, "{}", said.err);
        let said = sandbox.atomfix(&["check", "./app", "--outcomes", "--strategy", "dpor"]);
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        assert!(said.out.contains("printed \"0\"") && said.out.contains("printed \"1\""), "{call}: {}", said.out);
        let named = said.out.contains("note: `add` of libadd.so has no hooks and is handed memory that threads share")
            && said.out.contains(": app.c:9:3");
        assert_eq!(named, is_named, "{call}: {}", said.out);
        assert_eq!(said.out.contains("of what is seen"), is_named, "{call}: {}", said.out);
    }
}

#[test]
fn a_library_may_guard_what_it_is_handed_and_look_at_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "library.c",
        "#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void add(int *n) {
  pthread_mutex_lock(&lock);
  ++*n;
  pthread_mutex_unlock(&lock);
}
void forget(void *p) { (void)p; }
",
    );
    let said = sandbox.run("clang-22", &["-shared", "-fPIC", "library.c", "-o", "libadd.so"]);
    assert_eq!(said.code, 0, "{}", said.err);
    sandbox.write(
        "app.c",
        "#include <pthread.h>
#include <stdlib.h>
void add(int *n), forget(void *p);
static int n;
static void *other(void *p) {
  add(&n);
  free(p);
  forget(p);
  return NULL;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, other, malloc(8));
  add(&n);
  pthread_join(t, 0);
  return n - 2;
}
",
    );
    let said = sandbox.atomfix(&["cc", "-g", "-pthread", "app.c", "-o", "app", "-L.", "-ladd", "-Wl,-rpath,."]);
    assert_eq!(said.code, 0, "{}", said.err);
    let said = sandbox.atomfix(&["check", "./app", "--races"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.contains("`add` of libadd.so") && !said.out.contains("`forget`"), "{}", said.out);
}
