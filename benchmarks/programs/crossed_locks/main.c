/* Two threads take two semaphores in opposite orders.
 *
 * Origin: mz-automation/lib60870 issue 134 (see ORIGIN.md).
 * Shared: the semaphores. A deadlock that is already there is not a violation of atomicity.
 * Expected: original deadlocks under some schedule; so does the hardened build (not repairable by atomicity); FIXED never.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static sem_t state;
static sem_t queue;

static void both(sem_t *first, sem_t *second)
{
    sem_wait(first);
    sem_wait(second);
    sem_post(second);
    sem_post(first);
}

static void *send_data(void *unused)
{
    (void)unused;
#ifdef FIXED
    both(&state, &queue);
#else
    both(&queue, &state);
#endif
    return NULL;
}

int main(void)
{
    pthread_t sender;

    sem_init(&state, 0, 1);
    sem_init(&queue, 0, 1);
    if (pthread_create(&sender, NULL, send_data, NULL) != 0) {
        return 2;
    }
    both(&state, &queue);
    pthread_join(sender, NULL);
    return 0;
}
