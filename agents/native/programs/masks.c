/* Blocked signals of new threads. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
static void show(const char*n) {
    sigset_t s;
    pthread_sigmask(SIG_SETMASK,0,&s);
    printf("%s:",n);
    for(int i=1;i<65;i++) if(sigismember(&s,i)==1) printf(" %d",i);
    puts("");
}
void*f(void*a) {
    show(a);
    return 0;
}
int main() {
    pthread_t t;
    show("main");
    pthread_create(&t,0,f,"plain");
    pthread_join(t,0);
    sigset_t s;
    sigemptyset(&s);
    sigaddset(&s,SIGUSR1);
    pthread_sigmask(SIG_BLOCK,&s,0);
    pthread_create(&t,0,f,"usr1");
    pthread_join(t,0);
    pthread_attr_t a;
    pthread_attr_init(&a);
    sigaddset(&s,SIGUSR2);
    pthread_attr_setsigmask_np(&a,&s);
    pthread_create(&t,&a,f,"attr");
    pthread_join(t,0);
    sigfillset(&s);
    pthread_sigmask(SIG_BLOCK,&s,0);
    pthread_create(&t,0,f,"full");
    pthread_join(t,0);
    show("main");
    return 0;
}
