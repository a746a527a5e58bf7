#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* A worker ends early, in the middle of its work. Its handler for that gives the lock back, and a robust mutex would be
 * given back by the kernel; a mutex alone stays taken for ever. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t ledger;
static int taken[2];
static int first, second;

static void give_back(void *mutex) {
    pthread_mutex_unlock(mutex);
}

__attribute__((noinline)) static void work(void) {
    pthread_mutex_lock(&ledger);
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(give_back, &lock);
    first = 1;
    write(taken[1], "", 1);
    if (first) {
        pthread_exit(NULL); /* with the lock */
    }
    pthread_cleanup_pop(1);
}

static void *worker(void *arg) {
    work();
    return arg;
}

__attribute__((noinline)) static void go_on(void) {
    pthread_mutex_lock(&lock);
    second = first + 1;
    pthread_mutex_unlock(&lock);
}

/* Ends a program that is stuck, as a user does who has lost patience. */
static void give_up(int signal) {
    _exit(128 + signal);
}

int main(void) {
    signal(SIGALRM, give_up);
    alarm(2);
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&ledger, &attributes);
    pthread_t thread;
    pipe(taken);
    pthread_create(&thread, NULL, worker, NULL);
    pthread_detach(thread);
    char byte;
    read(taken[0], &byte, 1);
    go_on();
    if (pthread_mutex_lock(&ledger) != 0) { /* its owner is dead */
        pthread_mutex_consistent(&ledger);
    }
    pthread_mutex_unlock(&ledger);
    printf("%d\n", second);
    return 0;
}
