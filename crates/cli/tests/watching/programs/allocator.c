// Brings its own malloc and free, and nothing else of the family.
#include <foretrace.h>
#include <pthread.h>
#include <stddef.h>

static _Alignas(16) char pool[1 << 20];
static size_t used;

void *malloc(size_t size)
{
    size_t at = __atomic_fetch_add(&used, (size + 31) & ~(size_t)15, __ATOMIC_RELAXED);
    return at + size + 16 <= sizeof pool ? pool + at + 16 : NULL;
}

void free(void *block)
{
    (void)block;
}

static void *work(void *argument)
{
    free(malloc(40));
    return argument;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return 4;
}
