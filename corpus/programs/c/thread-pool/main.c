/* A thread pool with priorities and futures: jobs are queued under one lock, results are handed back under a lock of
 * their own. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORKERS 3
#define PRIORITIES 3

/* ---- futures: a result that comes later ---- */

struct future {
    pthread_mutex_t lock;
    pthread_cond_t done;
    int ready;
    int failed;
    long value;
};

static struct future *future_new(void) {
    struct future *future = calloc(1, sizeof *future);
    if (future == NULL)
        return NULL;
    pthread_mutex_init(&future->lock, NULL);
    pthread_cond_init(&future->done, NULL);
    return future;
}

static void future_set(struct future *future, long value, int failed) {
    pthread_mutex_lock(&future->lock);
    future->value = value;
    future->failed = failed;
    future->ready = 1;
    pthread_cond_broadcast(&future->done);
    pthread_mutex_unlock(&future->lock);
}

/* The value, or `instead` if the job failed. */
static long future_get(struct future *future, long instead) {
    pthread_mutex_lock(&future->lock);
    while (!future->ready)
        pthread_cond_wait(&future->done, &future->lock);
    long value = future->failed ? instead : future->value;
    pthread_mutex_unlock(&future->lock);
    return value;
}

static void future_free(struct future *future) {
    pthread_cond_destroy(&future->done);
    pthread_mutex_destroy(&future->lock);
    free(future);
}

/* ---- the pool ---- */

typedef int (*job_function)(void *argument, long *result);

struct job {
    struct job *next;
    job_function function;
    void *argument;
    struct future *future;
};

struct lane {
    struct job *first;
    struct job **end;
    unsigned waiting;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t work;
    pthread_cond_t idle;
    struct lane lanes[PRIORITIES];
    unsigned running;
    unsigned registered;
    unsigned finished;
    unsigned failures;
    int closing;
    pthread_t workers[WORKERS];
};

struct pool pool;

static void lane_init(struct lane *lane) {
    lane->first = NULL;
    lane->end = &lane->first;
    lane->waiting = 0;
}

static void lane_append(struct lane *lane, struct job *job) {
    job->next = NULL;
    *lane->end = job;
    lane->end = &job->next;
    lane->waiting++;
}

static struct job *lane_take(struct lane *lane) {
    struct job *job = lane->first;
    if (job == NULL)
        return NULL;
    lane->first = job->next;
    if (lane->first == NULL)
        lane->end = &lane->first;
    lane->waiting--;
    return job;
}

/* The caller holds the lock. */
static struct job *pool_take(void) {
    for (int priority = 0; priority < PRIORITIES; priority++) {
        struct job *job = lane_take(&pool.lanes[priority]);
        if (job != NULL)
            return job;
    }
    return NULL;
}

/* The caller holds the lock. */
static unsigned pool_waiting(void) {
    unsigned waiting = 0;
    for (int priority = 0; priority < PRIORITIES; priority++)
        waiting += pool.lanes[priority].waiting;
    return waiting;
}

__attribute__((noinline)) static void pool_register(void) {
    pthread_mutex_lock(&pool.lock); pool.registered++; pthread_mutex_unlock(&pool.lock);
}

static void run_job(struct job *job) {
    long result = 0;
    int failed = job->function(job->argument, &result) != 0;
    if (job->future != NULL)
        future_set(job->future, result, failed);
    pthread_mutex_lock(&pool.lock);
    pool.running--;
    pool.finished++;
    if (failed)
        pool.failures++;
    if (pool.running == 0 && pool_waiting() == 0)
        pthread_cond_broadcast(&pool.idle);
    pthread_mutex_unlock(&pool.lock);
    free(job);
}

static void *worker_main(void *unused) {
    (void)unused;
    pool_register();
    for (;;) {
        struct job *job;
        pthread_mutex_lock(&pool.lock);
        while ((job = pool_take()) == NULL && !pool.closing)
            pthread_cond_wait(&pool.work, &pool.lock);
        if (job != NULL)
            pool.running++;
        pthread_mutex_unlock(&pool.lock);
        if (job == NULL)
            return NULL;
        run_job(job);
    }
}

static int pool_open(void) {
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.work, NULL);
    pthread_cond_init(&pool.idle, NULL);
    for (int i = 0; i < PRIORITIES; i++)
        lane_init(&pool.lanes[i]);
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&pool.workers[i], NULL, worker_main, NULL) != 0)
            return -1;
    return 0;
}

static struct job *job_new(job_function function, void *argument, struct future *future) {
    struct job *job = malloc(sizeof *job);
    if (job != NULL) {
        job->function = function;
        job->argument = argument;
        job->future = future;
    }
    return job;
}

/* NULL if there was no memory; the future belongs to the caller. */
static struct future *pool_submit(int priority, job_function function, void *argument) {
    struct future *future = future_new();
    if (future == NULL)
        return NULL;
    struct job *job = job_new(function, argument, future);
    if (job == NULL) {
        future_free(future);
        return NULL;
    }
    pthread_mutex_lock(&pool.lock);
    lane_append(&pool.lanes[priority], job);
    pthread_cond_signal(&pool.work);
    pthread_mutex_unlock(&pool.lock);
    return future;
}

/* A job whose result nobody waits for. */
static int pool_post(int priority, job_function function, void *argument) {
    struct job *job = job_new(function, argument, NULL);
    if (job == NULL)
        return -1;
    pthread_mutex_lock(&pool.lock);
    lane_append(&pool.lanes[priority], job);
    pthread_cond_signal(&pool.work);
    pthread_mutex_unlock(&pool.lock);
    return 0;
}

static void pool_wait_idle(void) {
    pthread_mutex_lock(&pool.lock);
    while (pool.running > 0 || pool_waiting() > 0)
        pthread_cond_wait(&pool.idle, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
}

static void pool_close(void) {
    pthread_mutex_lock(&pool.lock);
    pool.closing = 1;
    pthread_cond_broadcast(&pool.work);
    pthread_mutex_unlock(&pool.lock);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(pool.workers[i], NULL);
    pthread_cond_destroy(&pool.work);
    pthread_cond_destroy(&pool.idle);
    pthread_mutex_destroy(&pool.lock);
}

/* ---- jobs ---- */

struct range {
    unsigned from, to;
};

static int count_primes(void *argument, long *result) {
    const struct range *range = argument;
    if (range->from > range->to)
        return -1;
    for (unsigned n = range->from; n < range->to; n++) {
        unsigned divisor = 2;
        while (divisor * divisor <= n && n % divisor != 0)
            divisor++;
        if (n >= 2 && divisor * divisor > n)
            ++*result;
    }
    return 0;
}

struct text {
    const char *characters;
    char reversed[32];
};

static int reverse(void *argument, long *result) {
    struct text *text = argument;
    size_t length = strlen(text->characters);
    if (length >= sizeof text->reversed)
        return -1;
    for (size_t i = 0; i < length; i++)
        text->reversed[i] = text->characters[length - 1 - i];
    text->reversed[length] = '\0';
    *result = (long)length;
    return 0;
}

static int mix(void *argument, long *result) {
    uint32_t *seed = argument;
    for (int i = 0; i < 5; i++) {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 17;
        *seed ^= *seed << 5;
    }
    *result = (long)(*seed & 0xff);
    return 0;
}

/* ---- the program ---- */

static long primes_below(unsigned limit) {
    struct range ranges[5];
    struct future *futures[5];
    long primes = 0;
    for (unsigned i = 0; i < 5; i++) {
        ranges[i].from = limit / 5 * i;
        ranges[i].to = limit / 5 * (i + 1);
        futures[i] = pool_submit((int)(i % PRIORITIES), count_primes, &ranges[i]);
        if (futures[i] == NULL)
            abort();
    }
    for (unsigned i = 0; i < 5; i++) {
        primes += future_get(futures[i], 0);
        future_free(futures[i]);
    }
    return primes;
}

int main(void) {
    static struct text texts[2] = {
        {.characters = "stressed"},
        {.characters = "a text that is longer than the room for it"},
    };
    static struct range empty = {9, 3};
    static uint32_t seeds[4] = {1, 2, 3, 4};
    if (pool_open() != 0)
        return 1;
    for (int i = 0; i < 4; i++)
        if (pool_post(PRIORITIES - 1, mix, &seeds[i]) != 0)
            return 1;
    long primes = primes_below(100);
    struct future *short_one = pool_submit(0, reverse, &texts[0]);
    struct future *long_one = pool_submit(0, reverse, &texts[1]);
    struct future *nonsense = pool_submit(1, count_primes, &empty);
    if (short_one == NULL || long_one == NULL || nonsense == NULL)
        return 1;
    long letters = future_get(short_one, -1) + future_get(long_one, -1) + future_get(nonsense, -1);
    pool_wait_idle();
    pool_close();
    printf("%ld primes, %s, %ld, %u jobs, %u failures, %u workers\n", primes, texts[0].reversed, letters, pool.finished,
           pool.failures, pool.registered);
    future_free(short_one);
    future_free(long_one);
    future_free(nonsense);
    return 0;
}
