/* Two threads sum an array, each its half, block by block; a lock guards the total. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define LENGTH (1 << 20)
#define BLOCK 4096
#define PASSES 60

static int *array;
static long total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *half(void *which) {
    int *begin = array + (long)which * (LENGTH / 2);
    for (int pass = 0; pass < PASSES; pass++)
        for (int at = 0; at < LENGTH / 2; at += BLOCK) {
            long sum = 0;
            for (int i = at; i < at + BLOCK; i++) sum += begin[i];
            pthread_mutex_lock(&lock);
            total += sum;
            pthread_mutex_unlock(&lock);
        }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    array = malloc(LENGTH * sizeof *array);
    for (int i = 0; i < LENGTH; i++) array[i] = i & 1023;
    for (long t = 0; t < 2; t++) pthread_create(&threads[t], NULL, half, (void *)t);
    for (int t = 0; t < 2; t++) pthread_join(threads[t], NULL);
    printf("%ld\n", total);
    free(array);
    return 0;
}
