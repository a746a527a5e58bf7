/* A cache with a hash table under a reader-writer lock; finding an entry also stamps it, and that is a write under the
 * reader's lock. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 16
#define KEY_ROOM 16
#define VALUE_ROOM 32
#define CAPACITY 8

/* ---- the cache ---- */

struct entry {
    char key[KEY_ROOM];
    char value[VALUE_ROOM];
    struct entry *next;
    unsigned long stamp; /* when it was last used: the entry with the oldest one goes first */
};

struct cache {
    pthread_rwlock_t lock;
    struct entry *buckets[BUCKETS];
    size_t count;
    size_t capacity;
    size_t evicted;
};

struct cache cache;

static uint32_t hash(const char *key) {
    uint32_t h = 2166136261u;
    for (; *key != '\0'; key++) {
        h ^= (unsigned char)*key;
        h *= 16777619u;
    }
    return h;
}

static int cache_init(struct cache *c, size_t capacity) {
    memset(c->buckets, 0, sizeof c->buckets);
    c->count = 0;
    c->capacity = capacity;
    c->evicted = 0;
    return pthread_rwlock_init(&c->lock, NULL);
}

/* The caller holds the lock in either way. */
static struct entry *cache_find(struct cache *c, const char *key) {
    struct entry *entry = c->buckets[hash(key) % BUCKETS];
    while (entry != NULL && strcmp(entry->key, key) != 0)
        entry = entry->next;
    return entry;
}

/* The caller holds the lock for writing. */
static void cache_unlink(struct cache *c, struct entry *gone) {
    struct entry **link = &c->buckets[hash(gone->key) % BUCKETS];
    while (*link != gone)
        link = &(*link)->next;
    *link = gone->next;
    c->count--;
}

/* The caller holds the lock for writing. */
static void cache_evict(struct cache *c) {
    struct entry *oldest = NULL;
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct entry *entry = c->buckets[i]; entry != NULL; entry = entry->next)
            if (oldest == NULL || entry->stamp < oldest->stamp)
                oldest = entry;
    if (oldest == NULL)
        return;
    cache_unlink(c, oldest);
    free(oldest);
    c->evicted++;
}

/*
 * The bug: the stamp is written while other readers may be in the same entry. A reader's lock keeps writers out,
 * not readers.
 */
__attribute__((noinline)) static int cache_get(struct cache *c, const char *key, char *value, unsigned long now) {
    int found = 0;
    pthread_rwlock_rdlock(&c->lock);
    struct entry *entry = cache_find(c, key);
    if (entry != NULL) {
        entry->stamp = now;
        memcpy(value, entry->value, VALUE_ROOM);
        found = 1;
    }
    pthread_rwlock_unlock(&c->lock);
    return found;
}

static int cache_put(struct cache *c, const char *key, const char *value, unsigned long now) {
    pthread_rwlock_wrlock(&c->lock);
    struct entry *entry = cache_find(c, key);
    if (entry == NULL) {
        if (c->count == c->capacity)
            cache_evict(c);
        entry = calloc(1, sizeof *entry);
        if (entry == NULL) {
            pthread_rwlock_unlock(&c->lock);
            return -1;
        }
        snprintf(entry->key, sizeof entry->key, "%s", key);
        struct entry **bucket = &c->buckets[hash(key) % BUCKETS];
        entry->next = *bucket;
        *bucket = entry;
        c->count++;
    }
    snprintf(entry->value, sizeof entry->value, "%s", value);
    entry->stamp = now;
    pthread_rwlock_unlock(&c->lock);
    return 0;
}

/* Replaces only what is there; a miss is no error. */
static int cache_replace(struct cache *c, const char *key, const char *value) {
    int replaced = 0;
    pthread_rwlock_wrlock(&c->lock);
    struct entry *entry = cache_find(c, key);
    if (entry != NULL) {
        snprintf(entry->value, sizeof entry->value, "%s", value);
        replaced = 1;
    }
    pthread_rwlock_unlock(&c->lock);
    return replaced;
}

static int cache_drop(struct cache *c, const char *key) {
    int dropped = 0;
    pthread_rwlock_wrlock(&c->lock);
    struct entry *entry = cache_find(c, key);
    if (entry != NULL) {
        cache_unlink(c, entry);
        free(entry);
        dropped = 1;
    }
    pthread_rwlock_unlock(&c->lock);
    return dropped;
}

/* The longest chain: how well the hash spreads the keys. */
static size_t cache_depth(struct cache *c) {
    size_t deepest = 0;
    pthread_rwlock_rdlock(&c->lock);
    for (size_t i = 0; i < BUCKETS; i++) {
        size_t depth = 0;
        for (const struct entry *entry = c->buckets[i]; entry != NULL; entry = entry->next)
            depth++;
        if (depth > deepest)
            deepest = depth;
    }
    pthread_rwlock_unlock(&c->lock);
    return deepest;
}

static size_t cache_count(struct cache *c) {
    pthread_rwlock_rdlock(&c->lock);
    size_t count = c->count;
    pthread_rwlock_unlock(&c->lock);
    return count;
}

static void cache_destroy(struct cache *c) {
    for (size_t i = 0; i < BUCKETS; i++) {
        while (c->buckets[i] != NULL) {
            struct entry *entry = c->buckets[i];
            c->buckets[i] = entry->next;
            free(entry);
        }
    }
    pthread_rwlock_destroy(&c->lock);
}

/* ---- what is cached: places and their post codes ---- */

struct place {
    const char *name;
    const char *code;
};

static const struct place places[] = {
    {"Aachen", "52062"}, {"Bremen", "28195"}, {"Celle", "29221"},  {"Dresden", "01067"}, {"Essen", "45127"},
    {"Fulda", "36037"},  {"Giessen", "35390"}, {"Halle", "06108"}, {"Ilmenau", "98693"}, {"Jena", "07743"},
};
#define PLACES (sizeof places / sizeof places[0])

/* The slow way to the same answer. */
static const char *place_code(const char *name) {
    for (size_t i = 0; i < PLACES; i++)
        if (strcmp(places[i].name, name) == 0)
            return places[i].code;
    return "?";
}

static int preload(void) {
    for (size_t i = 0; i < PLACES; i++)
        if (cache_put(&cache, places[i].name, places[i].code, i) != 0)
            return -1;
    return 0;
}

/* ---- threads ---- */

struct reader {
    pthread_t thread;
    const char *name;
    unsigned rounds;
    unsigned long clock; /* each reader has its own, far from the other's */
    unsigned hits;
    unsigned misses;
    unsigned wrong;
};

static void reader_ask(struct reader *reader, const char *name) {
    char value[VALUE_ROOM];
    if (cache_get(&cache, name, value, reader->clock++)) {
        reader->hits++;
        if (strcmp(value, place_code(name)) != 0)
            reader->wrong++;
    } else {
        reader->misses++;
    }
}

static void *reader_main(void *arg) {
    struct reader *reader = arg;
    for (unsigned i = 0; i < reader->rounds; i++) {
        reader_ask(reader, "Jena");
        reader_ask(reader, "Ilmenau");
        reader_ask(reader, "Aachen");
    }
    return NULL;
}

struct writer {
    pthread_t thread;
    unsigned rounds;
    unsigned replaced;
};

static void *writer_main(void *arg) {
    struct writer *writer = arg;
    char value[VALUE_ROOM];
    for (unsigned i = 0; i < writer->rounds; i++) {
        snprintf(value, sizeof value, "%s-%u", place_code("Essen"), i);
        writer->replaced += (unsigned)cache_replace(&cache, "Essen", value);
    }
    return NULL;
}

/* ---- checks of the cache by itself, before there are threads ---- */

static int self_test(void) {
    char value[VALUE_ROOM];
    struct cache *c = &cache;
    if (cache_init(c, 2) != 0)
        return -1;
    cache_put(c, "a", "1", 1);
    cache_put(c, "b", "2", 2);
    if (!cache_get(c, "a", value, 3) || strcmp(value, "1") != 0)
        return -1;
    cache_put(c, "c", "3", 4); /* b is the oldest now */
    if (cache_get(c, "b", value, 5) || cache_count(c) != 2 || c->evicted != 1)
        return -1;
    if (!cache_drop(c, "c") || cache_drop(c, "c") || cache_count(c) != 1)
        return -1;
    if (cache_replace(c, "c", "4") || !cache_replace(c, "a", "5"))
        return -1;
    if (!cache_get(c, "a", value, 6) || strcmp(value, "5") != 0)
        return -1;
    cache_destroy(c);
    return 0;
}

int main(void) {
    static struct reader readers[2] = {
        {.name = "first", .rounds = 6, .clock = 1000},
        {.name = "second", .rounds = 6, .clock = 5000},
    };
    static struct writer writer = {.rounds = 5};
    if (self_test() != 0) {
        fputs("the cache does not work even alone\n", stderr);
        return 1;
    }
    if (cache_init(&cache, CAPACITY) != 0 || preload() != 0)
        return 1;
    for (int i = 0; i < 2; i++)
        if (pthread_create(&readers[i].thread, NULL, reader_main, &readers[i]) != 0)
            return 1;
    if (pthread_create(&writer.thread, NULL, writer_main, &writer) != 0)
        return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(readers[i].thread, NULL);
    pthread_join(writer.thread, NULL);
    unsigned hits = 0, misses = 0, wrong = 0;
    for (int i = 0; i < 2; i++) {
        hits += readers[i].hits;
        misses += readers[i].misses;
        wrong += readers[i].wrong;
    }
    if (cache_depth(&cache) > CAPACITY)
        return 1;
    printf("%u hits, %u misses, %u wrong, %u replaced, %zu evicted, %zu left\n", hits, misses, wrong,
        writer.replaced, cache.evicted,
           cache_count(&cache));
    cache_destroy(&cache);
    return 0;
}
