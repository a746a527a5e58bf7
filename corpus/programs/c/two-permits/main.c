/* Two workers carry goods; each needs the crane and the truck, of which there is one. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

sem_t crane;
sem_t truck;
static int carried;

__attribute__((noinline)) static void carry(sem_t *first, sem_t *second, int goods) {
    sem_wait(first);
    sem_wait(second);
    carried += goods;
    sem_post(second);
    sem_post(first);
}

static void *loader(void *unused) {
    (void)unused;
    carry(&crane, &truck, 1);
    return NULL;
}

static void *unloader(void *unused) {
    (void)unused;
    carry(&crane, &truck, 2);
    return NULL;
}

int main(void) {
    pthread_t first, second;
    sem_init(&crane, 0, 1);
    sem_init(&truck, 0, 1);
    if (pthread_create(&first, NULL, loader, NULL) != 0)
        return 1;
    usleep(40000); /* one after the other, in this run */
    if (pthread_create(&second, NULL, unloader, NULL) != 0)
        return 1;
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("carried %d\n", carried);
    sem_destroy(&crane);
    sem_destroy(&truck);
    return 0;
}
