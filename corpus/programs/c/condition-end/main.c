/* A job says that it is done; who waits for it takes the job down. The job must have signalled before it gives the lock
 * back: afterwards the condition may be gone. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

static struct job {
    pthread_mutex_t lock;
    pthread_cond_t done;
    int finished;
} job = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

__attribute__((noinline)) static void job_run(void) {
    pthread_mutex_lock(&job.lock);
    job.finished = 1;
    pthread_cond_broadcast(&job.done); pthread_mutex_unlock(&job.lock);
}

__attribute__((noinline)) static void job_end(void) {
    pthread_mutex_lock(&job.lock);
    while (!job.finished)
        pthread_cond_wait(&job.done, &job.lock);
    pthread_mutex_unlock(&job.lock);
    pthread_cond_destroy(&job.done);
    pthread_mutex_destroy(&job.lock);
}

/* Set when the job is done; it orders nothing. */
static int is_over;

static void *runner(void *arg) {
    job_run();
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    return arg;
}

int main(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, runner, NULL) != 0)
        return 1;
    /* So no thread waits for the job. */
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED))
        sched_yield();
    job_end();
    pthread_join(thread, NULL);
    puts("done");
    return 0;
}
