/* Reads in loops and single ones, disturbed in many ways: by the hooks that compilers call or, with an argument, by
   those that are passed their caller's address. Two threads take turns, so that all runs do the same. */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>

void __tsan_read1(void *), __tsan_read2(void *), __tsan_read4(void *), __tsan_read8(void *), __tsan_write8(void *);
void __tsan_read1_pc(void *, void *), __tsan_read2_pc(void *, void *), __tsan_read4_pc(void *, void *);
void __tsan_read8_pc(void *, void *);
void __tsan_func_entry(void *), __tsan_func_exit(void *);

#define PLAIN __attribute__((noinline, no_sanitize("thread")))
static int is_passed;
/* A place: a line of its own. */
#define SITE(name, size) \
    PLAIN static void name(void *at) { \
        if (is_passed) __tsan_read##size##_pc(at, (char *)name + 8); else __tsan_read##size(at); \
        __asm__ volatile("" ::: "memory"); \
    }
SITE(one_1, 1)
SITE(one_2, 2)
SITE(one_4, 4)
SITE(one_8, 8)
SITE(other_1, 1)
SITE(other_2, 2)
SITE(other_4, 4)
SITE(other_8, 8)
PLAIN static void written(void *at) { __tsan_write8(at); __asm__ volatile("" ::: "memory"); }

typedef void site(void *);
static site *const sites[2][4] = {{one_1, one_2, one_4, one_8}, {other_1, other_2, other_4, other_8}};

/* Each has memory to itself for a while, until the other one has come twice; then it goes on to the next part. */
#define BYTES (4 * 512)
#define PARTS 32
#define TURNS 256
static char memory[2][PARTS][16384] __attribute__((aligned(16384)));
static uint64_t bystander;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t turns[2];

struct random { uint64_t state; };

PLAIN static unsigned below(struct random *r, unsigned n) {
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return (r->state >> 33) % n;
}

/* Through memory from one address to another, element after element. */
PLAIN static void loop(char *from, char *to, int log2, int which, struct random *r) {
    __tsan_func_entry(__builtin_return_address(0));
    unsigned disturbed = below(r, 8);
    for (char *at = from; at < to; at += 1 << log2) {
        sites[which][log2](at);
        if (disturbed == 0 && below(r, 200) == 0) written(&bystander);
        if (disturbed == 1 && below(r, 200) == 0) sites[!which][below(r, 4)](from);
        if (disturbed == 2 && below(r, 400) == 0) at += 8 << log2;
    }
    __tsan_func_exit(NULL);
}

PLAIN static void step(int self, int part, struct random *r) {
    __tsan_func_entry(__builtin_return_address(0));
    char *mine = memory[self][part], *others = memory[!self][part];
    int log2 = below(r, 4), which = below(r, 2);
    for (unsigned rounds = 2 + below(r, 8); rounds > 0; rounds--) {
        if (below(r, 8)) { pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); }
        unsigned first = below(r, 6) ? 0 : below(r, BYTES / 8) * 8;
        loop(mine + first, mine + (below(r, 6) ? BYTES : BYTES / 2 + below(r, 64)), log2, which, r);
    }
    /* What the other one has kept comes to light. */
    if (below(r, 6) == 0) {
        unsigned word = below(r, BYTES / 8 - 8);
        for (unsigned i = 0; i < 8; i++) written(others + (word + i) * 8);
    }
    if (below(r, 12) == 0) loop(others + below(r, 4) * 512, others + BYTES, log2, which, r);
    __tsan_func_exit(NULL);
}

static void *run(void *which) {
    int self = (int)(intptr_t)which;
    struct random r = {self + 1};
    for (int i = 0; i < TURNS; i++) {
        sem_wait(&turns[self]);
        step(self, i * PARTS / TURNS, &r);
        sem_post(&turns[!self]);
    }
    return NULL;
}

int main(int count, char **arguments) {
    (void)arguments;
    is_passed = count > 1;
    pthread_t threads[2];
    sem_init(&turns[0], 0, 1);
    sem_init(&turns[1], 0, 0);
    for (intptr_t t = 0; t < 2; t++) pthread_create(&threads[t], NULL, run, (void *)t);
    for (int t = 0; t < 2; t++) pthread_join(threads[t], NULL);
    return 0;
}
