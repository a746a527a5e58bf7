/* A search tree under one recursive mutex: inserting locks at every level, reading tries, and then waits for a limited
 * time. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct node {
    int key;
    struct node *left, *right;
};

pthread_mutex_t tree_lock;
static struct node *root;
int inserters;

static struct node *insert(struct node *at, int key) {
    pthread_mutex_lock(&tree_lock);
    if (at == NULL) {
        at = calloc(1, sizeof *at);
        if (at == NULL)
            abort();
        at->key = key;
    } else if (key < at->key) {
        at->left = insert(at->left, key);
    } else if (key > at->key) {
        at->right = insert(at->right, key);
    }
    pthread_mutex_unlock(&tree_lock);
    return at;
}

static int height(const struct node *at) {
    if (at == NULL)
        return 0;
    int left = height(at->left), right = height(at->right);
    return 1 + (left > right ? left : right);
}

__attribute__((noinline)) static void sign_in(void) {
    pthread_mutex_lock(&tree_lock); inserters++; pthread_mutex_unlock(&tree_lock);
}

static void *inserter(void *arg) {
    unsigned key = *(const unsigned *)arg;
    sign_in();
    for (int i = 0; i < 20; i++) {
        key = (key * 37 + 11) % 101;
        pthread_mutex_lock(&tree_lock);
        root = insert(root, (int)key);
        pthread_mutex_unlock(&tree_lock);
    }
    return NULL;
}

static int lock_soon(void) {
    if (pthread_mutex_trylock(&tree_lock) == 0)
        return 0;
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 5;
    return pthread_mutex_timedlock(&tree_lock, &limit);
}

static void *reader(void *arg) {
    int *highest = arg;
    for (int i = 0; i < 5; i++) {
        if (lock_soon() != 0)
            continue;
        int now = height(root);
        pthread_mutex_unlock(&tree_lock);
        if (now > *highest)
            *highest = now;
    }
    return NULL;
}

static int release(struct node *at) {
    if (at == NULL)
        return 0;
    int count = 1 + release(at->left) + release(at->right);
    free(at);
    return count;
}

int main(void) {
    static unsigned seeds[2] = {3, 58};
    int highest = 0;
    pthread_t threads[3];
    pthread_mutexattr_t again;
    pthread_mutexattr_init(&again);
    pthread_mutexattr_settype(&again, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&tree_lock, &again);
    pthread_mutexattr_destroy(&again);
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, inserter, &seeds[i]) != 0)
            return 1;
    if (pthread_create(&threads[2], NULL, reader, &highest) != 0)
        return 1;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    int high = height(root);
    int count = release(root);
    printf("%d nodes, %d inserters, %s\n", count, inserters, highest <= high ? "grown" : "shrunk");
    pthread_mutex_destroy(&tree_lock);
    return 0;
}
