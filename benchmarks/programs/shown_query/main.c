/* A status listing prints a query that has just ended.
 *
 * Origin: MySQL bug 3596, show status (see ORIGIN.md).
 * Shared: `info` of a session. The session sets it while it runs a query; the listing checks it and then prints it.
 * Expected: original fails under some schedule; hardened never; FIXED never.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

struct session {
    int id;
    const char *info;
};

static struct session session = {1, NULL};

static char show(struct session *shown)
{
#ifdef FIXED
    const char *info = shown->info;
    return info != NULL ? info[0] : '-';
#else
    if (shown->info == NULL) {
        return '-';
    }
    const char *info = shown->info;
    assert(info != NULL); /* fails here */
    return info[0];
#endif
}

static void *run_query(void *argument)
{
    struct session *own = argument;

    own->info = "select";
    own->info = NULL;
    return NULL;
}

int main(void)
{
    pthread_t client;

    if (pthread_create(&client, NULL, run_query, &session) != 0) {
        return 2;
    }
    char first = show(&session);
    pthread_join(client, NULL);
    assert(first == '-' || first == 's');
    printf("%c\n", first);
    return 0;
}
