/* Settings that lie side by side are cleared by one call; only two of them are raced for, and these must be the ones
 * that are named. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct settings {
    int buffer, compact;
    short width, height;
    int depth;
};

struct settings settings __attribute__((aligned(8)));
volatile char paused __attribute__((aligned(8)));
volatile int clock_time;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void clear(size_t size) {
    memset(&settings, 0, size);
    settings.depth = 3;
    paused = 0;
}

__attribute__((noinline)) static void tick(void) {
    clock_time = clock_time + 1;
}

__attribute__((noinline)) static void configure(void) {
    tick();
    settings.compact = 1;
    pthread_mutex_lock(&lock);
    settings.buffer++;
    settings.width++;
    pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) static int work(void) {
    int seen = clock_time;
    seen += settings.compact;
    pthread_mutex_lock(&lock);
    seen += settings.buffer + settings.width + settings.depth + paused;
    pthread_mutex_unlock(&lock);
    return seen;
}

static void *worker(void *seen) {
    *(int *)seen = work();
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t thread;
    int seen = 0;
    (void)argv;
    clear(sizeof settings - (size_t)(argc - 1));
    if (pthread_create(&thread, NULL, worker, &seen) != 0)
        return 1;
    configure();
    pthread_join(thread, NULL);
    printf("%s\n", seen >= 3 ? "done" : "odd");
    return 0;
}
