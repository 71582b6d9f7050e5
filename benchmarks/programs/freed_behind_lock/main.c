/* An object that is found under a lock and used behind it, where another thread may have freed it.
 *
 * Origin: a lock that is given up a line early, before an object that others may take away is done with (see ORIGIN.md).
 * Shared: `size` of the buffer. It is read under the lock that keeps the buffer in its place, and again behind it; the thread that
 * replaces the buffer takes the old one out of its place under the lock, and frees it behind it.
 * Expected: original fails under some schedule; hardened never; FIXED never.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct buffer {
    int size;
    int fill;
};

static struct buffer *buffer;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

static void report(void)
{
    int wanted = 0, granted = 0;

    pthread_mutex_lock(&guard);
    struct buffer *found = buffer;
    if (found != NULL) {
        wanted = found->size;
    }
#ifdef FIXED
    if (wanted > 0) {
        granted = found->size;
    }
    pthread_mutex_unlock(&guard);
#else
    pthread_mutex_unlock(&guard);
    if (wanted > 0) {
        granted = found->size; /* fails here */
    }
#endif
    printf("%d %d\n", wanted, granted);
}

static void *drop(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&guard);
    struct buffer *dropped = buffer;
    buffer = NULL;
    pthread_mutex_unlock(&guard);
    free(dropped);
    return NULL;
}

int main(void)
{
    pthread_t dropper;

    buffer = malloc(sizeof *buffer);
    if (buffer == NULL) {
        return 2;
    }
    buffer->size = 8;
    buffer->fill = 0;
    if (pthread_create(&dropper, NULL, drop, NULL) != 0) {
        return 2;
    }
    report();
    pthread_join(dropper, NULL);
    return 0;
}
