/* A cursor is moved in two locked steps: no race, but two moves together can leave it where nobody put it. */
#include "foretrace.h"
#include <pthread.h>
#include <stdio.h>

pthread_mutex_t screen = PTHREAD_MUTEX_INITIALIZER;
int column;
int row;

static void set_column(int to) {
    pthread_mutex_lock(&screen);
    column = to;
    pthread_mutex_unlock(&screen);
}

static void set_row(int to) {
    pthread_mutex_lock(&screen);
    row = to;
    pthread_mutex_unlock(&screen);
}

__attribute__((noinline)) static void move_to(int to) {
    FORETRACE_BEGIN("move_to");
    set_column(to);
    set_row(to);
    FORETRACE_END("move_to");
}

static void *player(void *arg) {
    move_to(*(int *)arg);
    FORETRACE_EVENT("moved", *(int *)arg);
    return NULL;
}

int main(void) {
    static int targets[2] = {10, 20};
    pthread_t players[2];
    FORETRACE_NAME(&screen, "screen");
    for (int i = 0; i < 2; i++)
        if (pthread_create(&players[i], NULL, player, &targets[i]) != 0)
            return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(players[i], NULL);
    puts(column > 0 && row > 0 ? "the cursor was moved" : "the cursor is at home");
    return 0;
}
