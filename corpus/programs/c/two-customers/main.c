/* Two customers take what a baker puts into a window with room for one loaf. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t shop = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int full;
static int sold;

__attribute__((noinline)) static void take(void) {
    pthread_mutex_lock(&shop);
    while (!full)
        pthread_cond_wait(&filled, &shop);
    full = 0;
    sold++;
    pthread_mutex_unlock(&shop);
}

__attribute__((noinline)) static int put(void) {
    pthread_mutex_lock(&shop);
    int goes_on = sold < 6;
    full = 1;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&shop);
    return goes_on;
}

static void *customer(void *unused) {
    for (int i = 0; i < 3; i++)
        take();
    return unused;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, NULL, customer, NULL);
    pthread_create(&other, NULL, customer, NULL);
    do
        usleep(10000); /* the customers wait by now */
    while (put());
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    printf("sold %d\n", sold);
    return 0;
}
