// epoll over an event counter: the wait ends with the event, or, in other schedules, with its time limit.
// outcomes: pass | exit-status 1
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
static int counter;
static void *ring(void *unused) {
  uint64_t one = 1;
  return write(counter, &one, sizeof one) == sizeof one ? unused : &counter;
}
int main(void) {
  pthread_t t;
  uint64_t rung;
  struct epoll_event event = {.events = EPOLLIN}, happened;
  counter = eventfd(0, 0);
  int set = epoll_create1(0);
  if (counter < 0 || set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, counter, &event)) return 9;
  pthread_create(&t, NULL, ring, NULL);
  int events = epoll_wait(set, &happened, 1, 1000);
  if (read(counter, &rung, sizeof rung) != sizeof rung || rung != 1) return 8;
  pthread_join(t, NULL);
  return events == 0;
}
