/* Threads own neighbouring bytes, integers and fields of one word, and look at each other's only across a barrier. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define WIDTH 32

struct cells {
    uint8_t left;
    uint8_t right;
    uint16_t spare;
};

struct cells cells;
static uint8_t bytes[WIDTH];
static int32_t numbers[WIDTH];
static pthread_barrier_t phase;
static int sums[2];
static int serial[2];

__attribute__((noinline)) static void own_store(int side) {
    if (side == 0)
        cells.left = 1;
    else
        cells.right = 2;
    for (int i = side; i < WIDTH; i += 2) {
        bytes[i] = (uint8_t)(i + 1);
        numbers[i] = i * i;
    }
}

static void between_phases(int side) {
    if (pthread_barrier_wait(&phase) == PTHREAD_BARRIER_SERIAL_THREAD)
        serial[side]++;
}

__attribute__((noinline)) static int other_load(int side) {
    return side == 0 ? cells.right : cells.left;
}

static void *half(void *arg) {
    int side = *(const int *)arg;
    own_store(side);
    between_phases(side);
    int sum = other_load(side);
    for (int i = side; i < WIDTH; i += 2)
        sum += bytes[i] + numbers[i];
    sums[side] = sum;
    return NULL;
}

int main(void) {
    static const int sides[2] = {0, 1};
    pthread_t threads[2];
    if (pthread_barrier_init(&phase, NULL, 2) != 0)
        return 1;
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, half, (void *)&sides[i]) != 0)
            return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d in %d phases\n", sums[0] + sums[1], serial[0] + serial[1]);
    pthread_barrier_destroy(&phase);
    return 0;
}
