/* A counter of dropped messages misses some, because the lock is given up one line early.
 *
 * Origin: memcached/memcached commit 894974de30f6 (see ORIGIN.md).
 * Shared: `room`, always under the lock, and `dropped`, counted after it.
 * Expected: original fails under some schedule; hardened never; FIXED never.
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static int room;
static int dropped;

static void log_message(void)
{
    pthread_mutex_lock(&log_lock);
    bool full = room == 0;
#ifdef FIXED
    if (full) {
        dropped++;
    }
    pthread_mutex_unlock(&log_lock);
#else
    pthread_mutex_unlock(&log_lock);
    if (full) {
        dropped++;
    }
#endif
}

static void *other_logger(void *unused)
{
    (void)unused;
    log_message();
    return NULL;
}

int main(void)
{
    pthread_t other;

    if (pthread_create(&other, NULL, other_logger, NULL) != 0) {
        return 2;
    }
    log_message();
    pthread_join(other, NULL);
    assert(dropped == 2); /* fails here */
    printf("%d %d\n", room, dropped);
    return 0;
}
