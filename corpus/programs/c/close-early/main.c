/* A journal is written into a file by its own thread; main closes the file. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int journal;
static int answer[2];

__attribute__((noinline)) static void journal_write(const char *line, size_t bytes) {
    if (write(journal, line, bytes) != (ssize_t)bytes)
        exit(1);
}

__attribute__((noinline)) static void journal_close(void) {
    close(journal);
}

/* Set when the journal is written; it orders nothing. */
static int is_written;

static void *writer(void *arg) {
    (void)arg;
    for (int i = 0; i < 10; i++)
        journal_write("entry\n", 6);
    __atomic_store_n(&is_written, 1, __ATOMIC_RELAXED);
    return NULL;
}

/* The kernel orders what goes through a pipe: who has read the end of it may close it. */
static void *reader(void *arg) {
    char byte;
    (void)arg;
    while (read(answer[0], &byte, 1) == 1)
        ;
    close(answer[0]);
    return NULL;
}

int main(void) {
    char name[] = "/tmp/journal-XXXXXX";
    pthread_t one, two;
    journal = mkstemp(name);
    if (journal < 0 || pipe(answer) != 0 || unlink(name) != 0)
        return 1;
    if (pthread_create(&one, NULL, writer, NULL) != 0 || pthread_create(&two, NULL, reader, NULL) != 0)
        return 1;
    if (write(answer[1], "ab", 2) != 2)
        return 1;
    close(answer[1]);
    while (!__atomic_load_n(&is_written, __ATOMIC_RELAXED))
        sched_yield();
    pthread_join(one, NULL); journal_close();
    pthread_join(two, NULL);
    /* The number means another file from here on. */
    int again = open("/dev/null", O_WRONLY);
    if (write(again, "x", 1) != 1)
        return 1;
    close(again);
    puts("closed");
    return 0;
}
