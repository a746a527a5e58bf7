/* A producer and a consumer with a bounded queue: a lock and two conditions. */
#include <pthread.h>
#include <stdio.h>

#define ROOM 64
#define ITEMS 1000000

static int items[ROOM];
static int head, count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;

static void put(int item) {
    pthread_mutex_lock(&lock);
    while (count == ROOM) pthread_cond_wait(&not_full, &lock);
    items[(head + count++) % ROOM] = item;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
}

static int take(void) {
    pthread_mutex_lock(&lock);
    while (count == 0) pthread_cond_wait(&not_empty, &lock);
    int item = items[head];
    head = (head + 1) % ROOM;
    count--;
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&lock);
    return item;
}

static void *produce(void *unused) {
    (void)unused;
    for (int i = 0; i < ITEMS; i++) put(i);
    return NULL;
}

int main(void) {
    pthread_t producer;
    long sum = 0;
    pthread_create(&producer, NULL, produce, NULL);
    for (int i = 0; i < ITEMS; i++) sum += take();
    pthread_join(producer, NULL);
    printf("%ld\n", sum);
    return 0;
}
