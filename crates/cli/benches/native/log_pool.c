/* Log lines go through a bounded queue to workers, which parse them, count under locks and free them. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 128
#define WORKERS 2
#define LINES 2000
#define SERVICES 32

struct line {
    struct line *next;
    char text[];
};

static struct line *first, *last;
static int queued, closed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;

static struct {
    pthread_mutex_t lock;
    long lines, errors, milliseconds;
} services[SERVICES];

static void put(struct line *line) {
    pthread_mutex_lock(&lock);
    while (queued == ROOM) pthread_cond_wait(&not_full, &lock);
    line->next = NULL;
    if (last) last->next = line;
    else first = line;
    last = line;
    queued++;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
}

static struct line *take(void) {
    pthread_mutex_lock(&lock);
    while (!first && !closed) pthread_cond_wait(&not_empty, &lock);
    struct line *line = first;
    if (line) {
        first = line->next;
        if (!first) last = NULL;
        queued--;
        pthread_cond_signal(&not_full);
    }
    pthread_mutex_unlock(&lock);
    return line;
}

/* "2026-11-18 12:00:00 ERROR service17 request took 250 ms" */
static void parse(const char *text) {
    int is_error = 0, service = 0;
    long milliseconds = 0;
    const char *p = text;
    for (int field = 0; *p; field++) {
        const char *end = p;
        while (*end && *end != ' ') end++;
        if (field == 2) is_error = *p == 'E';
        if (field == 3)
            for (const char *q = p + 7; q < end; q++) service = service * 10 + (*q - '0');
        if (field == 6)
            for (const char *q = p; q < end; q++) milliseconds = milliseconds * 10 + (*q - '0');
        p = *end ? end + 1 : end;
    }
    service %= SERVICES;
    pthread_mutex_lock(&services[service].lock);
    services[service].lines++;
    services[service].errors += is_error;
    services[service].milliseconds += milliseconds;
    pthread_mutex_unlock(&services[service].lock);
}

static void *work(void *unused) {
    for (struct line *line; (line = take());) {
        parse(line->text);
        free(line);
    }
    return unused;
}

int main(int argc, char **argv) {
    int lines = LINES * (argc > 1 ? atoi(argv[1]) : 1);
    pthread_t workers[WORKERS];
    char text[128];
    for (int i = 0; i < SERVICES; i++) pthread_mutex_init(&services[i].lock, NULL);
    for (int i = 0; i < WORKERS; i++) pthread_create(&workers[i], NULL, work, NULL);
    for (int i = 0; i < lines; i++) {
        int length = snprintf(text, sizeof text, "2026-11-18 12:%02d:%02d %s service%d request took %d ms", i / 60 % 60,
                              i % 60, i % 7 ? "INFO" : "ERROR", i * 31 % SERVICES, i * 17 % 1000);
        struct line *line = malloc(sizeof *line + length + 1);
        memcpy(line->text, text, length + 1);
        put(line);
    }
    pthread_mutex_lock(&lock);
    closed = 1;
    pthread_cond_broadcast(&not_empty);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < WORKERS; i++) pthread_join(workers[i], NULL);
    long total = 0, errors = 0, milliseconds = 0;
    for (int i = 0; i < SERVICES; i++) {
        total += services[i].lines;
        errors += services[i].errors;
        milliseconds += services[i].milliseconds;
    }
    printf("%ld lines, %ld errors, %ld ms\n", total, errors, milliseconds);
    return 0;
}
