/* Immutable documents with reference counts are published in a table; readers take references, a writer replaces. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define PLACES 64
#define WORDS 32
#define ROUNDS 6000

struct document {
    atomic_int references;
    int version;
    int words[WORDS];
};

static struct {
    pthread_mutex_t lock;
    struct document *document;
} places[PLACES];

static int rounds;

static struct document *make(int version) {
    struct document *document = malloc(sizeof *document);
    atomic_init(&document->references, 1);
    document->version = version;
    for (int i = 0; i < WORDS; i++) document->words[i] = version + i;
    return document;
}

static void drop(struct document *document) {
    if (atomic_fetch_sub_explicit(&document->references, 1, memory_order_acq_rel) == 1) free(document);
}

static struct document *get(int place) {
    pthread_mutex_lock(&places[place].lock);
    struct document *document = places[place].document;
    atomic_fetch_add_explicit(&document->references, 1, memory_order_relaxed);
    pthread_mutex_unlock(&places[place].lock);
    return document;
}

static void replace(int place, struct document *document) {
    pthread_mutex_lock(&places[place].lock);
    struct document *old = places[place].document;
    places[place].document = document;
    pthread_mutex_unlock(&places[place].lock);
    drop(old);
}

static void *use(void *seed) {
    unsigned state = (unsigned)(long)seed;
    long sum = 0;
    for (int i = 0; i < rounds; i++) {
        state = state * 1664525u + 1013904223u;
        int place = state >> 26;
        if ((state >> 16 & 15) == 0) {
            replace(place, make(i));
        } else {
            struct document *document = get(place);
            for (int w = 0; w < WORDS; w++) sum += document->words[w] - document->version;
            drop(document);
        }
    }
    return (void *)sum;
}

int main(int argc, char **argv) {
    pthread_t threads[2];
    rounds = ROUNDS * (argc > 1 ? atoi(argv[1]) : 1);
    for (int i = 0; i < PLACES; i++) {
        pthread_mutex_init(&places[i].lock, NULL);
        places[i].document = make(0);
    }
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, use, (void *)(i + 1));
    long sum = 0;
    for (int i = 0; i < 2; i++) {
        void *of_thread;
        pthread_join(threads[i], &of_thread);
        sum += (long)of_thread;
    }
    for (int i = 0; i < PLACES; i++) drop(places[i].document);
    printf("%ld\n", sum);
    return 0;
}
