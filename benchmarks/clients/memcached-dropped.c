/* A worker logs more than its buffer takes while the logger thread empties the buffer for the last time. Whatever was refused
   must be counted in the end. */
#include <assert.h>
#include <pthread.h>

#include "memcached.h"

/* One entry fits, a second one does not. */
enum { BUFFER = 580, ENTRIES = 3 };

static logger *log_of_worker;
static uint64_t refused;

static void *work(void *unused) {
  for (int i = 0; i < ENTRIES; i++)
    if (logger_log(log_of_worker, LOGGER_ASCII_CMD, NULL, 1, "get key") == LOGGER_RET_NOSPACE) refused++;
  return unused;
}

int main(void) {
  settings.logger_buf_size = BUFFER;
  logger_init();
  log_of_worker = logger_create();
  pthread_t worker;
  pthread_create(&worker, NULL, work, NULL);
  logger_stop();
  pthread_join(worker, NULL);
  assert(stats.log_worker_dropped + log_of_worker->dropped == refused);
  return 0;
}
