/* Robust mutexes, annotations, forks beside running threads. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include "foretrace.h"
#define W(n) __attribute__((weak))
W() void AnnotateHappensBefore(const char*,int,const volatile void*);
W() void AnnotateHappensAfter(const char*,int,const volatile void*);
W() void AnnotateRWLockCreate(const char*,int,const volatile void*);
W() void AnnotateRWLockAcquired(const char*,int,const volatile void*,long);
W() void AnnotateRWLockReleased(const char*,int,const volatile void*,long);
W() void AnnotateRWLockDestroy(const char*,int,const volatile void*);
W() void AnnotateBenignRaceSized(const char*,int,const volatile void*,long,const char*);
W() void AnnotateIgnoreReadsBegin(const char*,int);
W() void AnnotateIgnoreReadsEnd(const char*,int);
W() void AnnotateThreadName(const char*,int,const char*);
W() void AnnotateFlushState(const char*,int);
W() void __tsan_acquire(void*);
W() void __tsan_release(void*);
W() void __tsan_mutex_create(void*,unsigned);
W() void __tsan_mutex_pre_lock(void*,unsigned);
W() void __tsan_mutex_post_lock(void*,unsigned,int);
W() int __tsan_mutex_pre_unlock(void*,unsigned);
W() void __tsan_mutex_post_unlock(void*,unsigned);
W() void __tsan_mutex_destroy(void*,unsigned);
W() void*__tsan_get_current_fiber(void);
W() void*__tsan_create_fiber(unsigned);
W() void __tsan_switch_to_fiber(void*,unsigned);
W() void __tsan_destroy_fiber(void*);
pthread_mutex_t rob, pi, plain=PTHREAD_MUTEX_INITIALIZER;
long x;
pthread_mutex_t fm=PTHREAD_MUTEX_INITIALIZER;
void *die(void*a) {
    pthread_mutex_lock(&rob);
    return 0;
}
void *lockit(void*a) {
    pthread_mutex_lock(&plain);
    return 0;
}
void prep(void) {
    pthread_mutex_lock(&fm);
    free(malloc(30));
}
void par(void) {
    pthread_mutex_unlock(&fm);
}
void chi(void) {
    x++;
    free(malloc(100));
    pthread_mutex_unlock(&fm);
}
volatile int stop;
void *noise(void*a) {
    while(!stop) {
        pthread_mutex_lock(&fm);
        x++;
        free(malloc(x%1000+1));
        pthread_mutex_unlock(&fm);
    }
    return 0;
}
void *forker(void*a) {
    for(int i=0;i<30;i++) {
        pid_t p=fork();
        if(!p) {
            pthread_mutex_lock(&fm);
            x++;
            char*q=strdup("child");
            free(q);
            pthread_mutex_unlock(&fm);
            pthread_t t;
            pthread_create(&t,0,lockit,0);
            pthread_join(t,0);
            _exit(9);
        }
        int st;
        waitpid(p,&st,0);
        if(!WIFEXITED(st)||WEXITSTATUS(st)!=9) {
            printf("bad child %x\n",st);
            exit(1);
        }
    }
    return 0;
}
int main() {
    pthread_t t;
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setrobust(&a,PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&rob,&a);
    pthread_create(&t,0,die,0);
    pthread_join(t,0);
    printf("%d\n",pthread_mutex_lock(&rob)==EOWNERDEAD);
    printf("%d\n",pthread_mutex_consistent(&rob));
    pthread_mutex_unlock(&rob);
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setprotocol(&a,PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&pi,&a);
    pthread_mutex_lock(&pi);
    pthread_mutex_unlock(&pi);
    pthread_mutex_destroy(&pi);
    pthread_create(&t,0,lockit,0);
    pthread_join(t,0);
    pthread_mutex_unlock(&plain);
    int o;
    if(__tsan_acquire) {
        AnnotateHappensBefore("f",1,&o);
        AnnotateHappensAfter("f",1,&o);
        AnnotateRWLockCreate("f",1,&o);
        AnnotateRWLockAcquired("f",1,&o,1);
        AnnotateRWLockReleased("f",1,&o,1);
        AnnotateRWLockDestroy("f",1,&o);
        AnnotateBenignRaceSized("f",1,&x,8,"counter");
        AnnotateIgnoreReadsBegin("f",1);
        x++;
        AnnotateIgnoreReadsEnd("f",1);
        AnnotateThreadName("f",1,"mainthread");
        AnnotateFlushState("f",1);
        __tsan_release(&o);
        __tsan_acquire(&o);
        int mu;
        __tsan_mutex_create(&mu,0);
        __tsan_mutex_pre_lock(&mu,0);
        x++;
        __tsan_mutex_post_lock(&mu,0,1);
        __tsan_mutex_pre_unlock(&mu,0);
        __tsan_mutex_post_unlock(&mu,0);
        __tsan_mutex_pre_lock(&mu,24);
        __tsan_mutex_post_lock(&mu,24,1);
        __tsan_mutex_pre_unlock(&mu,8);
        __tsan_mutex_post_unlock(&mu,8);
        __tsan_mutex_destroy(&mu,0);
        void*f=__tsan_get_current_fiber();
        void*g=__tsan_create_fiber(0);
        __tsan_switch_to_fiber(g,0);
        __tsan_switch_to_fiber(f,0);
        __tsan_destroy_fiber(g);
    }
    FORETRACE_BEGIN("b");
    FORETRACE_EVENT("e",-3);
    FORETRACE_END("b");
    pthread_atfork(prep,par,chi);
    pthread_t n[3];
    for(int i=0;i<2;i++) pthread_create(&n[i],0,noise,0);
    pthread_create(&n[2],0,forker,0);
    forker(0);
    pthread_join(n[2],0);
    stop=1;
    for(int i=0;i<2;i++) pthread_join(n[i],0);
    puts("forked");
    FILE*pp=popen("echo popen","r");
    char b[50];
    fgets(b,50,pp);
    printf("%s",b);
    pclose(pp);
    fflush(stdout);
    printf("%d\n",system("exit 3")>>8);
    return 0;
    }
