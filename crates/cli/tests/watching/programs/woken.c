/* One waits, and `first` wakes it; `second` notifies only afterwards. `y` is written before the one who reads it is
 * woken; `x` races. */
#include <pthread.h>
#include <sched.h>

#define UNSEEN __attribute__((no_sanitize("thread"), noinline))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int go, turn;
static long x, y;

UNSEEN static void await(int number) {
    while (*(volatile int *)&turn != number) sched_yield();
}

UNSEEN static void post(int number) {
    __asm__ volatile("" ::: "memory");
    *(volatile int *)&turn = number;
}

static void *waits(void *unused) {
    (void)unused;
    pthread_mutex_lock(&mutex);
    post(1);
    while (!go) pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    long sum = y;
    await(3);
    sum += x;
    post(4);
    return (void *)sum;
}

static void *first(void *unused) {
    (void)unused;
    await(2);
    pthread_mutex_lock(&mutex);
    go = 1;
    pthread_mutex_unlock(&mutex);
    y = 1;
    pthread_cond_signal(&condition);
    post(3);
    return NULL;
}

static void *second(void *unused) {
    (void)unused;
    await(1);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    x = 1;
    post(2);
    await(4);
    pthread_cond_signal(&condition);
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, waits, NULL);
    pthread_create(&threads[1], NULL, first, NULL);
    pthread_create(&threads[2], NULL, second, NULL);
    for (int t = 0; t < 3; t++) pthread_join(threads[t], NULL);
    return 0;
}
