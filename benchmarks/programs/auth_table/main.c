/* A table is searched while it is loaded anew.
 *
 * Origin: memcached/memcached commit 57934a1d01f7 (see ORIGIN.md).
 * Shared: `entries`, which name the text that they point into, and `freed`, which texts are gone. A reload changes them one after the other.
 * Expected: original fails under some schedule; hardened never; FIXED never.
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

static bool freed[2];
static int entries[1];
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *reload(void *unused)
{
    (void)unused;
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    freed[0] = true;
    entries[0] = 1;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return NULL;
}

static void search(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    int text = entries[0];
    bool gone = freed[text];
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    assert(!gone); /* fails here */
}

int main(void)
{
    pthread_t other;

    if (pthread_create(&other, NULL, reload, NULL) != 0) {
        return 2;
    }
    search();
    pthread_join(other, NULL);
    printf("%d %d\n", freed[0], freed[1]);
    return 0;
}
