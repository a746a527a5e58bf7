/* Two painters mix paint, one after the other, and begin to paint when both are there. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

pthread_mutex_t paint = PTHREAD_MUTEX_INITIALIZER;
pthread_barrier_t meeting;
static int blue;
static int red;

__attribute__((noinline)) static void mix_and_meet(void) {
    pthread_mutex_lock(&paint);
    blue++;
    pthread_mutex_unlock(&paint);
    pthread_barrier_wait(&meeting);
}

__attribute__((noinline)) static void mix_while_meeting(void) {
    pthread_mutex_lock(&paint);
    red++;
    pthread_barrier_wait(&meeting);
    pthread_mutex_unlock(&paint);
}

static void *painter(void *unused) {
    (void)unused;
    mix_and_meet();
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_barrier_init(&meeting, NULL, 2);
    if (pthread_create(&thread, NULL, painter, NULL) != 0)
        return 1;
    usleep(40000); /* the other one has mixed by then, in this run */
    mix_while_meeting();
    pthread_join(thread, NULL);
    printf("mixed %d\n", blue + red);
    pthread_barrier_destroy(&meeting);
    return 0;
}
