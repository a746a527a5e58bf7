/* Three stages with condition variables between them: samples are made, filtered in place, and summed in batches. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define ROOM 8
#define SAMPLES 256
#define BATCHES 800

struct batch {
    int samples[SAMPLES];
    int is_last;
};

struct pipe {
    pthread_mutex_t lock;
    pthread_cond_t not_full, not_empty;
    struct batch batches[ROOM];
    int head, count;
};

#define EMPTY {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, {{{0}, 0}}, 0, 0}
static struct pipe raw = EMPTY, filtered = EMPTY;
static int batches;

static struct batch *room(struct pipe *pipe) {
    pthread_mutex_lock(&pipe->lock);
    while (pipe->count == ROOM) pthread_cond_wait(&pipe->not_full, &pipe->lock);
    struct batch *batch = &pipe->batches[(pipe->head + pipe->count) % ROOM];
    pthread_mutex_unlock(&pipe->lock);
    return batch;
}

static void push(struct pipe *pipe) {
    pthread_mutex_lock(&pipe->lock);
    pipe->count++;
    pthread_cond_signal(&pipe->not_empty);
    pthread_mutex_unlock(&pipe->lock);
}

static struct batch *next(struct pipe *pipe) {
    pthread_mutex_lock(&pipe->lock);
    while (!pipe->count) pthread_cond_wait(&pipe->not_empty, &pipe->lock);
    struct batch *batch = &pipe->batches[pipe->head];
    pthread_mutex_unlock(&pipe->lock);
    return batch;
}

static void pop(struct pipe *pipe) {
    pthread_mutex_lock(&pipe->lock);
    pipe->head = (pipe->head + 1) % ROOM;
    pipe->count--;
    pthread_cond_signal(&pipe->not_full);
    pthread_mutex_unlock(&pipe->lock);
}

static void *produce(void *unused) {
    for (int i = 0; i < batches; i++) {
        struct batch *batch = room(&raw);
        for (int s = 0; s < SAMPLES; s++) batch->samples[s] = (i * 31 + s * 7) % 1000;
        batch->is_last = i == batches - 1;
        push(&raw);
    }
    return unused;
}

static void *filter(void *unused) {
    for (int is_last = 0; !is_last;) {
        struct batch *in = next(&raw), *out = room(&filtered);
        for (int s = 1; s < SAMPLES; s++) out->samples[s] = (in->samples[s - 1] + in->samples[s]) / 2;
        out->samples[0] = in->samples[0];
        is_last = out->is_last = in->is_last;
        pop(&raw);
        push(&filtered);
    }
    return unused;
}

int main(int argc, char **argv) {
    pthread_t producer, filterer;
    long sum = 0;
    batches = BATCHES * (argc > 1 ? atoi(argv[1]) : 1);
    pthread_create(&producer, NULL, produce, NULL);
    pthread_create(&filterer, NULL, filter, NULL);
    for (int is_last = 0; !is_last;) {
        struct batch *batch = next(&filtered);
        for (int s = 0; s < SAMPLES; s++) sum += batch->samples[s];
        is_last = batch->is_last;
        pop(&filtered);
    }
    pthread_join(producer, NULL);
    pthread_join(filterer, NULL);
    printf("%ld\n", sum);
    return 0;
}
