/* A detached thread sums up a job, and the job is given back before the thread has announced that it is done. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BYTES 64

struct job {
    long spare[4];
    unsigned char bytes[BYTES];
};

static sem_t finished;
static long result;

__attribute__((noinline)) static long checksum(const struct job *job) {
    long sum = 0;
    for (int i = 0; i < BYTES; i++)
        sum = sum * 31 + job->bytes[i];
    return sum;
}

static void *summer(void *arg) {
    result = checksum(arg);
    sem_post(&finished);
    pthread_exit(NULL);
}

__attribute__((noinline)) static void retire(struct job *job) {
    free(job);
}

int main(void) {
    pthread_attr_t detached;
    pthread_t thread;
    struct job *job = malloc(sizeof *job);
    if (job == NULL || sem_init(&finished, 0, 0) != 0)
        return 1;
    for (int i = 0; i < BYTES; i++)
        job->bytes[i] = (unsigned char)(i * 7);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&thread, &detached, summer, job) != 0)
        return 1;
    pthread_attr_destroy(&detached);
    usleep(20000);
    retire(job);
    sem_wait(&finished);
    printf("sum %s\n", result != 0 ? "taken" : "empty");
    return 0;
}
