/* Threads share blocks of 64 bytes in all ways in which the agent gives, takes back and revokes the leases of blocks:
 * words of one block under two locks, more blocks in one section than a thread can lease, copies across blocks, heap
 * memory that goes around, atomic words, signal handlers in the middle of it, forks, and threads that end or are
 * cancelled. Without IS_RIGHT, four things are done without the right lock, each by functions of its own, and first of
 * all.
 *
 * ROUNDS in the environment: how often each worker goes around. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { IS_RIGHT = 1 };
enum { WORKERS = 8, GROUPS = 7, IN_GROUP = 40, PIECES = 11, PIECE = 1000, ROOM = 8 };

/* What the agent leases at once. No word of it is shared by what is done by day and by night. */
struct block {
    long by_day[3];
    long by_night[3];
    atomic_long hits;
    long nobodys;
};

/* More than a region of the agent, and more blocks in each group than a thread can lease. */
static struct block blocks[GROUPS][IN_GROUP] __attribute__((aligned(1 << 14)));
static pthread_mutex_t day[GROUPS], night[GROUPS];
static int days[GROUPS], nights[GROUPS];

/* Pieces side by side, which share blocks at their ends. All bytes of a piece are the same. */
static char area[PIECES * PIECE];
static pthread_mutex_t copying[PIECES];

static char shelf[256];
static long ledger;
static pthread_mutex_t sun = PTHREAD_MUTEX_INITIALIZER, moon = PTHREAD_MUTEX_INITIALIZER;
static long *spare;

/* Messages of different sizes, so that several share a block. */
struct message {
    size_t size;
    char text[];
};
static struct message *waiting[ROOM];
static int messages;
static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;

static pthread_mutex_t bed = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t morning = PTHREAD_COND_INITIALIZER;
static sem_t asleep;
static long dreams;

static atomic_int working;
static atomic_long wrong;
static __thread long signals;

static void check(int holds) {
    if (!holds)
        atomic_fetch_add(&wrong, 1);
}

static void take(pthread_mutex_t *lock) {
    if (IS_RIGHT)
        pthread_mutex_lock(lock);
}

static void leave(pthread_mutex_t *lock) {
    if (IS_RIGHT)
        pthread_mutex_unlock(lock);
}

/* A word of a block that is leased all the time. */
__attribute__((noinline)) static void write_nobodys(int number) {
    take(&night[2]);
    blocks[0][1].nobodys = number;
    leave(&night[2]);
}

/* A range across blocks, the ends of which belong to others. */
__attribute__((noinline)) static void fill_shelf(int number) {
    take(&night[3]);
    memset(shelf + 20, number, 200);
    leave(&night[3]);
}

/* Under two locks, of which one is the wrong one. */
__attribute__((noinline)) static void write_by_day(int number) {
    pthread_mutex_lock(&sun);
    ledger = number;
    pthread_mutex_unlock(&sun);
}

__attribute__((noinline)) static void write_by_night(int number) {
    pthread_mutex_t *lock = IS_RIGHT ? &sun : &moon;
    pthread_mutex_lock(lock);
    ledger = number;
    pthread_mutex_unlock(lock);
}

/* On the heap, beside messages. */
__attribute__((noinline)) static void write_spare(int number) {
    take(&night[4]);
    spare[1] = number;
    leave(&night[4]);
}

static void write_one(int number) {
    switch (number % WORKERS) {
    case 0:
    case 1:
        write_nobodys(number);
        break;
    case 2:
    case 3:
        fill_shelf(number);
        break;
    case 4:
        write_by_day(number);
        break;
    case 5:
        write_by_night(number);
        break;
    default:
        write_spare(number);
    }
}

/* Goes through a group under its lock; all words that belong to it are the same. */
static void spend_day(int group) {
    pthread_mutex_lock(&day[group]);
    int today = ++days[group];
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < IN_GROUP; i++) {
            struct block *block = &blocks[group][i];
            check(block->by_day[0] == today - 1 + turn && block->by_day[0] == block->by_day[2]);
            if (turn == 0) {
                block->by_day[0]++;
                block->by_day[2] = today;
            }
        }
    pthread_mutex_unlock(&day[group]);
}

static void spend_night(int group) {
    pthread_mutex_lock(&night[group]);
    int tonight = ++nights[group];
    for (int i = IN_GROUP; i-- > 0;) {
        struct block *block = &blocks[group][i];
        memcpy(&block->by_night[1], &block->by_night[0], sizeof(long));
        check(block->by_night[1] == tonight - 1);
        block->by_night[0] = tonight;
    }
    pthread_mutex_unlock(&night[group]);
}

static void hit(int group, unsigned from, int count) {
    for (int i = 0; i < count; i++)
        if (atomic_fetch_add(&blocks[group][(from + i) % IN_GROUP].hits, 1) < 0)
            check(0);
}

static void copy(int piece, int value) {
    char mine[PIECE];
    pthread_mutex_lock(&copying[piece]);
    memcpy(mine, area + piece * PIECE, PIECE);
    check(mine[0] == mine[PIECE - 1] && memcmp(mine, mine + 1, PIECE - 1) == 0);
    memset(mine, value, PIECE);
    memcpy(area + piece * PIECE, mine, PIECE);
    pthread_mutex_unlock(&copying[piece]);
}

static void send(size_t size) {
    struct message *message = malloc(sizeof *message + size);
    message->size = size;
    memset(message->text, (int)size, size);
    pthread_mutex_lock(&queue);
    if (messages < ROOM) {
        waiting[messages++] = message;
        message = NULL;
    }
    pthread_mutex_unlock(&queue);
    free(message);
}

static void receive(void) {
    struct message *message = NULL;
    pthread_mutex_lock(&queue);
    if (messages > 0)
        message = waiting[--messages];
    pthread_mutex_unlock(&queue);
    if (message == NULL)
        return;
    check(message->text[0] == (char)message->size && message->text[message->size - 1] == (char)message->size);
    message->text[0] = 0;
    free(message);
}

static void on_signal(int number) {
    (void)number;
    signals++;
    hit((int)(signals % GROUPS), (unsigned)signals, 3);
}

static void *helper(void *group) {
    spend_day(*(int *)group);
    hit(*(int *)group, 0, IN_GROUP);
    return NULL;
}

/* The child goes on in the middle of a section, and has threads of its own. */
static void fork_a_child(int group) {
    pthread_mutex_lock(&day[group]);
    int today = ++days[group];
    for (int i = 0; i < IN_GROUP / 2; i++)
        blocks[group][i].by_day[0] = blocks[group][i].by_day[2] = today;
    pid_t child = fork();
    for (int i = IN_GROUP / 2; i < IN_GROUP; i++)
        blocks[group][i].by_day[0] = blocks[group][i].by_day[2] = today;
    pthread_mutex_unlock(&day[group]);
    if (child == 0) {
        pthread_t helpers[2];
        for (int i = 0; i < 2; i++)
            if (pthread_create(&helpers[i], NULL, helper, &group) != 0)
                _exit(1);
        spend_day(group);
        for (int i = 0; i < 2; i++)
            pthread_join(helpers[i], NULL);
        _exit(atomic_load(&wrong) != 0 || days[group] != today + 3);
    }
    int status = 1;
    while (child > 0 && waitpid(child, &status, 0) != child)
        ;
    check(status == 0);
}

struct worker {
    pthread_t thread;
    int number;
    int rounds;
};

static void *work(void *argument) {
    struct worker *worker = argument;
    unsigned seed = (unsigned)getpid() * WORKERS + (unsigned)worker->number;
    write_one(worker->number);
    for (int round = 0; round < worker->rounds; round++) {
        int group = rand_r(&seed) % GROUPS;
        switch (rand_r(&seed) % 8) {
        case 0:
        case 1:
            spend_day(group);
            break;
        case 2:
            spend_night(group);
            break;
        case 3:
            hit(group, (unsigned)round, 10);
            break;
        case 4:
            copy(rand_r(&seed) % PIECES, round);
            break;
        case 5:
            send(1 + (size_t)rand_r(&seed) % 90);
            send(1 + (size_t)rand_r(&seed) % 90);
            break;
        case 6:
            receive();
            break;
        default:
            raise(SIGUSR1);
            write_one(worker->number);
        }
        if (round % 64 == worker->number)
            fork_a_child(group);
    }
    atomic_fetch_sub(&working, 1);
    return NULL;
}

static void get_up(void *unused) {
    (void)unused;
    dreams++;
    pthread_mutex_unlock(&bed);
}

/* It is cancelled in its wait, or ends without a return. */
static void *sleeper(void *group) {
    spend_night(*(int *)group);
    spend_day(*(int *)group);
    if (*(int *)group % 2 == 0) {
        hit(*(int *)group, 0, 5);
        sem_post(&asleep);
        pthread_exit(NULL);
    }
    pthread_mutex_lock(&bed);
    pthread_cleanup_push(get_up, NULL);
    dreams++;
    sem_post(&asleep);
    for (;;)
        pthread_cond_wait(&morning, &bed);
    pthread_cleanup_pop(1);
    return NULL;
}

int main(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct worker workers[WORKERS];
    const char *text = getenv("ROUNDS");
    int rounds = text != NULL ? atoi(text) : 12;
    sem_init(&asleep, 0, 0);
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < GROUPS; i++) {
        pthread_mutex_init(&day[i], NULL);
        pthread_mutex_init(&night[i], NULL);
    }
    for (int i = 0; i < PIECES; i++)
        pthread_mutex_init(&copying[i], NULL);
    spare = malloc(3 * sizeof *spare);
    atomic_store(&working, WORKERS);
    for (int i = 0; i < WORKERS; i++) {
        workers[i].number = i;
        workers[i].rounds = rounds;
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            return 1;
    }
    for (int group = 0, turn = 0; turn < 3 || atomic_load(&working) > 0; turn++) {
        pthread_t thread;
        group = turn % GROUPS;
        if (pthread_create(&thread, NULL, sleeper, &group) != 0)
            return 1;
        pthread_kill(workers[turn % WORKERS].thread, SIGUSR1);
        sem_wait(&asleep);
        if (group % 2 != 0)
            pthread_cancel(thread);
        pthread_join(thread, NULL);
        usleep(2000);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i].thread, NULL);
    while (messages > 0)
        receive();
    free(spare);
    printf("%ld wrong, last entry %ld of %d\n", atomic_load(&wrong), ledger, shelf[20]);
    return atomic_load(&wrong) != 0;
}
