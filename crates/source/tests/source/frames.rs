//! Functions, inlined calls, files and lines.

use crate::build::{Folder, SHOW, compilers, line_of, run};
use source::{Frame, Symbolizer};

pub(crate) const PROGRAM: &str = r#"
#include "show.h"
static int counter;
__attribute__((noinline)) void *here(void) { return __builtin_return_address(0); }
static inline __attribute__((always_inline)) void *inner(void) {
    void *pc = here(); // in inner
    counter++;
    return pc;
}
static inline __attribute__((always_inline)) void *middle(void) {
    void *pc = inner(); // in middle
    counter++;
    return pc;
}
__attribute__((noinline)) void *outer(void) {
    void *pc = middle(); // in outer
    counter++;
    return pc;
}
int main(void) {
    show("pc", outer());
    show("direct", here()); // in main
    show("printf", (const void *)((unsigned long)&printf + 1));
    show_maps();
    return counter == 0;
}
"#;

fn names(frames: &[Frame]) -> Vec<String> {
    let file = |f: &Frame| f.file.rsplit('/').next().unwrap_or_default().to_owned();
    frames.iter().map(|f| format!("{} {}:{}", f.function, file(f), f.line)).collect()
}

#[test]
fn inlined_calls_are_frames_of_their_own() {
    let folder = Folder::new();
    folder.write("show.h", SHOW);
    folder.write("prog.c", PROGRAM);
    for compiler in compilers(false) {
        for flags in ["-O1 -gdwarf-4", "-O2 -gdwarf-5", "-O2 -gdwarf-5 -no-pie", "-O2 -g -gz=zlib", "-O2 -g -static"] {
            folder.tool(&format!("{compiler} {flags} prog.c -o prog"));
            let printed = run(&folder.path("prog"));
            let mut symbolizer = Symbolizer::new(printed.modules.clone());
            let line = |marker| line_of(PROGRAM, marker);
            let expected = [
                format!("inner prog.c:{}", line("// in inner")),
                format!("middle prog.c:{}", line("// in middle")),
                format!("outer prog.c:{}", line("// in outer")),
            ];
            let frames = symbolizer.frames(printed.address("pc")).to_vec();
            assert_eq!(names(&frames), expected, "{compiler} {flags}");
            assert!(frames.iter().all(|f| !f.system && f.file.starts_with('/')), "{frames:?}");
            let frames = symbolizer.frames(printed.address("direct")).to_vec();
            assert_eq!(names(&frames), [format!("main prog.c:{}", line("// in main"))], "{compiler} {flags}");
            if !flags.contains("-static") {
                let frames = symbolizer.frames(printed.address("printf")).to_vec();
                assert_eq!(frames.len(), 1);
                assert!(frames[0].function.contains("printf") && frames[0].system, "{frames:?}");
            }
            assert!(symbolizer.errors().is_empty(), "{:?}", symbolizer.errors());
        }
    }
}

#[test]
fn without_debug_information_the_symbol_is_left_and_then_the_module() {
    let folder = Folder::new();
    folder.write("show.h", SHOW);
    folder.write("prog.c", PROGRAM);
    folder.tool("gcc -O2 -g prog.c -o full");
    folder.tool("objcopy --only-keep-debug full full.debug");
    for (name, expected) in [("symbols", "outer"), ("stripped", "stripped+0x")] {
        folder.tool(&format!("gcc -O2 {} prog.c -o {name}", if name == "stripped" { "-s" } else { "" }));
        let printed = run(&folder.path(name));
        let frames = Symbolizer::new(printed.modules.clone()).frames(printed.address("pc")).to_vec();
        assert!(frames.len() == 1 && frames[0].function.starts_with(expected), "{frames:?}");
        assert_eq!((frames[0].file.as_str(), frames[0].line, frames[0].system), ("", 0, false));
    }
    // Now with the debug information in a file beside it.
    folder.tool("strip full -o linked");
    folder.tool("objcopy --add-gnu-debuglink=full.debug linked");
    let printed = run(&folder.path("linked"));
    let frames = Symbolizer::new(printed.modules.clone()).frames(printed.address("pc")).to_vec();
    assert_eq!(frames.iter().map(|f| f.function.as_str()).collect::<Vec<_>>(), ["inner", "middle", "outer"]);
    // A file of that name from another build is not believed.
    folder.tool("gcc -O0 -g prog.c -o other");
    folder.tool("objcopy --only-keep-debug other full.debug");
    let frames = Symbolizer::new(printed.modules.clone()).frames(printed.address("pc")).to_vec();
    assert!(frames[0].function.starts_with("linked+0x"), "{frames:?}");
}

#[test]
fn names_of_cpp_are_those_of_the_source() {
    let source = r#"
#include "show.h"
#include <vector>
#include <map>
#include <string>
__attribute__((noinline)) void *here() { return __builtin_return_address(0); }
struct Account {
    int n = 0;
    __attribute__((noinline)) void *audit(int k) { void *pc = here(); n += k; return pc; }
};
template <class T> struct Queue {
    T last{};
    __attribute__((noinline)) void *push(const T &x) { void *pc = here(); last = x; return pc; }
};
namespace bank { namespace {
    __attribute__((noinline)) void *hidden(int *n) { void *pc = here(); ++*n; return pc; }
} }
int main() {
    Account a; Queue<int> q; Queue<std::map<std::string, std::vector<int>>> w; int n = 0;
    auto lambda = [&]() __attribute__((noinline)) { void *pc = here(); ++n; return pc; };
    show("audit", a.audit(1)); show("push", q.push(3)); show("wide", w.push({})); show("hidden", bank::hidden(&n));
    show("lambda", lambda());
    show_maps();
    return a.n + q.last + n == 0;
}
"#;
    let folder = Folder::new();
    folder.write("show.h", SHOW);
    folder.write("prog.cpp", source);
    for compiler in compilers(true) {
        folder.tool(&format!("{compiler} -O1 -g prog.cpp -o prog"));
        let printed = run(&folder.path("prog"));
        let mut symbolizer = Symbolizer::new(printed.modules.clone());
        let mut outermost = |name| {
            let frames = symbolizer.frames(printed.address(name));
            frames.last().map(|f| f.function.clone()).unwrap_or_default()
        };
        assert_eq!(outermost("audit"), "Account::audit", "{compiler}");
        assert_eq!(outermost("push"), "Queue<int>::push", "{compiler}");
        assert_eq!(outermost("wide"), "Queue<...>::push", "{compiler}");
        assert_eq!(outermost("hidden"), "bank::hidden", "{compiler}");
        assert!(outermost("lambda").starts_with("main::"), "{compiler}: {}", outermost("lambda"));
    }
}

#[test]
fn headers_of_the_system_are_reported_from_the_project() {
    let source = r#"
#include "show.h"
#include <vector>
void *kept;
__attribute__((noinline)) bool operator<(const std::vector<long> &, const int &);
struct Item { int n; };
bool __attribute__((noinline)) less(const Item &a, const Item &b) {
    if (!kept) kept = __builtin_return_address(0);
    return a.n < b.n;
}
#include <algorithm>
int main() {
    std::vector<Item> items{{3}, {1}, {2}, {7}, {5}};
    std::sort(items.begin(), items.end(), less);
    show("pc", kept);
    show_maps();
}
"#;
    let folder = Folder::new();
    folder.write("show.h", SHOW);
    folder.write("prog.cpp", source);
    folder.tool("g++ -O2 -g prog.cpp -o prog");
    let printed = run(&folder.path("prog"));
    let frames = Symbolizer::new(printed.modules.clone()).frames(printed.address("pc")).to_vec();
    assert!(frames[0].system && frames[0].file.contains("/include/c++/"), "{frames:?}");
    assert!(frames.last().is_some_and(|f| !f.system || f.function.starts_with("std::")), "{frames:?}");
}

#[test]
fn an_address_in_no_module_is_itself() {
    let mut symbolizer = Symbolizer::new(source::Modules::default());
    assert_eq!(symbolizer.frames(0x1234)[0].function, "0x1234");
    assert_eq!(symbolizer.frames(0)[0].function, "0x0");
    assert_eq!(symbolizer.object_at(0x1234), None);
}
