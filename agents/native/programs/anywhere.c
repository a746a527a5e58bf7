/* Threads that are cancelled anywhere, and handlers for one signal that jump away from anywhere. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static long common[4096];
static int cleaned;
static void clean(void *unused) {
    cleaned++;
}
static void *go(void *unused) {
    int old = -1;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    pthread_cleanup_push(clean, 0);
    for (long r = 0;; r++)
        for (int i = 0; i < 4096; i++) common[i] += r;
    pthread_cleanup_pop(0);
    return 0;
}
static void *spin(void *unused) {
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0);
    for (;;) __asm__ volatile("");
    return 0;
}
static void *look(void *unused) {
    long sum = 0;
    for (int r = 0; r < 5; r++)
        for (int i = 0; i < 4096; i++) sum += common[i]++;
    return 0;
}
static sigjmp_buf away;
static pthread_t sender;
static volatile sig_atomic_t jumping;
static void jump(int signal) {
    if (jumping) {
        jumping = 0;
        siglongjmp(away, 1);
    }
}
static atomic_int ready;
static void *send(void *to) {
    struct timespec pause = { 0, 300000 };
    while (!atomic_load(&ready)) nanosleep(&pause, 0);
    pthread_kill(*(pthread_t *)to, SIGUSR1);
    return 0;
}
int main(void) {
    for (int round = 0; round < 10; round++) {
        pthread_t t[4], u;
        for (int i = 0; i < 4; i++) pthread_create(t + i, 0, i < 3 ? go : spin, 0);
        struct timespec pause = { 0, 2000000 };
        nanosleep(&pause, 0);
        for (int i = 0; i < 4; i++) pthread_cancel(t[i]);
        for (int i = 0; i < 4; i++) {
            void *result;
            pthread_join(t[i], &result);
            if (result != PTHREAD_CANCELED) puts("not cancelled");
        }
        pthread_create(&u, 0, look, 0);
        pthread_join(u, 0);
    }
    puts(cleaned > 0 ? "cleaned" : "not cleaned");

    int old = -1, last = -1;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &last);
    printf("%d %d %d\n", old, last, pthread_setcanceltype(77, 0));

    struct sigaction once = { .sa_handler = jump, .sa_flags = SA_RESETHAND | SA_NODEFER }, now;
    pthread_t self = pthread_self();
    for (int round = 0; round < 200; round++) {
        pthread_t u;
        if (sigsetjmp(away, 1) == 0) {
            atomic_store(&ready, 0);
            jumping = 1;
            sigaction(SIGUSR1, &once, 0);
            pthread_create(&sender, 0, send, &self);
            atomic_store(&ready, 1);
            for (long r = 0;; r++)
                for (int i = 0; i < 4096; i++) common[i] += r;
        }
        pthread_join(sender, 0);
        sigaction(SIGUSR1, 0, &now);
        if (now.sa_handler != SIG_DFL) puts("not forgotten");
        pthread_create(&u, 0, look, 0);
        pthread_join(u, 0);
    }
    sigaction(SIGUSR1, &once, 0);
    sigaction(SIGUSR1, 0, &now);
    printf("%d %d\n", now.sa_handler == jump, (now.sa_flags & SA_RESETHAND) != 0);
    printf("%d\n", signal(SIGUSR1, SIG_IGN) == jump);
    printf("%d\n", sysv_signal(SIGUSR2, jump) == SIG_DFL);
    raise(SIGUSR2);
    printf("%d\n", signal(SIGUSR2, jump) == SIG_DFL);
    return 0;
}
