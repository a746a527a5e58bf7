/* A reader fills buffers, a parser splits them into fields and sums these, and gives the buffers back: two queues. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFERS 16
#define SIZE 4096
#define BLOCKS 100

struct buffer {
    int used;
    char bytes[SIZE];
};

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t not_empty;
    struct buffer *items[BUFFERS + 1];
    int head, count;
};

static struct queue full = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {0}, 0, 0};
static struct queue empty = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {0}, 0, 0};

static void put(struct queue *queue, struct buffer *buffer) {
    pthread_mutex_lock(&queue->lock);
    queue->items[(queue->head + queue->count++) % (BUFFERS + 1)] = buffer;
    pthread_cond_signal(&queue->not_empty);
    pthread_mutex_unlock(&queue->lock);
}

static struct buffer *take(struct queue *queue) {
    pthread_mutex_lock(&queue->lock);
    while (!queue->count) pthread_cond_wait(&queue->not_empty, &queue->lock);
    struct buffer *buffer = queue->items[queue->head];
    queue->head = (queue->head + 1) % (BUFFERS + 1);
    queue->count--;
    pthread_mutex_unlock(&queue->lock);
    return buffer;
}

static void *parse(void *unused) {
    long *sum = unused;
    for (struct buffer *buffer; (buffer = take(&full));) {
        long number = 0;
        for (int i = 0; i < buffer->used; i++) {
            char byte = buffer->bytes[i];
            if (byte == ',' || byte == '\n') {
                *sum += number;
                number = 0;
            } else {
                number = number * 10 + (byte - '0');
            }
        }
        put(&empty, buffer);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int blocks = BLOCKS * (argc > 1 ? atoi(argv[1]) : 1);
    long sum = 0;
    pthread_t parser;
    for (int i = 0; i < BUFFERS; i++) put(&empty, calloc(1, sizeof(struct buffer)));
    pthread_create(&parser, NULL, parse, &sum);
    for (int block = 0; block < blocks; block++) {
        struct buffer *buffer = take(&empty);
        int used = 0;
        for (int i = block; used < SIZE - 16; i++) {
            int digits = i % 10000;
            do buffer->bytes[used++] = (char)('0' + digits % 10);
            while (digits /= 10);
            buffer->bytes[used++] = i % 8 ? ',' : '\n';
        }
        buffer->used = used;
        put(&full, buffer);
    }
    put(&full, NULL);
    pthread_join(parser, NULL);
    for (int i = 0; i < BUFFERS; i++) free(take(&empty));
    printf("%ld\n", sum);
    return 0;
}
