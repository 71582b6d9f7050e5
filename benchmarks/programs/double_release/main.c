/* An object is freed twice: each step on its count is atomic, the two steps together are not.
 *
 * Origin: Apache httpd bug 21287, reference count of a cache object (see ORIGIN.md).
 * Shared: `references`. Each user decrements it and then looks whether it is zero; both may see zero.
 * Expected: original fails under some schedule; hardened never; FIXED never.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

static atomic_int references = 2;
static atomic_int frees;

static void release(void)
{
#ifdef FIXED
    if (atomic_fetch_sub(&references, 1) == 1) {
        atomic_fetch_add(&frees, 1);
    }
#else
    atomic_fetch_sub(&references, 1);
    if (atomic_load(&references) == 0) {
        atomic_fetch_add(&frees, 1);
    }
#endif
}

static void *other_user(void *unused)
{
    (void)unused;
    release();
    return NULL;
}

int main(void)
{
    pthread_t other;

    if (pthread_create(&other, NULL, other_user, NULL) != 0) {
        return 2;
    }
    release();
    pthread_join(other, NULL);
    assert(atomic_load(&frees) == 1); /* fails here */
    printf("%d\n", atomic_load(&frees));
    return 0;
}
