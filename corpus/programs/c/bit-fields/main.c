/* Two threads set different bit-fields of one word: in memory that is one place, read, changed and written back. */
#include <pthread.h>
#include <stdio.h>

struct door {
    unsigned open : 1;
    unsigned locked : 1;
    unsigned colour : 6;
};

struct lamp {
    unsigned char on;
    unsigned char dimmed;
};

struct door door;
struct lamp lamp; /* bytes of their own: no trouble */
static _Thread_local int moves;
static int total[2];

__attribute__((noinline)) static void open_door(void) {
    door.open = 1;
    moves++;
}

__attribute__((noinline)) static void lock_door(void) {
    door.locked = 1;
    moves++;
}

__attribute__((noinline)) static void lamp_on(void) {
    lamp.on = 1;
    moves++;
}

__attribute__((noinline)) static void lamp_dim(void) {
    lamp.dimmed = 1;
    moves++;
}

static void *opener(void *unused) {
    (void)unused;
    open_door();
    lamp_on();
    total[0] = moves;
    return NULL;
}

static void *locker(void *unused) {
    (void)unused;
    lock_door();
    lamp_dim();
    total[1] = moves;
    return NULL;
}

int main(void) {
    pthread_t one, two;
    door.colour = 5;
    if (pthread_create(&one, NULL, opener, NULL) != 0 || pthread_create(&two, NULL, locker, NULL) != 0)
        return 1;
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    printf("colour %u, lamp %d, moves %d\n", (unsigned)door.colour, lamp.on + lamp.dimmed, total[0] + total[1] + moves);
    return 0;
}
