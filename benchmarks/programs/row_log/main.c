/* A table and its log change under two locks, and end in different orders.
 *
 * Origin: MySQL bug 169 (see ORIGIN.md).
 * Shared: `rows` under one lock, `entries` and `length` under another. Either is consistent by itself; the order of changes is not the same.
 * Expected: original fails under some schedule; hardened never; FIXED never.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static int rows;
static int entries[2];
static unsigned length;

/* Makes the table hold so many rows: by inserting one, or by deleting all. */
static void change(int count)
{
    pthread_mutex_lock(&table_lock);
    rows = count;
#ifndef FIXED
    pthread_mutex_unlock(&table_lock);
#endif
    pthread_mutex_lock(&log_lock);
    entries[length] = count;
    length += 1;
    pthread_mutex_unlock(&log_lock);
#ifdef FIXED
    pthread_mutex_unlock(&table_lock);
#endif
}

static void *insert(void *unused)
{
    (void)unused;
    change(1);
    return NULL;
}

int main(void)
{
    pthread_t other;

    if (pthread_create(&other, NULL, insert, NULL) != 0) {
        return 2;
    }
    change(0);
    pthread_join(other, NULL);
    assert(rows == entries[1]); /* fails here */
    printf("%d %d %d %u\n", rows, entries[0], entries[1], length);
    return 0;
}
