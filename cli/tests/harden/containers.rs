//! Containers of the standard library, whose nodes functions of libstdc++ link.

use std::fs;

use crate::sandbox::run;

const SOURCE: &str = "#include <cassert>
#include <map>
#include <mutex>
#include <thread>
static std::map<int, int> all;
static std::mutex guard;
static int made;
static void get(int key) {
  {
    std::lock_guard<std::mutex> lock(guard);
    if (all.find(key) != all.end()) return;
  }
  std::lock_guard<std::mutex> lock(guard);
  made++;
  all[key] = 1;
}
int main() {
  std::thread one([] { get(3); }), other([] { get(3); });
  one.join();
  other.join();
  assert(made == 1);
}
";

#[test]
fn a_lookup_in_a_map_and_the_insertion_after_it_are_kept_together() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("main.cpp"), SOURCE).expect("a writable folder");
    // Most runs fail, so there are many.
    let steps = [
        ("cc -x c++ -std=c++17 -g -O1 main.cpp -o app -pthread -lstdc++", 0),
        ("profile ./app --runs 60 --seed 1", 0),
        ("harden ./app -o hard", 0),
        ("check ./app", 1),
        ("check ./hard --require-complete", 0),
    ];
    for (arguments, code) in steps {
        let told = run(folder.path(), &format!("exec \"$ATOMFIX\" {arguments}"));
        assert_eq!(told.code, code, "{arguments}: {}{}", told.out, told.err);
    }
}
