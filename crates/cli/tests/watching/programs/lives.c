/* Two mutexes that live many lives, in an order that no hook sees; which is the outer one changes with each life:
 * there can be no deadlock. (That the order is not seen makes races of the lifetimes.) */
#include <pthread.h>
#include <sched.h>

#define LIVES 200
#define UNSEEN __attribute__((no_sanitize("thread"), noinline))

static pthread_mutex_t mutexes[2];
static int turn;

UNSEEN static void await(int number) {
    while (*(volatile int *)&turn != number) sched_yield();
}

UNSEEN static void post(int number) {
    __asm__ volatile("" ::: "memory");
    *(volatile int *)&turn = number;
}

static void *work(void *which) {
    int me = (int)(long)which;
    for (int i = me; i < LIVES; i += 2) {
        await(2 * i + 1);
        pthread_mutex_lock(&mutexes[me]);
        pthread_mutex_lock(&mutexes[!me]);
        pthread_mutex_unlock(&mutexes[!me]);
        pthread_mutex_unlock(&mutexes[me]);
        post(2 * i + 2);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (long t = 0; t < 2; t++) pthread_create(&threads[t], NULL, work, (void *)t);
    for (int i = 0; i < LIVES; i++) {
        await(2 * i);
        for (int m = 0; m < 2; m++) pthread_mutex_init(&mutexes[m], NULL);
        post(2 * i + 1);
        await(2 * i + 2);
        for (int m = 0; m < 2; m++) pthread_mutex_destroy(&mutexes[m]);
    }
    for (int t = 0; t < 2; t++) pthread_join(threads[t], NULL);
    return 0;
}
