/* A signal comes while a thread waits, in every way there is. Its handler and the thread share `steps`; main looks at
 * them when the wait is over. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum wait {
    LOCK, TIMED_LOCK, READ_LOCK, WRITE_LOCK, SPIN, CONDITION, TIMED_CONDITION, SEMAPHORE, TIMED_SEMAPHORE, JOIN,
    BARRIER, READ, POLL, SELECT, EPOLL, SLEEP, FUTEX, WAYS
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t ready, handled, go, held;
static int ends[2], epoll, word, is_notified;
static pthread_t other;
static enum wait now;
long steps[WAYS], sum;

static void on_signal(int number) {
    steps[now] += number > 0;
    sem_post(&handled);
    /* Behind the last synchronisation of the handler. */
    sum += steps[now];
}

static void nap(void) {
    struct timespec time = {.tv_nsec = 20000000};
    while (nanosleep(&time, &time) != 0)
        ;
}

static struct timespec soon(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec += 20;
    return time;
}

static void await(enum wait way) {
    struct timespec limit = soon(), second = {.tv_sec = 1};
    struct pollfd end = {.fd = ends[0], .events = POLLIN};
    struct epoll_event event;
    fd_set set;
    char byte;
    switch (way) {
    case LOCK: pthread_mutex_lock(&mutex); pthread_mutex_unlock(&mutex); break;
    case TIMED_LOCK: pthread_mutex_timedlock(&mutex, &limit); pthread_mutex_unlock(&mutex); break;
    case READ_LOCK: pthread_rwlock_rdlock(&rwlock); pthread_rwlock_unlock(&rwlock); break;
    case WRITE_LOCK: pthread_rwlock_wrlock(&rwlock); pthread_rwlock_unlock(&rwlock); break;
    case SPIN: pthread_spin_lock(&spin); pthread_spin_unlock(&spin); break;
    case CONDITION:
    case TIMED_CONDITION:
        pthread_mutex_lock(&mutex);
        while (!is_notified)
            if (way == CONDITION)
                pthread_cond_wait(&condition, &mutex);
            else
                pthread_cond_timedwait(&condition, &mutex, &limit);
        is_notified = 0;
        pthread_mutex_unlock(&mutex);
        break;
    case SEMAPHORE: while (sem_wait(&go) != 0) ; break;
    case TIMED_SEMAPHORE: while (sem_timedwait(&go, &limit) != 0) ; break;
    case JOIN: pthread_join(other, NULL); break;
    case BARRIER: pthread_barrier_wait(&barrier); break;
    case READ: while (read(ends[0], &byte, 1) != 1) ; break;
    case POLL: while (poll(&end, 1, -1) != 1) ; read(ends[0], &byte, 1); break;
    case SELECT:
        do {
            FD_ZERO(&set);
            FD_SET(ends[0], &set);
        } while (select(ends[0] + 1, &set, NULL, NULL, NULL) != 1);
        read(ends[0], &byte, 1);
        break;
    case EPOLL: while (epoll_wait(epoll, &event, 1, -1) != 1) ; read(ends[0], &byte, 1); break;
    case SLEEP: nanosleep(&second, NULL); break;
    case FUTEX:
        while (!__atomic_load_n(&word, __ATOMIC_ACQUIRE))
            syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
        break;
    case WAYS: break;
    }
}

static void *waiter(void *unused) {
    for (enum wait way = LOCK; way < WAYS; way++) {
        now = way;
        steps[way]++;
        sem_post(&ready);
        await(way);
        sem_post(&ready);
        while (sem_wait(&held) != 0)
            ;
    }
    return unused;
}

static void *ends_late(void *unused) {
    sem_wait(&go);
    return unused;
}

/* What the waiter will wait for is not to be had from here on. */
static void hold(enum wait way) {
    switch (way) {
    case LOCK: case TIMED_LOCK: pthread_mutex_lock(&mutex); break;
    case READ_LOCK: case WRITE_LOCK: pthread_rwlock_wrlock(&rwlock); break;
    case SPIN: pthread_spin_lock(&spin); break;
    case JOIN: pthread_create(&other, NULL, ends_late, NULL); break;
    default: break;
    }
}

static void give(enum wait way) {
    switch (way) {
    case LOCK: case TIMED_LOCK: pthread_mutex_unlock(&mutex); break;
    case READ_LOCK: case WRITE_LOCK: pthread_rwlock_unlock(&rwlock); break;
    case SPIN: pthread_spin_unlock(&spin); break;
    case CONDITION: case TIMED_CONDITION:
        pthread_mutex_lock(&mutex);
        is_notified = 1;
        pthread_cond_signal(&condition);
        pthread_mutex_unlock(&mutex);
        break;
    case SEMAPHORE: case TIMED_SEMAPHORE: case JOIN: sem_post(&go); break;
    case BARRIER: pthread_barrier_wait(&barrier); break;
    case READ: case POLL: case SELECT: case EPOLL: write(ends[1], "x", 1); break;
    case FUTEX:
        __atomic_store_n(&word, 1, __ATOMIC_RELEASE);
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
        break;
    default: break;
    }
}

int main(void) {
    struct sigaction action = {.sa_handler = on_signal};
    struct epoll_event event = {.events = EPOLLIN};
    pthread_t thread;
    sem_init(&ready, 0, 0);
    sem_init(&handled, 0, 0);
    sem_init(&go, 0, 0);
    sem_init(&held, 0, 0);
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_barrier_init(&barrier, NULL, 2);
    if (pipe(ends) != 0 || (epoll = epoll_create1(0)) < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) != 0)
        return 1;
    sigaction(SIGUSR1, &action, NULL);
    hold(LOCK);
    if (pthread_create(&thread, NULL, waiter, NULL) != 0)
        return 1;
    for (enum wait way = LOCK; way < WAYS; way++) {
        while (sem_wait(&ready) != 0)
            ;
        nap();
        pthread_kill(thread, SIGUSR1);
        while (sem_wait(&handled) != 0)
            ;
        give(way);
        while (sem_wait(&ready) != 0)
            ;
        steps[way] = 0;
        if (way + 1 < WAYS)
            hold(way + 1);
        sem_post(&held);
    }
    pthread_join(thread, NULL);
    printf("%ld steps\n", sum);
    return 0;
}
