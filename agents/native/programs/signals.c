/* Handlers, jumps, exec, fork, abort. */
#define _GNU_SOURCE
#include <signal.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <sys/time.h>
#include <time.h>
volatile int got, got2;
sigjmp_buf jb;
jmp_buf jb2;
void h(int s) {
    got++;
}
void h2(int s, siginfo_t*i, void*c) {
    got2 += i->si_value.sival_int;
}
void seg(int s) {
    siglongjmp(jb,1);
}
void al(int s) {
    static int z;
    z++;
}
static int deep(int n) {
    if(!n) longjmp(jb2,5);
    return deep(n-1)+1;
}
int main() {
    printf("%d\n",signal(SIGUSR1,h)==SIG_DFL);
    raise(SIGUSR1);
    kill(getpid(),SIGUSR1);
    pthread_kill(pthread_self(),SIGUSR1);
    printf("%d\n",got);
    struct sigaction a={0},o;
    a.sa_sigaction=h2;
    a.sa_flags=SA_SIGINFO;
    sigaction(SIGUSR2,&a,&o);
    printf("%d\n",o.sa_handler==SIG_DFL);
    union sigval v={.sival_int=42};
    sigqueue(getpid(),SIGUSR2,v);
    printf("%d\n",got2);
    sigaction(SIGUSR2,0,&o);
    printf("%d %d\n",o.sa_sigaction==h2,(o.sa_flags&SA_SIGINFO)!=0);
    printf("%d\n",signal(SIGUSR1,SIG_IGN)==h);
    raise(SIGUSR1);
    printf("%d %d\n",got,signal(SIGUSR1,h)==SIG_IGN);
    signal(SIGSEGV,seg);
    if(!sigsetjmp(jb,1)) *(volatile int*)0=1;
    else puts("segv");
    for(int i=0;i<1000;i++) {
        int r=setjmp(jb2);
        if(!r) deep(50);
        if(r!=5) abort();
    }
    puts("jumps");
    signal(SIGALRM,al);
    struct itimerval it={{0,500},{0,500}};
    setitimer(ITIMER_REAL,&it,0);
    pthread_mutex_t m=PTHREAD_MUTEX_INITIALIZER;
    long x=0;
    for(int i=0;i<300000;i++) {
        pthread_mutex_lock(&m);
        x++;
        char*p=malloc(i%100+1);
        memset(p,1,i%100+1);
        free(p);
        pthread_mutex_unlock(&m);
    }
    it.it_interval.tv_usec=it.it_value.tv_usec=0;
    setitimer(ITIMER_REAL,&it,0);
    printf("%ld\n",x);
    fflush(stdout);
    pid_t p=vfork();
    if(!p) {
        execl("/bin/echo","echo","a","b","c","d","e","f","g","h",(char*)0);
        _exit(1);
    }
    int st;
    waitpid(p,&st,0);
    printf("st %d\n",st);
    fflush(stdout);
    p=fork();
    if(!p) {
        printf("%d\n",execl("/nonexistent","x",(char*)0));
        char*env[]={"A=b",0};
        fflush(stdout);
        execle("/usr/bin/env","env","-u","LD_PRELOAD",(char*)0,env);
        _exit(1);
    }
    waitpid(p,&st,0);
    printf("st %d\n",st);
    fflush(stdout);
    p=fork();
    if(!p) abort();
    waitpid(p,&st,0);
    printf("sig %d\n",WTERMSIG(st));
    fflush(stdout);
    p=fork();
    if(!p) {
        quick_exit(4);
    }
    waitpid(p,&st,0);
    printf("st %d\n",WEXITSTATUS(st));
    printf("%u\n",alarm(100));
    printf("%d %u\n",ualarm(0,0)>50000000,alarm(0));
    timer_t timer;
    struct itimerspec ts={{0,0},{50,0}},left;
    printf("%d\n",timer_create(CLOCK_MONOTONIC,0,&timer));
    printf("%d ",timer_settime(timer,0,&ts,0));
    printf("%d\n",timer_settime(timer,0,&ts,&left));
    printf("%d\n",left.it_value.tv_sec>=40);
    timer_delete(timer);
    printf("%d\n",timer_create(12345,0,&timer));
    printf("%d\n",setitimer(77,&it,0));
    sigset_t ss;
    sigemptyset(&ss);
    sigaddset(&ss,SIGUSR1);
    sigprocmask(SIG_BLOCK,&ss,0);
    raise(SIGUSR1);
    int s;
    sigwait(&ss,&s);
    printf("wait %d\n",s==SIGUSR1);
    return 0;
    }
