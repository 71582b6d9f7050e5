/* Two counters that two functions keep equal are seen to differ.
 *
 * Origin: a pattern of statistics modules (see ORIGIN.md).
 * Shared: `sent` and `total`, each always under a lock of its own: there is no data race.
 * Expected: original fails under some schedule; hardened never; FIXED never.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

static pthread_mutex_t sent_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;
static int sent;
static int total;
#ifdef FIXED
static pthread_mutex_t both_lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static int add_sent(int count)
{
    pthread_mutex_lock(&sent_lock);
    sent += count;
    int now = sent;
    pthread_mutex_unlock(&sent_lock);
    return now;
}

static int add_total(int count)
{
    pthread_mutex_lock(&total_lock);
    total += count;
    int now = total;
    pthread_mutex_unlock(&total_lock);
    return now;
}

static int get(pthread_mutex_t *lock, const int *counter)
{
    pthread_mutex_lock(lock);
    int now = *counter;
    pthread_mutex_unlock(lock);
    return now;
}

static void *send_one(void *unused)
{
    (void)unused;
#ifdef FIXED
    pthread_mutex_lock(&both_lock);
#endif
    add_sent(1);
    add_total(1);
#ifdef FIXED
    pthread_mutex_unlock(&both_lock);
#endif
    return NULL;
}

static void compare(void)
{
#ifdef FIXED
    pthread_mutex_lock(&both_lock);
#endif
    int first = get(&sent_lock, &sent);
    int second = get(&total_lock, &total);
#ifdef FIXED
    pthread_mutex_unlock(&both_lock);
#endif
    assert(first == second); /* fails here */
}

int main(void)
{
    pthread_t other;

    if (pthread_create(&other, NULL, send_one, NULL) != 0) {
        return 2;
    }
    compare();
    pthread_join(other, NULL);
    printf("%d %d\n", sent, total);
    return 0;
}
