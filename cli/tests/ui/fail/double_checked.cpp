// An object that may be made twice.
#include <atomic>
#include <cassert>
#include <memory>
#include <thread>
struct Object {
  int value = 1;
};
static std::atomic<Object *> instance;
static std::atomic<int> made;
static void use() {
  if (!instance.load()) {
    instance.store(new Object);
    made++;
  }
}
int main() {
  std::thread first(use), second(use);
  first.join();
  second.join();
  delete instance.load();
  assert(made == 1);
}
