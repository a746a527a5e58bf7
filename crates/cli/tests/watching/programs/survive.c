/* Ends, or lives on, in the way its argument names, after a known number of internal events `tick`. */
#define _GNU_SOURCE
#include "foretrace.h"
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t handled;
static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void ticks(int count) {
    for (int i = 0; i < count; i++) FORETRACE_EVENT("tick", i);
}

static void *some_ticks(void *count) {
    ticks((int)(long)count);
    return NULL;
}

static void threads(int count, int each) {
    pthread_t *all = malloc((size_t)count * sizeof *all);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 * 1024);
    for (int i = 0; i < count; i++)
        if (pthread_create(&all[i], &small, some_ticks, (void *)(long)each)) exit(7);
    for (int i = 0; i < count; i++) pthread_join(all[i], NULL);
    free(all);
}

static sem_t ready;

static void *alive(void *unused) {
    (void)unused;
    ticks(100);
    sem_post(&ready);
    for (;;) {
        pthread_mutex_lock(&lock);
        shared++;
        pthread_mutex_unlock(&lock);
    }
}

static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void unlock(void *unused) {
    (void)unused;
    pthread_mutex_unlock(&lock);
}

static void *cancelled(void *unused) {
    (void)unused;
    ticks(100);
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(unlock, NULL);
    sem_post(&ready);
    for (;;) pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(1);
    return NULL;
}

static int board[64];

static void storm(int signal) {
    (void)signal;
    handled++;
    for (int i = 0; i < 64; i++) board[i] ^= i;
}

static void wait_for(const char *name) {
    while (access(name, F_OK)) usleep(1000);
}

static void made(const char *name) {
    FILE *file = fopen(name, "w");
    if (file) fclose(file);
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "return";
    if (!strcmp(how, "abort")) {
        ticks(1000);
        abort();
    } else if (!strcmp(how, "_exit")) {
        ticks(1000);
        _exit(3);
    } else if (!strcmp(how, "exit")) {
        ticks(1000);
        exit(5);
    } else if (!strcmp(how, "kill")) {
        ticks(1000);
        kill(getpid(), SIGKILL);
    } else if (!strcmp(how, "crash")) {
        ticks(1000);
        *(volatile int *)8 = 1;
    } else if (!strcmp(how, "interrupt")) {
        ticks(1000);
        made("ready");
        for (;;) pause();
    } else if (!strcmp(how, "orphan")) {
        ticks(200000);
        made("ready");
        wait_for("go");
        ticks(300000);
        made("done");
    } else if (!strcmp(how, "fork")) {
        ticks(1000);
        pid_t child = fork();
        if (child == 0) {
            ticks(500);
            threads(2, 50);
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        ticks(10);
        return status != 0;
    } else if (!strcmp(how, "fork with a lock")) {
        static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
        pthread_mutex_lock(&held);
        pid_t child = fork();
        pthread_mutex_unlock(&held);
        if (child == 0) {
            ticks(500);
            threads(2, 50);
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        return status != 0;
    } else if (!strcmp(how, "exec")) {
        ticks(1000);
        execl("/proc/self/exe", argv[0], "five hundred", (char *)NULL);
    } else if (!strcmp(how, "five hundred")) {
        ticks(500);
    } else if (!strcmp(how, "storm")) {
        struct sigaction action = {.sa_handler = storm, .sa_flags = SA_RESTART};
        struct itimerval often = {{0, 50}, {0, 50}};
        sigaction(SIGALRM, &action, NULL);
        setitimer(ITIMER_REAL, &often, NULL);
        for (int round = 0; handled < 500 || round < 1000; round++) {
            if (round < 1000) ticks(1);
            for (int i = 0; i < 64; i++) shared += i;
            free(malloc(100));
        }
        struct itimerval none = {{0, 0}, {0, 0}};
        setitimer(ITIMER_REAL, &none, NULL);
    } else if (!strcmp(how, "cancel")) {
        pthread_t all[10];
        sem_init(&ready, 0, 0);
        for (int i = 0; i < 10; i++) pthread_create(&all[i], NULL, cancelled, NULL);
        for (int i = 0; i < 10; i++) sem_wait(&ready);
        for (int i = 0; i < 10; i++) pthread_cancel(all[i]);
        for (int i = 0; i < 10; i++) pthread_join(all[i], NULL);
        pthread_mutex_lock(&lock);
        ticks(1);
        pthread_mutex_unlock(&lock);
    } else if (!strcmp(how, "alive")) {
        pthread_t thread;
        sem_init(&ready, 0, 0);
        for (int i = 0; i < 4; i++) pthread_create(&thread, NULL, alive, NULL);
        for (int i = 0; i < 4; i++) sem_wait(&ready);
        return 0;
    } else if (!strcmp(how, "dlopen")) {
        void *library = dlopen("./plugin.so", RTLD_NOW);
        if (!library) {
            fprintf(stderr, "%s\n", dlerror());
            return 9;
        }
        void (*go)(int) = (void (*)(int))dlsym(library, "plugin_ticks");
        go(700);
        dlclose(library);
        ticks(1);
    } else if (!strcmp(how, "threads")) {
        threads(2000, 10);
    } else {
        ticks(1000);
    }
    return 0;
}
