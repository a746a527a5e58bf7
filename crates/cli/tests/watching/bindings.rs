//! What specifications speak of, found in real programs.

use crate::common::{Folder, Ran};
use serde_json::Value;

/// A valve is opened by one thread and closed by another; `BETWEEN` is what is done between the two.
const VALVE: &str = r#"
#include <pthread.h>
#include <unistd.h>
#define APART __attribute__((noinline))
static volatile int first, second; static __thread volatile int mine;
static volatile struct { unsigned low : 3, open : 2; int delta : 4; int turns; } state;
APART static void open_valve(void) {
    first++; mine++; state.open = 2; state.delta = -2; state.open = 1; state.delta = -7; state.turns++; }
APART static void close_valve(void) { second++; }
static inline __attribute__((always_inline)) void look(void) { first++; }
static void *opens(void *unused) { open_valve(); look(); return unused; }
static void *closes(void *unused) { close_valve(); return unused; }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, opens, 0);
    BETWEEN
    pthread_create(&b, 0, closes, 0);
    LATER
    pthread_join(b, 0);
    return 0;
}
"#;

#[track_caller]
fn valve(joined_first: bool) -> Folder {
    let folder = Folder::new();
    let (between, later) =
        if joined_first { ("pthread_join(a, 0);", "") } else { ("usleep(100000);", "pthread_join(a, 0);") };
    folder.write("valve.c", VALVE.replace("BETWEEN", between).replace("LATER", later));
    folder.ok(&["cc", "-O1", "-pthread", "valve.c", "-o", "valve"]);
    folder
}

fn run(folder: &Folder, declarations: &str, property: &str) -> (Ran, Value) {
    let spec = format!("spec Valve {{\n  target c;\n  {declarations}\n  property order past {{ {property} }}\n}}\n");
    folder.write("valve.rvs", spec);
    let ran = folder.run(&[
        "run",
        "--detect",
        "none",
        "--spec",
        "valve.rvs",
        "-o",
        "t.ftrace",
        "--json",
        "out.json",
        "--",
        "./valve",
    ]);
    let json = std::fs::read(folder.path("out.json")).ok().and_then(|json| serde_json::from_slice(&json).ok());
    (ran, json.unwrap_or_default())
}

#[test]
fn functions_are_events() {
    let declarations = "event opened at c open_valve after;\n  event closed at c valve.c:close_valve;";
    let (ran, json) = run(&valve(false), declarations, "closed -> once opened");
    assert_eq!(json["properties"][0]["verdict"], "predicted", "{ran:?} {json}");
    let folder = valve(true);
    let (ran, json) = run(&folder, declarations, "closed -> once opened");
    assert_eq!((ran.code, &json["properties"][0]["verdict"]), (Some(0), &"holds".into()), "{ran:?} {json}");
    let shown = folder.ok(&["show", "t.ftrace"]).stdout;
    let folder = format!("{}/", folder.path(".").canonicalize().expect("it is there").display());
    let shown = shown.replace(&folder, "");
    let events: Vec<&str> = shown.lines().filter(|line| line.contains("|ev(")).collect();
    let expected = ["T1|ev(open_valve)|open_valve valve.c:8", "T2|ev(valve.c:close_valve)|close_valve valve.c:9"];
    assert_eq!(events, expected, "{shown}");
}

#[test]
fn before_and_after_are_entry_and_exit() {
    // The write of the function comes between.
    for (when, expected) in [("before", ["ev", "w"]), ("after", ["w", "ev"])] {
        let folder = valve(true);
        let declarations = format!("event opened at c open_valve {when};\n  shared int first at c first;");
        let (ran, json) = run(&folder, &declarations, "opened -> true");
        assert_eq!(json["properties"][0]["verdict"], "holds", "{ran:?}");
        let shown = folder.ok(&["show", "t.ftrace"]).stdout;
        let lines = shown.lines().filter(|line| line.starts_with("T1|ev(") || line.starts_with("T1|w("));
        let order: Vec<&str> = lines.filter_map(|line| line.split(['|', '(']).nth(1)).take(2).collect();
        assert_eq!(order, expected, "{shown}");
    }
}

#[test]
fn what_cannot_be_bound_is_an_error() {
    let folder = valve(true);
    for (declaration, expected) in [
        ("event opened at c open_valv;", "did you mean valve.c:open_valve"),
        ("event opened at c open_valv;", "at trace \"open_valv\""),
        ("event opened(n : int) at c open_valve;", "`open_valve` has no argument 1"),
        ("event opened at c look;", "inlined everywhere"),
        (
            "shared int x at c mine; event opened at c open_valve;",
            "`mine` is thread-local: its values cannot be recorded",
        ),
        (
            "shared int x at c state.open; shared int y at c state.delta; event opened at c open_valve;",
            "one of them can be bound",
        ),
        ("shared int x at c state; event opened at c open_valve;", "name a field or an element of it"),
        ("event opened at c open_valve; event left at c open_valve after;", "cannot both be events"),
    ] {
        let property = if declaration.contains("(n") { "true" } else { "opened -> true" };
        let (ran, _) = run(&folder, declaration, property);
        assert_eq!(ran.code, Some(2), "{declaration}: {ran:?}");
        assert!(ran.stderr.contains(expected), "{declaration}: {ran:?}");
    }
}

#[test]
fn bit_fields_have_values() {
    // Who writes one writes its neighbours, too, as they were.
    for (field, values) in [("open", ["2", "2", "1", "1"]), ("delta", ["0", "-2", "-2", "-7"])] {
        let folder = valve(true);
        let (ran, json) = run(&folder, &format!("shared int x = 0 at c state.{field};"), "x < 2");
        let verdict = if field == "open" { "violated" } else { "holds" };
        assert_eq!(json["properties"][0]["verdict"], verdict, "{ran:?}");
        let shown = folder.ok(&["show", "t.ftrace"]).stdout;
        let writes = shown.lines().filter(|line| line.contains(&format!("w(state.{field})=")));
        let found: Vec<&str> = writes.filter_map(|line| line.split(['=', '|']).nth(2)).collect();
        assert_eq!(found, values, "{shown}");
    }
}

/// Property variables in the middle of what is copied and set in bulk: each has its value, and what is beside them is
/// not them.
#[test]
fn bulk_accesses_have_the_values_of_each_variable() {
    const PROGRAM: &str = r#"
#include <pthread.h>
#include <string.h>
long whole; struct { int pad; int second; } pair; struct { char tag; char name[3]; int beside; } apart;
volatile int three = 3, eight = 8;
static void *t(void *unused) {
    whole = 0x0202020202020202; memset(&pair, 1, eight); memcpy(apart.name, "ab", three);
    return unused;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, t, 0);
    apart.beside = 5;
    pthread_join(a, 0);
    return *(volatile char *)&whole - 2;
}
"#;
    let folder = Folder::new();
    folder.write("bulk.c", PROGRAM);
    folder.ok(&["cc", "-O1", "-pthread", "-fno-builtin", "bulk.c", "-o", "bulk"]);
    folder.write(
        "bulk.rvs",
        "spec Bulk {\n  target c;\n  shared int whole at c whole;\n  shared int second at c pair.second;\n  \
         shared int beside at c apart.beside;\n  property p past { whole != 2 && second != 7 && beside != 7 }\n}\n",
    );
    let ran = folder.run(&["run", "--detect", "hb", "--spec", "bulk.rvs", "-o", "t.ftrace", "--", "./bulk"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let shown = folder.ok(&["show", "t.ftrace"]);
    assert!(!shown.stderr.contains("reads"), "{shown:?}");
    for line in ["T1|w(pair.second)=16843009|", "main|w(apart.beside)=5|", "main|r(whole)|"] {
        assert!(shown.stdout.contains(line), "{line}: {}", shown.stdout);
    }
    assert!(!shown.stdout.contains("T1|w(apart.beside)"), "{}", shown.stdout);
}

/// Of a lock nothing is recorded for a property, but a slip in its name is found before the program runs.
#[test]
fn a_lock_that_the_program_does_not_have_is_an_error_with_near_names() {
    let folder = Folder::new();
    let program = "#include <pthread.h>\npthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;\nstatic int level;\n\
                   int main(void) { pthread_mutex_lock(&guard); level++; pthread_mutex_unlock(&guard); return 0; }\n";
    folder.write("p.c", program);
    folder.ok(&["cc", "-g", "-O1", "-pthread", "p.c", "-o", "p"]);
    let run = |lock: &str, variable: &str| {
        let spec = format!(
            "spec S {{\n  target c;\n  shared int level at c {variable};\n  lock l at c {lock};\n  \
             property p past {{ level >= 0 }}\n}}\n"
        );
        folder.write("s.rvs", spec);
        folder.run(&["run", "--detect", "none", "--spec", "s.rvs", "./p"])
    };
    let ran = run("guard", "level");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = run("gaurd", "level");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("`l`") && ran.stderr.contains("did you mean guard?"), "{ran:?}");
    // Several of them stand on lines of their own.
    let ran = run("gaurd", "levle");
    assert!(ran.code == Some(2) && ran.stderr.contains(":\n  s.rvs") && !ran.stderr.contains("\\n"), "{ran:?}");
}
