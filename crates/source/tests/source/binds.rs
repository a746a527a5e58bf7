//! Names to addresses.

use crate::build::{Folder, SHOW, compilers, run};
use crate::frames;
use crate::objects::{C, CPP};
use source::{Binder, Symbolizer, ValueKind};

#[test]
fn variables_and_their_parts_are_found_by_name() {
    let folder = Folder::new();
    folder.write("show.h", SHOW);
    folder.write("src/prog.c", C);
    for compiler in compilers(false) {
        for flags in ["-O1 -gdwarf-4", "-O2 -gdwarf-5 -no-pie"] {
            folder.tool(&format!("{compiler} {flags} -I. -pthread src/prog.c -o prog"));
            let printed = run(&folder.path("prog"));
            let base = printed.modules.list()[0].base;
            let mut binder = Binder::open(&folder.path("prog")).expect("a program");
            for (query, at, size, kind) in [
                ("landing", "landing", 4, ValueKind::Signed),
                ("counter", "counter", 4, ValueKind::Signed),
                ("prog.c:counter", "counter", 4, ValueKind::Signed),
                ("src/prog.c:counter", "counter", 4, ValueKind::Signed),
                ("prog.c:hits_of.hits", "hits", 4, ValueKind::Signed),
                ("account.balance", "balance", 8, ValueKind::Signed),
                ("account.whole", "whole", 4, ValueKind::Signed),
                ("account.last.count", "last.count", 4, ValueKind::Signed),
                ("table[3].count", "table[3].count", 4, ValueKind::Signed),
                ("grid[2][3]", "grid[2][3]", 4, ValueKind::Signed),
                ("names[1]", "names[1]", 8, ValueKind::Pointer),
                ("atom", "atom", 4, ValueKind::Signed),
                ("flag", "flag", 1, ValueKind::Bool),
                ("ratio", "ratio", 8, ValueKind::Float),
                ("colour", "colour", 4, ValueKind::Unsigned),
            ] {
                let bound = binder.variable(query).unwrap_or_else(|e| panic!("{compiler} {flags} {query}: {e}"));
                assert_eq!(bound.address.wrapping_add(base), printed.address(at), "{compiler} {flags} {query}");
                assert_eq!((bound.size, bound.kind, bound.tls), (size, kind, false), "{compiler} {flags} {query}");
                assert_eq!(bound.module, folder.path("prog"));
            }
            let high = binder.variable("account.high").expect("a bit-field");
            assert_eq!((high.size, high.bits, high.kind), (2, Some((3, 9)), ValueKind::Unsigned), "{compiler} {flags}");
            assert!(binder.variable("mine.count").expect("a thread-local one").tls);
            assert_eq!(binder.variable("account").expect("a struct").kind, ValueKind::Aggregate);
            assert_eq!(binder.variable("grid[1]").expect("a row").size, 16);
        }
    }
}

#[test]
fn names_of_cpp_are_found() {
    let folder = Folder::new();
    folder.write("show.h", SHOW);
    folder.write("prog.cpp", CPP);
    for compiler in compilers(true) {
        folder.tool(&format!("{compiler} -std=c++17 -O1 -g prog.cpp -o prog"));
        let printed = run(&folder.path("prog"));
        let base = printed.modules.list()[0].base;
        let mut binder = Binder::open(&folder.path("prog")).expect("a program");
        for (query, at) in [
            ("ns::x", "x"),
            ("prog.cpp:ns::hidden", "hidden"),
            ("ns::hidden", "hidden"),
            ("ns::nameless", "nameless"),
            ("ns::Class::member", "member"),
            ("Box<int>::value", "value"),
            ("object.id", "id"),
            ("atom", "atom"),
            ("four[2]", "four[2]"),
            ("ns::Class::run.runs", "runs"),
        ] {
            let bound = binder.variable(query).unwrap_or_else(|e| panic!("{compiler} {query}: {e}"));
            assert_eq!(bound.address.wrapping_add(base), printed.address(at), "{compiler} {query}");
            assert_eq!((bound.size, bound.kind), (4, ValueKind::Signed), "{compiler} {query}");
        }
        assert_eq!(binder.variable("object.count").expect("an atomic long").size, 8);
    }
}

#[test]
fn what_is_not_found_offers_the_nearest_names() {
    let folder = Folder::new();
    folder.write("show.h", SHOW);
    folder.write("prog.c", C);
    folder.tool("gcc -O1 -g -pthread prog.c -o prog");
    let mut binder = Binder::open(&folder.path("prog")).expect("a program");
    let mut fails = |query: &str, why: &str, near: &str| {
        let error = binder.variable(query).expect_err(query);
        assert!(error.why.contains(why), "{query}: {error}");
        assert!(error.nearest.len() <= 5 && (near.is_empty() || error.nearest.contains(&near.to_owned())), "{error:?}");
    };
    fails("landign", "no variable", "landing");
    fails("prog.c:countr", "no variable", "prog.c:counter");
    fails("hits", "no variable", "prog.c:hits_of.hits");
    fails("acount.balance", "no variable", "account");
    fails("account.balanse", "no member `balanse`", "account.balance");
    fails("account.last.cnt", "no member `cnt`", "account.last.count");
    fails("table[10].key", "10 elements", "table[9]");
    fails("table.key", "takes an index", "");
    fails("table[x]", "not an index", "");
    fails("table[1", "lacks a `]`", "");
    fails("names[0].x", "pointer", "");
    fails("landing.x", "no members", "");
    fails("landing[0]", "not an array", "landing");
    fails("", "no variable", "");
    fails("zzzzzzzzzz", "no variable", "");
    fails("other.c:counter", "no variable", "prog.c:counter");
    let error = binder.variable("landign").expect_err("a typing error").to_string();
    assert!(error.ends_with("did you mean landing?"), "{error}");
}

#[test]
fn statics_of_one_name_need_their_file() {
    let folder = Folder::new();
    let side = "static int counter; static int f(int n) { static int calls; calls++; return counter += n; }";
    folder.write("a.c", &format!("{side} int a(void) {{ return f(1); }}"));
    folder.write("b.c", &format!("{side} int b(void) {{ return f(2); }}"));
    folder.write("deep/b.c", &format!("{side} int deep(void) {{ return f(3); }}"));
    folder.write("main.c", "int a(void), b(void), deep(void); int main(void) { return a() + b() + deep(); }");
    folder.tool("gcc -O0 -g main.c a.c b.c deep/b.c -o prog");
    let mut binder = Binder::open(&folder.path("prog")).expect("a program");
    let error = binder.variable("counter").expect_err("three of them");
    assert!(error.why.contains("several"), "{error}");
    assert_eq!(error.nearest, ["a.c:counter", "b.c:counter", "deep/b.c:counter"]);
    assert_eq!(binder.variable("b.c:counter").expect_err("two of them").nearest.len(), 2);
    let a = binder.variable("a.c:counter").expect("one").address;
    let deep = binder.variable("deep/b.c:counter").expect("one").address;
    assert_ne!(a, deep);
    assert_eq!(binder.function("f").expect_err("three of them").nearest.len(), 3);
    let f = binder.function("a.c:f").expect("one");
    assert_eq!((f.name.as_str(), f.code.len(), f.code[0].inlined), ("a.c:f", 1, false));
}

#[test]
fn functions_are_found_with_all_their_code() {
    let source = r#"
int total;
static inline __attribute__((always_inline)) void transfer(int n) { total += n; __asm__ volatile("" ::: "memory"); }
void one(int n) { transfer(n); total *= 2; }
void two(int n) { transfer(n); transfer(n + 1); total *= 3; }
struct Bank { int held; int move(int n); int move(long n); };
int Bank::move(int n) { transfer(n); return held -= n; }
int Bank::move(long n) { return held += (int)n; }
int main(int argc, char **) { Bank b{argc}; one(argc); two(argc); return b.move(argc) + b.move(2L); }
"#;
    let folder = Folder::new();
    folder.write("prog.cpp", source);
    for compiler in compilers(true) {
        folder.tool(&format!("{compiler} -O1 -fno-inline-functions-called-once -g prog.cpp -o prog"));
        let mut binder = Binder::open(&folder.path("prog")).expect("a program");
        let transfer = binder.function("transfer").expect("a function");
        assert!(transfer.code.len() >= 4 && transfer.code.iter().all(|c| c.inlined), "{compiler} {transfer:?}");
        let own = |f: &source::BoundFunction| f.code.iter().filter(|c| !c.inlined).count();
        let both = binder.function("Bank::move").expect("two overloads");
        assert_eq!(own(&both), 2, "{compiler}");
        assert_eq!(both.overloads, ["Bank::move(int)", "Bank::move(long)"], "{compiler}");
        for query in ["Bank::move(int)", "Bank::move( long )"] {
            let one = binder.function(query).expect("one of them");
            assert_eq!((own(&one), one.overloads.len()), (1, 0), "{compiler} {query}");
        }
        let error = binder.function("Bank::move(char)").expect_err("no such");
        assert_eq!(error.nearest, ["Bank::move(int)", "Bank::move(long)"], "{compiler}");
        assert!(transfer.inlined && !binder.function("main").expect("a function").inlined, "{compiler}");
        assert_eq!(own(&binder.function("one").expect("a function")), 1);
        let error = binder.function("move").expect_err("it has a scope");
        assert_eq!(error.nearest, ["Bank::move"]);
        folder.tool("strip -g prog");
        let mut binder = Binder::open(&folder.path("prog")).expect("a program");
        assert!(!binder.has_debug_information());
        assert_eq!(own(&binder.function("Bank::move").expect("symbols are left")), 2, "{compiler}");
        assert_eq!(own(&binder.function("Bank::move(long)").expect("symbols are left")), 1, "{compiler}");
        let bound = binder.variable("total").expect("symbols are left");
        assert_eq!((bound.size, bound.kind), (4, ValueKind::Unknown));
        assert!(binder.variable("nothing").expect_err("no such").why.contains("-g"));
    }
}

#[test]
fn libraries_beside_the_program_are_searched() {
    let folder = Folder::new();
    folder.write("show.h", SHOW);
    folder.write("lib.c", "int landed = 5; static int own; int land(int n) { own += n; return landed += n; }");
    let main = r#"
#include "show.h"
extern int landed; int land(int);
int main(void) { land(1); show("landed", &landed); show_maps(); return 0; }
"#;
    folder.write("main.c", main);
    folder.tool("gcc -O1 -g -shared -fPIC lib.c -o libland.so");
    for flags in ["-no-pie -fno-pie", "-fPIE -pie"] {
        folder.tool(&format!("gcc -O1 -g {flags} main.c -L. -lland -Wl,-rpath,$ORIGIN -o prog"));
        let printed = run(&folder.path("prog"));
        let mut binder = Binder::open(&folder.path("prog")).expect("a program");
        assert_eq!(binder.modules().count(), 2);
        let bound = binder.variable("landed").expect("in the library");
        let module = printed.modules.list().iter().find(|m| m.path == bound.module).expect("it is loaded");
        assert_eq!(bound.address.wrapping_add(module.base), printed.address("landed"), "{flags}");
        assert_eq!(bound.kind, ValueKind::Signed);
        assert_eq!(binder.variable("lib.c:own").expect("in the library").module, folder.path("libland.so"));
        assert_eq!(binder.function("land").expect("in the library").module, folder.path("libland.so"));
        let mut symbolizer = Symbolizer::new(printed.modules.clone());
        let named = symbolizer.object_at(printed.address("landed")).map(|o| o.name);
        assert_eq!(named.as_deref(), Some("landed"), "{flags}");
    }
}

#[test]
fn lines_have_code_and_code_has_lines() {
    let folder = Folder::new();
    folder.write("show.h", SHOW);
    folder.write("prog.c", frames::PROGRAM);
    for compiler in compilers(false) {
        for flags in ["-O1 -gdwarf-4", "-O2 -gdwarf-5", "-O0 -g -no-pie"] {
            folder.tool(&format!("{compiler} {flags} prog.c -o prog"));
            let printed = run(&folder.path("prog"));
            let mut symbolizer = Symbolizer::new(printed.modules.clone());
            let mut binder = Binder::open(&folder.path("prog")).expect("a program");
            // The call that returns to an address is in the code of the line that its frame names.
            for pc in [printed.address("pc"), printed.address("direct")] {
                let frame = symbolizer.frames(pc)[0].clone();
                let (_, at) = printed.modules.find(pc - 1).expect("in the program");
                let code = binder.code_of(&format!("{}:{}", frame.file, frame.line));
                assert!(code.iter().any(|code| (code.low..code.high).contains(&at)), "{compiler} {flags}: {frame:?}");
                let other = binder.code_of(&format!("{}:{}", frame.file, frame.line + 1));
                assert!(!other.iter().any(|code| (code.low..code.high).contains(&at)), "{compiler} {flags}: {frame:?}");
            }
            assert_eq!(binder.code_of("prog.c:9999"), []);
            assert_eq!(binder.code_of("og.c:5"), []);
            let offset = binder.code_of("prog+0x1234");
            assert_eq!((offset.len(), offset[0].low, offset[0].high), (1, 0x1233, 0x1234));
            assert_eq!(binder.code_of("libc.so.6+0x12"), []);
        }
    }
}
