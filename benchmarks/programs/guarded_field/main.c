/* A field of a heap object that is checked and then used while another thread clears it.
 *
 * Origin: the check-then-act through a pointer that many server bugs share (see ORIGIN.md).
 * Shared: `pending` of a heap-allocated connection. One thread uses it if it is there; the other drops it.
 * Expected: original fails under some schedule; hardened never; FIXED never.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct request {
    int bytes;
};

struct connection {
    int id;
    struct request *pending;
};

static struct request hello = {42};

static int flush(struct connection *connection)
{
#ifdef FIXED
    struct request *request = connection->pending;
    return request != NULL ? request->bytes : 0;
#else
    if (connection->pending == NULL) {
        return 0;
    }
    struct request *request = connection->pending;
    assert(request != NULL); /* fails here */
    return request->bytes;
#endif
}

static void *drop(void *argument)
{
    struct connection *connection = argument;

    connection->pending = NULL;
    return NULL;
}

int main(void)
{
    struct connection *connection = malloc(sizeof *connection);
    pthread_t other;

    if (connection == NULL) {
        return 2;
    }
    connection->id = 1;
    connection->pending = &hello;
    if (pthread_create(&other, NULL, drop, connection) != 0) {
        return 2;
    }
    int sent = flush(connection);
    pthread_join(other, NULL);
    assert(sent == 0 || sent == hello.bytes);
    printf("%d\n", sent);
    free(connection);
    return 0;
}
