/* A cached object is evicted while it is being replaced, and its size is counted off twice.
 *
 * Origin: Apache httpd bug 21285 (see ORIGIN.md).
 * Shared: `cached`, the size of the object in the cache (0: none), and `total`, the sum of all sizes; both always under the lock.
 * A store puts a placeholder in, and replaces it in a second critical section; the placeholder may be gone by then.
 * Expected: original fails under some schedule; hardened never; FIXED never.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long cached;
static long total;

enum { PLACEHOLDER = 1, OBJECT = 5 };

static void store(void)
{
    pthread_mutex_lock(&lock);
    cached = PLACEHOLDER;
    total += PLACEHOLDER;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    total -= PLACEHOLDER;
    cached = OBJECT;
    total += OBJECT;
    pthread_mutex_unlock(&lock);
}

static void *evict(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    total -= cached;
    cached = 0;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t other;

    if (pthread_create(&other, NULL, evict, NULL) != 0) {
        return 2;
    }
    store();
    pthread_join(other, NULL);
    assert(total == cached); /* fails here */
    printf("%ld %ld\n", cached, total);
    return 0;
}
