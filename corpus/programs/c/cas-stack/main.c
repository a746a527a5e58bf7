/* Two threads push onto a stack by compare-and-swap; a third takes all there is in one exchange and frees it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EACH 25

struct node {
    struct node *below;
    int value;
};

static _Atomic(struct node *) top;
static atomic_int retries;
static atomic_uint pushed;
static long sum;

__attribute__((noinline)) static void push(int value) {
    struct node *node = malloc(sizeof *node);
    if (node == NULL)
        abort();
    node->value = value;
    struct node *seen = atomic_load_explicit(&top, memory_order_relaxed);
    node->below = seen;
    while (!atomic_compare_exchange_weak_explicit(&top, &seen, node, memory_order_release, memory_order_relaxed)) {
        node->below = seen;
        atomic_fetch_add_explicit(&retries, 1, memory_order_relaxed);
    }
    atomic_fetch_add_explicit(&pushed, 1, memory_order_relaxed);
}

__attribute__((noinline)) static int take_all(void) {
    int taken = 0;
    struct node *node = atomic_exchange_explicit(&top, NULL, memory_order_acquire);
    while (node != NULL) {
        struct node *below = node->below;
        sum += node->value;
        free(node);
        node = below;
        taken++;
    }
    return taken;
}

static void *pusher(void *arg) {
    for (int i = 0; i < EACH; i++)
        push(*(const int *)arg + i);
    return NULL;
}

static void *taker(void *unused) {
    (void)unused;
    for (int taken = 0; taken < 2 * EACH;) {
        int some = take_all();
        if (some == 0)
            usleep(100);
        taken += some;
    }
    return NULL;
}

int main(void) {
    static const int starts[2] = {1, 1000};
    pthread_t threads[3];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, pusher, (void *)&starts[i]) != 0)
            return 1;
    if (pthread_create(&threads[2], NULL, taker, NULL) != 0)
        return 1;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%u pushed, sum %ld\n", atomic_load(&pushed), sum);
    return 0;
}
