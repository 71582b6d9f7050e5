// Regions held across waits for asynchronous operations (POSIX's, the kernel's two interfaces) and for several futex words at once,
// while the thread that ends them needs the lock. Kernels without an interface refuse the wait, before which all is given up just so.
// languages: c c++
// stats: poll=8 meet=1
#include <aio.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <sys/mman.h>
#include "takes_turns.h"
enum { CALLS = 9 };
static int ends[2];
static volatile uint32_t word;
static struct aiocb operation;
static char byte;
static aio_context_t context;
static int ring = -1;
static struct io_uring_params parameters;
static char *queue, *entries;
static const struct timespec for_long = {600, 0};
static void let_go(int call) {
  if (call < CALLS) {
    CHECK(write(ends[1], "x", 1) == 1);
  } else {
    __atomic_store_n(&word, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
  }
}
static void begin(int opcode) {
  memset(&operation, 0, sizeof operation);
  operation.aio_fildes = ends[0];
  operation.aio_buf = &byte;
  operation.aio_nbytes = 1;
  operation.aio_lio_opcode = opcode;
}
static void kernel_events(long number) {
  struct iocb asked, *list = &asked;
  struct io_event event;
  memset(&asked, 0, sizeof asked);
  asked.aio_lio_opcode = IOCB_CMD_POLL;
  asked.aio_fildes = (uint32_t)ends[0];
  asked.aio_buf = POLLIN;
  int asking = context && syscall(SYS_io_submit, context, 1, &list) == 1;
  long found = syscall(number, context, 1, 1, &event, &for_long, 0);
  CHECK(found == (asking ? 1 : -1) && syscall(SYS_read, ends[0], &byte, 1) == 1);
}
static void ring_events(void) {
  if (ring >= 0) {
    struct io_uring_sqe *entry = (struct io_uring_sqe *)entries;
    memset(entry, 0, sizeof *entry);
    entry->opcode = IORING_OP_POLL_ADD;
    entry->fd = ends[0];
    entry->poll_events = POLLIN;
    ((uint32_t *)(queue + parameters.sq_off.array))[0] = 0;
    uint32_t *tail = (uint32_t *)(queue + parameters.sq_off.tail);
    __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
  }
  long entered = syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, 0, 0);
  CHECK(entered == (ring >= 0 ? 1 : -1) && syscall(SYS_read, ends[0], &byte, 1) == 1);
}
static void wait_in(int call) {
  const struct aiocb *list[] = {&operation};
  struct aiocb *own_list[] = {&operation};
  struct futex_waitv waiting;
  memset(&waiting, 0, sizeof waiting);
  waiting.uaddr = (uintptr_t)&word;
  waiting.flags = FUTEX_32 | FUTEX_PRIVATE_FLAG;
  switch (call) {
    case 1:
    case 2:
      begin(LIO_READ);
      CHECK(!aio_read(&operation));
      CHECK(call == 1 ? !aio_suspend(list, 1, 0) : !aio_suspend(list, 1, &for_long));
      CHECK(aio_return(&operation) == 1);
      break;
    case 3:
      begin(LIO_READ);
      CHECK(!aio_read(&operation) && !aio_suspend64((const struct aiocb64 *const *)list, 1, 0) && aio_return(&operation) == 1);
      break;
    case 4:
      begin(LIO_READ);
      CHECK(!lio_listio(LIO_WAIT, own_list, 1, 0) && aio_return(&operation) == 1);
      break;
    case 5: kernel_events(SYS_io_getevents); break;
    case 6: kernel_events(SYS_io_pgetevents); break;
    case 7: ring_events(); break;
    case 8:
      begin(LIO_READ);
      CHECK(!lio_listio64(LIO_WAIT, (struct aiocb64 **)own_list, 1, 0) && aio_return(&operation) == 1);
      break;
    default:
      while (!__atomic_load_n(&word, __ATOMIC_ACQUIRE)) {
        if (syscall(SYS_futex_waitv, &waiting, 1, 0, 0, 0) == -1 && errno != EINTR && errno != EAGAIN) return;
      }
  }
}
int main(void) {
  CHECK(!pipe(ends));
  if (syscall(SYS_io_setup, 1, &context)) context = 0;
  ring = (int)syscall(SYS_io_uring_setup, 1, &parameters);
  if (ring >= 0) {
    size_t size = parameters.sq_off.array + sizeof(uint32_t) * parameters.sq_entries;
    queue = (char *)mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQ_RING);
    entries = (char *)mmap(0, sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQES);
    CHECK(queue != MAP_FAILED && entries != MAP_FAILED);
  }
  take_turns(CALLS, wait_in);
  return 0;
}
