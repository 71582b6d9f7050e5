/* A total is saved that is not the sum of the saved parts.
 *
 * Origin: aget, the resume file (see ORIGIN.md).
 * Shared: `offsets` and `total`. A downloader changes both under a lock; the saver copies one after the other without it.
 * Expected: original fails under some schedule; hardened never; FIXED never.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long offsets[2];
static long total;

static void *download(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    offsets[1] += 3;
    total += 3;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void save(void)
{
    long parts[2];

#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    memcpy(parts, offsets, sizeof parts);
    long sum = total;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    assert(parts[0] + parts[1] == sum); /* fails here */
}

int main(void)
{
    pthread_t other;

    if (pthread_create(&other, NULL, download, NULL) != 0) {
        return 2;
    }
    save();
    pthread_join(other, NULL);
    printf("%ld %ld %ld\n", offsets[0], offsets[1], total);
    return 0;
}
