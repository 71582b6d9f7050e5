//! C++: a guard's lock is the mutex that it was made with, and what a `std::thread` is given reaches the function that it runs.

use std::fs;

use crate::sandbox::run;

const SOURCE: &str = "#include <mutex>
#include <thread>
#include <utility>
std::mutex a, b, c;
int x, y;
void forth(int *n) {
  std::lock_guard<std::mutex> one(a);
  std::lock_guard<std::mutex> two(b);
  ++*n;
}
void back() {
  std::unique_lock<std::mutex> one(b);
  std::scoped_lock two(a);
  ++y;
}
void apart() {
  { std::lock_guard<std::mutex> one(a); y += 0; }
  std::lock_guard<std::mutex> two(c);
  y += 0;
}
void moved() {
  std::unique_lock<std::mutex> one(c);
  std::unique_lock<std::mutex> two(std::move(one));
  y += 0;
}
std::unique_lock<std::mutex> hold(int n) {
  if (n < 0) throw n;
  return std::unique_lock<std::mutex>(c);
}
void returned() {
  { auto one = hold(1); y += 0; }
  std::lock_guard<std::mutex> two(a);
  auto three = hold(2);
  y += 0;
}
int main() {
  std::thread(forth, &x).join();
  std::thread(back).join();
  std::thread([] { apart(); moved(); returned(); }).join();
  return x + y - 2;
}
";

/// A guard that is passed by value is moved; the one that it was moved from gives nothing up.
const BY_VALUE: &str = "#include <mutex>
#include <thread>
std::mutex a, b;
int y;
class Guard {
  std::mutex *m;
public:
  explicit Guard(std::mutex &of) : m(&of) { m->lock(); }
  Guard(Guard &&other) : m(other.m) { other.m = nullptr; }
  ~Guard() { if (m) m->unlock(); }
};
Guard pass(Guard guard) { return guard; }
void forth() { Guard one = pass(Guard(a)); std::lock_guard<std::mutex> two(b); ++y; }
void back() { std::lock_guard<std::mutex> one(b); { Guard two = pass(Guard(a)); ++y; } }
int main() {
  std::thread(forth).join();
  std::thread(back).join();
  std::lock_guard<std::mutex> one(a);
  return y - 2;
}
";

/// What `infer` says of a program about the order of its own locks.
fn orders(source: &str, options: &str) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("main.cpp"), source).expect("a writable folder");
    let compile = format!("cc -x c++ -std=c++17 -g {options} main.cpp -o app -pthread -lstdc++");
    for arguments in [&compile, "profile ./app --runs 1 --seed 1"] {
        let told = run(folder.path(), &format!("exec \"$ATOMFIX\" {arguments}"));
        assert_eq!(told.code, 0, "{arguments}: {}{}", told.out, told.err);
    }
    let told = run(folder.path(), "exec \"$ATOMFIX\" infer ./app");
    assert_eq!(told.code, 0, "{}{}", told.out, told.err);
    told.out + &told.err
}

#[test]
fn a_guard_that_is_moved_gives_its_lock_to_the_new_one() {
    let said = orders(BY_VALUE, "-O1");
    assert!(said.contains("in more than one order, as far as their classes tell: a, b;"), "{said}");
}

/// Several locks at once, of each the last is held with `c`: in a guard of all, with guards that adopt them, with guards that are locked later, and
/// behind pointers. `unheld` is given up before.
const AT_ONCE: &str = "#include <mutex>
#include <thread>
std::mutex a, b, c, adopted, later, unheld;
struct Account { std::mutex m; } *one = new Account, *other = new Account;
int y;
void with_c() { std::lock_guard<std::mutex> last(c); ++y; }
void scoped() { std::scoped_lock both(a, b); with_c(); }
void adopting() {
  std::lock(a, adopted);
  std::lock_guard<std::mutex> first(a, std::adopt_lock), second(adopted, std::adopt_lock);
  with_c();
}
void deferring() {
  std::unique_lock<std::mutex> first(a, std::defer_lock), second(later, std::defer_lock);
  std::lock(first, second);
  with_c();
}
void behind(Account &from, Account &to) { std::scoped_lock both(from.m, to.m); with_c(); }
void ending() { { std::scoped_lock both(a, unheld); y += 0; } with_c(); }
void back() {
  std::lock_guard<std::mutex> first(c);
  { std::lock_guard<std::mutex> second(b); y += 0; }
  { std::lock_guard<std::mutex> second(adopted); y += 0; }
  { std::lock_guard<std::mutex> second(later); y += 0; }
  { std::lock_guard<std::mutex> second(one->m); y += 0; }
  { std::lock_guard<std::mutex> second(unheld); y += 0; }
}
int main() {
  std::thread([] { scoped(); adopting(); deferring(); behind(*one, *other); ending(); }).join();
  std::thread(back).join();
  return y - 5;
}
";

#[test]
fn locks_that_are_taken_at_once_are_held_until_their_guards_end() {
    for options in ["-O0", "-O2"] {
        let said = orders(AT_ONCE, options);
        let expected = "5 of its own locks in more than one order, as far as their classes tell: adopted, b, c, later, *";
        assert!(said.contains(expected) && !said.contains("unheld"), "{options}: {said}");
        assert!(said.contains("no cycle of waits has part in these locks"), "{options}: {said}");
    }
}

fn check(options: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("main.cpp"), SOURCE).expect("a writable folder");
    let compile = format!("cc -x c++ -std=c++17 -g {options} main.cpp -o app -pthread -lstdc++");
    let mut said = String::new();
    for arguments in [&compile, "profile ./app --runs 2 --seed 1", "infer ./app", "infer ./app --explain main.cpp:9"] {
        let told = run(folder.path(), &format!("exec \"$ATOMFIX\" {arguments}"));
        assert_eq!(told.code, 0, "{arguments}: {}{}", told.out, told.err);
        said = said + &told.out + &told.err;
    }
    let cycles: Vec<&str> = said.lines().filter(|line| line.contains("in more than one order")).collect();
    let expected = "2 of its own locks in more than one order, as far as their classes tell: a, b; left as they are; \
                    a, held from main.cpp:7 (forth), then b at main.cpp:8 (forth); b, held from main.cpp:12 (back), then a at main.cpp:13 (back)";
    assert!(!cycles.is_empty() && cycles.iter().all(|line| line.ends_with(expected)), "{options}: {said}");
    // The pointer that the thread is given.
    assert!(said.contains("by points-to analysis it may be part of x\n"), "{options}: {said}");
}

#[test]
fn guards_are_told_apart_by_their_mutexes_in_unoptimized_code() {
    check("-O0");
}

#[test]
fn guards_are_told_apart_by_their_mutexes_in_optimized_code() {
    check("-O2");
}
