/* A ring of messages counted by two semaphores; each message is allocated by the sender and freed by the receiver. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 4
#define MESSAGES 40

struct message {
    long header[4];
    char text[24];
    unsigned number;
};

static struct message *ring[SLOTS];
static sem_t empty, full;
static unsigned received;
static size_t letters;

static void ring_put(unsigned at, struct message *message) {
    sem_wait(&empty);
    ring[at % SLOTS] = message;
    sem_post(&full);
}

static struct message *ring_get(unsigned at) {
    sem_wait(&full);
    struct message *message = ring[at % SLOTS];
    sem_post(&empty);
    return message;
}

__attribute__((noinline)) static void fill_message(struct message *message, unsigned number) {
    static const char *const words[] = {"north", "east", "south", "west"};
    strcpy(message->text, words[number % 4]);
    message->number = number;
}

__attribute__((noinline)) static void read_message(struct message *message) {
    char copy[24];
    memcpy(copy, message->text, sizeof copy - 1);
    copy[sizeof copy - 1] = '\0';
    letters += strlen(copy);
    if (message->number < MESSAGES)
        received++;
    free(message);
}

static void *sender(void *unused) {
    (void)unused;
    for (unsigned i = 0; i < MESSAGES; i++) {
        struct message *message = malloc(sizeof *message);
        if (message == NULL)
            abort();
        fill_message(message, i); ring_put(i, message);
    }
    return NULL;
}

static void *receiver(void *unused) {
    (void)unused;
    for (unsigned i = 0; i < MESSAGES; i++)
        read_message(ring_get(i));
    return NULL;
}

int main(void) {
    pthread_t sending, receiving;
    if (sem_init(&empty, 0, SLOTS) != 0 || sem_init(&full, 0, 0) != 0)
        return 1;
    if (pthread_create(&sending, NULL, sender, NULL) != 0 || pthread_create(&receiving, NULL, receiver, NULL) != 0)
        return 1;
    pthread_join(sending, NULL);
    pthread_join(receiving, NULL);
    printf("%u messages, %s\n", received, letters > 0 ? "with text" : "empty");
    sem_destroy(&empty);
    sem_destroy(&full);
    return 0;
}
