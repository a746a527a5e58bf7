/* A logger: many threads add lines to a buffer, one writes full buffers out; lines that are too long are counted
 * outside the lock. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_ROOM 512
#define LINE_ROOM 96
#define PRODUCERS 3
#define FLUSH_MILLISECONDS 20

/* ---- levels ---- */

enum level { LEVEL_DEBUG, LEVEL_INFO, LEVEL_WARNING, LEVEL_ERROR };

static const char *level_name(enum level level) {
    switch (level) {
    case LEVEL_DEBUG:
        return "debug";
    case LEVEL_INFO:
        return "info";
    case LEVEL_WARNING:
        return "warning";
    case LEVEL_ERROR:
        return "error";
    }
    return "?";
}

/* ---- the logger ---- */

struct buffer {
    char text[BUFFER_ROOM];
    size_t used;
    unsigned lines;
};

/* How often each level came, and which line was the longest; under the logger's lock. */
struct tally {
    unsigned of_level[LEVEL_ERROR + 1];
    size_t longest;
};

struct logger {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    pthread_cond_t emptied;
    struct buffer pair[2];
    struct buffer *front; /* lines go here */
    struct buffer *back;  /* the writer's own, outside the lock */
    struct tally tally;
    enum level least;
    int stopping;
    int urgent;
    pthread_t writer;
    int sink;
    unsigned long written_bytes; /* of the writer alone, until it is joined */
    unsigned written_lines;
    unsigned flushes;
    unsigned dropped; /* the bug: nobody's */
};

struct logger logger;

static void deadline(struct timespec *at, long milliseconds) {
    clock_gettime(CLOCK_REALTIME, at);
    at->tv_nsec += milliseconds * 1000000L;
    at->tv_sec += at->tv_nsec / 1000000000L;
    at->tv_nsec %= 1000000000L;
}

static int write_all(int sink, const char *text, size_t length) {
    while (length > 0) {
        ssize_t done = write(sink, text, length);
        if (done < 0) {
            if (errno == EINTR)
                continue;
            return -1;
        }
        text += done;
        length -= (size_t)done;
    }
    return 0;
}

/* The caller holds the lock. */
static void tally_line(struct tally *tally, enum level level, size_t length) {
    tally->of_level[level]++;
    if (length > tally->longest)
        tally->longest = length;
}

/* The caller holds the lock. Waits until there is a reason to write, or the time is over. */
static void await_work(void) {
    struct timespec limit;
    deadline(&limit, FLUSH_MILLISECONDS);
    while (!logger.stopping && !logger.urgent && logger.front->used < BUFFER_ROOM / 2) {
        if (pthread_cond_timedwait(&logger.filled, &logger.lock, &limit) == ETIMEDOUT)
            break;
    }
}

/* The caller holds the lock. */
static void swap_buffers(void) {
    struct buffer *full = logger.front;
    logger.front = logger.back;
    logger.back = full;
    logger.urgent = 0;
    pthread_cond_broadcast(&logger.emptied);
}

static void flush_back(void) {
    if (logger.back->used == 0)
        return;
    if (write_all(logger.sink, logger.back->text, logger.back->used) == 0) {
        logger.written_bytes += logger.back->used;
        logger.written_lines += logger.back->lines;
        logger.flushes++;
    }
    logger.back->used = 0;
    logger.back->lines = 0;
}

static void *writer_main(void *unused) {
    (void)unused;
    int last = 0;
    while (!last) {
        pthread_mutex_lock(&logger.lock);
        await_work();
        last = logger.stopping;
        swap_buffers();
        pthread_mutex_unlock(&logger.lock);
        flush_back();
    }
    return NULL;
}

/*
 * The bug: the decision that a line is too long needs no lock, but the counter does.
 */
__attribute__((noinline)) static void log_reject(void) {
    logger.dropped++;
}

static void append_line(enum level level, const char *line, size_t length) {
    pthread_mutex_lock(&logger.lock);
    while (logger.front->used + length > BUFFER_ROOM && !logger.stopping) {
        logger.urgent = 1;
        pthread_cond_signal(&logger.filled);
        pthread_cond_wait(&logger.emptied, &logger.lock);
    }
    if (logger.front->used + length <= BUFFER_ROOM) {
        memcpy(logger.front->text + logger.front->used, line, length);
        logger.front->used += length;
        logger.front->lines++;
        tally_line(&logger.tally, level, length);
    }
    if (level >= LEVEL_ERROR)
        logger.urgent = 1;
    if (logger.urgent || logger.front->used >= BUFFER_ROOM / 2)
        pthread_cond_signal(&logger.filled);
    pthread_mutex_unlock(&logger.lock);
}

__attribute__((format(printf, 3, 4))) static void log_line(enum level level, const char *who, const char *format, ...) {
    char line[LINE_ROOM];
    va_list arguments;
    if (level < logger.least) /* set before there are threads */
        return;
    int head = snprintf(line, sizeof line, "%s %s: ", level_name(level), who);
    if (head < 0 || (size_t)head >= sizeof line)
        return;
    va_start(arguments, format);
    int body = vsnprintf(line + head, sizeof line - (size_t)head, format, arguments);
    va_end(arguments);
    if (body < 0)
        return;
    size_t length = (size_t)head + (size_t)body;
    if (length + 1 >= sizeof line) {
        log_reject();
        return;
    }
    line[length++] = '\n';
    append_line(level, line, length);
}

static int logger_start(enum level least) {
    pthread_mutex_init(&logger.lock, NULL);
    pthread_cond_init(&logger.filled, NULL);
    pthread_cond_init(&logger.emptied, NULL);
    logger.front = &logger.pair[0];
    logger.back = &logger.pair[1];
    logger.least = least;
    logger.sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (logger.sink < 0)
        return -1;
    return pthread_create(&logger.writer, NULL, writer_main, NULL);
}

static void logger_stop(void) {
    pthread_mutex_lock(&logger.lock);
    logger.stopping = 1;
    pthread_cond_signal(&logger.filled);
    pthread_cond_broadcast(&logger.emptied);
    pthread_mutex_unlock(&logger.lock);
    pthread_join(logger.writer, NULL);
    /* What came after the last swap is still in front. */
    swap_buffers();
    flush_back();
    close(logger.sink);
    pthread_cond_destroy(&logger.filled);
    pthread_cond_destroy(&logger.emptied);
    pthread_mutex_destroy(&logger.lock);
}

/* Runs at the end of the process, after main has returned and all producers are joined. */
static void say_goodbye(void) {
    logger_stop();
    printf("%u lines, %s, dropped %s\n", logger.written_lines, logger.written_bytes > 0 ? "written" : "not written",
           logger.dropped > 0 ? "some" : "none");
    fflush(stdout);
}

/* How many lines were at least of this level so far. */
static unsigned log_count(enum level least) {
    unsigned count = 0;
    pthread_mutex_lock(&logger.lock);
    for (int level = least; level <= LEVEL_ERROR; level++)
        count += logger.tally.of_level[level];
    pthread_mutex_unlock(&logger.lock);
    return count;
}

/* ---- the program that logs: pumps that fill tanks ---- */

struct pump {
    pthread_t thread;
    const char *name;
    int rate;
    int level;
    int strokes;
};

static void pump_stroke(struct pump *pump) {
    pump->strokes++;
    pump->level += pump->rate;
    log_line(LEVEL_DEBUG, pump->name, "stroke %d", pump->strokes);
    if (pump->level > 40) {
        log_line(LEVEL_WARNING, pump->name, "high water: %d", pump->level);
        pump->level -= 15;
    }
    if (pump->strokes % 6 == 0)
        log_line(LEVEL_ERROR, pump->name, "inspection after %d strokes", pump->strokes);
    else
        log_line(LEVEL_INFO, pump->name, "level %d", pump->level);
}

static void pump_introduce(const struct pump *pump) {
    static const char *const story =
        "built by a firm that went out of business, moved twice, repaired often, "
        "and never quite the same as it was before";
    log_line(LEVEL_INFO, pump->name, "%s", story);
    log_line(LEVEL_INFO, pump->name, "rate %d", pump->rate);
}

static void *pump_main(void *arg) {
    struct pump *pump = arg;
    pump_introduce(pump);
    for (int i = 0; i < 12; i++)
        pump_stroke(pump);
    return NULL;
}

int main(void) {
    static struct pump pumps[PRODUCERS] = {
        {.name = "north", .rate = 3},
        {.name = "east", .rate = 5},
        {.name = "west", .rate = 7},
    };
    if (logger_start(LEVEL_INFO) != 0 || atexit(say_goodbye) != 0) {
        fputs("no logger\n", stderr);
        return 1;
    }
    for (int i = 0; i < PRODUCERS; i++) {
        if (pthread_create(&pumps[i].thread, NULL, pump_main, &pumps[i]) != 0) {
            fputs("no pump\n", stderr);
            return 1;
        }
    }
    int strokes = 0;
    for (int i = 0; i < PRODUCERS; i++) {
        pthread_join(pumps[i].thread, NULL);
        strokes += pumps[i].strokes;
    }
    log_line(LEVEL_INFO, "main", "%d strokes, %u warnings or errors", strokes, log_count(LEVEL_WARNING));
    return 0;
}
