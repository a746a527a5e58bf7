/* A courier waits for a parcel; it looks for one in a critical section of its own, before the one in which it waits. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

pthread_mutex_t desk = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
int parcels;
static int delivered;

__attribute__((noinline)) static int parcel_there(void) {
    pthread_mutex_lock(&desk);
    int there = parcels > 0;
    pthread_mutex_unlock(&desk);
    return there;
}

/* Ends after three seconds at the latest, so that a signal really lost costs time and no more. */
__attribute__((noinline)) static int await_parcel(void) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 3;
    if (parcel_there())
        return 0;
    pthread_mutex_lock(&desk);
    int outcome = pthread_cond_timedwait(&arrived, &desk, &limit);
    if (outcome != ETIMEDOUT) {
        parcels--;
        delivered++;
    }
    pthread_mutex_unlock(&desk);
    return outcome;
}

static void *courier(void *unused) {
    (void)unused;
    if (await_parcel() == ETIMEDOUT)
        puts("the courier went home");
    return NULL;
}

__attribute__((noinline)) static void bring_parcel(void) {
    pthread_mutex_lock(&desk);
    parcels++;
    pthread_cond_signal(&arrived);
    pthread_mutex_unlock(&desk);
}

int main(void) {
    pthread_t waiting;
    if (pthread_create(&waiting, NULL, courier, NULL) != 0)
        return 1;
    usleep(80000); /* a slow customer: the recorded run is the one in which nothing is lost */
    bring_parcel();
    pthread_join(waiting, NULL);
    printf("delivered %d\n", delivered);
    return 0;
}
