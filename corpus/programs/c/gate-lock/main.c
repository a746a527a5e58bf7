/* Goods move between two shelves in both directions; the shelves are locked in opposite orders, but only by who has
 * the gate. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t office = PTHREAD_MUTEX_INITIALIZER;
pthread_spinlock_t left;
pthread_spinlock_t right;
static int left_goods = 50;
static int right_goods = 50;
static int slips;

static void write_slip(void) {
    pthread_mutex_lock(&office);
    slips++;
    pthread_mutex_unlock(&office);
}

__attribute__((noinline)) static void move_right(pthread_mutex_t *way_in, int goods) {
    pthread_mutex_lock(way_in);
    pthread_spin_lock(&left);
    pthread_spin_lock(&right);
    left_goods -= goods;
    right_goods += goods;
    pthread_spin_unlock(&right);
    pthread_spin_unlock(&left);
    pthread_mutex_unlock(way_in);
    write_slip();
}

__attribute__((noinline)) static void move_left(pthread_mutex_t *way_in, int goods) {
    pthread_mutex_lock(way_in);
    pthread_spin_lock(&right);
    pthread_spin_lock(&left);
    right_goods -= goods;
    left_goods += goods;
    pthread_spin_unlock(&left);
    pthread_spin_unlock(&right);
    pthread_mutex_unlock(way_in);
    write_slip();
}

static void *loader(void *unused) {
    (void)unused;
    for (int i = 1; i <= 3; i++)
        move_right(&gate, i);
    return NULL;
}

static void *unloader(void *unused) {
    (void)unused;
    for (int i = 1; i <= 3; i++)
        move_left(&gate, i + 1);
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_spin_init(&left, PTHREAD_PROCESS_PRIVATE);
    pthread_spin_init(&right, PTHREAD_PROCESS_PRIVATE);
    if (pthread_create(&first, NULL, loader, NULL) != 0)
        return 1;
    usleep(40000); /* two shifts: without the gate the program would still end */
    if (pthread_create(&second, NULL, unloader, NULL) != 0)
        return 1;
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("left %d right %d slips %d\n", left_goods, right_goods, slips);
    pthread_spin_destroy(&left);
    pthread_spin_destroy(&right);
    return 0;
}
