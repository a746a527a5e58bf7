/* A table is built once by whoever comes first; each thread has a tally of its own that is added up when it ends. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 3

static pthread_once_t built = PTHREAD_ONCE_INIT;
static pthread_key_t tally_key;
static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;
static long total;
int scale;

__attribute__((noinline)) static void build(void) {
    int product = 1;
    for (int i = 2; i < 6; i++)
        product *= i;
    scale = product;
}

static void add_up(void *value) {
    long *tally = value;
    pthread_mutex_lock(&total_lock);
    total += *tally;
    pthread_mutex_unlock(&total_lock);
    free(tally);
}

__attribute__((noinline)) static long scaled(long value) {
    return value * scale;
}

static void note(long value) {
    long *tally = pthread_getspecific(tally_key);
    if (tally == NULL) {
        tally = calloc(1, sizeof *tally);
        if (tally == NULL || pthread_setspecific(tally_key, tally) != 0)
            abort();
    }
    *tally += value;
}

static void *counter(void *arg) {
    pthread_once(&built, build);
    for (long i = 0; i < 10; i++)
        note(scaled(i + *(const int *)arg));
    return NULL;
}

int main(void) {
    static const int starts[THREADS] = {1, 10, 100};
    pthread_t threads[THREADS];
    if (pthread_key_create(&tally_key, add_up) != 0)
        return 1;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, counter, (void *)&starts[i]) != 0)
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("total %ld\n", total);
    pthread_key_delete(tally_key);
    return 0;
}
