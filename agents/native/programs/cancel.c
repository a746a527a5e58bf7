/* Cancelled threads, kinds of mutexes and their errors, timeouts, named semaphores. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include <semaphore.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <fcntl.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int cleaned;
sem_t s;
int p[2];
void clean(void *a) {
    cleaned++;
    pthread_mutex_unlock(&m);
}
void *f(void *a) {
    pthread_mutex_lock(&m);
    pthread_cleanup_push(clean,0);
    sem_post(&s);
    for(;;) pthread_cond_wait(&c,&m);
    pthread_cleanup_pop(0);
    return 0;
}
void *g(void *a) {
    char b[10];
    sem_post(&s);
    read(p[0],b,10);
    return 0;
}
void *h(void *a) {
    sem_post(&s);
    pause();
    return 0;
}
void *w(void *a) {
    sem_t z;
    sem_init(&z,0,0);
    sem_post(&s);
    sem_wait(&z);
    return 0;
}
void *e(void *a) {
    pthread_exit((void*)7);
}
int main() {
    sem_init(&s,0,0);
    pipe(p);
    void*(*fs[])(void*)={f,g,h,w};
    for(int i=0;i<4;i++) {
        pthread_t t;
        pthread_create(&t,0,fs[i],0);
        sem_wait(&s);
        usleep(20000);
        pthread_cancel(t);
        void*r;
        pthread_join(t,&r);
        printf("%d %d\n", i, r==PTHREAD_CANCELED);
    }
    printf("cleaned %d lock %d\n",cleaned,pthread_mutex_trylock(&m));
    pthread_mutex_unlock(&m);
    pthread_t t;
    void*r;
    pthread_create(&t,0,e,0);
    pthread_join(t,&r);
    printf("%ld\n",(long)r);
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a,PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_t ec;
    pthread_mutex_init(&ec,&a);
    printf("%d %d %d %d\n",pthread_mutex_lock(&ec),pthread_mutex_lock(&ec)==EDEADLK,
           pthread_mutex_unlock(&ec),pthread_mutex_unlock(&ec)==EPERM);
    pthread_mutexattr_settype(&a,PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_t rec;
    pthread_mutex_init(&rec,&a);
    for(int i=0;i<3;i++) pthread_mutex_lock(&rec);
    for(int i=0;i<3;i++) pthread_mutex_unlock(&rec);
    printf("%d\n",pthread_mutex_unlock(&rec)==EPERM);
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME,&ts);
    ts.tv_nsec+=10000000;
    if(ts.tv_nsec>=1000000000) {
        ts.tv_sec++;
        ts.tv_nsec-=1000000000;
    }
    pthread_mutex_lock(&m);
    printf("%d\n",pthread_cond_timedwait(&c,&m,&ts)==ETIMEDOUT);
    printf("%d\n",pthread_mutex_timedlock(&m,&ts)==ETIMEDOUT);
    pthread_mutex_unlock(&m);
    clock_gettime(CLOCK_MONOTONIC,&ts);
    pthread_mutex_lock(&m);
    printf("%d\n",pthread_cond_clockwait(&c,&m,CLOCK_MONOTONIC,&ts)==ETIMEDOUT);
    pthread_mutex_unlock(&m);
    errno=77;
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    free(malloc(10));
    printf("errno %d\n",errno);
    sem_t *n=sem_open("/ft_test_sem",O_CREAT==0?0:0100,0600,3);
    sem_t *n2=sem_open("/ft_test_sem",0);
    printf("named %d\n",n==n2);
    sem_wait(n);
    sem_close(n2);
    sem_post(n);
    sem_close(n);
    sem_unlink("/ft_test_sem");
    return 0;
    }
