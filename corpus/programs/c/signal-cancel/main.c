/* A watcher is notified by a signal that runs on its own thread; a sleeper is cancelled in its wait, and its clean-up
 * unlocks. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

volatile sig_atomic_t notified;
static pthread_mutex_t bed = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t morning = PTHREAD_COND_INITIALIZER;
static sem_t on_watch;
static int sleeping;
static int woken_early;

__attribute__((noinline)) static void on_signal(int number) {
    (void)number;
    notified = 1;
}

__attribute__((noinline)) static void *watch(void *unused) {
    (void)unused;
    sem_post(&on_watch);
    while (!notified)
        usleep(1000);
    return NULL;
}

static void get_up(void *unused) {
    (void)unused;
    woken_early++;
    pthread_mutex_unlock(&bed);
}

static void *sleeper(void *unused) {
    (void)unused;
    pthread_mutex_lock(&bed);
    pthread_cleanup_push(get_up, NULL);
    sleeping = 1;
    while (sleeping)
        pthread_cond_wait(&morning, &bed);
    pthread_cleanup_pop(1);
    return NULL;
}

int main(void) {
    struct sigaction action = {.sa_handler = on_signal};
    pthread_t watching, in_bed;
    void *result;
    sem_init(&on_watch, 0, 0);
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    if (pthread_create(&watching, NULL, watch, NULL) != 0 || pthread_create(&in_bed, NULL, sleeper, NULL) != 0)
        return 1;
    sem_wait(&on_watch);
    pthread_kill(watching, SIGUSR1);
    pthread_join(watching, NULL);
    pthread_cancel(in_bed);
    pthread_join(in_bed, &result);
    pthread_mutex_lock(&bed);
    int early = woken_early;
    pthread_mutex_unlock(&bed);
    printf("notified %d, cancelled %d, woken early %d\n", (int)notified, result == PTHREAD_CANCELED, early);
    return 0;
}
