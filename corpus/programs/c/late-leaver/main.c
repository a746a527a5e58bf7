/* Two clerks count votes. When both have counted, the first one adds up, and the second one announces the sum. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

int sum;
static int piles[2];
static int announced;
static pthread_barrier_t desk;

static void meet(void) {
    pthread_barrier_wait(&desk);
}

static void wait_for_sum(void) {
    meet();
}

__attribute__((noinline)) static void add_up(void) {
    sum = piles[0] + piles[1];
}

__attribute__((noinline)) static void announce(void) {
    announced = sum;
}

static void *first(void *arg) {
    (void)arg;
    /* The other one is asleep at the barrier by then. So it leaves late: this one has come again before that. */
    usleep(30000);
    piles[0] = 40;
    meet();
    add_up();
    wait_for_sum();
    meet();
    return NULL;
}

static void *second(void *arg) {
    (void)arg;
    piles[1] = 2;
    meet();
    wait_for_sum();
    announce();
    meet();
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    if (pthread_barrier_init(&desk, NULL, 2) != 0)
        return 1;
    if (pthread_create(&threads[0], NULL, first, NULL) != 0 || pthread_create(&threads[1], NULL, second, NULL) != 0)
        return 1;
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("%s\n", sum == 42 && announced >= 0 ? "counted" : "lost");
    pthread_barrier_destroy(&desk);
    return 0;
}
