//! A program that calls what virtual machines and ThreadSanitizer's own tests do: `__tsan_java_…`, `__tsan_testonly_…`.

use crate::common::Folder;

const PROGRAM: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
typedef unsigned long jptr;
void __tsan_java_init(jptr heap, jptr bytes);
int __tsan_java_fini(void);
void __tsan_java_alloc(jptr object, jptr bytes);
void __tsan_java_free(jptr object, jptr bytes);
void __tsan_java_move(jptr from, jptr to, jptr bytes);
jptr __tsan_java_find(jptr *from, jptr to);
void __tsan_java_finalize(void);
void __tsan_java_mutex_lock(jptr lock);
void __tsan_java_mutex_unlock(jptr lock);
void __tsan_java_mutex_read_lock(jptr lock);
void __tsan_java_mutex_read_unlock(jptr lock);
void __tsan_java_mutex_lock_rec(jptr lock, int levels);
int __tsan_java_mutex_unlock_rec(jptr lock);
void __tsan_java_acquire(jptr object);
void __tsan_java_release(jptr object);
void __tsan_java_release_store(jptr object);
void __tsan_testonly_barrier_init(unsigned long long *barrier, unsigned threads);
void __tsan_testonly_barrier_wait(unsigned long long *barrier);
unsigned long __tsan_testonly_shadow_stack_current_size(void);

static long heap[64];
static unsigned long long barrier;
#define AT(n) ((jptr)&heap[n])
/* The virtual machine's real locks, which no hook sees: what is announced of them is true. */
static int real[2];
static void take(int n) {
    int was = 1;
    while (was) { was = 1; __asm__ volatile("xchgl %0, %1" : "+r"(was), "+m"(real[n]) : : "memory"); }
}
static void give(int n) { __asm__ volatile("movl $0, %0" : "=m"(real[n]) : : "memory"); }
static void guarded(void) {
    take(0); __tsan_java_mutex_lock(AT(0)); heap[1]++; __tsan_java_mutex_unlock(AT(0)); give(0);
}
static void levels(void) {
    take(1); __tsan_java_mutex_lock_rec(AT(2), 3); heap[3]++;
    if (__tsan_java_mutex_unlock_rec(AT(2)) < 1) puts("no level");
    give(1);
}
static long seen(void) {
    take(0); __tsan_java_mutex_read_lock(AT(0)); long is = heap[1]; __tsan_java_mutex_read_unlock(AT(0)); give(0);
    return is;
}
static void *worker(void *unused) {
    __tsan_testonly_barrier_wait(&barrier);
    guarded(); levels(); seen();
    heap[4] = 1; __tsan_java_release(AT(5));
    heap[6] = 1; __tsan_java_release_store(AT(7));
    RACE
    __tsan_testonly_barrier_wait(&barrier);
    return unused;
}
int main(void) {
    pthread_t a;
    __tsan_java_init((jptr)heap, sizeof heap);
    __tsan_java_alloc((jptr)heap, sizeof heap);
    __tsan_testonly_barrier_init(&barrier, 2);
    pthread_create(&a, 0, worker, 0);
    __tsan_testonly_barrier_wait(&barrier);
    guarded(); levels();
    RACE
    __tsan_testonly_barrier_wait(&barrier);
    __tsan_java_acquire(AT(5)); heap[4]++;
    __tsan_java_acquire(AT(7)); heap[6]++;
    pthread_join(a, 0);
    /* The object moves, and another one comes to its place. */
    memmove(&heap[40], &heap[8], 64);
    __tsan_java_move(AT(8), AT(40), 64);
    __tsan_java_free(AT(40), 64);
    __tsan_java_finalize();
    jptr from = AT(0);
    __tsan_java_find(&from, AT(63));
    printf("%d %ld %d\n", __tsan_testonly_shadow_stack_current_size() < 100, heap[1], __tsan_java_fini());
    return 0;
}
"#;

#[test]
fn what_a_virtual_machine_says_is_understood() {
    for compiler in ["gcc", "clang"] {
        for (race, found) in [("", 0), ("heap[20]++;", 1)] {
            let folder = Folder::new();
            folder.write("a.c", PROGRAM.replace("RACE", race));
            let mut build = folder.command(&["cc", "-O1", "-w", "-pthread", "a.c", "-o", "a"]);
            assert!(build.env("FORETRACE_CC", compiler).status().expect("it runs").success(), "{compiler}");
            let ran = folder.run(&["run", "--json", "out.json", "--", "./a"]);
            let json: serde_json::Value = serde_json::from_slice(&folder.read("out.json")).expect("JSON");
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(found), "1 2 0\n"), "{compiler} {race}: {ran:?}");
            let races = json["findings"].as_array().expect("findings").iter().filter(|one| one["status"] != "warning");
            assert_eq!(races.count(), found as usize, "{json}");
            // Without an observer they do nothing.
            let plain = std::process::Command::new(folder.path("a")).output().expect("it runs");
            assert_eq!(String::from_utf8_lossy(&plain.stdout), "1 2 0\n", "{compiler}");
        }
    }
}
