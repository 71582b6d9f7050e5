/* A value is read between two stages, each under its own lock.
 *
 * Origin: the pattern of SCTBench's twostage programs (see ORIGIN.md).
 * Shared: `first` and `second`, one more than it, under two locks.
 * Expected: original fails under some schedule; hardened never; FIXED never.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second_lock = PTHREAD_MUTEX_INITIALIZER;
static int first;
static int second;

static void *advance(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&first_lock);
    first = 1;
#ifndef FIXED
    pthread_mutex_unlock(&first_lock);
#endif
    pthread_mutex_lock(&second_lock);
    second = first + 1;
    pthread_mutex_unlock(&second_lock);
#ifdef FIXED
    pthread_mutex_unlock(&first_lock);
#endif
    return NULL;
}

static void look(void)
{
    pthread_mutex_lock(&first_lock);
    int one = first;
    if (one == 0) {
        pthread_mutex_unlock(&first_lock);
        return;
    }
#ifndef FIXED
    pthread_mutex_unlock(&first_lock);
#endif
    pthread_mutex_lock(&second_lock);
    int other = second;
    pthread_mutex_unlock(&second_lock);
#ifdef FIXED
    pthread_mutex_unlock(&first_lock);
#endif
    assert(other == one + 1); /* fails here */
}

int main(void)
{
    pthread_t other;

    if (pthread_create(&other, NULL, advance, NULL) != 0) {
        return 2;
    }
    look();
    pthread_join(other, NULL);
    printf("%d %d\n", first, second);
    return 0;
}
