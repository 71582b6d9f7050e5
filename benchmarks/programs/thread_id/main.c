/* A thread looks for its own id before its creator has stored it.
 *
 * Origin: confluentinc/librdkafka issue 281, the thread id field (see ORIGIN.md).
 * Shared: `broker.known` and `broker.thread`. This is a violation of order, not of atomicity: no lock makes the store come first.
 * Expected: original fails under some schedule; so does the hardened build (not repairable by atomicity); FIXED never.
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct broker {
    bool known;
    pthread_t thread;
};

static struct broker broker;
#ifdef FIXED
static pthread_mutex_t broker_lock = PTHREAD_MUTEX_INITIALIZER;
#endif

/* What the thread does of its own before it looks at anything shared: some milliseconds of work. */
static unsigned checksum(unsigned seed)
{
    for (unsigned i = 0; i < 6000000; i++) {
        seed = seed * 1664525u + 1013904223u;
        seed ^= seed >> 13;
    }
    return seed;
}

static void *serve(void *result)
{
    *(unsigned *)result = checksum(*(unsigned *)result);
#ifdef FIXED
    pthread_mutex_lock(&broker_lock);
#endif
    bool known = broker.known;
#ifdef FIXED
    pthread_mutex_unlock(&broker_lock);
#endif
    assert(known); /* fails here */
    return NULL;
}

int main(void)
{
    pthread_t created;
    unsigned configuration = 1;

#ifdef FIXED
    pthread_mutex_lock(&broker_lock);
#endif
    if (pthread_create(&created, NULL, serve, &configuration) != 0) {
        return 2;
    }
    broker.thread = created;
    broker.known = true;
#ifdef FIXED
    pthread_mutex_unlock(&broker_lock);
#endif
    pthread_join(created, NULL);
    printf("%u\n", configuration);
    return configuration != checksum(1);
}
