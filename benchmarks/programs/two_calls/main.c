/* A length that is stale by the time it is used, though every access is locked.
 *
 * Origin: JDK StringBuffer.append (see ORIGIN.md).
 * Shared: `length` of the source buffer, always under its lock: there is no data race. The append asks for the length in
 * one locked call and copies that many bytes in another; the buffer may be cut between the two.
 * Expected: original fails under some schedule; hardened never; FIXED never.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct text {
    pthread_mutex_t lock;
    size_t length;
    char bytes[8];
};

static struct text source = {PTHREAD_MUTEX_INITIALIZER, 5, "abcde"};
static char target[8];

#ifndef FIXED
static size_t text_length(struct text *text)
{
    pthread_mutex_lock(&text->lock);
    size_t length = text->length;
    pthread_mutex_unlock(&text->lock);
    return length;
}

static void text_copy(struct text *text, size_t length)
{
    pthread_mutex_lock(&text->lock);
    assert(length <= text->length); /* fails here */
    memcpy(target, text->bytes, length);
    pthread_mutex_unlock(&text->lock);
}
#endif

static void append(struct text *text)
{
#ifdef FIXED
    pthread_mutex_lock(&text->lock);
    size_t length = text->length;
    memcpy(target, text->bytes, length);
    pthread_mutex_unlock(&text->lock);
#else
    size_t length = text_length(text);
    text_copy(text, length);
#endif
}

static void *cut(void *argument)
{
    struct text *text = argument;

    pthread_mutex_lock(&text->lock);
    text->length = 2;
    pthread_mutex_unlock(&text->lock);
    return NULL;
}

int main(void)
{
    pthread_t other;

    if (pthread_create(&other, NULL, cut, &source) != 0) {
        return 2;
    }
    append(&source);
    pthread_join(other, NULL);
    assert(target[0] == 'a' && target[1] == 'b');
    printf("%.8s\n", target);
    return 0;
}
