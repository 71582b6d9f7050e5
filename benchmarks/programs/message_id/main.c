/* Two messages get the same id, because the lock is taken one line late.
 *
 * Origin: eclipse-paho/paho.mqtt.c issue 867 (see ORIGIN.md).
 * Shared: `last_id`. It is read before the lock and written under it.
 * Expected: original fails under some schedule; hardened never; FIXED never.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

static pthread_mutex_t id_lock = PTHREAD_MUTEX_INITIALIZER;
static int last_id;

static int assign_id(void)
{
#ifdef FIXED
    pthread_mutex_lock(&id_lock);
    int id = last_id + 1;
#else
    int id = last_id + 1;
    pthread_mutex_lock(&id_lock);
#endif
    last_id = id;
    pthread_mutex_unlock(&id_lock);
    return id;
}

static void *publish(void *id)
{
    *(int *)id = assign_id();
    return NULL;
}

int main(void)
{
    int other_id = 0;
    pthread_t other;

    if (pthread_create(&other, NULL, publish, &other_id) != 0) {
        return 2;
    }
    int own_id = assign_id();
    pthread_join(other, NULL);
    assert(own_id != other_id); /* fails here */
    printf("%d %d\n", own_id, other_id);
    return 0;
}
