/* A signal reaches a thread that waits on a condition while another holds its mutex: the handler counts, and announces
 * it; the wait goes on. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t asleep, handled;
static int ready;
int steps; /* the sleeper's and its handler's; the main thread's when it has been notified */

__attribute__((noinline)) static void on_signal(int number) {
    (void)number;
    steps++;
    sem_post(&handled);
}

__attribute__((noinline)) static void *sleeper(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    steps++;
    sem_post(&asleep);
    while (!ready)
        pthread_cond_wait(&changed, &lock);
    steps++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

__attribute__((noinline)) static int look(void) {
    return steps;
}

int main(void) {
    struct sigaction action = {.sa_handler = on_signal};
    pthread_t thread;
    sem_init(&asleep, 0, 0);
    sem_init(&handled, 0, 0);
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    if (pthread_create(&thread, NULL, sleeper, NULL) != 0)
        return 1;
    sem_wait(&asleep);
    /* The sleeper waits once this succeeds, and cannot go on as long as it is held. */
    pthread_mutex_lock(&lock);
    pthread_kill(thread, SIGUSR1);
    sem_wait(&handled);
    int seen = look();
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    printf("steps %d, then %d\n", seen, look());
    return 0;
}
