/* Two readings are published by flags; one reader pairs the release with an acquire, the other only with a relaxed
 * load. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

int pressure;
int temperature;
static atomic_int pressure_ready;
static atomic_int temperature_ready;
static atomic_uint polls;

__attribute__((noinline)) static void measure_pressure(void) {
    pressure = 1013;
    atomic_store_explicit(&pressure_ready, 1, memory_order_release);
}

__attribute__((noinline)) static void measure_temperature(void) {
    temperature = 21;
    atomic_store_explicit(&temperature_ready, 1, memory_order_release);
}

static void *barometer(void *unused) {
    (void)unused;
    measure_pressure();
    return NULL;
}

static void *thermometer(void *unused) {
    (void)unused;
    measure_temperature();
    return NULL;
}

__attribute__((noinline)) static int show_pressure(void) {
    while (!atomic_load_explicit(&pressure_ready, memory_order_acquire)) {
        atomic_fetch_add_explicit(&polls, 1, memory_order_relaxed);
        usleep(100);
    }
    return pressure;
}

__attribute__((noinline)) static int show_temperature(void) {
    while (!atomic_load_explicit(&temperature_ready, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&polls, 1, memory_order_relaxed);
        usleep(100);
    }
    return temperature;
}

int main(void) {
    pthread_t first, second;
    if (pthread_create(&first, NULL, barometer, NULL) != 0 || pthread_create(&second, NULL, thermometer, NULL) != 0)
        return 1;
    int p = show_pressure();
    int t = show_temperature();
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("pressure %d temperature %d\n", p, t);
    return 0;
}
