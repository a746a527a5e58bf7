/* Clerks add to a ledger under robust mutexes. One ends with both in hand, one of them taken twice; the next to come
 * repairs what it left. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

pthread_mutex_t ledger_lock, page_lock;
static _Alignas(64) int entries;
static _Alignas(64) int sum;
int repairs;

static void make(pthread_mutex_t *lock, int type) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutex_init(lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

/* What its last holder left half done is made whole. */
__attribute__((noinline)) static void repair(void) {
    entries = sum;
    repairs++;
}

static void take(pthread_mutex_t *lock) {
    if (pthread_mutex_lock(lock) == EOWNERDEAD) {
        repair();
        pthread_mutex_consistent(lock);
    }
}

static void *clerk(void *arg) {
    int leaves = *(const int *)arg;
    for (int i = 0; i < 4; i++) {
        take(&ledger_lock);
        take(&page_lock);
        take(&page_lock);
        sum++;
        if (leaves && i == 1)
            pthread_exit(NULL); /* with everything in hand, before the entry */
        entries++;
        pthread_mutex_unlock(&page_lock);
        pthread_mutex_unlock(&page_lock);
        pthread_mutex_unlock(&ledger_lock);
    }
    return NULL;
}

__attribute__((noinline)) static int audit(void) {
    take(&ledger_lock);
    int seen = entries;
    pthread_mutex_unlock(&ledger_lock);
    return seen;
}

int main(void) {
    make(&ledger_lock, PTHREAD_MUTEX_NORMAL);
    make(&page_lock, PTHREAD_MUTEX_RECURSIVE);
    pthread_t clerks[4];
    int leaves[4] = {1, 0, 0, 1};
    for (int i = 0; i < 4; i++)
        if (pthread_create(&clerks[i], NULL, clerk, &leaves[i]) != 0)
            return 1;
    int early = audit();
    for (int i = 0; i < 4; i++)
        pthread_join(clerks[i], NULL);
    int right = audit() == sum && repairs > 0 && early <= sum;
    puts(right ? "the ledger is right" : "the ledger is wrong");
    return !right;
}
