/* A request comes in while a driver stops.
 *
 * Origin: the Bluetooth driver of KISS (see ORIGIN.md).
 * Shared: `stopping`, `pending` and `stopped`. A request checks the flag and then counts itself; in between the driver may find nobody pending.
 * Expected: original fails under some schedule; hardened never; FIXED never.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

static atomic_bool stopping;
static atomic_int pending = 1;
static atomic_bool stopped;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static bool begin_request(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    bool accepted = !stopping;
    if (accepted) {
        pending++;
    }
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return accepted;
}

static void end_request(void)
{
    if (--pending == 0) {
        stopped = true;
    }
}

static void *stop(void *unused)
{
    (void)unused;
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    stopping = true;
    end_request();
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return NULL;
}

int main(void)
{
    pthread_t other;

    if (pthread_create(&other, NULL, stop, NULL) != 0) {
        return 2;
    }
    if (begin_request()) {
        assert(!stopped); /* fails here */
        end_request();
    }
    pthread_join(other, NULL);
    printf("%d %d %d\n", stopping, pending, stopped);
    return 0;
}
