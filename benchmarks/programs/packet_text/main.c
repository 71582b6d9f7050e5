/* A text is copied with the length of another.
 *
 * Origin: a buffer and its length, as in many servers (see ORIGIN.md).
 * Shared: `bytes` and `length` of a packet on the heap, which are written one after the other and read together.
 * Expected: original fails under some schedule; hardened never; FIXED never.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct packet {
    pthread_mutex_t lock;
    size_t length;
    char bytes[8];
};

static void *fill(void *argument)
{
    struct packet *packet = argument;

#ifdef FIXED
    pthread_mutex_lock(&packet->lock);
#endif
    memcpy(packet->bytes, "wxyz", 4);
    packet->length = 4;
#ifdef FIXED
    pthread_mutex_unlock(&packet->lock);
#endif
    return NULL;
}

static void print(struct packet *packet)
{
    char text[8] = "";

#ifdef FIXED
    pthread_mutex_lock(&packet->lock);
#endif
    size_t length = packet->length;
    memcpy(text, packet->bytes, length);
#ifdef FIXED
    pthread_mutex_unlock(&packet->lock);
#endif
    assert(length == (text[0] == 'w' ? 4 : 2)); /* fails here */
}

int main(void)
{
    struct packet *packet = malloc(sizeof *packet);
    pthread_t other;

    if (packet == NULL) {
        return 2;
    }
    pthread_mutex_init(&packet->lock, NULL);
    memcpy(packet->bytes, "ab", 2);
    packet->length = 2;
    if (pthread_create(&other, NULL, fill, packet) != 0) {
        return 2;
    }
    print(packet);
    pthread_join(other, NULL);
    printf("%d %.2s\n", (int)packet->length, packet->bytes);
    free(packet);
    return 0;
}
