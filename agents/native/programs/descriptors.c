/* Pipes, sockets, eventfd, epoll, futexes, C11 threads, mappings, streams, texts. */
#define _GNU_SOURCE
#include <unistd.h>
#include <stdio.h>
#include <string.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include <pthread.h>
#include <fcntl.h>
#include <stdlib.h>
#include <threads.h>
#include <stdatomic.h>
#include <sys/uio.h>
#include <dlfcn.h>
int p[2], sp[2], ev, ep, ls, port;
_Atomic int fut;
int shared;
void *f(void*a) {
    shared=1;
    write(p[1],"x",1);
    shared=2;
    send(sp[0],"hello",5,0);
    uint64_t one=1;
    usleep(1000);
    write(ev,&one,8);
    int s=socket(AF_INET,SOCK_STREAM,0);
    struct sockaddr_in sa={.sin_family=AF_INET,.sin_port=port,.sin_addr.s_addr=htonl(INADDR_LOOPBACK)};
    if(connect(s,(void*)&sa,sizeof sa)) perror("connect");
    struct iovec v[2]={{"ab",2},{"cd",2}};
    writev(s,v,2);
    char b[10];
    recv(s,b,10,0);
    close(s);
    fut=1;
    syscall(SYS_futex,&fut,FUTEX_WAKE,1,0,0,0);
    close(p[1]);
    return 0;
    }
mtx_t mt;
cnd_t cn;
int flag;
once_flag of=ONCE_FLAG_INIT;
void on(void) {
    flag+=10;
}
int tf(void*a) {
    call_once(&of,on);
    mtx_lock(&mt);
    flag++;
    cnd_signal(&cn);
    mtx_unlock(&mt);
    return 33;
}
int main() {
    pipe(p);
    socketpair(AF_UNIX,SOCK_STREAM,0,sp);
    ev=eventfd(0,0);
    ep=epoll_create1(0);
    struct epoll_event e={.events=EPOLLIN};
    epoll_ctl(ep,EPOLL_CTL_ADD,ev,&e);
    ls=socket(AF_INET,SOCK_STREAM,0);
    struct sockaddr_in sa={.sin_family=AF_INET,.sin_addr.s_addr=htonl(INADDR_LOOPBACK)};
    bind(ls,(void*)&sa,sizeof sa);
    listen(ls,5);
    socklen_t l=sizeof sa;
    getsockname(ls,(void*)&sa,&l);
    port=sa.sin_port;
    pthread_t t;
    pthread_create(&t,0,f,0);
    char b[100]={0};
    int d=dup(p[0]);
    printf("%zd\n",read(d,b,10));
    struct pollfd pf={sp[1],POLLIN};
    printf("%d\n",poll(&pf,1,-1));
    printf("%zd %.5s\n",recv(sp[1],b,100,0),b);
    struct epoll_event out[3];
    printf("%d\n",epoll_wait(ep,out,3,-1));
    uint64_t v;
    printf("%zd\n",read(ev,&v,8));
    int c=accept(ls,0,0);
    printf("%zd %.4s\n",recvfrom(c,b,4,MSG_WAITALL,0,0),b);
    send(c,"r",1,0);
    while(!fut) syscall(SYS_futex,&fut,FUTEX_WAIT,0,0,0,0);
    printf("%zd\n",read(p[0],b,10));
    pthread_join(t,0);
    printf("%d\n",shared);
    mtx_init(&mt,mtx_plain);
    cnd_init(&cn);
    thrd_t tt;
    mtx_lock(&mt);
    thrd_create(&tt,tf,0);
    while(!(flag&1)) cnd_wait(&cn,&mt);
    mtx_unlock(&mt);
    int r;
    thrd_join(tt,&r);
    printf("%d %d\n",r,flag);
    mtx_destroy(&mt);
    cnd_destroy(&cn);
    char *mm=mmap(0,8192,3,MAP_PRIVATE|MAP_ANONYMOUS,-1,0);
    mm[0]=1;
    mm=mremap(mm,8192,1<<20,MREMAP_MAYMOVE);
    mm[100000]=2;
    printf("%d\n",munmap(mm,1<<20));
    FILE*fi=tmpfile();
    fputs("line one\nline two\n",fi);
    rewind(fi);
    char*line=0;
    size_t n=0;
    while(getline(&line,&n,fi)>0) fputs(line,stdout);
    rewind(fi);
    fgets(b,100,fi);
    printf("%s",b);
    fclose(fi);
    free(line);
    void*q;
    printf("%d\n",posix_memalign(&q,64,100));
    q=realloc(q,5000);
    q=reallocarray(q,10,10);
    free(q);
    q=aligned_alloc(64,128);
    free(q);
    q=valloc(10);
    free(q);
    q=calloc(10,10);
    free(q);
    printf("%p\n",realloc(malloc(10),0));
    char big[50];
    strcpy(big,"abc");
    strcat(big,"def");
    strncat(big,"ghij",2);
    stpcpy(big+8,"zz");
    printf("%s %zu %d %s %s\n",big,strlen(big),strcmp(big,"abd")<0,strchr(big,'d'),strstr(big,"gh"));
    char *du=strdup(big);
    printf("%s\n",du);
    free(du);
    printf("%d\n",memcmp(big,"abc",3));
    sprintf(big,"%d-%s-%.2f %c %ld %s %s",1,"two",3.0,'4',5L,"six","seven");
    puts(big);
    void *h=dlopen("libm.so.6",RTLD_NOW);
    double(*cs)(double)=dlsym(h,"cos");
    printf("%f\n",cs(0));
    dlclose(h);
    pthread_setname_np(pthread_self(),"mainy");
    return 0;
    }
