/* The landing controller of Sen, Rosu and Agha (JMPaX): the approval is asked for while the radio is up, and nobody
 * looks again. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

int landing = 0;
int approved = 0;
int radio = 1;

__attribute__((noinline)) static void ask_landing_approval(void) {
    if (radio == 0)
        approved = 0;
    else
        approved = 1;
}

__attribute__((noinline)) static void *controller(void *unused) {
    (void)unused;
    ask_landing_approval();
    if (approved == 1) {
        landing = 1;
        puts("landing approved, landing started");
    } else {
        puts("landing not approved");
    }
    return NULL;
}

__attribute__((noinline)) static void check_radio(int second) {
    if (second == 3)
        radio = 0;
}

/* The radio fails some time after take-off; the pause makes the recorded run the good one. */
__attribute__((noinline)) static void *radio_watch(void *unused) {
    (void)unused;
    for (int second = 0; second < 4; second++) {
        usleep(10000);
        check_radio(second);
    }
    return NULL;
}

int main(void) {
    pthread_t flying, watching;
    if (pthread_create(&flying, NULL, controller, NULL) != 0 || pthread_create(&watching, NULL, radio_watch, NULL) != 0)
        return 1;
    pthread_join(flying, NULL);
    pthread_join(watching, NULL);
    printf("landing %d approved %d radio %d\n", landing, approved, radio);
    return 0;
}
