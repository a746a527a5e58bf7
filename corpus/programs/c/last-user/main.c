/* Two threads count under a lock. The second one then corrects the total without the lock, and no thread looks at the
 * total after it: only the order of the two threads keeps them apart. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

long total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *count(void *unused) {
    pthread_mutex_lock(&lock);
    total += 2;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *correct(void *unused) {
    usleep(200000);
    pthread_mutex_lock(&lock);
    total = 1;
    pthread_mutex_unlock(&lock);
    total = 3;
    return unused;
}

int main(void) {
    pthread_t counter, corrector;
    pthread_create(&counter, NULL, count, NULL);
    pthread_create(&corrector, NULL, correct, NULL);
    pthread_join(counter, NULL);
    pthread_join(corrector, NULL);
    puts("counted");
    return 0;
}
