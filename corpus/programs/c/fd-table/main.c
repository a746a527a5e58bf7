/* A server's table of connections, by the number of their descriptor: who gets a number comes after who closed it,
 * without a lock. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define CONNECTIONS 64

struct connection {
    long requests;
};

static struct connection table[CONNECTIONS];
static int number;

__attribute__((noinline)) static void leave(struct connection *connection) {
    connection->requests = -1;
}

__attribute__((noinline)) static void enter(struct connection *connection) {
    connection->requests = 0;
}

static void *closing(void *nothing) {
    leave(&table[number]); close(number);
    return nothing;
}

static void *opening(void *nothing) {
    /* What else is open now would be given away first. */
    int fd;
    while ((fd = open("/dev/null", O_RDONLY)) != number) {
        if (fd >= 0)
            close(fd);
        usleep(1000);
    }
    enter(&table[fd]);
    close(fd);
    return nothing;
}

int main(void) {
    number = open("/dev/null", O_RDONLY);
    if (number < 0 || number >= CONNECTIONS)
        return 1;
    pthread_t first, second;
    pthread_create(&first, NULL, opening, NULL);
    pthread_create(&second, NULL, closing, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("%ld requests\n", table[number].requests);
    return 0;
}
