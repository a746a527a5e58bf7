/* What a thread sets before it sets a timer is there for the handler, in whichever thread that runs. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum timer { INTERVAL, ALARM, TIMER, TIMERS };

static sem_t over;
static int is_over;
long settings[TIMERS];

static void on_interval(int number) {
    if (settings[INTERVAL] == number)
        sem_post(&over);
}

static void on_alarm(int number) {
    if (settings[ALARM] == number)
        sem_post(&over);
}

static void on_timer(int number) {
    if (settings[TIMER] == number)
        sem_post(&over);
}

__attribute__((no_sanitize_thread)) static void *busy(void *unused) {
    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE))
        ;
    return unused;
}

static void handle(int number, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler};
    sigaction(number, &action, NULL);
}

int main(void) {
    struct itimerval soon = {.it_value.tv_usec = 5000};
    struct itimerspec later = {.it_value.tv_nsec = 5000000};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
    sigset_t all;
    pthread_t thread;
    timer_t timer;
    sem_init(&over, 0, 0);
    handle(SIGPROF, on_interval);
    handle(SIGALRM, on_alarm);
    handle(SIGUSR2, on_timer);
    if (pthread_create(&thread, NULL, busy, NULL) != 0)
        return 1;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    settings[INTERVAL] = SIGPROF;
    setitimer(ITIMER_PROF, &soon, NULL);
    sem_wait(&over);
    settings[ALARM] = SIGALRM;
    ualarm(5000, 0);
    sem_wait(&over);
    settings[TIMER] = SIGUSR2;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &later, NULL) != 0)
        return 1;
    sem_wait(&over);
    timer_delete(timer);
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    printf("%ld\n", settings[INTERVAL]);
    return 0;
}
