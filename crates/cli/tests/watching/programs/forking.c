/* Makes a process in the way its argument names. Child and parent each run two threads that share a counter, write
   what they counted into a pipe, and the parent prints both. */
#define _GNU_SOURCE
#include <linux/sched.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

extern char **environ;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static int ends[2];
static char stack[1 << 18] __attribute__((aligned(16)));

static void *count(void *unused) {
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

__attribute__((noinline)) static int work(void) {
    pthread_t threads[2];
    counter = 0;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return counter;
}

/* What a child does that has its own memory. */
static int child(void *unused) {
    int counted = work();
    (void)unused;
    if (write(ends[1], &counted, sizeof counted) != sizeof counted) _exit(9);
    return 0;
}

/* What a child does that shares its parent's memory, or has no threads. */
static int light_child(void *unused) {
    int counted = 2000;
    (void)unused;
    for (int i = 0; i < 100; i++) counter += i;
    if (write(ends[1], &counted, sizeof counted) != sizeof counted) _exit(9);
    return 0;
}

static long raw(long number, long a, long b, long c, long d, long e) {
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
}

/* Goes on as the child, if it is one. */
static pid_t forked(pid_t pid) {
    if (pid == 0) exit(child(NULL));
    return pid;
}

static pid_t make(const char *how) {
    int master;
    char *arguments[] = {"sh", "-c", "exit 0", NULL};
    pid_t pid;
    struct clone_args args;
    memset(&args, 0, sizeof args);
    args.exit_signal = SIGCHLD;
    if (!strcmp(how, "fork")) return forked(fork());
    if (!strcmp(how, "_Fork")) return forked(_Fork());
    if (!strcmp(how, "vfork")) {
        if ((pid = vfork()) == 0) _exit(light_child(NULL));
        return pid;
    }
    if (!strcmp(how, "forkpty")) {
        pid = forked(forkpty(&master, NULL, NULL, NULL));
        return pid;
    }
    if (!strcmp(how, "clone")) return clone(child, stack + sizeof stack, SIGCHLD, NULL);
    if (!strcmp(how, "clone-vfork"))
        return clone(light_child, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
    if (!strcmp(how, "clone-vm")) return clone(light_child, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL);
    if (!strcmp(how, "syscall-fork")) return forked((pid_t)syscall(SYS_fork));
    if (!strcmp(how, "syscall-clone")) return forked((pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    if (!strcmp(how, "syscall-clone3")) return forked((pid_t)syscall(SYS_clone3, &args, sizeof args));
    if (!strcmp(how, "raw-fork")) return forked((pid_t)raw(SYS_fork, 0, 0, 0, 0, 0));
    if (!strcmp(how, "raw-clone")) return forked((pid_t)raw(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    if (!strcmp(how, "raw-clone3")) return forked((pid_t)raw(SYS_clone3, (long)&args, sizeof args, 0, 0, 0));
    light_child(NULL);
    if (!strcmp(how, "posix_spawn")) {
        if (posix_spawnp(&pid, "sh", NULL, NULL, arguments, environ)) exit(8);
        return pid;
    }
    if (!strcmp(how, "system")) return system("exit 0") ? -1 : 0;
    if (!strcmp(how, "popen")) {
        FILE *from = popen("echo hello", "r");
        char line[16];
        if (!from || !fgets(line, sizeof line, from) || strcmp(line, "hello\n")) exit(8);
        return pclose(from) ? -1 : 0;
    }
    if (!strcmp(how, "wordexp")) {
        wordexp_t words;
        if (wordexp("$(echo one two)", &words, 0) || words.we_wordc != 2) exit(8);
        wordfree(&words);
        return 0;
    }
    exit(7);
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "fork";
    int status = 0, counted = -1;
    if (pipe(ends)) return 6;
    if (!strcmp(how, "daemon")) {
        pid_t before = getpid();
        work();
        if (daemon(1, 1)) return 5;
        printf("%d in another process: %s\n", work(), before == getpid() ? "no" : "yes");
        return 0;
    }
    work();
    pid_t pid = make(how);
    if (pid < 0) return 4;
    if (pid > 0 && (waitpid(pid, &status, __WALL) != pid || status)) {
        printf("the child ended with %x\n", status);
        return 3;
    }
    if (read(ends[0], &counted, sizeof counted) != sizeof counted) return 2;
    printf("parent %d, child %d\n", work(), counted);
    return 0;
}
