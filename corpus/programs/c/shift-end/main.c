/* A clerk enters goods into a table. At the end of the shift the table is closed, and the clerk goes home. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static int entries;
static int is_closed;
static const int gives_back_first = 1;

__attribute__((noinline)) static void enter(int goods) {
    pthread_mutex_lock(&table);
    entries += goods;
    pthread_mutex_unlock(&table);
}

static void *clerk(void *unused) {
    (void)unused;
    for (int i = 1; i <= 3; i++)
        enter(i);
    return NULL;
}

__attribute__((noinline)) static int close_table(pthread_t clerk) {
    int total;
    pthread_mutex_lock(&table);
    is_closed = 1;
    if (gives_back_first)
        pthread_mutex_unlock(&table);
    pthread_join(clerk, NULL);
    total = entries;
    if (!gives_back_first)
        pthread_mutex_unlock(&table);
    return total;
}

int main(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, clerk, NULL) != 0)
        return 1;
    usleep(40000); /* the clerk is done by then */
    printf("%d entries\n", close_table(thread));
    return 0;
}
