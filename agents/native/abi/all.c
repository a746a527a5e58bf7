/* Every kind of access that a compiler has a hook for. Compiled only. */
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

struct __attribute__((packed)) packed { char c; uint16_t h; uint32_t w; uint64_t d; __int128 q; };
struct large { long words[40]; };

#define PLAIN(T, N)                                                             \
    T read_##N(T *p) { return *p; }                                             \
    void write_##N(T *p, T v) { *p = v; }                                       \
    void update_##N(T *p) { *p += 3; }                                          \
    T volatile_read_##N(volatile T *p) { return *p; }                           \
    void volatile_write_##N(volatile T *p, T v) { *p = v; }
PLAIN(uint8_t, 1) PLAIN(uint16_t, 2) PLAIN(uint32_t, 4) PLAIN(uint64_t, 8) PLAIN(__int128, 16)
PLAIN(float, f) PLAIN(double, d) PLAIN(long double, ld)

#define PACKED(F)                                                               \
    uint64_t packed_read_##F(struct packed *p) { return (uint64_t)p->F; }       \
    void packed_write_##F(struct packed *p) { p->F = 7; }                       \
    void packed_update_##F(struct packed *p) { p->F += 7; }                     \
    void packed_volatile_##F(volatile struct packed *p) { p->F += 7; }
PACKED(c) PACKED(h) PACKED(w) PACKED(d) PACKED(q)

void copy(struct large *a, struct large *b) { *a = *b; }
void clear(struct large *a) { memset(a, 0, sizeof *a); }
void move(struct large *a, long n) { memmove(a, a->words + 3, n); }
void copy_n(void *a, void *b, long n) { memcpy(a, b, n); }
typedef int vector __attribute__((vector_size(16)));
typedef int wide __attribute__((vector_size(32)));
vector vector_read(vector *p) { return *p; }
void vector_write(vector *p, vector v) { *p = v; }
void wide_add(wide *p, wide *q) { *p += *q; }

#define ATOMIC(T, N)                                                                                     \
    T load_##N(T *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }                                    \
    void store_##N(T *p, T v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }                              \
    T exchange_##N(T *p, T v) { return __atomic_exchange_n(p, v, __ATOMIC_ACQ_REL); }                    \
    T add_##N(T *p, T v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }                          \
    T sub_##N(T *p, T v) { return __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST); }                          \
    T and_##N(T *p, T v) { return __atomic_fetch_and(p, v, __ATOMIC_CONSUME); }                          \
    T or_##N(T *p, T v) { return __atomic_fetch_or(p, v, __ATOMIC_ACQUIRE); }                            \
    T xor_##N(T *p, T v) { return __atomic_xor_fetch(p, v, __ATOMIC_ACQUIRE); }                          \
    T nand_##N(T *p, T v) { return __atomic_fetch_nand(p, v, __ATOMIC_ACQUIRE); }                        \
    int strong_##N(T *p, T *e, T v) { return __atomic_compare_exchange_n(p, e, v, 0, 5, 2); }            \
    int weak_##N(T *p, T *e, T v) { return __atomic_compare_exchange_n(p, e, v, 1, 5, 0); }              \
    T old_##N(T *p, T e, T v) { return __sync_val_compare_and_swap(p, e, v); }                           \
    T sync_##N(T *p, T v) { return __sync_fetch_and_add(p, v); }
ATOMIC(uint8_t, 1) ATOMIC(uint16_t, 2) ATOMIC(uint32_t, 4) ATOMIC(uint64_t, 8) ATOMIC(__int128, 16)

void fences(int order) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    atomic_signal_fence(memory_order_seq_cst);
    __sync_synchronize();
    (void)order;
}
