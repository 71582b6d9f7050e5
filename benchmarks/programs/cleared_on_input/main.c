/* A pointer that is cleared under a condition which no test meets.
 *
 * Origin: seed pattern "input-dependent atomicity violation" (see ORIGIN.md).
 * Shared: `current`. A visitor checks it and then uses it; with `clear` on the command line one visitor first
 * clears it. Every profiling run leaves `clear` out, so the write is never seen, yet it must be guarded.
 * Expected: original fails under some schedule with `clear`; hardened never; FIXED never.
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct session {
    int quota;
};

static struct session only = {7};
static struct session *current = &only;

static int visit(bool clear)
{
    int quota = 0;

    if (clear) {
        current = NULL;
    }
#ifdef FIXED
    struct session *mine = current;
    if (mine != NULL) {
        quota = mine->quota;
    }
#else
    if (current != NULL) {
        struct session *mine = current;
        assert(mine != NULL); /* fails here */
        quota = mine->quota;
    }
#endif
    return quota;
}

static void *second_visitor(void *clear)
{
    visit(clear != NULL);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t second;

    char *clear = argc > 1 && strcmp(argv[1], "clear") == 0 ? argv[1] : NULL;
    if (pthread_create(&second, NULL, second_visitor, clear) != 0) {
        return 2;
    }
    int quota = visit(false);
    pthread_join(second, NULL);
    assert(quota == 0 || quota == only.quota);
    printf("%d\n", quota);
    return 0;
}
