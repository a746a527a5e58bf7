//! Variables and their parts, by address.

use crate::build::{Folder, SHOW, compilers, run};
use source::{Binder, GlobalName, Symbolizer};
use std::collections::BTreeSet;

pub(crate) const C: &str = r#"
#include "show.h"
#include <pthread.h>
#include <stdatomic.h>
int landing = 1;
static int counter = 3;
struct entry { short key; int count; };
struct account {
    int id; long balance; unsigned low : 3, high : 9; union { int whole; float broken; }; struct entry last;
};
struct account account = { 1 };
struct entry table[10];
int grid[3][4];
char *names[2] = { "a", "b" };
_Atomic int atom;
_Bool flag;
double ratio = 1.5;
enum colour { RED, GREEN } colour;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
_Thread_local int before;
_Thread_local struct entry mine = { 1, 2 };
__attribute__((noinline)) static int *hits_of(void) { static int hits; hits++; return &hits; }
__attribute__((noinline)) void *thread_pointer(void) {
    void *p; __asm__ volatile("mov %%fs:0, %0" : "=r"(p)); return p;
}
int main(int argc, char **argv) {
    landing += argc; counter += argc; before++;
    show("landing", &landing); show("counter", &counter); show("hits", hits_of());
    show("balance", &account.balance); show("low", (char *)&account.balance + 8); show("whole", &account.whole);
    show("last.count", &account.last.count); show("padding", (char *)&account.id + 4);
    show("table[3].count", &table[3].count); show("table[9].key+1", (char *)&table[9].key + 1);
    show("grid[2][3]", &grid[2][3]); show("names[1]", &names[1]); show("atom", &atom);
    show("mutex+4", (char *)&mutex + 4); show("mine.count", &mine.count); show("thread", thread_pointer());
    show("ratio", &ratio); show("flag", &flag); show("colour", &colour); show("stack", &argc);
    show_maps();
    return 0;
}
"#;

fn named(name: &str, offset: u64, size: u64) -> Option<GlobalName> {
    Some(GlobalName { name: name.to_owned(), offset, size, tls: false, bits: name == "account.low" })
}

#[test]
fn parts_of_variables_have_the_names_of_the_source() {
    let folder = Folder::new();
    folder.write("show.h", SHOW);
    folder.write("prog.c", C);
    for compiler in compilers(false) {
        for flags in
            ["-O1 -gdwarf-4", "-O2 -gdwarf-5", "-O2 -g -no-pie", "-O0 -g", "-O2 -g -fuse-ld=bfd -Wl,-z,noseparate-code"]
        {
            folder.tool(&format!("{compiler} {flags} -pthread prog.c -o prog"));
            let printed = run(&folder.path("prog"));
            let mut symbolizer = Symbolizer::new(printed.modules.clone());
            let mut check = |at: &str, expected| {
                assert_eq!(symbolizer.object_at(printed.address(at)), expected, "{compiler} {flags}: {at}");
            };
            check("landing", named("landing", 0, 4));
            check("counter", named("prog.c:counter", 0, 4));
            check("hits", named("prog.c:hits_of.hits", 0, 4));
            check("balance", named("account.balance", 0, 8));
            check("low", named("account.low", 0, 1));
            check("whole", named("account.whole", 0, 4));
            check("last.count", named("account.last.count", 0, 4));
            check("padding", named("account", 4, 32));
            check("table[3].count", named("table[3].count", 0, 4));
            check("table[9].key+1", named("table[9].key", 1, 2));
            check("grid[2][3]", named("grid[2][3]", 0, 4));
            check("names[1]", named("names[1]", 0, 8));
            check("atom", named("atom", 0, 4));
            check("mutex+4", named("mutex", 4, 40));
            check("flag", named("flag", 0, 1));
            check("ratio", named("ratio", 0, 8));
            check("colour", named("colour", 0, 4));
            check("stack", None);
            let mine = symbolizer.thread_local_at(printed.address("thread"), printed.address("mine.count"));
            let expected = GlobalName { name: "mine.count".to_owned(), offset: 0, size: 4, tls: true, bits: false };
            assert_eq!(mine, Some(expected), "{compiler} {flags}");
            assert_eq!(symbolizer.thread_local_at(printed.address("thread"), printed.address("landing")), None);
        }
    }
}

#[test]
fn without_debug_information_symbols_name_whole_variables() {
    let folder = Folder::new();
    folder.write("show.h", SHOW);
    folder.write("prog.c", C);
    folder.tool("gcc -O1 -pthread prog.c -o prog");
    let printed = run(&folder.path("prog"));
    let mut symbolizer = Symbolizer::new(printed.modules.clone());
    let mut at = |name| symbolizer.object_at(printed.address(name));
    assert_eq!(at("table[3].count"), named("table", 28, 80));
    assert_eq!(at("counter"), named("prog.c:counter", 0, 4));
    assert_eq!(at("hits"), named("prog.c:hits", 0, 4));
    folder.tool("strip prog");
    let mut symbolizer = Symbolizer::new(run(&folder.path("prog")).modules);
    assert_eq!(symbolizer.object_at(printed.address("counter")), None);
}

pub(crate) const CPP: &str = r#"
#include "show.h"
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <string>
namespace ns {
    int x = 1;
    static int hidden = 2;
    namespace { int nameless = 3; }
    struct Base { int id = 4; };
    struct Class : Base { static int member; int own = 5; std::atomic<long> count{0}; void run(); };
    int Class::member = 6;
    inline int shared = 7;
    void Class::run() { static int runs = 0; runs++; show("runs", &runs); }
}
template <class T> struct Box { static T value; };
template <class T> T Box<T>::value = 8;
ns::Class object;
std::atomic<int> atom{9};
std::array<int, 4> four{1, 2, 3, 4};
std::map<std::string, int> map;
std::mutex mutex;
int main() {
    ns::hidden++; ns::nameless++;
    show("x", &ns::x); show("hidden", &ns::hidden); show("nameless", &ns::nameless); show("member", &ns::Class::member);
    show("shared", &ns::shared); show("value", &Box<int>::value); show("id", &object.id); show("own", &object.own);
    show("count", &object.count); show("atom", &atom); show("four[2]", &four[2]);
    show("map", &map); show("mutex", &mutex);
    object.run();
    show_maps();
}
"#;

#[test]
fn names_of_cpp_have_their_scopes() {
    let folder = Folder::new();
    folder.write("show.h", SHOW);
    folder.write("prog.cpp", CPP);
    for compiler in compilers(true) {
        for flags in ["-O1 -gdwarf-4", "-O2 -gdwarf-5"] {
            folder.tool(&format!("{compiler} -std=c++17 {flags} prog.cpp -o prog"));
            let printed = run(&folder.path("prog"));
            let mut symbolizer = Symbolizer::new(printed.modules.clone());
            for (at, name) in [
                ("x", "ns::x"),
                ("hidden", "prog.cpp:ns::hidden"),
                ("nameless", "prog.cpp:ns::nameless"),
                ("member", "ns::Class::member"),
                ("shared", "ns::shared"),
                ("value", "Box<int>::value"),
                ("id", "object.id"),
                ("own", "object.own"),
                ("count", "object.count"),
                ("atom", "atom"),
                ("four[2]", "four[2]"),
                ("map", "map"),
                ("mutex", "mutex"),
                ("runs", "prog.cpp:ns::Class::run.runs"),
            ] {
                let found = symbolizer.object_at(printed.address(at)).map(|o| o.name);
                assert_eq!(found.as_deref(), Some(name), "{compiler} {flags}");
            }
        }
    }
}

#[test]
fn every_byte_has_a_name_that_leads_back_to_it() {
    let folder = Folder::new();
    folder.write("show.h", SHOW);
    folder.write("prog.c", C);
    folder.write("prog.cpp", CPP);
    for compiler in compilers(false).into_iter().chain(compilers(true)) {
        let file = if compiler.ends_with("++") { "prog.cpp" } else { "prog.c" };
        folder.tool(&format!("{compiler} -O1 -g -pthread {file} -o prog"));
        let path = folder.path("prog");
        let mut modules = source::Modules::default();
        modules.insert(&path, 0, 0, u64::MAX);
        let mut symbolizer = Symbolizer::new(modules);
        let mut binder = Binder::open(&path).expect("a program");
        let mut names = BTreeSet::new();
        for address in 0..0x10000 {
            let Some(object) = symbolizer.object_at(address) else { continue };
            // Strings and tables that the compiler made are only symbols.
            let Ok(bound) = binder.variable(&object.name) else { continue };
            assert_eq!(bound.address + object.offset, address, "{compiler}: {object:?} {bound:?}");
            assert!(object.offset < bound.size, "{compiler}: {object:?} {bound:?}");
            assert_eq!(bound.name, object.name);
            names.insert(object.name);
        }
        assert!(names.len() > 15, "{compiler}: {names:?}");
    }
}
