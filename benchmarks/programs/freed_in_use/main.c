/* An object that is freed while another thread is still using it.
 *
 * Origin: the check and two uses of a pointer to a heap object that a second thread takes away and frees (see ORIGIN.md).
 * Shared: `current` and the session that it points to. One thread checks `current` and uses the session twice; the
 * other takes the session away first and frees it then, so whoever finds a session found one that lived. It need not live for long.
 * Expected: original fails under some schedule; hardened never; FIXED never.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct session {
    int user;
    int rights;
};

static struct session *current;

#ifdef FIXED
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
#endif

static void serve(void)
{
    int user = 0, rights = 0;

#ifdef FIXED
    pthread_mutex_lock(&guard);
#endif
    if (current != NULL) {
        user = current->user;
        rights = current->rights; /* fails here */
    }
#ifdef FIXED
    pthread_mutex_unlock(&guard);
#endif
    printf("%d %d\n", user, rights);
}

static void *close_session(void *unused)
{
    struct session *closed;

    (void)unused;
#ifdef FIXED
    pthread_mutex_lock(&guard);
#endif
    closed = current;
    current = NULL;
    free(closed);
#ifdef FIXED
    pthread_mutex_unlock(&guard);
#endif
    return NULL;
}

int main(void)
{
    pthread_t closer;

    current = malloc(sizeof *current);
    if (current == NULL) {
        return 2;
    }
    current->user = 7;
    current->rights = 3;
    if (pthread_create(&closer, NULL, close_session, NULL) != 0) {
        return 2;
    }
    serve();
    pthread_join(closer, NULL);
    return 0;
}
