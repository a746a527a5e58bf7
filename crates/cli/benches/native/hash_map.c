/* Two threads fill and search a hash map whose buckets are guarded by striped locks. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define BUCKETS 16384
#define STRIPES 64
#define KEYS 50000
#define OPERATIONS 1500000

struct node {
    unsigned key;
    long value;
    struct node *next;
};

static struct node *buckets[BUCKETS];
static pthread_mutex_t stripes[STRIPES];

static unsigned next(unsigned *seed) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

static void add(unsigned key) {
    unsigned bucket = key * 2654435761u % BUCKETS;
    pthread_mutex_t *stripe = &stripes[bucket % STRIPES];
    pthread_mutex_lock(stripe);
    struct node *node = buckets[bucket];
    while (node && node->key != key) node = node->next;
    if (!node) {
        node = malloc(sizeof *node);
        node->key = key;
        node->value = 0;
        node->next = buckets[bucket];
        buckets[bucket] = node;
    }
    node->value++;
    pthread_mutex_unlock(stripe);
}

static long find(unsigned key) {
    unsigned bucket = key * 2654435761u % BUCKETS;
    pthread_mutex_t *stripe = &stripes[bucket % STRIPES];
    pthread_mutex_lock(stripe);
    struct node *node = buckets[bucket];
    while (node && node->key != key) node = node->next;
    long value = node ? node->value : 0;
    pthread_mutex_unlock(stripe);
    return value;
}

static void *work(void *which) {
    unsigned seed = 17 + (unsigned)(long)which;
    long sum = 0;
    for (int i = 0; i < OPERATIONS; i++) {
        unsigned key = next(&seed) % KEYS;
        if (i % 4 == 0) add(key);
        else sum += find(key);
    }
    return (void *)sum;
}

int main(void) {
    pthread_t threads[2];
    long total = 0;
    for (int i = 0; i < STRIPES; i++) pthread_mutex_init(&stripes[i], NULL);
    for (long t = 0; t < 2; t++) pthread_create(&threads[t], NULL, work, (void *)t);
    for (int t = 0; t < 2; t++) pthread_join(threads[t], NULL);
    for (int i = 0; i < BUCKETS; i++)
        for (struct node *node = buckets[i]; node; node = node->next) total += node->value;
    printf("%ld\n", total);
    return 0;
}
