/* A frame is counted before its time is there.
 *
 * Origin: mpv-player/mpv issue 4028 (see ORIGIN.md).
 * Shared: `frames`, and `stamps`, the time of each frame. The newest time is looked up by the count.
 * Expected: original fails under some schedule; hardened never; FIXED never.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

static unsigned frames = 1;
static unsigned stamps[2] = {1};
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *capture(void *unused)
{
    (void)unused;
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    frames = 2;
    stamps[1] = 2;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return NULL;
}

static void show(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    unsigned newest = frames;
    unsigned stamp = stamps[newest - 1];
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    assert(stamp == newest); /* fails here */
}

int main(void)
{
    pthread_t other;

    if (pthread_create(&other, NULL, capture, NULL) != 0) {
        return 2;
    }
    show();
    pthread_join(other, NULL);
    printf("%u %u %u\n", frames, stamps[0], stamps[1]);
    return 0;
}
