/* Fields are counted, retagged, and then looked for in vain.
 *
 * Origin: MySQL bug 644 (see ORIGIN.md).
 * Shared: `tags`. The number of tagged fields is stale by the time of the walk, which then runs off the end.
 * Expected: original fails under some schedule; hardened never; FIXED never.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

enum { FIELDS = 2 };

static int tags[FIELDS] = {1, 1};
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static int count(void)
{
    int found = 0;
    for (int field = 0; field < FIELDS; field++) {
        found += tags[field];
    }
    return found;
}

static void walk(int left)
{
    for (int field = 0; left > 0; field++) {
        assert(field < FIELDS); /* fails here */
        left -= tags[field];
    }
}

static void visit(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    walk(count());
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
}

static void *retag(void *unused)
{
    (void)unused;
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    tags[1] = 0;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return NULL;
}

int main(void)
{
    pthread_t other;

    if (pthread_create(&other, NULL, retag, NULL) != 0) {
        return 2;
    }
    visit();
    pthread_join(other, NULL);
    printf("%d %d\n", tags[0], tags[1]);
    return 0;
}
