/* Two appenders read the same fill index; one length is lost.
 *
 * Origin: Apache httpd bug 25520, buffered access log: its index alone (see ORIGIN.md).
 * Shared: `fill`. Each appender reads it, adds its entry's length, and writes it back.
 * Expected: original fails under some schedule; hardened never; FIXED never.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

static size_t fill;
#ifdef FIXED
static pthread_mutex_t fill_lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void append(size_t length)
{
#ifdef FIXED
    pthread_mutex_lock(&fill_lock);
#endif
    size_t start = fill;
    fill = start + length;
#ifdef FIXED
    pthread_mutex_unlock(&fill_lock);
#endif
}

static void *second_request(void *unused)
{
    (void)unused;
    append(5);
    return NULL;
}

int main(void)
{
    pthread_t second;

    if (pthread_create(&second, NULL, second_request, NULL) != 0) {
        return 2;
    }
    append(11);
    pthread_join(second, NULL);
    assert(fill == 16); /* fails here */
    printf("%zu\n", fill);
    return 0;
}
