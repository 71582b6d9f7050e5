// C++ streams: std::cin and std::cout go through C's, files of one's own through descriptors, all inside libstdc++.so.
// stats: stream=3
#include <fstream>
#include <iostream>
#include <string>
#include "hooks.h"
static int ends[2];
static volatile int go;
static void *body(void *) {
  FRAME;
  for (int i = 1; i <= 3; i++) {
    while (go != i) doze(1);
    ACQUIRE(0, X, 2);
    CHECK(write(ends[1], "7 words\n", 8) == 8);
    RELEASE(0, 2);
  }
  return nullptr;
}
int main() {
  FRAME;
  CHECK(!pipe(ends) && dup2(ends[0], 0) == 0);
  pthread_t thread = start(body, nullptr);
  std::string word, line;
  int number = 0;
  ACQUIRE(0, X, 1);
  go = 1;
  CHECK(std::getline(std::cin, line) && line == "7 words");
  RELEASE(0, 1);
  ACQUIRE(0, X, 1);
  go = 2;
  CHECK(std::cin >> number >> word && number == 7 && word == "words");
  RELEASE(0, 1);
  CHECK(std::cin.get() == '\n');
  std::ifstream file("/proc/self/fd/0");
  ACQUIRE(0, X, 1);
  go = 3;
  CHECK(std::getline(file, line) && line == "7 words");
  RELEASE(0, 1);
  finish(thread);
  return 0;
}
