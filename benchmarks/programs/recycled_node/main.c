/* A node that is put on a list twice because it was reused before the push looked at it again.
 *
 * Origin: Apache httpd bug 44402, list of recycled pools (see ORIGIN.md).
 * Shared: `head` (atomic) and `next` of the node that is pushed. The push compares the result of its compare-and-swap
 * with the *field* that it passed in. Once the swap has succeeded, another thread may take the node off and change the
 * field; the push then believes that it failed, and pushes again a node that now belongs to someone else.
 * Expected: original fails under some schedule; hardened never; FIXED never.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
    int pool;
    struct node *next;
};

static struct node bottom = {1, NULL};
static _Atomic(struct node *) head = &bottom;

/* Returns what was at the head, as a compare-and-swap by value does. */
static struct node *swap_head(struct node *desired, struct node *expected)
{
    atomic_compare_exchange_strong(&head, &expected, desired);
    return expected;
}

static void push(struct node *node)
{
    for (;;) {
#ifdef FIXED
        struct node *seen = atomic_load(&head);
        node->next = seen;
        if (swap_head(node, seen) == seen) {
            break;
        }
#else
        node->next = atomic_load(&head);
        if (swap_head(node, node->next) == node->next) {
            break;
        }
#endif
    }
}

/* Tries once; what it takes off belongs to the caller, who marks it so. */
static void *take(void *unused)
{
    (void)unused;
    struct node *node = atomic_load(&head);
    if (node == NULL) {
        return NULL;
    }
    if (swap_head(node->next, node) != node) {
        return NULL;
    }
    node->next = NULL;
    return node;
}

int main(void)
{
    struct node *returned = calloc(1, sizeof *returned);
    void *taken = NULL;
    pthread_t worker;

    if (returned == NULL) {
        return 2;
    }
    if (pthread_create(&worker, NULL, take, NULL) != 0) {
        return 2;
    }
    push(returned);
    pthread_join(worker, &taken);
    for (struct node *node = atomic_load(&head); node != NULL; node = node->next) {
        assert(node != taken); /* fails here */
    }
    printf("%d %d\n", taken == &bottom, taken == returned);
    free(returned);
    return 0;
}
