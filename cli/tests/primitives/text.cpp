// What the library of C++ does to strings and streams that threads share, inlined and not.
// flags: -O2
// flags: -O0
// case append: 0 | 3
// covers append: what is seen
// case long: found | not found
// covers long: what is seen
// case read: both
// case extract: 12 | 21
// covers extract: what is seen
// case through: 7 | nothing
// covers through: what is seen
// case ostream: ab | ba
// covers ostream: what is seen
// case redirected: ab | ba
// covers redirected: what is seen
#include <cstdio>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
static std::string text;
static std::stringstream stream;
static std::ostringstream out;
static int first, second;
static void write(std::ostream &to, const char *what) { to << what; }
int main(int, char **words) {
  const char *what = words[1];
  if (!strcmp(what, "append")) {
    std::thread t([] { text.append("abc"); });
    std::size_t size = text.size();
    t.join();
    std::printf("%zu", size);
  } else if (!strcmp(what, "long")) {
    text = "a text that is too long to stand in the object";
    std::thread t([] { text[30] = 'S'; });
    bool found = text.find('S') != text.npos;
    t.join();
    std::printf(found ? "found" : "not found");
  } else if (!strcmp(what, "read")) {
    text = "a text that is too long to stand in the object";
    std::thread t([] { first = text.compare("a text") > 0; });
    second = text.compare("a text") > 0;
    t.join();
    std::printf(first && second ? "both" : "not both");
  } else if (!strcmp(what, "extract")) {
    stream.str("1 2");
    std::thread t([] { stream >> first; });
    stream >> second;
    t.join();
    std::printf("%d%d", first, second);
  } else if (!strcmp(what, "through")) {
    std::thread t([] { stream << 7; });
    stream >> first;
    t.join();
    std::printf(first == 7 ? "7" : "nothing");
  } else {
    bool redirected = !strcmp(what, "redirected");
    std::streambuf *before = std::cout.rdbuf();
    if (redirected) std::cout.rdbuf(out.rdbuf());
    std::ostream &to = redirected ? std::cout : out;
    std::thread t([&] { write(to, "a"); });
    write(to, "b");
    t.join();
    std::cout.rdbuf(before);
    std::printf("%s", out.str().c_str());
  }
  std::fflush(stdout);
}
