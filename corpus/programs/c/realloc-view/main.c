/* A table of names grows by realloc while a reader still copies from the block it was shown before. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME 32

struct table {
    pthread_mutex_t lock;
    char *names;
    size_t used;
    size_t room;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct view {
    const char *names;
    size_t length; /* of the first name */
    char first[NAME];
};

__attribute__((noinline)) static int table_append(const char *name) {
    pthread_mutex_lock(&table.lock);
    if (table.used == table.room) {
        size_t room = table.room == 0 ? 4 : table.room * 64;
        char *names = realloc(table.names, room * NAME);
        if (names == NULL) {
            pthread_mutex_unlock(&table.lock);
            return -1;
        }
        memset(names + table.used * NAME, 0, (room - table.used) * NAME);
        table.names = names;
        table.room = room;
    }
    strncpy(table.names + table.used * NAME, name, NAME - 1);
    table.used++;
    pthread_mutex_unlock(&table.lock);
    return 0;
}

/* The lock protects the table, but the view outlives it. */
__attribute__((noinline)) static struct view table_view(void) {
    struct view view;
    memset(&view, 0, sizeof view);
    pthread_mutex_lock(&table.lock);
    view.names = table.names;
    view.length = strlen(table.names);
    pthread_mutex_unlock(&table.lock);
    return view;
}

__attribute__((noinline)) static void view_copy(struct view *view) {
    memcpy(view->first, view->names, view->length);
}

static void *reader(void *arg) {
    view_copy(arg);
    return NULL;
}

static void *writer(void *unused) {
    (void)unused;
    usleep(20000);
    table_append("hazel");
    table_append("rowan");
    return NULL;
}

int main(void) {
    static const char *const trees[] = {"alder", "birch", "cedar", "elm"};
    pthread_t reading, writing;
    for (int i = 0; i < 4; i++)
        if (table_append(trees[i]) != 0)
            return 1;
    char *behind = malloc(NAME); /* so that the table has to move */
    struct view view = table_view();
    if (pthread_create(&reading, NULL, reader, &view) != 0 || pthread_create(&writing, NULL, writer, NULL) != 0)
        return 1;
    pthread_join(reading, NULL);
    pthread_join(writing, NULL);
    printf("%zu names, the first has %zu letters\n", table.used, strlen(view.first));
    free(behind);
    free(table.names);
    return 0;
}
