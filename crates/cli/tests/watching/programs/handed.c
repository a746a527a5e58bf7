/* Four threads that take short turns at mutexes in every way there is; some mutexes live in memory that is freed and
 * used again. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define MUTEXES 4
#define ROUNDS 8000

static pthread_mutex_t mutexes[MUTEXES], twice, table;
static pthread_cond_t conditions[MUTEXES];
static int ready[MUTEXES];
static long counts[MUTEXES];
static struct box { pthread_mutex_t mutex; long count; } *box;

static unsigned next(unsigned *seed) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

static struct timespec soon(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_nsec += 20000;
    if (time.tv_nsec >= 1000000000) time.tv_sec++, time.tv_nsec -= 1000000000;
    return time;
}

static void *work(void *which) {
    unsigned seed = 7 + 77 * (unsigned)(long)which;
    for (int i = 0; i < ROUNDS; i++) {
        int k = next(&seed) % MUTEXES;
        struct timespec time;
        switch (next(&seed) % 9) {
        case 0:
            if (pthread_mutex_trylock(&mutexes[0]) == 0) {
                counts[0]++;
                pthread_mutex_unlock(&mutexes[0]);
            }
            break;
        case 1:
            pthread_mutex_lock(&twice);
            pthread_mutex_lock(&twice);
            pthread_mutex_unlock(&twice);
            pthread_mutex_unlock(&twice);
            break;
        case 2:
            pthread_mutex_lock(&mutexes[k]);
            ready[k] = 1;
            pthread_cond_signal(&conditions[k]);
            pthread_mutex_unlock(&mutexes[k]);
            break;
        case 3:
            pthread_mutex_lock(&mutexes[k]);
            ready[k] = 1;
            pthread_cond_broadcast(&conditions[k]);
            pthread_mutex_unlock(&mutexes[k]);
            break;
        case 4:
            time = soon();
            pthread_mutex_lock(&mutexes[k]);
            if ((next(&seed) & 15) == 0)
                while (!ready[k] && pthread_cond_timedwait(&conditions[k], &mutexes[k], &time) != ETIMEDOUT) {}
            ready[k] = 0;
            pthread_mutex_unlock(&mutexes[k]);
            break;
        case 5:
            /* Under the lock of the table, a box with a mutex of its own goes, and another comes, most often in the
             * same place. */
            pthread_mutex_lock(&table);
            pthread_mutex_lock(&box->mutex);
            box->count++;
            pthread_mutex_unlock(&box->mutex);
            free(box);
            box = calloc(1, sizeof *box);
            pthread_mutex_unlock(&table);
            break;
        default:
            pthread_mutex_lock(&mutexes[k]);
            counts[k]++;
            pthread_mutex_unlock(&mutexes[k]);
        }
    }
    return NULL;
}

int main(void) {
    pthread_mutexattr_t recursive;
    pthread_t threads[4];
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&twice, &recursive);
    pthread_mutex_init(&table, NULL);
    for (int i = 0; i < MUTEXES; i++) {
        pthread_mutex_init(&mutexes[i], NULL);
        pthread_cond_init(&conditions[i], NULL);
    }
    box = calloc(1, sizeof *box);
    for (long t = 0; t < 4; t++) pthread_create(&threads[t], NULL, work, (void *)t);
    for (int t = 0; t < 4; t++) pthread_join(threads[t], NULL);
    return 0;
}
