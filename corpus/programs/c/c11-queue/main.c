/* The threads of the C standard: two workers take numbers from a queue under a mtx_t and cnd_t. */
#include <stdio.h>
#include <threads.h>
#include <time.h>

#define ROOM 4
#define NUMBERS 30

struct queue {
    mtx_t lock;
    cnd_t changed;
    int items[ROOM];
    int head, count;
    int closed;
};

static struct queue queue;
static once_flag prepared = ONCE_FLAG_INIT;
static mtx_t sum_lock;
static tss_t mine;
static long sum;
int workers;

static void prepare(void) {
    if (mtx_init(&queue.lock, mtx_plain) != thrd_success || mtx_init(&sum_lock, mtx_timed) != thrd_success ||
        cnd_init(&queue.changed) != thrd_success || tss_create(&mine, NULL) != thrd_success)
        thrd_exit(1);
}

static void queue_put(int item) {
    mtx_lock(&queue.lock);
    while (queue.count == ROOM)
        cnd_wait(&queue.changed, &queue.lock);
    queue.items[(queue.head + queue.count) % ROOM] = item;
    queue.count++;
    cnd_broadcast(&queue.changed);
    mtx_unlock(&queue.lock);
}

static void queue_close(void) {
    mtx_lock(&queue.lock);
    queue.closed = 1;
    cnd_broadcast(&queue.changed);
    mtx_unlock(&queue.lock);
}

static int queue_take(int *item) {
    mtx_lock(&queue.lock);
    while (queue.count == 0 && !queue.closed)
        cnd_wait(&queue.changed, &queue.lock);
    int taken = queue.count > 0;
    if (taken) {
        *item = queue.items[queue.head];
        queue.head = (queue.head + 1) % ROOM;
        queue.count--;
        cnd_broadcast(&queue.changed);
    }
    mtx_unlock(&queue.lock);
    return taken;
}

__attribute__((noinline)) static void sign_in(void) {
    mtx_lock(&queue.lock); workers++; mtx_unlock(&queue.lock);
}

static int worker(void *unused) {
    (void)unused;
    int item;
    long part = 0;
    call_once(&prepared, prepare);
    sign_in();
    tss_set(mine, &part);
    while (queue_take(&item))
        *(long *)tss_get(mine) += item;
    struct timespec limit;
    timespec_get(&limit, TIME_UTC);
    limit.tv_sec += 5;
    if (mtx_timedlock(&sum_lock, &limit) != thrd_success)
        return 1;
    sum += part;
    mtx_unlock(&sum_lock);
    return 0;
}

int main(void) {
    thrd_t threads[2];
    int failed = 0;
    call_once(&prepared, prepare);
    for (int i = 0; i < 2; i++)
        if (thrd_create(&threads[i], worker, NULL) != thrd_success)
            return 1;
    for (int i = 1; i <= NUMBERS; i++)
        queue_put(i);
    queue_close();
    for (int i = 0; i < 2; i++) {
        int result;
        thrd_join(threads[i], &result);
        failed += result;
    }
    printf("sum %ld by %d workers, %d failed\n", sum, workers, failed);
    cnd_destroy(&queue.changed);
    mtx_destroy(&queue.lock);
    mtx_destroy(&sum_lock);
    tss_delete(mine);
    return 0;
}
