/* A cache with a hash table and a list by age behind one lock; values are allocated, copied out and evicted. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 4096
#define ROOM 2000
#define THREADS 2
#define LOOKUPS 6000

struct entry {
    struct entry *chain, *newer, *older;
    unsigned key;
    unsigned size;
    char value[];
};

static struct entry *buckets[BUCKETS];
static struct entry *newest, *oldest;
static unsigned entries;
static long hits, misses;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned hash(unsigned key) { return key * 2654435761u >> 20; }

static void unlink_entry(struct entry *entry) {
    if (entry->newer) entry->newer->older = entry->older;
    else newest = entry->older;
    if (entry->older) entry->older->newer = entry->newer;
    else oldest = entry->newer;
}

static void push(struct entry *entry) {
    entry->newer = NULL;
    entry->older = newest;
    if (newest) newest->newer = entry;
    else oldest = entry;
    newest = entry;
}

static void evict(void) {
    struct entry *entry = oldest;
    unlink_entry(entry);
    struct entry **link = &buckets[hash(entry->key)];
    while (*link != entry) link = &(*link)->chain;
    *link = entry->chain;
    free(entry);
    entries--;
}

static int get(unsigned key, char *out) {
    int found = 0;
    pthread_mutex_lock(&lock);
    struct entry *entry = buckets[hash(key)];
    while (entry && entry->key != key) entry = entry->chain;
    if (entry) {
        unlink_entry(entry);
        push(entry);
        memcpy(out, entry->value, entry->size);
        found = 1;
        hits++;
    } else {
        misses++;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static void set(unsigned key, const char *value, unsigned size) {
    struct entry *entry = malloc(sizeof *entry + size);
    entry->key = key;
    entry->size = size;
    memcpy(entry->value, value, size);
    pthread_mutex_lock(&lock);
    entry->chain = buckets[hash(key)];
    buckets[hash(key)] = entry;
    push(entry);
    if (++entries > ROOM) evict();
    pthread_mutex_unlock(&lock);
}

static int lookups;

static void *client(void *seed) {
    unsigned state = (unsigned)(long)seed;
    char value[64];
    long sum = 0;
    for (int i = 0; i < lookups; i++) {
        state = state * 1664525u + 1013904223u;
        unsigned key = state >> 20;
        if (!get(key, value)) {
            int size = snprintf(value, sizeof value, "the value of key %u", key) + 1;
            set(key, value, (unsigned)size);
        }
        sum += value[17];
    }
    return (void *)sum;
}

int main(int argc, char **argv) {
    pthread_t clients[THREADS];
    lookups = LOOKUPS * (argc > 1 ? atoi(argv[1]) : 1);
    for (long i = 0; i < THREADS; i++) pthread_create(&clients[i], NULL, client, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++) pthread_join(clients[i], NULL);
    printf("%ld lookups\n", hits + misses);
    return 0;
}
