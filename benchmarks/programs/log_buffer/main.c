/* Two requests append to one buffer at the same place.
 *
 * Origin: Apache httpd bug 25520 (see ORIGIN.md).
 * Shared: `fill`, and the entries before it. An entry is copied to where the index points, and the index is moved on afterwards.
 * Expected: original fails under some schedule; hardened never; FIXED never.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

static char entries[4];
static unsigned fill;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void append(char entry)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    unsigned at = fill;
    entries[at] = entry;
    fill = at + 1;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
}

static void *other_request(void *unused)
{
    (void)unused;
    append('b');
    return NULL;
}

int main(void)
{
    pthread_t other;

    if (pthread_create(&other, NULL, other_request, NULL) != 0) {
        return 2;
    }
    append('a');
    pthread_join(other, NULL);
    assert(fill == 2 && entries[0] + entries[1] == 'a' + 'b'); /* fails here */
    printf("%u %c%c\n", fill, entries[0], entries[1]);
    return 0;
}
