/* A routing table behind a readers-writer lock: lookups walk a tree, now and then a writer changes a leaf. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define LOOKUPS 15000
#define ROUTES 4096

struct node {
    struct node *left, *right;
    unsigned key;
    int target;
};

static struct node *root;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int lookups;

static void insert(unsigned key, int target) {
    struct node **link = &root;
    while (*link && (*link)->key != key) link = key < (*link)->key ? &(*link)->left : &(*link)->right;
    if (!*link) {
        *link = calloc(1, sizeof **link);
        (*link)->key = key;
    }
    (*link)->target = target;
}

static int find(unsigned key) {
    struct node *node = root;
    int target = 0;
    while (node) {
        if (node->key <= key) target = node->target;
        node = key < node->key ? node->left : node->right;
    }
    return target;
}

static long count(const struct node *node) { return node ? 1 + count(node->left) + count(node->right) : 0; }

static void *route(void *seed) {
    unsigned state = (unsigned)(long)seed;
    long sum = 0;
    for (int i = 0; i < lookups; i++) {
        state = state * 1664525u + 1013904223u;
        if (state >> 22 == 0) {
            pthread_rwlock_wrlock(&lock);
            insert(state >> 8, i);
        } else {
            pthread_rwlock_rdlock(&lock);
            sum += find(state >> 8);
        }
        pthread_rwlock_unlock(&lock);
    }
    return (void *)sum;
}

int main(int argc, char **argv) {
    pthread_t threads[2];
    unsigned state = 7;
    lookups = LOOKUPS * (argc > 1 ? atoi(argv[1]) : 1);
    for (int i = 0; i < ROUTES; i++) {
        state = state * 1664525u + 1013904223u;
        insert(state >> 8, i);
    }
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, route, (void *)(i + 1));
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("%ld routes\n", count(root));
    return 0;
}
