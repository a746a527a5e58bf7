/* A position is copied and cleared as a whole, in sizes that the compiler knows. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct position {
    float x, y, z;
    float speed[3];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct position current, shown;
unsigned long flags;
char label[24];

__attribute__((noinline)) static void move(const struct position *to) {
    memcpy(&current, to, sizeof current);
}

__attribute__((noinline)) static void show(void) {
    memcpy(&shown, &current, sizeof shown);
}

__attribute__((noinline)) static void clear(void) {
    memset(&flags, 0, sizeof flags);
}

__attribute__((noinline)) static void mark(void) {
    flags |= 4;
}

__attribute__((noinline)) static void rename_to_moved(void) {
    strcpy(label, "moved somewhere");
}

__attribute__((noinline)) static int is_named(void) {
    return label[0] != 0;
}

static void *pilot(void *arg) {
    struct position next = {1, 2, 3, {4, 5, 6}};
    pthread_mutex_lock(&lock);
    move(&next); clear(); rename_to_moved();
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *viewer(void *arg) {
    pthread_mutex_lock(&lock);
    show();
    mark();
    int named = is_named();
    pthread_mutex_unlock(&lock);
    return named ? arg : NULL;
}

int main(void) {
    pthread_t one, two;
    if (pthread_create(&one, NULL, pilot, NULL) != 0 || pthread_create(&two, NULL, viewer, NULL) != 0)
        return 1;
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    printf("%.0f\n", current.x);
    return 0;
}
