//! Libraries that threads load and unload at the same time: the loader orders what it does, and what it calls.

use crate::common::Folder;

const PLUGIN: &str = "\
static int counts[64], *first;
__attribute__((constructor)) static void begin(void) { first = counts; }
__attribute__((destructor)) static void end(void) { first = 0; }
void count(int by) { for (int i = 0; i < 64; i++) counts[i] += by; first[0]++; }
__thread char own[4000];
void count_alone(int by) { own[by * 100] = by; }
";

/// Plugins come and go, mostly at the same addresses; a third thread looks at all that are there; threads that are not
/// joined use a plugin's thread-local memory.
const PROGRAM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void *load(void *name) {
    for (int i = 0; i < 60; i++) {
        void *plugin = dlopen(name, RTLD_NOW);
        void (*count)(int) = (void (*)(int))dlsym(plugin, "count");
        count(1);
        dlclose(plugin);
    }
    return NULL;
}

static int look(struct dl_phdr_info *library, size_t size, void *sum) {
    (void)size;
    *(size_t *)sum += strlen(library->dlpi_name);
    for (int i = 0; i < library->dlpi_phnum; i++)
        if (library->dlpi_phdr[i].p_type == PT_DYNAMIC) {
            const ElfW(Dyn) *entry = (const void *)(library->dlpi_addr + library->dlpi_phdr[i].p_vaddr);
            for (; entry->d_tag != DT_NULL; entry++)
                *(size_t *)sum += entry->d_tag;
        }
    return 0;
}

static void *look_at_all(void *argument) {
    size_t sum = 0;
    for (int i = 0; i < 150; i++)
        dl_iterate_phdr(look, &sum);
    return sum > 0 ? argument : NULL;
}

static void (*count_alone)(int);

static void *alone(void *argument) {
    count_alone(3);
    return argument;
}

static void *start_threads(void *argument) {
    pthread_t thread;
    for (int i = 0; i < 20; i++) {
        pthread_create(&thread, NULL, alone, NULL);
        pthread_detach(thread);
        usleep(300);
        pthread_create(&thread, NULL, alone, NULL);
        pthread_join(thread, NULL);
    }
    return argument;
}

int main(void) {
    pthread_t threads[5];
    void *kept = dlopen("./c.so", RTLD_NOW);
    count_alone = (void (*)(int))dlsym(kept, "count_alone");
    pthread_create(&threads[0], NULL, load, "./a.so");
    pthread_create(&threads[1], NULL, load, "./b.so");
    pthread_create(&threads[2], NULL, look_at_all, NULL);
    pthread_create(&threads[3], NULL, start_threads, NULL);
    pthread_create(&threads[4], NULL, start_threads, NULL);
    for (int i = 0; i < 5; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
"#;

#[test]
fn libraries_that_come_and_go_are_no_races() {
    for compiler in ["gcc", "clang"] {
        let folder = Folder::new();
        folder.write("plugin.c", PLUGIN);
        folder.write("p.c", PROGRAM);
        let cc = |args: &[&str]| {
            let built = folder.command(args).env("FORETRACE_CC", compiler).status().expect("foretrace runs");
            assert!(built.success(), "{args:?}");
        };
        for library in ["a.so", "b.so", "c.so"] {
            cc(&["cc", "-O1", "-shared", "-fPIC", "plugin.c", "-o", library]);
        }
        cc(&["cc", "-O1", "-pthread", "p.c", "-o", "p", "-ldl"]);
        for _ in 0..3 {
            let ran = folder.run(&["run", "--", "./p"]);
            assert!(ran.code == Some(0) && ran.stdout == "done\n", "{compiler}: {ran:?}");
            assert!(ran.stderr.contains("no findings"), "{compiler}: {ran:?}");
        }
    }
}
