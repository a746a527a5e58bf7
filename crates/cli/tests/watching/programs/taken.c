/* One thread goes through memory of its own, again and again. In the last round it stands still once in each region
   (16 KB), in the middle of a row, while another thread writes to an element that it has not come to. */
#include <pthread.h>
#include <sched.h>

#define UNITS 32
#define UNIT 4096
#define ROW 128
#define ROUNDS 12

static int memory[UNITS][UNIT] __attribute__((aligned(4 * UNIT)));
static volatile int *volatile wanted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Not instrumented. */
__attribute__((noinline, no_sanitize("thread"))) static void want(int *element) {
    wanted = element;
    while (wanted) sched_yield();
}

__attribute__((noinline, no_sanitize("thread"))) static int *next_wanted(void) {
    while (!wanted) sched_yield();
    return (int *)wanted;
}

__attribute__((noinline, no_sanitize("thread"))) static void is_done(void) { wanted = 0; }

static long reads(int *unit, int stop, int ahead) {
    long sum = 0;
    for (int i = 0; i < UNIT; i++) {
        if (i == stop) want(&unit[i + ahead]);
        sum += unit[i];
    }
    return sum;
}

static void *reader(void *unused) {
    long sum = 0;
    for (int round = 0; round <= ROUNDS; round++)
        for (int u = 0; u < UNITS; u++) {
            pthread_mutex_lock(&lock);
            pthread_mutex_unlock(&lock);
            int stop = u * ROW + 1 + u * 3, ahead = u % 3;
            sum += reads(memory[u], round < ROUNDS ? -1 : stop, ahead);
        }
    return (void *)sum;
}

static void *writer(void *unused) {
    for (int u = 0; u < UNITS; u++) {
        *next_wanted() = 1;
        is_done();
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, reader, 0);
    pthread_create(&threads[1], 0, writer, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
