// Objects of the C++ library that only hold the address of what they work on: iterators of folders, streams with another's buffer.
// flags: -std=c++20
// case position: 0 | 1
// case pending: 0 | 1
// case buffer: 0 | 1
// case far: 0 | 1
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <thread>
static char room[200];
static char *volatile place = room;
int main(int count, char **arguments) {
  namespace fs = std::filesystem;
  const char *is = count > 1 ? arguments[1] : "";
  bool has = false;
  if (!strcmp(is, "position") || !strcmp(is, "pending")) {
    fs::create_directories("folder/one");
    fs::create_directories("folder/two");
  }
  fs::recursive_directory_iterator first, second;
  if (!strcmp(is, "position") || !strcmp(is, "pending")) second = first = fs::recursive_directory_iterator("folder");
  fs::path before = strcmp(is, "position") ? fs::path() : first->path();
  std::ostringstream text;
  std::ostream other(text.rdbuf());
  std::istringstream source(std::string(200, 'a'));
  std::thread thread([&] {
    if (!strcmp(is, "position")) ++first;
    if (!strcmp(is, "pending")) first.disable_recursion_pending();
    if (!strcmp(is, "buffer")) other << "abc";
    if (!strcmp(is, "far")) source.read(place, 200);
  });
  if (!strcmp(is, "position")) has = second->path() != before;
  if (!strcmp(is, "pending")) has = !second.recursion_pending();
  if (!strcmp(is, "buffer")) has = !text.str().empty();
  if (!strcmp(is, "far")) has = room[150] != 0;
  thread.join();
  printf("%d", has);
}
