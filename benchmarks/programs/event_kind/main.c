/* A function is called for an event that is no longer of its kind.
 *
 * Origin: libevent/libevent issue 104 (see ORIGIN.md).
 * Shared: `kind` and `act` of an event on the heap, which belong together. The loop reads the one under the lock and the other after it.
 * Expected: original fails under some schedule; hardened never; FIXED never.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum kind { PERSIST, FINALIZE };

struct event {
    pthread_mutex_t lock;
    enum kind kind;
    void (*act)(enum kind kind);
};

static void persist(enum kind kind)
{
    assert(kind == PERSIST);
}

static void finalize(enum kind kind)
{
    assert(kind == FINALIZE); /* fails here */
}

static void *release(void *argument)
{
    struct event *event = argument;

    pthread_mutex_lock(&event->lock);
    event->kind = FINALIZE;
    event->act = finalize;
    pthread_mutex_unlock(&event->lock);
    return NULL;
}

static void run(struct event *event)
{
    pthread_mutex_lock(&event->lock);
    enum kind kind = event->kind;
#ifdef FIXED
    void (*act)(enum kind) = event->act;
    pthread_mutex_unlock(&event->lock);
    act(kind);
#else
    pthread_mutex_unlock(&event->lock);
    event->act(kind);
#endif
}

int main(void)
{
    struct event *event = malloc(sizeof *event);
    pthread_t other;

    if (event == NULL) {
        return 2;
    }
    pthread_mutex_init(&event->lock, NULL);
    event->kind = PERSIST;
    event->act = persist;
    if (pthread_create(&other, NULL, release, event) != 0) {
        return 2;
    }
    run(event);
    pthread_join(other, NULL);
    printf("%d\n", (int)event->kind);
    free(event);
    return 0;
}
