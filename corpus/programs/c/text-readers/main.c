/* Names are changed under a lock; all that the C library reads, writes and sorts of them is under it, too. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
char title[32] = "first";
char motto[32] = "none";
char number[16] = "17";
char list[32] = "a,b,c";
int parsed[2];
int scores[8] = {3, 1, 2, 9, 7, 8, 5, 4};
static FILE *null;

static int by_value(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static void change(void) {
    title[0]++;
    motto[1]++;
    number[1] = '8';
    list[0] = 'z';
    parsed[1] = 4;
    scores[7] = 6;
}

__attribute__((noinline)) static int print_title(void) {
    return fprintf(null, "%5d %.2f %s\n", 3, 1.5, title);
}

__attribute__((noinline)) static int print_motto(void) {
    return fputs(motto, null);
}

__attribute__((noinline)) static long convert(void) {
    return strtol(number, NULL, 10);
}

__attribute__((noinline)) static int split(void) {
    char *rest;
    return strtok_r(list, ",", &rest) != NULL;
}

__attribute__((noinline)) static int scan(void) {
    return sscanf("12 34", "%d %d", &parsed[0], &parsed[1]);
}

__attribute__((noinline)) static void sort(void) {
    qsort(scores, 8, sizeof scores[0], by_value);
}

static void *clerk(void *arg) {
    pthread_mutex_lock(&lock);
    change();
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *reader(void *arg) {
    int used = 0;
    pthread_mutex_lock(&lock);
    used += print_title() + print_motto() + (int)convert() + split() + scan();
    sort();
    pthread_mutex_unlock(&lock);
    return used > 0 ? arg : &lock;
}

int main(void) {
    pthread_t one, two;
    null = fopen("/dev/null", "w");
    if (null == NULL || pthread_create(&one, NULL, clerk, NULL) != 0 || pthread_create(&two, NULL, reader, NULL) != 0)
        return 1;
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    fclose(null);
    printf("%d %d\n", parsed[0], scores[0]);
    return 0;
}
