/* Threads come to the same blocks at the same time, so that leases are revoked all the time. Each thread writes each
 * word of one table once, and reads each word of another one once, which is written in the end. Nothing that the agent
 * sees orders them: each of these accesses matters to a conflict, and must be recorded once. */
#include <pthread.h>
#include <sched.h>
#include <string.h>

enum { THREADS = 3, REGIONS = 48, WORDS = (1 << 14) / sizeof(long) };

long written[REGIONS][WORDS] __attribute__((aligned(1 << 14)));
long read[REGIONS][WORDS] __attribute__((aligned(1 << 14)));
long sums[THREADS][64];
static int arrived;

/* Waits for the others, unseen by the agent. */
__attribute__((no_sanitize_thread, noinline)) static void meet(int turn) {
    __atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < turn * THREADS)
        sched_yield();
}

static void *sweep(void *argument) {
    long number = (long)argument, sum = 0;
    int turn = 0;
    /* All regions have had more than two threads. */
    for (int i = 0; i < REGIONS; i++) {
        written[i][0] = number;
        sum += read[i][0];
    }
    for (int i = 0; i < REGIONS; i++) {
        meet(++turn);
        for (int j = 1; j < (int)WORDS; j++)
            written[i][j] = number;
        meet(++turn);
        for (int j = 1; j < (int)WORDS; j++)
            sum += read[i][j];
    }
    sums[number][0] = sum;
    meet(++turn);
    return NULL;
}

static void *write_last(void *unused) {
    (void)unused;
    /* After all others. */
    while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < (2 * REGIONS + 1) * THREADS)
        sched_yield();
    for (int i = 0; i < REGIONS; i++)
        for (int j = 0; j < (int)WORDS; j++)
            read[i][j] = 1;
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS], last;
    if (pthread_create(&last, NULL, write_last, NULL) != 0)
        return 1;
    for (long i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, sweep, (void *)i) != 0)
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_join(last, NULL);
    return 0;
}
