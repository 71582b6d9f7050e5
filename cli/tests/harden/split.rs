//! A region of which only some ways wait: the pair is kept on the others, and no lock is held over the wait.

use std::fs;

use tempfile::TempDir;

use crate::sandbox::run;

const SOURCE: &str = "#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready, waits;
static long total;
static void wait(void) {
  pthread_mutex_lock(&m);
  while (!ready) pthread_cond_wait(&c, &m);
  pthread_mutex_unlock(&m);
}
static void *add(void *unused) {
  long seen = total;
  if (waits) wait();
  total = seen + 1;
  return unused;
}
int main(int argc, char **argv) {
  pthread_t threads[2];
  (void)argv;
  waits = argc > 1;
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, add, 0);
  pthread_mutex_lock(&m);
  ready = 1;
  pthread_cond_broadcast(&c);
  pthread_mutex_unlock(&m);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  return total == 2 || waits ? 0 : 1;
}
";

/// A program that was built so, profiled and hardened, in a folder of its own; with its certificate.
fn hardened(file: &str, source: &str, compile: &str) -> (TempDir, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join(file), source).expect("a writable folder");
    for arguments in [compile, "profile ./app --runs 10 --seed 1", "harden ./app -o app.hard"] {
        let said = run(folder.path(), &format!("exec \"$ATOMFIX\" {arguments}"));
        assert_eq!(said.code, 0, "{arguments}: {}{}", said.out, said.err);
    }
    let certificate = fs::read_to_string(folder.path().join("app.atomfix/certificate.txt")).expect("a certificate");
    (folder, certificate)
}

#[test]
fn a_pair_is_kept_where_it_does_not_wait_and_its_lock_given_up_where_it_does() {
    let (folder, certificate) = hardened("main.c", SOURCE, "cc -g main.c -o app -pthread");
    assert!(certificate.contains("; not on ways over pthread_cond_wait in wait\n"), "{certificate}");
    // Without the wait nothing fails any more, and with it no lock has to be given up while the program runs.
    let said = run(folder.path(), "exec \"$ATOMFIX\" check ./app.hard --kept --timeout 60");
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.contains("failure: assert") || said.out.contains("failure: exit"), "the original fails: {}", said.out);
    for _ in 0..5 {
        let said = run(folder.path(), "ATOMFIX_OPTIONS=stats=1 timeout 20 ./app.hard wait 2>&1");
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        assert!(said.out.contains("1 lock, 0 events"), "{}", said.out);
    }
}

/// C++ waits by functions of its library and by raw system calls.
const STANDARD: &str = "#include <atomic>
#include <cstdlib>
#include <future>
#include <thread>
static std::atomic<int> ready;
static long total;
static void add(std::future<int> *given) {
  long seen = total;
  if (given) given->get();
  total = seen + 1;
}
static void later(bool waits) {
  long seen = total;
  if (waits) ready.wait(0);
  total = seen + 1;
}
int main(int argc, char **) {
  std::promise<int> promise;
  std::future<int> future = promise.get_future();
  std::thread first(add, argc > 1 ? &future : nullptr), second(later, argc > 1);
  if (argc > 1) {
    total++;
    promise.set_value(1);
    ready = 1;
    ready.notify_all();
  }
  first.join();
  second.join();
  return total == 2 || argc > 1 ? 0 : 1;
}
";

#[test]
fn waits_of_the_standard_library_are_waits() {
    let (folder, certificate) = hardened("main.cpp", STANDARD, "c++ -std=c++20 -g main.cpp -o app -pthread");
    assert!(certificate.contains("; not on ways over std::__atomic_futex_unsigned_base::_M_futex_wait_until"), "{certificate}");
    assert!(certificate.contains("; not on ways over syscall in "), "{certificate}");
    let said = run(folder.path(), "exec \"$ATOMFIX\" check ./app.hard --kept --timeout 60");
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.contains("failure: exit"), "the original fails: {}", said.out);
    for _ in 0..5 {
        let said = run(folder.path(), "ATOMFIX_OPTIONS=stats=1 timeout 20 ./app.hard wait 2>&1");
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        assert!(said.out.contains(" 0 events"), "{}", said.out);
    }
}
