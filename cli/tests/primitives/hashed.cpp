// What the library of C++ reads of a string whose hash it makes.
// flags: -std=c++20
// outcomes: found | not found
// covers: what is seen
// note: copies
#include <cstdio>
#include <string>
#include <thread>
#include <unordered_set>
static std::string word = "a name that is not short";
int main() {
  std::unordered_set<std::string> known{"a name that is not short"};
  std::thread t([] { word[20] = 'S'; });
  std::size_t hash = known.hash_function()(word);
  bool found = hash == known.hash_function()("a name that is not short");
  t.join();
  std::printf(found ? "found" : "not found");
  std::fflush(stdout);
}
