/* An event loop: clients send pointers to their requests through a pipe, get answers through socket pairs, and say
 * goodbye by an eventfd. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENTS 3
#define REQUESTS 4
#define SOURCES 8

/* ---- reading and writing whole records ---- */

static int read_whole(int fd, void *into, size_t length) {
    char *at = into;
    while (length > 0) {
        ssize_t done = read(fd, at, length);
        if (done == 0)
            return -1;
        if (done < 0) {
            if (errno == EINTR)
                continue;
            return -1;
        }
        at += done;
        length -= (size_t)done;
    }
    return 0;
}

static int write_whole(int fd, const void *from, size_t length) {
    const char *at = from;
    while (length > 0) {
        ssize_t done = write(fd, at, length);
        if (done < 0) {
            if (errno == EINTR)
                continue;
            return -1;
        }
        at += done;
        length -= (size_t)done;
    }
    return 0;
}

/* ---- the loop: file descriptors and who cares for them ---- */

struct loop;
typedef void (*ready_function)(struct loop *loop, int fd, void *argument);

struct source {
    int fd;
    ready_function ready;
    void *argument;
};

struct loop {
    struct source sources[SOURCES];
    unsigned count;
    unsigned turns;
    int running;
};

static int loop_add(struct loop *loop, int fd, ready_function ready, void *argument) {
    if (loop->count == SOURCES)
        return -1;
    loop->sources[loop->count].fd = fd;
    loop->sources[loop->count].ready = ready;
    loop->sources[loop->count].argument = argument;
    loop->count++;
    return 0;
}

static void loop_remove(struct loop *loop, int fd) {
    for (unsigned i = 0; i < loop->count; i++) {
        if (loop->sources[i].fd == fd) {
            loop->sources[i] = loop->sources[--loop->count];
            return;
        }
    }
}

static int loop_turn(struct loop *loop) {
    struct pollfd polled[SOURCES];
    struct source ready[SOURCES];
    unsigned count = loop->count;
    for (unsigned i = 0; i < count; i++) {
        polled[i].fd = loop->sources[i].fd;
        polled[i].events = POLLIN;
        polled[i].revents = 0;
        ready[i] = loop->sources[i];
    }
    int some = poll(polled, count, 5000);
    if (some < 0 && errno == EINTR)
        return 0;
    if (some <= 0)
        return -1;
    loop->turns++;
    for (unsigned i = 0; i < count; i++)
        if (polled[i].revents != 0)
            ready[i].ready(loop, ready[i].fd, ready[i].argument);
    return 0;
}

static int loop_run(struct loop *loop) {
    loop->running = 1;
    while (loop->running)
        if (loop_turn(loop) != 0)
            return -1;
    return 0;
}

/* ---- requests ---- */

enum verb { VERB_ADD, VERB_UPPER, VERB_LENGTH, VERB_REVERSE };

struct request {
    int client;
    /* the client writes these before it sends the request */
    enum verb verb;
    long left, right;
    char text[24];
    /* the server writes these before it answers */
    long result;
    char answer[24];
};

/* One byte goes back; the request itself stays where it is. */
enum outcome { OUTCOME_DONE = 'd', OUTCOME_REFUSED = 'r' };

struct server {
    int answers[CLIENTS]; /* the server's end of each socket pair */
    unsigned served;
    unsigned refused;
    uint64_t gone;
};

static struct server server;

__attribute__((noinline)) static enum outcome handle_request(struct request *request) {
    switch (request->verb) {
    case VERB_ADD:
        request->result = request->left + request->right;
        return OUTCOME_DONE;
    case VERB_UPPER: {
        size_t i = 0;
        for (; i + 1 < sizeof request->answer && request->text[i] != '\0'; i++) {
            char c = request->text[i];
            request->answer[i] = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
        }
        request->answer[i] = '\0';
        request->result = (long)i;
        return OUTCOME_DONE;
    }
    case VERB_LENGTH: {
        size_t length = 0;
        while (length < sizeof request->text && request->text[length] != '\0')
            length++;
        request->result = (long)length;
        return OUTCOME_DONE;
    }
    case VERB_REVERSE: {
        size_t length = 0;
        while (length + 1 < sizeof request->text && request->text[length] != '\0')
            length++;
        for (size_t i = 0; i < length; i++)
            request->answer[i] = request->text[length - 1 - i];
        request->answer[length] = '\0';
        request->result = (long)length;
        return OUTCOME_DONE;
    }
    }
    return OUTCOME_REFUSED;
}

static void on_request(struct loop *loop, int fd, void *argument) {
    struct request *request;
    (void)argument;
    if (read_whole(fd, &request, sizeof request) != 0) {
        loop->running = 0;
        return;
    }
    char outcome = (char)handle_request(request);
    if (outcome == OUTCOME_DONE)
        server.served++;
    else
        server.refused++;
    if (write_whole(server.answers[request->client], &outcome, 1) != 0)
        loop->running = 0;
}

/* Each client adds one to the eventfd as the last thing it does. */
static void on_goodbye(struct loop *loop, int fd, void *argument) {
    uint64_t more;
    (void)argument;
    if (read_whole(fd, &more, sizeof more) != 0)
        return;
    server.gone += more;
    if (server.gone == CLIENTS) {
        loop_remove(loop, fd);
        loop->running = 0;
    }
}

/* ---- clients ---- */

struct client {
    pthread_t thread;
    int number;
    int requests; /* where requests go */
    int answers;  /* the client's end of its socket pair */
    int goodbye;
    long sum;
    unsigned letters;
    unsigned failed;
};

__attribute__((noinline)) static void fill_request(struct request *request, int turn) {
    static const char *const words[] = {"pipe", "socket", "event", "poll"};
    request->verb = (enum verb)(turn % 4);
    request->left = turn;
    request->right = 100;
    strcpy(request->text, words[turn % 4]);
}

static int send_request(const struct client *client, struct request *request) {
    return write_whole(client->requests, &request, sizeof request);
}

static void take_answer(struct client *client, const struct request *request) {
    char outcome;
    if (read_whole(client->answers, &outcome, 1) != 0 || outcome != OUTCOME_DONE) {
        client->failed++;
        return;
    }
    client->sum += request->result;
    client->letters += (unsigned)strlen(request->answer);
}

static void *client_main(void *arg) {
    struct client *client = arg;
    for (int turn = 0; turn < REQUESTS; turn++) {
        struct request *request = calloc(1, sizeof *request);
        if (request == NULL)
            abort();
        request->client = client->number;
        fill_request(request, turn); send_request(client, request);
        take_answer(client, request);
        free(request);
    }
    uint64_t one = 1;
    if (write_whole(client->goodbye, &one, sizeof one) != 0)
        client->failed++;
    return NULL;
}

int main(void) {
    static struct client clients[CLIENTS];
    static struct loop loop;
    int requests[2];
    int goodbye = eventfd(0, EFD_CLOEXEC);
    if (goodbye < 0 || pipe(requests) != 0)
        return 1;
    for (int i = 0; i < CLIENTS; i++) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
            return 1;
        server.answers[i] = pair[0];
        clients[i].number = i;
        clients[i].answers = pair[1];
        clients[i].requests = requests[1];
        clients[i].goodbye = goodbye;
    }
    if (loop_add(&loop, requests[0], on_request, NULL) != 0 || loop_add(&loop, goodbye, on_goodbye, NULL) != 0)
        return 1;
    for (int i = 0; i < CLIENTS; i++)
        if (pthread_create(&clients[i].thread, NULL, client_main, &clients[i]) != 0)
            return 1;
    int failed = loop_run(&loop);
    long sum = 0;
    unsigned letters = 0;
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i].thread, NULL);
        sum += clients[i].sum;
        letters += clients[i].letters;
        failed += (int)clients[i].failed;
        close(clients[i].answers);
        close(server.answers[i]);
    }
    close(requests[0]);
    close(requests[1]);
    close(goodbye);
    printf("%u served, %u refused, sum %s, letters %s\n", server.served, server.refused, sum > 0 ? "good" : "nothing",
           letters > 0 ? "good" : "none");
    return failed == 0 && loop.turns > 0 ? 0 : 1;
}
