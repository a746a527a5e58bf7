// Threads that wait in loops of atomic accesses, in one of several ways.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static atomic_int ready, stop, ticket = 1;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int guarded, racy;
static const char *way;

static int is(const char *name) { return strcmp(way, name) == 0; }

static void *wait_and_work(void *unused) {
    racy++;
    if (is("load")) {
        while (!atomic_load_explicit(&ready, memory_order_acquire))
            sched_yield();
    } else if (is("loads")) {
        while (!atomic_load(&ready) && !atomic_load(&stop))
            ;
    } else if (is("exchange")) {
        for (int zero = 0; !atomic_compare_exchange_weak(&ticket, &zero, 1); zero = 0)
            ;
        guarded++;
        atomic_store(&ticket, 0);
    } else if (is("set")) {
        while (atomic_flag_test_and_set(&flag))
            ;
        guarded++;
        atomic_flag_clear(&flag);
    } else {
        while (pthread_mutex_trylock(&mutex))
            sched_yield();
        guarded++;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(int count, char **arguments) {
    way = arguments[count - 1];
    pthread_t threads[2];
    atomic_flag_test_and_set(&flag);
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, wait_and_work, NULL);
    usleep(200000);
    guarded = 1;
    pthread_mutex_unlock(&mutex);
    atomic_flag_clear(&flag);
    atomic_store(&ticket, 0);
    atomic_store(&ready, 1);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", guarded);
    return 0;
}
