/* A pipeline of compressing stages: blocks of text pass from thread to thread through bounded queues, each owned by
 * one at a time. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_ROOM 64
#define QUEUE_ROOM 3
#define STAGES 5

/* ---- blocks ---- */

struct block {
    unsigned number;
    size_t plain;  /* bytes it stands for */
    size_t length; /* bytes it has now */
    uint32_t sum;
    uint8_t bytes[2 * BLOCK_ROOM];
};

static struct block *block_new(unsigned number, const uint8_t *bytes, size_t length) {
    struct block *block = malloc(sizeof *block);
    if (block == NULL)
        abort();
    block->number = number;
    block->plain = length;
    block->length = length;
    block->sum = 0;
    memcpy(block->bytes, bytes, length);
    return block;
}

/* ---- bounded queues ---- */

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    pthread_cond_t emptied;
    struct block *blocks[QUEUE_ROOM];
    unsigned head;
    unsigned count;
    int closed;
};

static void queue_init(struct queue *queue) {
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->filled, NULL);
    pthread_cond_init(&queue->emptied, NULL);
    queue->head = 0;
    queue->count = 0;
    queue->closed = 0;
}

static void queue_push(struct queue *queue, struct block *block) {
    pthread_mutex_lock(&queue->lock);
    while (queue->count == QUEUE_ROOM)
        pthread_cond_wait(&queue->emptied, &queue->lock);
    queue->blocks[(queue->head + queue->count) % QUEUE_ROOM] = block;
    queue->count++;
    pthread_cond_signal(&queue->filled);
    pthread_mutex_unlock(&queue->lock);
}

/* NULL when the queue is closed and empty. */
static struct block *queue_pop(struct queue *queue) {
    struct block *block = NULL;
    pthread_mutex_lock(&queue->lock);
    while (queue->count == 0 && !queue->closed)
        pthread_cond_wait(&queue->filled, &queue->lock);
    if (queue->count > 0) {
        block = queue->blocks[queue->head];
        queue->head = (queue->head + 1) % QUEUE_ROOM;
        queue->count--;
        pthread_cond_signal(&queue->emptied);
    }
    pthread_mutex_unlock(&queue->lock);
    return block;
}

static void queue_close(struct queue *queue) {
    pthread_mutex_lock(&queue->lock);
    queue->closed = 1;
    pthread_cond_broadcast(&queue->filled);
    pthread_mutex_unlock(&queue->lock);
}

static void queue_destroy(struct queue *queue) {
    pthread_cond_destroy(&queue->filled);
    pthread_cond_destroy(&queue->emptied);
    pthread_mutex_destroy(&queue->lock);
}

/* ---- what the stages do to a block ---- */

/* Each byte becomes its difference from the one before. */
static void delta(struct block *block) {
    uint8_t before = 0;
    for (size_t i = 0; i < block->length; i++) {
        uint8_t now = block->bytes[i];
        block->bytes[i] = (uint8_t)(now - before);
        before = now;
    }
}

static void undo_delta(uint8_t *bytes, size_t length) {
    for (size_t i = 1; i < length; i++)
        bytes[i] = (uint8_t)(bytes[i] + bytes[i - 1]);
}

/* Bytes with the same high half come together: all high halves, then all low ones. */
static void split_halves(struct block *block) {
    uint8_t halves[BLOCK_ROOM];
    if (block->length % 2 != 0)
        return;
    for (size_t i = 0; i < block->length; i += 2) {
        const uint8_t *two = block->bytes + i;
        halves[i / 2] = (uint8_t)((two[0] & 0xf0) | two[1] >> 4);
        halves[block->length / 2 + i / 2] = (uint8_t)(two[0] << 4 | (two[1] & 0x0f));
    }
    memcpy(block->bytes, halves, block->length);
}

static void undo_split_halves(uint8_t *bytes, size_t length) {
    uint8_t whole[BLOCK_ROOM];
    if (length % 2 != 0 || length > sizeof whole)
        return;
    for (size_t i = 0; i < length; i += 2) {
        uint8_t high = bytes[i / 2], low = bytes[length / 2 + i / 2];
        whole[i] = (uint8_t)((high & 0xf0) | low >> 4);
        whole[i + 1] = (uint8_t)(high << 4 | (low & 0x0f));
    }
    memcpy(bytes, whole, length);
}

/* Runs become pairs of count and byte. */
static void run_lengths(struct block *block) {
    uint8_t packed[2 * BLOCK_ROOM];
    size_t used = 0;
    for (size_t i = 0; i < block->length;) {
        size_t run = 1;
        while (i + run < block->length && run < 255 && block->bytes[i + run] == block->bytes[i])
            run++;
        packed[used++] = (uint8_t)run;
        packed[used++] = block->bytes[i];
        i += run;
    }
    memcpy(block->bytes, packed, used);
    block->length = used;
}

static size_t undo_run_lengths(const struct block *block, uint8_t *bytes, size_t room) {
    size_t used = 0;
    for (size_t i = 0; i + 1 < block->length; i += 2) {
        size_t run = block->bytes[i];
        if (used + run > room)
            return 0;
        memset(bytes + used, block->bytes[i + 1], run);
        used += run;
    }
    return used;
}

static uint32_t adler(const uint8_t *bytes, size_t length) {
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < length; i++) {
        a = (a + bytes[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

static void seal(struct block *block) {
    block->sum = adler(block->bytes, block->length);
}

/* ---- what is known of the whole run ---- */

struct totals {
    pthread_mutex_t lock;
    unsigned blocks;
};

struct totals totals = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Each stage adds its own count once, when its input is over. */
__attribute__((noinline)) static void report(unsigned blocks) {
    pthread_mutex_lock(&totals.lock); totals.blocks += blocks; pthread_mutex_unlock(&totals.lock);
}

/* ---- stages ---- */

typedef void (*stage_function)(struct block *block);

struct stage {
    pthread_t thread;
    stage_function function;
    struct queue *from;
    struct queue *to;
};

static void *stage_main(void *arg) {
    struct stage *stage = arg;
    struct block *block;
    unsigned blocks = 0;
    while ((block = queue_pop(stage->from)) != NULL) {
        stage->function(block);
        queue_push(stage->to, block);
        blocks++;
    }
    queue_close(stage->to);
    report(blocks);
    return NULL;
}

/* ---- the ends: a text goes in, and what comes out is taken apart again ---- */

struct source {
    pthread_t thread;
    const char *text;
    unsigned repeats;
    struct queue *to;
};

static void *source_main(void *arg) {
    struct source *source = arg;
    size_t length = strlen(source->text);
    unsigned blocks = 0;
    for (unsigned repeat = 0; repeat < source->repeats; repeat++) {
        for (size_t at = 0; at < length; at += BLOCK_ROOM) {
            size_t part = length - at < BLOCK_ROOM ? length - at : BLOCK_ROOM;
            queue_push(source->to, block_new(blocks, (const uint8_t *)source->text + at, part));
            blocks++;
        }
    }
    queue_close(source->to);
    report(blocks);
    return NULL;
}

struct sink {
    struct queue *from;
    size_t plain;
    size_t packed;
    unsigned broken;
    unsigned misplaced;
};

static int block_is_whole(const struct block *block, const char *text) {
    uint8_t bytes[2 * BLOCK_ROOM];
    if (adler(block->bytes, block->length) != block->sum)
        return 0;
    size_t length = undo_run_lengths(block, bytes, sizeof bytes);
    if (length != block->plain)
        return 0;
    undo_split_halves(bytes, length);
    undo_delta(bytes, length);
    size_t blocks = (strlen(text) + BLOCK_ROOM - 1) / BLOCK_ROOM;
    return memcmp(bytes, text + block->number % blocks * BLOCK_ROOM, length) == 0;
}

static void drain(struct sink *sink, const char *text) {
    struct block *block;
    unsigned expected = 0;
    while ((block = queue_pop(sink->from)) != NULL) {
        if (block->number != expected++)
            sink->misplaced++;
        if (!block_is_whole(block, text))
            sink->broken++;
        sink->plain += block->plain;
        sink->packed += block->length;
        free(block);
    }
}

int main(void) {
    static const char text[] =
        "aaaaaaaabbbbbbbbccccccccddddddddeeeeeeeeffffffffgggggggghhhhhhhh"
        "        ________________        ________________        ________"
        "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";
    static struct queue queues[STAGES];
    static struct stage stages[STAGES - 1] = {
        {.function = delta, .from = &queues[0], .to = &queues[1]},
        {.function = split_halves, .from = &queues[1], .to = &queues[2]},
        {.function = run_lengths, .from = &queues[2], .to = &queues[3]},
        {.function = seal, .from = &queues[3], .to = &queues[4]},
    };
    static struct source source = {.text = text, .repeats = 2, .to = &queues[0]};
    static struct sink sink = {.from = &queues[STAGES - 1]};
    for (int i = 0; i < STAGES; i++)
        queue_init(&queues[i]);
    if (pthread_create(&source.thread, NULL, source_main, &source) != 0)
        return 1;
    for (int i = 0; i < STAGES - 1; i++)
        if (pthread_create(&stages[i].thread, NULL, stage_main, &stages[i]) != 0)
            return 1;
    drain(&sink, text);
    pthread_join(source.thread, NULL);
    for (int i = 0; i < STAGES - 1; i++)
        pthread_join(stages[i].thread, NULL);
    for (int i = 0; i < STAGES; i++)
        queue_destroy(&queues[i]);
    printf("%zu bytes packed into %zu, %u broken, %u misplaced, %u steps\n", sink.plain, sink.packed,
        sink.broken, sink.misplaced,
           totals.blocks);
    return sink.broken + sink.misplaced == 0 ? 0 : 1;
}
