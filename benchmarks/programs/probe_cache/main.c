/* Two threads probe the same fact and store the same answer: a race that does no harm.
 *
 * Origin: curl/curl issue 915 (see ORIGIN.md).
 * Shared: `works`, unknown at first. Whoever finds it unknown computes it; all compute the same.
 * Expected: nothing fails in any build.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

enum answer { UNKNOWN, YES, NO };

static enum answer works;
#ifdef FIXED
static pthread_mutex_t works_lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static enum answer probe(void)
{
#ifdef FIXED
    pthread_mutex_lock(&works_lock);
#endif
    if (works == UNKNOWN) {
        works = YES;
    }
    enum answer answer = works;
#ifdef FIXED
    pthread_mutex_unlock(&works_lock);
#endif
    return answer;
}

static void *other_transfer(void *unused)
{
    (void)unused;
    assert(probe() == YES);
    return NULL;
}

int main(void)
{
    pthread_t other;

    if (pthread_create(&other, NULL, other_transfer, NULL) != 0) {
        return 2;
    }
    assert(probe() == YES);
    pthread_join(other, NULL);
    printf("%d\n", (int)works);
    return 0;
}
