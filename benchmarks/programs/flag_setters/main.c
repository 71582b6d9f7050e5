/* Two flags that several threads set one after the other, to the same values, and another reads together.
 *
 * Origin: the pattern of SCTBench's reorder programs (see ORIGIN.md).
 * Shared: `ready` and `error`, which are both unset or both set. Each access stands alone, so no pair of accesses to one
 * variable says that they belong together. One setter may come between the two writes of another: it writes what they write.
 * Expected: original fails under some schedule; hardened never; FIXED never.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

static int ready;
static int error;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *set(void *unused)
{
    (void)unused;
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    ready = 1;
    error = -1;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return NULL;
}

static void check(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    int was_ready = ready;
    int had_error = error;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    assert((was_ready == 0 && had_error == 0) || (was_ready == 1 && had_error == -1)); /* fails here */
}

int main(void)
{
    pthread_t setters[2];

    for (int i = 0; i < 2; i++) {
        if (pthread_create(&setters[i], NULL, set, NULL) != 0) {
            return 2;
        }
    }
    check();
    for (int i = 0; i < 2; i++) {
        pthread_join(setters[i], NULL);
    }
    printf("%d %d\n", ready, error);
    return 0;
}
