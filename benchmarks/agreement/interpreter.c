// Runs a random program that it is given as data.
#include "operations.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
sem_t semaphore;
pthread_barrier_t barrier;
HANDLER

// A thread takes signals up to its end, which no hook sees: there is to be a point before that.
static int handles;

static void run(int body) {
  for (int at = 0; at < lengths[body]; at++) {
    const struct operation *o = &operations[body][at];
    switch (o->kind) {
    case 0: READ(o->a, o->b); break;
    case 1: LOAD(o->a, o->b); break;
    case 2: WRITE(o->a, o->b); break;
    case 3: STORE(o->a, o->b); break;
    case 4: WRITE(o->a, REGISTER(o->b) + o->c); break;
    case 5: STORE(o->a, REGISTER(o->b) + o->c); break;
    case 6: ADD(o->a, o->b); break;
    case 7: SWAP(o->a, o->b, o->c, o->d); break;
    case 8: LOCK(o->a); break;
    case 9: TRY(o->a, o->b); break;
    case 10: LOCK_SHARED(); break;
    case 11: UNLOCK(o->a); break;
    case 12: WAIT(); break;
    case 13: WAIT_TIMED(o->a); break;
    case 14: SIGNAL(); break;
    case 15: BROADCAST(); break;
    case 16: POST(); break;
    case 17: TAKE(); break;
    case 18: CREATE((int)o->a); break;
    case 19: JOIN(o->a); break;
    case 20: sched_yield(); break;
    case 21: exit(0);
    case 22:
      if (REGISTER(o->a) != o->b) failed(body, at);
      break;
    case 23:
      if (REGISTER(o->b) != o->c) at += (int)o->a;
      break;
    case 24: MEET(o->a); break;
    case 25: FUTEX(o->a, o->b, o->c, o->d); break;
    case 26: WAKE(o->a, o->b, o->c); break;
    case 27: LOCK_TIMED(o->a, o->b); break;
    case 28: TAKE_TIMED(o->a); break;
    case 29: TRY_TAKE(o->a); break;
    case 30: PUT(o->a, o->b); break;
    case 31: PUT(o->a, REGISTER(o->b) + o->c); break;
    case 32: GET(o->a, o->b); break;
    case 33: TRY_GET(o->a, o->b); break;
    case 34: MOVE(o->a, o->b, o->c); break;
    case 35: AWAIT(o->a, o->b, o->c, o->d); break;
    case 36: KILL(o->a); break;
    case 37: MASK(o->a); break;
    case 38: TAKE_SIGNAL(o->a, o->b); break;
    case 39: CANCEL(o->a); break;
    default: abort();
    }
  }
  if (handles) sched_yield();
  ended(body);
}

void *thread(void *body) {
  pthread_cleanup_push(cancelled, body);
  run((int)(long)body);
  pthread_cleanup_pop(0);
  return NULL;
}

// The first operation with one of these numbers.
static const struct operation *find(int first, int last) {
  for (int body = 0; body < BODIES; body++)
    for (int at = 0; at < lengths[body]; at++)
      if (operations[body][at].kind >= first && operations[body][at].kind <= last) return &operations[body][at];
  return NULL;
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  load(arguments[1]);
  BEGIN();
  if (find(30, 35)) open_pipes();
  const struct operation *kill = find(36, 36);
  if (kill) HANDLE(kill->b);
  handles = kill || find(39, 39);
  run(0);
  pthread_exit(NULL);
}
