// A receiver looks again and again at a plain flag, and then reads what the sender has written before it.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int message;
static volatile int is_there;
static int copy;

__attribute__((noinline)) static void write_message(void)
{
    message = 42;
}

__attribute__((noinline)) static void raise_flag(void)
{
    is_there = 1;
}

__attribute__((noinline)) static int see_flag(void)
{
    return is_there;
}

__attribute__((noinline)) static void read_message(void)
{
    copy = message;
}

static void *send(void *unused)
{
    write_message();
    raise_flag();
    return unused;
}

static void *receive(void *unused)
{
    while (!see_flag())
        usleep(1000);
    read_message();
    return unused;
}

int main(void)
{
    pthread_t sender, receiver;
    pthread_create(&receiver, NULL, receive, NULL);
    pthread_create(&sender, NULL, send, NULL);
    pthread_join(sender, NULL);
    pthread_join(receiver, NULL);
    printf("received %d\n", copy);
    return 0;
}
