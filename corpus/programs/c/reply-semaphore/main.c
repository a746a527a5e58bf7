/* A client asks a server for a price. Both write what they do into one log. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
sem_t request;
sem_t reply;
static int price;
static int client_lines;
static int server_lines;

__attribute__((noinline)) static void serve(void) {
    sem_wait(&request);
    price = 42;
    pthread_mutex_lock(&log_lock);
    server_lines++;
    pthread_mutex_unlock(&log_lock);
    sem_post(&reply);
}

static void *server(void *unused) {
    (void)unused;
    serve();
    return NULL;
}

/* The log is locked until the answer is there, so that the two lines of the client are together. */
__attribute__((noinline)) static int ask(void) {
    int answer;
    pthread_mutex_lock(&log_lock);
    client_lines++;
    sem_wait(&reply);
    answer = price;
    client_lines++;
    pthread_mutex_unlock(&log_lock);
    return answer;
}

int main(void) {
    pthread_t thread;
    sem_init(&request, 0, 0);
    sem_init(&reply, 0, 0);
    if (pthread_create(&thread, NULL, server, NULL) != 0)
        return 1;
    sem_post(&request);
    usleep(40000); /* the server is faster, in this run */
    printf("price %d\n", ask());
    pthread_join(thread, NULL);
    sem_destroy(&request);
    sem_destroy(&reply);
    return 0;
}
