/* A pool of threads runs tasks; each task is allocated by its submitter, who waits for its result and frees it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define WORKERS 2
#define TASKS 2000
#define IN_FLIGHT 32
#define NUMBERS 64

struct task {
    struct task *next;
    int numbers[NUMBERS];
    long result;
    int done;
};

static struct task *first, *last;
static int closed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, finished = PTHREAD_COND_INITIALIZER;

static void submit(struct task *task) {
    pthread_mutex_lock(&lock);
    task->next = NULL;
    if (last) last->next = task;
    else first = task;
    last = task;
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&lock);
}

static long result_of(struct task *task) {
    pthread_mutex_lock(&lock);
    while (!task->done) pthread_cond_wait(&finished, &lock);
    pthread_mutex_unlock(&lock);
    return task->result;
}

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!first && !closed) pthread_cond_wait(&more, &lock);
        struct task *task = first;
        if (!task) break;
        first = task->next;
        if (!first) last = NULL;
        pthread_mutex_unlock(&lock);
        long sum = 0;
        for (int round = 0; round < 4; round++)
            for (int i = 0; i < NUMBERS; i++) sum = sum * 31 + task->numbers[i];
        pthread_mutex_lock(&lock);
        task->result = sum;
        task->done = 1;
        pthread_cond_broadcast(&finished);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(int argc, char **argv) {
    int tasks = TASKS * (argc > 1 ? atoi(argv[1]) : 1);
    pthread_t workers[WORKERS];
    struct task *waiting[IN_FLIGHT] = {0};
    long sum = 0;
    for (int i = 0; i < WORKERS; i++) pthread_create(&workers[i], NULL, work, NULL);
    for (int i = 0; i < tasks + IN_FLIGHT; i++) {
        struct task **place = &waiting[i % IN_FLIGHT];
        if (*place) {
            sum ^= result_of(*place);
            free(*place);
            *place = NULL;
        }
        if (i >= tasks) continue;
        *place = calloc(1, sizeof **place);
        for (int n = 0; n < NUMBERS; n++) (*place)->numbers[n] = i * n;
        submit(*place);
    }
    pthread_mutex_lock(&lock);
    closed = 1;
    pthread_cond_broadcast(&more);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < WORKERS; i++) pthread_join(workers[i], NULL);
    printf("%ld\n", sum);
    return 0;
}
