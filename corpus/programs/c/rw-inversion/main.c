/* A search holds an index for reading and takes the disk; a rebuild holds the disk and takes the index for writing. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define ENTRIES 16

pthread_rwlock_t index_lock = PTHREAD_RWLOCK_INITIALIZER;
pthread_mutex_t disk_lock = PTHREAD_MUTEX_INITIALIZER;
static int entries[ENTRIES];
static int blocks_read;
static int found;

static int disk_read(int block) {
    pthread_mutex_lock(&disk_lock);
    blocks_read++;
    int content = block * block;
    pthread_mutex_unlock(&disk_lock);
    return content;
}

static int search(int wanted) {
    int hit = -1;
    pthread_rwlock_rdlock(&index_lock);
    for (int i = 0; i < ENTRIES; i++) {
        if (entries[i] == wanted) {
            hit = disk_read(i);
            break;
        }
    }
    pthread_rwlock_unlock(&index_lock);
    return hit;
}

static void rebuild(void) {
    pthread_mutex_lock(&disk_lock);
    pthread_rwlock_wrlock(&index_lock);
    blocks_read += ENTRIES;
    for (int i = 0; i < ENTRIES; i++)
        entries[i] = ENTRIES - i;
    pthread_rwlock_unlock(&index_lock);
    pthread_mutex_unlock(&disk_lock);
}

static void *searcher(void *unused) {
    (void)unused;
    found = search(7);
    return NULL;
}

static void *builder(void *unused) {
    (void)unused;
    rebuild();
    return NULL;
}

int main(void) {
    pthread_t searching, building;
    for (int i = 0; i < ENTRIES; i++)
        entries[i] = i;
    if (pthread_create(&searching, NULL, searcher, NULL) != 0)
        return 1;
    usleep(50000); /* the search is over by then, and nothing says so to the rebuild */
    if (pthread_create(&building, NULL, builder, NULL) != 0)
        return 1;
    pthread_join(searching, NULL);
    pthread_join(building, NULL);
    printf("found %d, %d blocks read\n", found, blocks_read);
    return 0;
}
