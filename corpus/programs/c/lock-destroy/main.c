/* Sessions are counted down under their own lock, and the last user takes a session down; a registry with a read-write
 * lock, a spin lock, a barrier and a semaphore is taken down by main. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

struct session {
    pthread_mutex_t lock;
    int users;
    int served;
};

static struct session *sessions[8];
static int total;

struct registry {
    pthread_rwlock_t names;
    pthread_spinlock_t ticks;
    pthread_barrier_t meeting;
    sem_t permits;
    int ticked;
} registry;

__attribute__((noinline)) static void session_close(struct session *session) {
    pthread_mutex_destroy(&session->lock);
    free(session);
}

/* A mutex may be destroyed as soon as it is unlocked, by a thread that knows that no other wants it. */
__attribute__((noinline)) static void session_leave(struct session *session) {
    pthread_mutex_lock(&session->lock);
    session->served++;
    int left = --session->users;
    pthread_mutex_unlock(&session->lock);
    if (left == 0)
        session_close(session);
}

__attribute__((noinline)) static void registry_use(void) {
    pthread_rwlock_rdlock(&registry.names);
    pthread_rwlock_unlock(&registry.names);
    pthread_spin_lock(&registry.ticks);
    registry.ticked++;
    pthread_spin_unlock(&registry.ticks);
    sem_wait(&registry.permits);
    sem_post(&registry.permits);
}

__attribute__((noinline)) static void registry_end(void) {
    pthread_rwlock_destroy(&registry.names);
    pthread_spin_destroy(&registry.ticks);
    sem_destroy(&registry.permits);
    pthread_barrier_destroy(&registry.meeting);
}

/* How many workers are done; it orders nothing. */
static int done;

static void *worker(void *arg) {
    (void)arg;
    pthread_barrier_wait(&registry.meeting);
    for (int i = 0; i < 8; i++)
        session_leave(sessions[i]);
    registry_use();
    __atomic_fetch_add(&done, 1, __ATOMIC_RELAXED);
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_rwlock_init(&registry.names, NULL);
    pthread_spin_init(&registry.ticks, 0);
    pthread_barrier_init(&registry.meeting, NULL, 2);
    sem_init(&registry.permits, 0, 2);
    for (int i = 0; i < 8; i++) {
        sessions[i] = malloc(sizeof *sessions[i]);
        pthread_mutex_init(&sessions[i]->lock, NULL);
        sessions[i]->users = 2;
        sessions[i]->served = 0;
    }
    if (pthread_create(&one, NULL, worker, NULL) != 0 || pthread_create(&two, NULL, worker, NULL) != 0)
        return 1;
    while (__atomic_load_n(&done, __ATOMIC_RELAXED) < 2)
        sched_yield();
    pthread_join(one, NULL); pthread_join(two, NULL); registry_end();
    total = registry.ticked;
    printf("%d ticks\n", total);
    return 0;
}
