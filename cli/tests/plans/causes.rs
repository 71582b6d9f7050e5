//! Every kind of wait across which a plan may hold a lock: production and exploration give it the same cause.

use model::cause::Cause;

use super::{check, check_listed};

/// A thread acquires, makes another one that needs the lock, and waits; the other acquires and lets the first go on.
fn held_across(cause: Cause, globals: &str, wait: &str, let_go: &str) {
    let body = format!(
        "#define _GNU_SOURCE 1
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/select.h>
#include <time.h>
static int a;
static pthread_t thread;
{globals}
static void *other(void *unused) {{
  a++; //@ acquire X lock0 l0
  {let_go}
  return unused;
}}
static void work(void) {{
  a++; //@ acquire X lock0 l1
  thread = start(other);
  {wait}
}}
int main(void) {{
  prepare();
  work();
  pthread_join(thread, 0);
  return a == 2 ? 0 : 1;
}}
"
    );
    check(&body, cause);
}

#[test]
fn a_semaphore() {
    held_across(
        Cause::Meet,
        "static sem_t semaphore; static void prepare(void) { sem_init(&semaphore, 0, 0); }",
        "sem_wait(&semaphore);",
        "sem_post(&semaphore);",
    );
}

#[test]
fn a_barrier() {
    held_across(
        Cause::Meet,
        "static pthread_barrier_t barrier; static void prepare(void) { pthread_barrier_init(&barrier, 0, 2); }",
        "pthread_barrier_wait(&barrier);",
        "pthread_barrier_wait(&barrier);",
    );
}

#[test]
fn a_sleep() {
    held_across(Cause::Sleep, "static void prepare(void) {}", "usleep(1000);", "");
}

#[test]
fn a_signal() {
    held_across(
        Cause::Sleep,
        "static sigset_t set; static pthread_t first;
        static void prepare(void) { first = pthread_self(); sigemptyset(&set); sigaddset(&set, SIGUSR1); pthread_sigmask(SIG_BLOCK, &set, 0); }",
        "int taken; sigwait(&set, &taken);",
        "pthread_kill(first, SIGUSR1);",
    );
}

/// Through each call that waits for events, on a counter that the other thread raises.
#[test]
fn events() {
    let globals = "static int counter; static void prepare(void) { counter = eventfd(0, 0); }";
    for wait in [
        "struct pollfd asked = {counter, POLLIN, 0}; if (poll(&asked, 1, -1) != 1) abort();",
        "fd_set set; FD_ZERO(&set); FD_SET(counter, &set); if (select(counter + 1, &set, 0, 0, 0) != 1) abort();",
        "struct epoll_event event = {.events = EPOLLIN}; int epoll = epoll_create1(0); epoll_ctl(epoll, EPOLL_CTL_ADD, counter, &event);
        if (epoll_wait(epoll, &event, 1, -1) != 1) abort();",
    ] {
        held_across(Cause::Poll, globals, wait, "uint64_t one = 1; if (write(counter, &one, 8) != 8) abort();");
    }
}

#[test]
fn a_lock_of_a_file() {
    held_across(
        Cause::Meet,
        "static int mine, others;
        static void prepare(void) { mine = open(\"app.c\", 0); others = open(\"app.c\", 0); flock(others, LOCK_EX); }",
        "flock(mine, LOCK_EX);",
        "flock(others, LOCK_UN);",
    );
}

/// The other thread owns a mutex that the first one wants; it is the last to wait, or the first is.
#[test]
fn a_lock_of_the_program_whose_owner_wants_the_injected_one() {
    let body = "static int a, x, y;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *other(void *unused) {
  pthread_mutex_lock(&mutex);
  met(&y, &x);
  a++; //@ acquire X lock0 l0
  pthread_mutex_unlock(&mutex);
  return unused;
}
static void work(void) {
  a++; //@ acquire X lock0 l1
  met(&x, &y);
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
}
int main(int count, char **arguments) {
  (void)arguments;
  meet = count > 1;
  pthread_t thread = start(other);
  work();
  pthread_join(thread, 0);
  return a == 2 ? 0 : 1;
}
";
    let either = |cause: Cause| format!("l1: {}", cause.story());
    super::explored(body, &[], &[&either(Cause::Cycle), &either(Cause::ProgramLock)]);
}

/// A function that waits in a way of its own, and that the plan lists.
#[test]
fn a_listed_function() {
    let body = "#include <sched.h>
static int a, flag;
static void *other(void *unused) {
  a++; //@ acquire X lock0 l0
  __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
  return unused;
}
static void await(void) { while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE)) sched_yield(); }
static void between(void) { await(); }
static void work(pthread_t *thread) {
  a++; //@ acquire X lock0 l1
  *thread = start(other);
  between();
}
int main(void) {
  pthread_t thread;
  work(&thread);
  pthread_join(thread, 0);
  return a == 2 ? 0 : 1;
}
";
    check_listed(body, Cause::Poll, &["await"]);
}
