#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Lines are written over a connection that is closed when its writer has ended. Another one is closed long before. */
struct conn {
    pthread_mutex_t lock;
    char last[32];
    int lines;
    int closed;
};

static struct conn *conn_open(void) {
    struct conn *c = calloc(1, sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

/* A line, and how often it is meant. */
__attribute__((noinline)) void conn_write(struct conn *c, const char *line, int copies) {
    pthread_mutex_lock(&c->lock);
    snprintf(c->last, sizeof c->last, "%s %d", line, copies);
    c->lines++;
    pthread_mutex_unlock(&c->lock);
}

__attribute__((noinline)) void conn_close(struct conn *c) {
    pthread_mutex_lock(&c->lock);
    c->closed = 1;
    pthread_mutex_unlock(&c->lock);
}

static void conn_free(struct conn *c) {
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static void *writer(void *arg) {
    struct conn *c = arg;
    conn_write(c, "hello", 1);
    conn_write(c, "good bye", 2);
    return NULL;
}

int main(void) {
    struct conn *old = conn_open();
    conn_write(old, "old", 1);
    conn_close(old);
    conn_free(old);

    /* Perhaps at the address of the old one, which makes it no closed one. */
    struct conn *c = conn_open();
    pthread_t thread;
    pthread_create(&thread, NULL, writer, c);
    pthread_join(thread, NULL); /* nothing is written any more */
    conn_close(c);
    /* the writer may still be there */
    printf("%d lines, the last: %s\n", c->lines, c->last);
    conn_free(c);
    return 0;
}
