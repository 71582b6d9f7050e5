/* A row that is not logged because the log is being rotated.
 *
 * Origin: MySQL bug 791, binary log rotation (see ORIGIN.md).
 * Shared: `log_state`. Rotation closes and reopens the log under `lock_log`; the insert looks at the state before it
 * takes that lock, sees the moment between, and skips its entry. Guarding the state needs an injected lock that is held
 * across `lock_log` on one side and taken under it on the other: without hoisting, the repair would deadlock.
 * Expected: original fails under some schedule; hardened never, nor does it deadlock; FIXED never.
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum state { LOG_CLOSED, LOG_OPEN };

static pthread_mutex_t lock_log = PTHREAD_MUTEX_INITIALIZER;
static enum state log_state = LOG_OPEN;
static int rows_logged;

static bool is_open(void)
{
    return log_state == LOG_OPEN;
}

static void close_log(void)
{
    log_state = LOG_CLOSED;
}

static void open_log(void)
{
    log_state = LOG_OPEN;
}

static void rotate(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock_log);
    if (is_open()) {
        close_log();
        open_log();
    }
    pthread_mutex_unlock(&lock_log);
#else
    if (!is_open()) {
        return;
    }
    pthread_mutex_lock(&lock_log);
    if (is_open()) {
        close_log();
        open_log();
    }
    pthread_mutex_unlock(&lock_log);
#endif
}

static void write_entry(void)
{
    pthread_mutex_lock(&lock_log);
    if (is_open()) {
        rows_logged++;
    }
    pthread_mutex_unlock(&lock_log);
}

static void *insert(void *unused)
{
    (void)unused;
#ifdef FIXED
    write_entry();
#else
    if (is_open()) {
        write_entry();
    }
#endif
    return NULL;
}

int main(void)
{
    pthread_t client;

    if (pthread_create(&client, NULL, insert, NULL) != 0) {
        return 2;
    }
    rotate();
    pthread_join(client, NULL);
    assert(rows_logged == 1); /* fails here */
    printf("%d\n", rows_logged);
    return 0;
}
