// What the C++ library keeps for all threads.
// flags: -std=c++20
// case terminate: 0 | 1
// case new: 0 | 1
// case resource: 0 | 1
// case number: 0 | 1
// case stdio: 0 | 1
#include <cstdio>
#include <cstring>
#include <exception>
#include <ios>
#include <memory_resource>
#include <new>
#include <thread>
static void handle() {}
int main(int count, char **arguments) {
  const char *is = count > 1 ? arguments[1] : "";
  int seen = 0, number = 0;
  std::thread other([&] {
    if (!strcmp(is, "terminate")) std::set_terminate(handle);
    if (!strcmp(is, "new")) std::set_new_handler(handle);
    if (!strcmp(is, "resource")) std::pmr::set_default_resource(std::pmr::null_memory_resource());
    if (!strcmp(is, "number")) number = std::ios_base::xalloc();
    if (!strcmp(is, "stdio")) std::ios_base::sync_with_stdio(false);
  });
  if (!strcmp(is, "terminate")) seen = std::get_terminate() == handle;
  if (!strcmp(is, "new")) seen = std::get_new_handler() == handle;
  if (!strcmp(is, "resource")) seen = std::pmr::get_default_resource() == std::pmr::null_memory_resource();
  int own = !strcmp(is, "number") ? std::ios_base::xalloc() : 0;
  if (!strcmp(is, "stdio")) seen = std::ios_base::sync_with_stdio(true);
  other.join();
  printf("%d", !strcmp(is, "number") ? own < number : seen);
}
