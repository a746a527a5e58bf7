/* An error path unlocks a journal twice, and a scratch area is given up while its lock is held. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

static pthread_mutexattr_t checking;
pthread_mutex_t journal_lock;
pthread_mutex_t scratch_lock;

struct journal {
    int lines;
    int rejected;
} journal;

static int scratch[8];
static int refused;

static int journal_append(int line) {
    pthread_mutex_lock(&journal_lock);
    if (line < 0) {
        journal.rejected++;
        pthread_mutex_unlock(&journal_lock);
        return -1;
    }
    journal.lines++;
    pthread_mutex_unlock(&journal_lock);
    return 0;
}

/* The caller's own clean-up forgets that journal_append gave the lock back. */
__attribute__((noinline)) static int import(const int *lines, int count) {
    for (int i = 0; i < count; i++) {
        if (journal_append(lines[i]) != 0)
            return pthread_mutex_unlock(&journal_lock);
    }
    return 0;
}

static void *importer(void *arg) {
    static const int good[] = {1, 2, 3, 4};
    static const int bad[] = {1, -2, 3};
    if (arg != NULL) {
        if (import(bad, 3) != 0)
            refused = 1;
    } else {
        import(good, 4);
    }
    return NULL;
}

__attribute__((noinline)) static int scratch_drop(void) {
    pthread_mutex_lock(&scratch_lock);
    for (int i = 0; i < 8; i++)
        scratch[i] = i;
    return pthread_mutex_destroy(&scratch_lock);
}

int main(void) {
    pthread_t one, two;
    pthread_mutexattr_init(&checking);
    pthread_mutexattr_settype(&checking, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&journal_lock, &checking);
    pthread_mutex_init(&scratch_lock, NULL);
    if (pthread_create(&one, NULL, importer, NULL) != 0)
        return 1;
    pthread_join(one, NULL);
    if (pthread_create(&two, NULL, importer, &journal) != 0)
        return 1;
    pthread_join(two, NULL);
    int busy = scratch_drop();
    printf("%d lines, %d rejected, refused %d, busy %d\n", journal.lines, journal.rejected, refused, busy != 0);
    pthread_mutex_destroy(&journal_lock);
    pthread_mutexattr_destroy(&checking);
    return 0;
}
