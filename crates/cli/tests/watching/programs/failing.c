/* Does a bit of everything that hooks see, in four threads, and prints what came of it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long rows[64][2048];
static atomic_long total;
static char text[64];

static void *work(void *unused) {
    for (int round = 0; round < 20; round++) {
        for (int row = 0; row < 64; row++) {
            pthread_mutex_lock(&lock);
            for (int i = 0; i < 2048; i += 64) rows[row][i]++;
            memset(text, 'a' + row % 26, sizeof text - 1);
            pthread_mutex_unlock(&lock);
            atomic_fetch_add(&total, 1);
        }
        char *copy = malloc(sizeof text);
        memset(copy, round, sizeof text);
        free(copy);
    }
    return unused;
}

int main(void) {
    long sum = 0;
    for (int again = 0; again < 2; again++) {
        pthread_t threads[4];
        for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, NULL);
        for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    }
    for (int row = 0; row < 64; row++)
        for (int i = 0; i < 2048; i++) sum += rows[row][i];
    printf("%ld %ld %s\n", sum, total, text);
    return 7;
}
