/* Everything atomic is relaxed here, and fences do the ordering: a letter handed over, and a spin lock around a cash
 * box. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

int letter;
static atomic_int sent;
static atomic_flag box_taken = ATOMIC_FLAG_INIT;
static int cash;

static void box_lock(void) {
    while (atomic_flag_test_and_set_explicit(&box_taken, memory_order_relaxed))
        sched_yield();
    atomic_thread_fence(memory_order_seq_cst);
}

static void box_unlock(void) {
    atomic_thread_fence(memory_order_seq_cst);
    atomic_flag_clear_explicit(&box_taken, memory_order_relaxed);
}

__attribute__((noinline)) static void send(int text) {
    letter = text;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&sent, 1, memory_order_relaxed);
}

__attribute__((noinline)) static int receive(void) {
    while (atomic_load_explicit(&sent, memory_order_relaxed) == 0)
        usleep(100);
    atomic_thread_fence(memory_order_acquire);
    return letter;
}

static void pay(int amount) {
    box_lock();
    cash += amount;
    box_unlock();
}

static void *sender(void *unused) {
    (void)unused;
    send(42);
    for (int i = 0; i < 5; i++)
        pay(2);
    return NULL;
}

static void *receiver(void *arg) {
    *(int *)arg = receive();
    for (int i = 0; i < 5; i++)
        pay(-1);
    return NULL;
}

int main(void) {
    int text = 0;
    pthread_t one, two;
    if (pthread_create(&one, NULL, sender, NULL) != 0 || pthread_create(&two, NULL, receiver, &text) != 0)
        return 1;
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    printf("letter %d cash %d\n", text, cash);
    return 0;
}
