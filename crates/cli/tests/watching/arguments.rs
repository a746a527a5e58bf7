//! Events of functions with the values of their parameters, by each compiler and degree of optimisation.

use crate::common::Folder;

/// Functions of all kinds; of some, nothing is done with the parameters.
const PROGRAM: &str = r#"
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#define APART __attribute__((noinline, noipa))
enum colour { RED = -1, GREEN = 7 };
typedef struct conn { int fd, open; } conn_t;
struct pair { conn_t first, second; };
static conn_t table[3];
conn_t only;
struct pair both;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
volatile int sink;
#ifdef __clang__
#undef APART
#define APART __attribute__((noinline))
#endif
/* What a function does not use, compilers need not pass. */
#define USES(x) __asm__ volatile("" : : "g"(x));
APART void mark(int id) { USES(id) }
APART void small(signed char a, unsigned short b, char c, bool d) { sink += a + b + c + d; }
APART void wide(long a, unsigned long b, enum colour c) { sink += a + b + c; }
APART void reals(float f, double d, int n) { sink += f + d + n; }
APART void many(int a, int b, int c, int d, int e, int f, int g, double h, int i) { sink += a+b+c+d+e+f+g+h+i; }
APART void texts(const char *a, char *b) { sink += a != b; }
APART void use(conn_t *c, pthread_mutex_t *m, void *any) { c->open = 1; sink += m != any; }
APART double keeps(int a, double b, const char *c, double d) { sink += a; return b * d + c[0]; }
int main(int argc, char **argv) {
    char *pages = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(pages + 4096, 4096);
    memcpy(pages + 4092, "end!", 4);
    mark(3); mark(-4 * argc);
    small(-5, 65535, 'x', argc);
    wide(-1L << 40, 1UL << 33, RED); wide(1, 2, GREEN);
    reals(0.5f, -2.25, 9);
    many(1, 2, 3, 4, 5, 6, 7, 0.5, 8);
    texts("hello \"you\"", 0); texts(0, ""); texts((char *)1, pages + 4092);
    conn_t *one = malloc(sizeof *one), *two = malloc(sizeof *two), on_stack;
    use(one, &lock, table + 2); use(two, 0, &both.second); use(&only, &lock, &both); use(table, &lock, 0);
    use(&on_stack, &lock, one); use(table + 1, &lock, &table[1].open);
    printf("%.2f\n", keeps(1, 2.5, "A", 4));
    return 0;
}
"#;

const SPEC: &str = "spec Values {
  target c;
  event marked(id : int) at c mark;
  event small(a : int, b : int, c : int, d : bool) at c small;
  event wide(a : int, b : int, c : int) at c wide;
  event reals(f : real, d : real, n : int) at c reals;
  event many(g : int, h : real, i : int) at c many (arg 7, arg 8, arg 9);
  event texts(a : string, b : string) at c texts;
  event used(c : object<conn_t>, m : lock, any : object) at c use;
  event kept(b : real, c : string, d : real) at c keeps (arg 2, arg 3, arg 4);
  property fine past { marked(_) || small(_, _, _, _) || wide(_, _, _) || reals(_, _, _) || many(_, _, _)
    || texts(_, _) || used(_, _, _) || kept(_, _, _) || true }
}
";

const EXPECTED: [&str; 17] = [
    "mark,3",
    "mark,-4",
    "small,-5,65535,120,true",
    "wide,-1099511627776,8589934592,-1",
    "wide,1,2,7",
    "reals,0.5,-2.25,9",
    "many/arg7/arg8/arg9,7,0.5,8",
    "texts,\"hello \\\"you\\\"\",?",
    "texts,?,\"\"",
    "texts,?,\"end!\"",
    "use,\"heap#1\",\"lock\",\"a.c:table[2]\"",
    "use,\"heap#2\",?,\"both.second\"",
    "use,\"only\",\"lock\",\"both\"",
    "use,\"a.c:table[0]\",\"lock\",?",
    "use,?,\"lock\",\"heap#1\"",
    "use,\"a.c:table[1]\",\"lock\",\"a.c:table[1].open\"",
    "keeps/arg2/arg3/arg4,2.5,\"A\",4.0",
];

/// What is refused, and why: parameters that are not there, that do not fit, or that the compiler took away.
const REFUSED: &[(&str, &str)] = &[
    ("event e(a : int, b : int) at c mark;", "`mark` has no argument 2"),
    ("event e(o : object<mark>) at c mark;", "the parameter `id` of `mark` cannot be recorded: it is a whole number"),
    ("event e(t : bool) at c mark;", "it is a whole number of 4 bytes, not `bool`"),
    ("event e(o : object<pair>) at c use;", "the parameter `c` of `use` cannot be recorded: it is a pointer to `conn`"),
    ("event e(s : string) at c use;", "it is a pointer to `conn`, not `string`"),
    ("event e(t : thread) at c mark;", "threads are no values of C programs"),
    ("event e(r : int) at c mark after (result);", "leave out `after`"),
    (
        "event e(n : int) at c ignores;",
        "the parameter `unused` of `ignores` cannot be recorded: the compiler has removed it",
    ),
    ("event e(n : int) at c inlined;", "inlined"),
    ("event e(p : object) at c takes;", "the parameter `p` of `takes` cannot be recorded: it is a structure"),
    ("event e(n : int) at c mark; event f(n : object) at c mark;", "it is a whole number"),
];

const REFUSING: &str = r#"
struct conn { int fd; }; struct pair { struct conn first, second; };
volatile int sink;
__attribute__((noinline, noipa)) void mark(int id) { sink += id; }
__attribute__((noinline, noipa)) void use(struct conn *c) { sink += c->fd; }
__attribute__((noinline, noipa)) void takes(struct pair p) { sink += p.first.fd; }
static __attribute__((noinline)) void ignores(int unused, int n) { sink += n; }
static inline __attribute__((always_inline)) void inlined(int n) { sink += n; }
int main(int argc, char **argv) {
    struct conn c = {1}; struct pair p = {c, c};
    mark(1); use(&c); takes(p); ignores(argc, argc + 1); inlined(argc); ignores(2, 3);
    return 0;
}
"#;

/// What becomes of a connection that is closed: early, late, or early if another schedule wants it.
const CONNECTION: &str = r#"
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
typedef struct { pthread_mutex_t lock; int lines, closed; } conn;
__attribute__((noinline)) void conn_write(conn *c) {
    pthread_mutex_lock(&c->lock); c->lines++; pthread_mutex_unlock(&c->lock); }
__attribute__((noinline)) void conn_close(conn *c) {
    pthread_mutex_lock(&c->lock); c->closed = 1; pthread_mutex_unlock(&c->lock); }
static void *writer(void *c) { EARLY conn_write(c); return 0; }
int main(void) {
    conn *c = calloc(1, sizeof *c);
    pthread_mutex_init(&c->lock, 0);
    pthread_t thread;
    pthread_create(&thread, 0, writer, c);
    BEFORE conn_close(c); AFTER
    return 0;
}
"#;

#[track_caller]
fn events(folder: &Folder) -> Vec<String> {
    let shown = folder.ok(&["show", "t.ftrace"]).stdout;
    let inside = shown.lines().filter_map(|line| line.split("|ev(").nth(1)?.rsplit_once(")|"));
    inside.map(|(inside, _)| inside.to_owned()).collect()
}

#[test]
fn values_are_recorded_by_every_compiler() {
    for compiler in ["gcc", "clang"] {
        for level in ["-O0", "-O1", "-O2", "-O2 -fcf-protection"] {
            let folder = Folder::new();
            folder.write("a.c", PROGRAM);
            folder.write("a.rvs", SPEC);
            let mut compile = folder.command(&["cc", "-w", "-pthread", "a.c", "-o", "a"]);
            let compiled = compile.args(level.split(' ')).env("FORETRACE_CC", compiler).status().expect("it runs");
            assert!(compiled.success(), "{compiler} {level}");
            let ran = folder.run(&["run", "--detect", "none", "--spec", "a.rvs", "-o", "t.ftrace", "--", "./a"]);
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "75.00\n"), "{compiler} {level}: {ran:?}");
            assert_eq!(events(&folder), EXPECTED, "{compiler} {level}");
        }
    }
}

#[test]
fn what_cannot_be_recorded_is_refused_by_name() {
    let folder = Folder::new();
    folder.write("a.c", REFUSING);
    folder.ok(&["cc", "-O2", "-w", "a.c", "-o", "a"]);
    for (declaration, expected) in REFUSED {
        folder.write("a.rvs", format!("spec S {{ target c; {declaration} property p past {{ true }} }}"));
        let ran = folder.run(&["run", "--detect", "none", "--spec", "a.rvs", "--", "./a"]);
        assert_eq!(ran.code, Some(2), "{declaration}: {ran:?}");
        assert!(ran.stderr.contains(expected), "{declaration}: {ran:?}");
    }
    // Another compiler's command leaves no room.
    let mut gcc = std::process::Command::new("gcc");
    let built = gcc.args(["-O1", "-g", "-w", "a.c", "-o", "a"]).current_dir(folder.path(".")).status();
    assert!(built.expect("it runs").success());
    folder.write("a.rvs", "spec S { target c; event e(n : int) at c mark; property p past { e(_) -> true } }");
    let ran = folder.run(&["run", "--detect", "none", "--spec", "a.rvs", "--", "./a"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("compile it by `foretrace cc`"), "{ran:?}");
}

#[test]
fn each_object_has_its_own_state() {
    let join = "pthread_join(thread, 0);";
    for (early, before, after, verdict) in
        [("", join, "", "holds"), ("", "usleep(200000);", join, "predicted"), ("usleep(200000);", "", join, "violated")]
    {
        let folder = Folder::new();
        folder.write("a.c", CONNECTION.replace("EARLY", early).replace("BEFORE", before).replace("AFTER", after));
        let spec = "spec S { target c; event wrote(c : object<conn>) at c conn_write;
            event closed(c : object<conn>) at c conn_close;
            property open(c : object<conn>) past { wrote(c) -> ! once closed(c) } }";
        folder.write("a.rvs", spec);
        folder.ok(&["cc", "-O1", "-pthread", "a.c", "-o", "a"]);
        let ran = folder.run(&["run", "--detect", "none", "--spec", "a.rvs", "--json", "out.json", "--", "./a"]);
        let json: serde_json::Value = serde_json::from_slice(&folder.read("out.json")).expect("JSON");
        let verdicts: Vec<_> =
            json["properties"].as_array().expect("a list").iter().map(|one| &one["verdict"]).collect();
        assert!(verdicts.iter().any(|one| *one == verdict), "{verdict}: {json} {ran:?}");
        assert_eq!(ran.code, Some(i32::from(verdict != "holds")), "{ran:?}");
    }
}

/// Member functions of C++, and their `this`.
#[test]
fn member_functions_have_a_this() {
    let folder = Folder::new();
    folder.write(
        "a.cpp",
        "namespace net { struct Conn { int fd; __attribute__((noinline)) void write(int n, double d); };
        __attribute__((noinline)) void Conn::write(int n, double d) { fd += n + d; } }
        net::Conn global{3};
        // Pointers to members have a mark in their lowest bit.
        void (net::Conn::*volatile pointer)(int, double) = &net::Conn::write;
        int main(int argc, char **) { net::Conn *c = new net::Conn{1}; c->write(argc, 0.5); (global.*pointer)(-2, argc);
        int all = c->fd + global.fd; delete c; return all == 77; }",
    );
    let spec =
        "spec S { target c; event wrote(c : object<net.Conn>, d : real, n : int) at c net.Conn.write (this, arg 2,
        arg 1); property p(c : object<net.Conn>) past { wrote(c, _, _) -> ! once wrote(c, 0.25, _) } }";
    folder.write("a.rvs", spec);
    for level in ["-O0", "-O2"] {
        folder.ok(&["c++", level, "-std=c++17", "a.cpp", "-o", "a"]);
        folder.ok(&["run", "--detect", "none", "--spec", "a.rvs", "-o", "t.ftrace", "--", "./a"]);
        let expected = ["heap#1\",0.5,1", "global\",1.0,-2"];
        let expected = expected.map(|values| format!("net.Conn.write/this/arg2/arg1,\"{values}"));
        assert_eq!(events(&folder), expected, "{level}");
        std::fs::remove_file(folder.path("t.ftrace")).expect("it was there");
    }
}

/// Runs a program with a specification of one event.
#[track_caller]
fn with_event(folder: &Folder, declaration: &str) -> crate::common::Ran {
    folder.write("a.rvs", format!("spec S {{ target c; {declaration} property p past {{ true }} }}"));
    let _ = std::fs::remove_file(folder.path("t.ftrace"));
    folder.run(&["run", "--detect", "none", "--spec", "a.rvs", "-o", "t.ftrace", "--", "./a"])
}

/// Of overloaded functions, the parameters say which is meant.
#[test]
fn overloaded_functions_are_named_with_their_parameters() {
    let folder = Folder::new();
    folder.write(
        "a.cpp",
        "#include <string>
        #define APART __attribute__((noinline, noipa))
        namespace net { struct Conn { int fd; APART void write(int n) { fd += n; }
        APART void write(const std::string &s) { fd += s.size(); }
        APART int write(bool b) const { return b ? fd : 0; } APART int operator()(int x) { return fd += x; } }; }
        int main() { net::Conn c{1}; c.write(7); int seen = c.write(true); c.write(std::string(\"x\"));
        return c(5) + seen == 77; }",
    );
    for level in ["-O0", "-O2"] {
        folder.ok(&["c++", level, "a.cpp", "-o", "a"]);
        for (declaration, expected) in [
            ("event e(n : int) at c \"net::Conn::write(int)\";", "net.Conn.write(int\\x29,7"),
            ("event e(b : bool) at c \"net.Conn.write(bool)\";", "net.Conn.write(bool\\x29,true"),
            ("event e(n : int) at c \"net::Conn::operator()(int)\";", "net.Conn.operator(\\x29(int\\x29,5"),
        ] {
            let ran = with_event(&folder, declaration);
            assert_eq!(ran.code, Some(0), "{level} {declaration} {ran:?}");
            assert_eq!(events(&folder), [expected], "{level} {declaration}");
        }
        for (declaration, expected) in [
            (
                "event e(n : int) at c net.Conn.write;",
                "`net.Conn.write` is the name of several functions: write at c \"net::Conn::write(bool) const\" or at \
                 c \"net::Conn::write(int)\" or at c \"net::Conn::write(std::string const&)\"",
            ),
            (
                "event e(n : int) at c \"net::Conn::write(long)\";",
                "no function `net::Conn::write(long)` in ./a; did you mean net::Conn::write(bool) const, \
                 net::Conn::write(int), net::Conn::write(std::string const&)?",
            ),
        ] {
            let ran = with_event(&folder, declaration);
            assert_eq!(ran.code, Some(2), "{level} {declaration} {ran:?}");
            assert!(ran.stderr.replace(&folder.path("a").display().to_string(), "./a").contains(expected), "{ran:?}");
        }
        // Regions, and events without values, are all of them.
        let ran = with_event(&folder, "event e at c net.Conn.write;");
        assert_eq!((ran.code, events(&folder).len()), (Some(0), 3), "{level} {ran:?}");
        let ran = with_event(&folder, "region r at c \"net::Conn::write(bool)\";");
        assert_eq!(ran.code, Some(0), "{level} {ran:?}");
        let shown = folder.ok(&["show", "t.ftrace"]).stdout;
        assert_eq!(shown.lines().filter(|line| line.contains("|begin(")).count(), 1, "{level} {shown}");
    }
}

/// What the debug information does not say of a place is not guessed, nor what a trace cannot hold.
#[test]
fn other_calling_conventions_and_large_numbers_are_not_guessed() {
    for compiler in ["gcc", "clang"] {
        let folder = Folder::new();
        folder.write(
            "a.c",
            "volatile double sink;
            __attribute__((ms_abi, noinline)) void win(int a, long b, double c) { sink += a + b + c; }
            __attribute__((noinline)) void wide(unsigned long a) { sink += a; }
            int main(void) { win(1, 2, 3.5); wide(1UL << 63); wide(~0UL >> 1); return 0; }",
        );
        let compile = |level: &str| {
            let mut compile = folder.command(&["cc", level, "-w", "a.c", "-o", "a"]);
            assert!(compile.env("FORETRACE_CC", compiler).status().expect("it runs").success(), "{compiler} {level}");
        };
        compile("-O0");
        let ran = with_event(&folder, "event e(a : int, b : int) at c win;");
        assert_eq!(ran.code, Some(2), "{compiler} {ran:?}");
        assert!(ran.stderr.contains("another calling convention"), "{compiler} {ran:?}");
        let ran = with_event(&folder, "event e(a : int) at c wide;");
        assert_eq!(ran.code, Some(0), "{compiler} {ran:?}");
        assert_eq!(events(&folder), ["wide,?", "wide,9223372036854775807"], "{compiler}");
        if compiler == "gcc" {
            compile("-O2");
            let ran = with_event(&folder, "event e(a : int, c : real) at c win (arg 1, arg 3);");
            assert_eq!((ran.code, events(&folder)), (Some(0), vec!["win/arg1/arg3,1,3.5".to_owned()]), "{ran:?}");
        }
    }
}

/// gcc may leave nothing of a call that it has inlined, but says that it has.
#[test]
fn inlined_calls_are_said() {
    let folder = Folder::new();
    let source = "void mark(void) { } int main(void) { mark(); return 0; }";
    let said = "foretrace: the compiler has inlined calls of `mark`, which are not seen";
    for (source, declaration, is_said) in [
        (source.to_owned(), "event e at c mark;", true),
        (source.to_owned(), "region r at c mark;", true),
        (source.replacen("void", "__attribute__((noipa)) void", 1), "event e at c mark;", false),
    ] {
        folder.write("a.c", &source);
        let mut compile = folder.command(&["cc", "-O2", "a.c", "-o", "a"]);
        assert!(compile.env("FORETRACE_CC", "gcc").status().expect("it runs").success());
        let ran = with_event(&folder, declaration);
        assert_eq!((ran.code, ran.stderr.contains(said)), (Some(0), is_said), "{declaration} {ran:?}");
    }
}
