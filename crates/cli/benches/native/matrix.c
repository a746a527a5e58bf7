/* Two threads multiply matrices, row by row in turn: 65 million accesses of the factors. */
#include <pthread.h>
#include <stdio.h>

#define N 320

static double a[N][N], b[N][N], c[N][N];

static void *rows(void *first) {
    for (long i = (long)first; i < N; i += 2)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++) sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = i + j;
            b[i][j] = i - j;
        }
    for (long t = 0; t < 2; t++) pthread_create(&threads[t], NULL, rows, (void *)t);
    for (int t = 0; t < 2; t++) pthread_join(threads[t], NULL);
    printf("%g\n", c[N - 1][N - 1]);
    return 0;
}
