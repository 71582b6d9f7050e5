/* A pointer that another thread resets between its assignment and its use.
 *
 * Origin: seed pattern "a data race involving an atomicity violation" (see ORIGIN.md).
 * Shared: `active`. One thread sets it and then uses it; the other resets it. Reset before both or after both is fine.
 * Expected: original fails under some schedule; hardened never; FIXED never.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

struct query {
    int rows;
};

static struct query first = {3};
static struct query *active;

static int run_query(void)
{
#ifdef FIXED
    struct query *mine = &first;
    active = mine;
#else
    active = &first;
    struct query *mine = active;
    assert(mine != NULL); /* fails here */
#endif
    return mine->rows;
}

static void *reset(void *unused)
{
    (void)unused;
    active = NULL;
    return NULL;
}

int main(void)
{
    pthread_t other;

    if (pthread_create(&other, NULL, reset, NULL) != 0) {
        return 2;
    }
    int rows = run_query();
    pthread_join(other, NULL);
    assert(rows == first.rows);
    printf("%d\n", rows);
    return 0;
}
