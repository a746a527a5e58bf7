//! Options of `run`, and where it says what, on real programs.

use crate::common::{Folder, Ran};
use std::time::{Duration, Instant};

/// Two threads count without a lock.
const COUNTER: &str = r#"
#include <pthread.h>
#include <stdio.h>
int counter;
static void *work(void *unused) {
    for (int i = 0; i < 10; i++) counter++;
    return unused;
}
int main(void) {
    pthread_t a, b;
    puts("mine");
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;

/// A folder with a program, compiled from its text.
#[track_caller]
fn compiled(text: &str) -> Folder {
    let folder = Folder::new();
    folder.write("program.c", text);
    folder.ok(&["cc", "-O1", "-pthread", "program.c", "-o", "program"]);
    folder
}

/// Runs the program of a folder.
fn run(folder: &Folder, options: &[&str]) -> Ran {
    folder.run(&[&["run"], options, &["--", "./program"]].concat())
}

#[test]
fn the_report_is_not_mixed_into_what_the_program_writes() {
    let folder = compiled(COUNTER);
    let ran = run(&folder, &[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(ran.stdout, "mine\n", "{ran:?}");
    assert!(ran.stderr.contains("observed race on counter: work program.c:6"), "{ran:?}");
    let ran = run(&folder, &["--quiet"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(1), "mine\n", ""));
}

#[test]
fn the_result_has_standard_output_if_that_is_asked_for() {
    let ran = run(&compiled(COUNTER), &["--json", "-"]);
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
    assert_eq!(json["findings"][0]["objects"][0], "counter");
    assert_eq!(ran.stderr, "mine\n");
}

/// A mistake, and then nothing for a minute.
fn long_after(mistake: &str, before: &str) -> Folder {
    compiled(&format!(
        r#"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int counter;
static void *work(void *unused) {{
    for (int i = 0; i < 10; i++) {{ pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); }}
    {mistake}
    return unused;
}}
int main(void) {{
    pthread_t a, b;
    {before}
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    for (time_t end = time(0) + 60; time(0) < end;) sleep(1);
    return 0;
}}
"#
    ))
}

/// Runs the program of a folder, and expects that it is stopped.
#[track_caller]
fn halts(folder: &Folder, options: &[&str], expected: &str) {
    let started = Instant::now();
    let ran = run(folder, &[&["--halt-on-error"], options].concat());
    assert!(started.elapsed() < Duration::from_secs(40), "{ran:?}");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("./program: stopped at its first error, as --halt-on-error asks"), "{ran:?}");
    assert!(ran.stderr.contains(expected), "{ran:?}");
}

#[test]
fn a_race_halts_the_program() {
    halts(&long_after("counter++;", ""), &[], "observed race on counter: work program.c:11");
}

#[test]
fn a_misuse_halts_the_program() {
    let folder = long_after("pthread_mutex_unlock(&lock);", "");
    halts(&folder, &["--detect", "misuse"], "observed misuse of program.c:lock");
    // No note of the agent says this one, but the order of events does.
    let folder = long_after("volatile int *p = malloc(64); p[8] = 1; free((void *)p); p[8];", "");
    halts(&folder, &["--detect", "misuse"], "observed misuse of p[8] (heap#");
}

/// Two threads wait for each other, and the others would wait for them for ever.
#[test]
fn a_deadlock_halts_the_program() {
    let folder = compiled(
        r#"
#include <pthread.h>
#include <semaphore.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static sem_t has_a, has_b;
__attribute__((noinline)) static void both(pthread_mutex_t *x, pthread_mutex_t *y, sem_t *have, sem_t *wanted) {
    pthread_mutex_lock(x);
    sem_post(have);
    sem_wait(wanted);
    pthread_mutex_lock(y);
    pthread_mutex_unlock(y);
    pthread_mutex_unlock(x);
}
static void *first(void *u) { both(&a, &b, &has_a, &has_b); return u; }
static void *second(void *u) { both(&b, &a, &has_b, &has_a); return u; }
int main(void) {
    pthread_t x, y;
    sem_init(&has_a, 0, 0);
    sem_init(&has_b, 0, 0);
    pthread_create(&x, 0, first, 0);
    pthread_create(&y, 0, second, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    return 0;
}
"#,
    );
    halts(&folder, &[], "observed deadlock on program.c:");
    halts(&folder, &["--detect", "hang"], "observed deadlock on program.c:");
}

#[test]
fn a_violated_property_halts_the_program() {
    let folder = long_after("__atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);", "");
    folder.write(
        "s.rvs",
        "spec s {\n  target c;\n  shared int counter = 0 at c counter;\n  property few past { counter < 2 }\n}\n",
    );
    halts(&folder, &["--spec", "s.rvs"], "few");
}

#[test]
fn a_program_that_will_not_end_is_killed() {
    halts(&long_after("counter++;", "signal(SIGTERM, SIG_IGN);"), &[], "observed race on counter");
}

#[test]
fn what_does_not_count_does_not_halt() {
    let folder = Folder::new();
    let text =
        COUNTER.replace("    return 0;", "    struct timespec s = {1, 0};\n    nanosleep(&s, 0);\n    return 7;");
    folder.write("program.c", text.replace("#include <stdio.h>", "#include <stdio.h>\n#include <time.h>"));
    folder.ok(&["cc", "-O1", "-pthread", "program.c", "-o", "program"]);
    folder.write("known", "race:work\n");
    let ran = run(&folder, &["--halt-on-error", "--suppress", "known"]);
    assert_eq!((ran.code, ran.stderr.contains("stopped")), (Some(7), false), "{ran:?}");
    let ran = run(&folder, &["--halt-on-error", "--detect", "deadlock"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("--halt-on-error stops at"), "{ran:?}");
}

#[test]
fn races_that_are_meant_do_not_count() {
    let text = COUNTER
        .replace(
            "int counter;",
            "int counter;\nvoid AnnotateBenignRaceSized(const char *, int, const volatile void *, long, const char *);",
        )
        .replace(
            "puts(\"mine\");",
            "AnnotateBenignRaceSized(__FILE__, __LINE__, &counter, sizeof counter, \"only a guess\");",
        );
    let ran = run(&compiled(&text), &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = run(&compiled(&text.replace("&counter, sizeof counter", "&a, sizeof a")), &[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
}

#[test]
fn what_openmp_keeps_apart_is_no_race() {
    let folder = Folder::new();
    let text = r#"
#include <stdio.h>
int parts[64], total;
int main(void) {
    for (int round = 0; round < 3; round++) {
        #pragma omp parallel for num_threads(2)
        for (int i = 0; i < 64; i++) parts[i] += i;
        for (int i = 0; i < 64; i++) total += parts[i];
    }
    printf("%d\n", total);
    return 0;
}
"#;
    folder.write("program.c", text);
    folder.ok(&["cc", "-O1", "-fopenmp", "program.c", "-o", "program"]);
    let ran = run(&folder, &["--detect", "hb,maximal"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "12096\n"), "{ran:?}");
    assert!(ran.stderr.contains("warning: race on parts["), "{ran:?}");
    let words: Vec<&str> = ran.stderr.split_whitespace().collect();
    assert!(words.join(" ").contains("T1 is a thread of libgomp, which orders its threads"), "{ran:?}");
}

#[test]
fn code_without_hooks_is_named() {
    let folder = Folder::new();
    folder.write("plain.c", "int calls;\nvoid call(void) { calls++; }\n");
    folder.write("hooked.c", "int steps;\nvoid step(void) { steps++; }\n");
    folder.write("program.c", "void call(void); void step(void);\nint main(void) { call(); step(); return 0; }\n");
    let plain = std::process::Command::new("cc")
        .args(["-shared", "-fPIC", "plain.c", "-o", "libplain.so"])
        .current_dir(folder.path(""))
        .status();
    assert!(plain.expect("cc runs").success());
    folder.ok(&["cc", "-shared", "-fPIC", "hooked.c", "-o", "libhooked.so"]);
    folder.ok(&["cc", "program.c", "-o", "program", "-L.", "-lplain", "-lhooked", "-Wl,-rpath,$ORIGIN"]);
    let ran = run(&folder, &["--json", "out.json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let expected = "libplain.so accesses: it was built without hooks";
    let words: Vec<&str> = ran.stderr.split_whitespace().collect();
    assert!(words.join(" ").contains(expected) && !ran.stderr.contains("libhooked"), "{ran:?}");
    let json: serde_json::Value = serde_json::from_slice(&folder.read("out.json")).expect("JSON");
    let process = &json["processes"][0];
    let files: Vec<&str> =
        process["without_hooks"].as_array().expect("a list").iter().filter_map(|path| path.as_str()).collect();
    assert!(files.len() == 1 && files[0].ends_with("/libplain.so"), "{process}");
    assert!(process["system_libraries"].as_u64() >= Some(2), "the C library and the loader: {process}");
}

#[test]
fn a_program_without_threads_has_a_result_too() {
    let folder = compiled("int main(void) { return 3; }\n");
    let ran = run(&folder, &["--json", "out.json"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(3), ""), "{ran:?}");
    assert!(ran.stderr.contains("no findings"), "{ran:?}");
    let json: serde_json::Value = serde_json::from_slice(&folder.read("out.json")).expect("JSON");
    assert_eq!((&json["trace"]["complete"], &json["processes"][0]["exit"]), (&true.into(), &3.into()), "{json}");
    // A static program cannot be watched: that is no clean bill of health.
    folder.write("program.c", "int main(void) { return 0; }\n");
    let built = std::process::Command::new("cc")
        .args(["-static", "program.c", "-o", "program"])
        .current_dir(folder.path(""))
        .status();
    assert!(built.expect("cc runs").success());
    let ran = run(&folder, &["--json", "out.json"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("a fully static program cannot be watched"), "{ran:?}");
    let json: serde_json::Value = serde_json::from_slice(&folder.read("out.json")).expect("JSON");
    assert_eq!(json["trace"]["complete"], false, "{json}");
    assert_eq!(run(&folder, &["--strict"]).code, Some(2));
}

/// A fiber counts on one thread, and then on another; nothing but the fiber itself orders the two.
const FIBER: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <ucontext.h>
#define UNSEEN __attribute__((noinline, no_sanitize_thread))
#define ANNOUNCE(what) ANNOUNCED
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned);
void __tsan_switch_to_fiber(void *, unsigned);
void __tsan_destroy_fiber(void *);
void __tsan_set_fiber_name(void *, const char *);
int value;
static ucontext_t inside, outside;
static void *fiber, *home;
static char stack[1 << 16];
static int turn;
UNSEEN static void leave(void) {
    ANNOUNCE(__tsan_switch_to_fiber(home, 0));
    swapcontext(&inside, &outside);
}
__attribute__((noinline)) static void count(void) { value++; }
static void body(void) {
    for (;;) {
        count();
        leave();
    }
}
UNSEEN static void resume(void) {
    home = __tsan_get_current_fiber();
    ANNOUNCE(__tsan_switch_to_fiber(fiber, 0));
    swapcontext(&outside, &inside);
}
UNSEEN static void pass(void) { __atomic_store_n(&turn, 1, __ATOMIC_RELEASE); }
UNSEEN static void await(void) { while (!__atomic_load_n(&turn, __ATOMIC_ACQUIRE)) {} }
static void *other(void *unused) { resume(); resume(); pass(); return unused; }
int main(void) {
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = sizeof stack;
    makecontext(&inside, body, 0);
    fiber = __tsan_create_fiber(0);
    __tsan_set_fiber_name(fiber, "counter");
    value = 1;
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    await();
    resume();
    resume();
    pthread_join(thread, 0);
    __tsan_destroy_fiber(fiber);
    printf("%d\n", value);
    return 0;
}
"#;

#[test]
fn fibers_take_their_order_along() {
    let folder = compiled(&FIBER.replace("ANNOUNCED", "what"));
    let ran = run(&folder, &["-o", "t.ftrace"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "5\n"), "{ran:?}");
    assert!(ran.stderr.contains("each is taken for the thread that it runs on"), "{ran:?}");
    let shown = folder.ok(&["show", "t.ftrace"]).stdout;
    let awaits =
        shown.lines().any(|line| line.starts_with("main|await(fiber#1)|resume /") && line.contains("/program.c:"));
    assert!(awaits, "{shown}");
    // Unless the program does not announce its fibers.
    let ran = run(&compiled(&FIBER.replace("ANNOUNCED", "")), &[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("observed race on value: count program.c:"), "{ran:?}");
}

#[test]
fn a_program_with_a_sanitizer_of_its_own_runs_unwatched() {
    let folder = Folder::new();
    folder.write(
        "own.c",
        "#include <pthread.h>\nstatic void *nothing(void *unused) { return unused; }\n\
         int main(void) { pthread_t t; pthread_create(&t, 0, nothing, 0); pthread_join(t, 0); return 7; }\n",
    );
    let mut compile = std::process::Command::new("gcc");
    compile.args(["-fsanitize=thread", "-static-libtsan", "-g", "-O1", "-pthread", "own.c", "-o", "own"]);
    let compiled = compile.current_dir(folder.path(".")).status();
    assert!(compiled.is_ok_and(|status| status.success()), "gcc has its sanitizer as an archive");
    let ran = folder.run(&["record", "-o", "t.ftrace", "--", "./own"]);
    assert_eq!(ran.code, Some(7), "{ran:?}");
    assert!(ran.stderr.contains("ThreadSanitizer is linked into it"), "{ran:?}");
    assert!(ran.stderr.contains("it ran unwatched"), "{ran:?}");
}

#[test]
fn a_program_needs_no_dashes_and_keeps_its_own_options() {
    let folder = compiled(COUNTER);
    let ran = folder.run(&["run", "--quiet", "./program", "--json", "-x"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), "mine\n"), "{ran:?}");
    assert_eq!(folder.run(&["record", "-o", "t.ftrace", "./program", "-q"]).code, Some(0));
    let ran = folder.run(&["run", "--quiet", "--no-such-option", "./program"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("--no-such-option"), "{ran:?}");
}

#[test]
fn findings_have_the_exit_code_that_is_asked_for() {
    let folder = compiled(COUNTER);
    assert_eq!(run(&folder, &["--quiet", "--exit-code", "66"]).code, Some(66));
    assert_eq!(run(&folder, &["--quiet", "--exit-code", "0"]).code, Some(0));
    assert_eq!(run(&folder, &["--quiet", "--exit-code", "66", "--detect", "none"]).code, Some(0));
    assert_eq!(folder.run(&["record", "-o", "t.ftrace", "./program"]).code, Some(0));
    assert_eq!(folder.run(&["check", "t.ftrace", "--exit-code", "66", "--quiet"]).code, Some(66));
}

#[test]
fn the_signal_that_killed_a_program_is_named() {
    let folder = compiled("int main(void) { volatile int *nowhere = 0; return *nowhere; }\n");
    let ran = run(&folder, &[]);
    assert!(ran.stderr.contains("was killed by SIGSEGV (segmentation fault)"), "{ran:?}");
    let ran = folder.run(&["record", "-o", "t.ftrace", "--", "./program"]);
    assert!(ran.stderr.contains("./program was killed by SIGSEGV"), "{ran:?}");
}

/// A helper that is killed is no fault of the program's own trace.
#[test]
fn a_helper_that_is_killed_leaves_the_trace_complete() {
    let helper = r#"
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
int counter;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *unused) {
    pthread_mutex_lock(&lock); counter++; pthread_mutex_unlock(&lock);
    return unused;
}
static void both(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0); pthread_create(&b, 0, work, 0);
    pthread_join(a, 0); pthread_join(b, 0);
}
int main(void) {
    pid_t child = fork();
    if (child == 0) { both(); kill(getpid(), SIGKILL); }
    waitpid(child, 0, 0);
    both();
    return 0;
}
"#;
    let ran = run(&compiled(helper), &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!ran.stderr.contains("incomplete"), "{ran:?}");
    assert!(ran.stderr.contains("it was killed; what it recorded up to then was looked at"), "{ran:?}");
}

/// Running text ends where the terminal does.
#[test]
fn a_report_is_as_wide_as_the_terminal() {
    let folder = compiled(COUNTER);
    folder.run(&["record", "-o", "t.ftrace", "./program"]);
    let widest = |columns: u32| -> usize {
        let command =
            format!("stty rows 40 cols {columns}; {} check t.ftrace --detect hb", env!("CARGO_BIN_EXE_foretrace"));
        let mut script = std::process::Command::new("script");
        script.args(["-qec", &command, "/dev/null"]).current_dir(folder.path("")).stdin(std::process::Stdio::null());
        let out = script.output().expect("script of util-linux").stdout;
        let text = String::from_utf8_lossy(&out).into_owned();
        let why = text.lines().skip_while(|line| !line.contains("why ")).take_while(|line| !line.contains(" id "));
        why.map(|line| line.trim_end().chars().count()).max().expect("a reason")
    };
    let (narrow, wide) = (widest(60), widest(180));
    assert!(narrow <= 60 && wide > 100, "{narrow} and {wide} columns");
}

#[test]
fn a_script_reports_on_the_programs_that_it_runs() {
    let folder = compiled(COUNTER);
    let script = ["--", "sh", "-c", "./program; true"];
    let ran = folder.run(&[&["run", "-o", "t.ftrace", "--json", "out.json"], &script[..]].concat());
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("\nwatched   ") && ran.stderr.contains("/program ("), "{ran:?}");
    assert!(!ran.stderr.contains("built without hooks"), "the shell needs none: {ran:?}");
    let json: serde_json::Value = serde_json::from_slice(&folder.read("out.json")).expect("JSON");
    let process = &json["findings"][0]["process"];
    let trace = process["trace"].as_str().unwrap_or_default();
    // `./program`, or where it lies, if it was gone before its command line could be read.
    let program = process["program"].as_str().unwrap_or_default();
    assert!(program.ends_with("/program"), "{json}");
    assert!(folder.path(trace).is_file(), "{process}");
    let text: Vec<&str> = ran.stderr.split_whitespace().collect();
    let entry = format!("process {program} ({}); trace {trace}", process["pid"]);
    assert!(text.join(" ").contains(&entry), "{entry}: {ran:?}");
    // Without a name, the trace is not kept.
    let ran = folder.run(&[&["run"], &script[..]].concat());
    assert!(ran.stderr.contains("-o FILE keeps its trace"), "{ran:?}");
}

#[test]
fn threads_and_files_are_shown_by_their_names() {
    let named = COUNTER
        .replace("#include <pthread.h>", "#define _GNU_SOURCE\n#include <pthread.h>")
        .replace("    for", "    pthread_setname_np(pthread_self(), unused);\n    for")
        .replacen("work, 0)", "work, \"teller\")", 1)
        .replacen("work, 0)", "work, \"clerk\")", 1);
    let folder = compiled(&named);
    let ran = run(&folder, &["--json", "out.json"]);
    assert!(ran.stderr.contains("observed race on counter: work program.c:8 and work program.c:8\n"), "{ran:?}");
    for name in ["  teller  ", "  clerk   "] {
        assert!(ran.stderr.contains(name), "{ran:?}");
    }
    let json: serde_json::Value = serde_json::from_slice(&folder.read("out.json")).expect("JSON");
    let site = json["findings"][0]["sites"][0].as_str().unwrap_or_default();
    assert!(site.starts_with("work /") && site.ends_with("/program.c:8"), "{site}");
    assert_eq!(json["findings"][0]["threads"][0].as_str().map(|name| name.starts_with('T')), Some(true), "{json}");
}
