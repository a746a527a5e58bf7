//! Programs that hang, and programs that only leave threads behind which wait: who waits for what at the end.

use crate::common::{Folder, java};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Compiles a class `Main` whose body this is.
fn compiled(body: &str) -> Folder {
    let folder = Folder::new();
    let imports = "import java.util.concurrent.*;\nimport java.util.concurrent.locks.*;\n";
    folder.write("Main.java", format!("{imports}public class Main {{{body}}}\n"));
    let done = Command::new("javac").args(["--release", "11", "-g", "Main.java"]).current_dir(folder.path("")).output();
    let done = done.expect("a JDK is needed: ./test installs it");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    folder
}

/// What is found in a program, as `status kind objects`, sorted.
fn found(json: &str) -> Vec<String> {
    let json: Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"));
    let describe = |finding: &Value| {
        let objects = finding["objects"].as_array().expect("objects").iter().filter_map(Value::as_str);
        let mut objects: Vec<&str> = objects.map(|name| name.split('@').next().unwrap_or_default()).collect();
        objects.sort_unstable();
        let text = |field: &str| finding[field].as_str().expect("text").to_owned();
        format!("{} {} {}", text("status"), text("kind"), objects.join(" "))
    };
    let mut found: Vec<String> = json["findings"].as_array().expect("findings").iter().map(describe).collect();
    found.sort_unstable();
    found
}

/// What is found in a program that `--timeout` ends after some seconds, or that ends before.
fn waits(body: &str, seconds: &str) -> Vec<String> {
    let (folder, java) = (compiled(body), java());
    let run = ["run", "--timeout", seconds, "--detect", "hang", "--json", "-", "--", &java, "-cp", ".", "Main"];
    let ran = folder.run(&run);
    assert!(ran.stderr.contains("ran longer than --timeout allows") == (seconds != "60"), "{ran:?}");
    found(&ran.stdout)
}

#[test]
fn a_time_limit_shows_who_waits() {
    let body = r#"
    static final Semaphore ready = new Semaphore(1);
    static final Phaser both = new Phaser(2);
    public static void main(String[] args) throws Exception {
        Thread first = new Thread(() -> { both.arriveAndAwaitAdvance(); });
        Thread second = new Thread(() -> {
            try { ready.acquire(); ready.acquire(); } catch (InterruptedException stopped) { }
        });
        // One that gives up by itself does not wait for ever.
        Thread third = new Thread(() -> {
            try { new CountDownLatch(1).await(1, TimeUnit.HOURS); } catch (InterruptedException stopped) { }
        });
        for (Thread thread : new Thread[] {first, second, third}) { thread.start(); }
        first.join();
    }
"#;
    let expected =
        ["warning hang T1", "warning hang java.util.concurrent.Phaser", "warning hang java.util.concurrent.Semaphore"];
    assert_eq!(waits(body, "6"), expected);
}

/// A shutdown hook waits for a monitor, and the thread that has it waits for the hook: no signal ends that.
#[test]
fn an_exit_under_a_lock_that_a_shutdown_hook_wants() {
    let body = r"
    static final Object lock = new Object();
    public static void main(String[] args) throws Exception {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> { synchronized (lock) { } }));
        synchronized (lock) { System.exit(0); }
    }
";
    assert_eq!(waits(body, "6"), ["observed deadlock T1 java.lang.Object"]);
}

/// One thread asks for a monitor that the other holds, which joins it.
#[test]
fn a_join_under_a_lock_that_the_thread_wants() {
    let body = r"
    static final Object lock = new Object();
    public static void main(String[] args) throws Exception {
        Thread other = new Thread(() -> { synchronized (lock) { } });
        synchronized (lock) { other.start(); other.join(); }
    }
";
    assert_eq!(waits(body, "6"), ["observed deadlock T1 java.lang.Object"]);
}

/// What a thread that was interrupted, or that only was there before, waited for is not what it waits for.
#[test]
fn a_wait_that_is_over_is_not_reported() {
    let body = r"
    static final CountDownLatch never = new CountDownLatch(1), once = new CountDownLatch(1);
    static final Object monitor = new Object();
    public static void main(String[] args) throws Exception {
        Thread other = new Thread(() -> {
            try { never.await(); } catch (InterruptedException stopped) { }
            // The interrupt may also end the next wait, without a reason.
            synchronized (monitor) { for (;;) try { monitor.wait(); } catch (InterruptedException stopped) { } }
        });
        other.start();
        while (other.getState() != Thread.State.WAITING) { Thread.sleep(1); }
        other.interrupt();
        once.countDown();
        once.await();
        other.join();
    }
";
    assert_eq!(waits(body, "6"), ["warning hang T1", "warning hang java.lang.Object"]);
}

/// The program ends itself while its first thread waits for one that works, and another one waits for work.
#[test]
fn an_exit_while_others_wait_is_no_hang() {
    let body = r"
    static final BlockingQueue<String> work = new LinkedBlockingQueue<>();
    static final Object lock = new Object();
    public static void main(String[] args) throws Exception {
        Thread idle = new Thread(() -> { try { work.take(); } catch (InterruptedException stopped) { } });
        Thread main = Thread.currentThread();
        Thread other = new Thread(() -> {
            synchronized (lock) {
                while (idle.getState() != Thread.State.WAITING || main.getState() != Thread.State.BLOCKED) {
                    Thread.yield();
                }
                System.exit(0);
            }
        });
        idle.start();
        other.start();
        while (!Thread.holdsLock(lock)) { Thread.sleep(200); synchronized (lock) { } }
    }
";
    assert_eq!(waits(body, "60"), [""; 0]);
}

/// The thread that ends the program has a lock that another one wants: it could have given it back.
#[test]
fn an_exit_under_a_lock_is_no_hang() {
    let body = r"
    static final ReentrantLock lock = new ReentrantLock(), other = new ReentrantLock();
    public static void main(String[] args) throws Exception {
        lock.lock();
        Thread thread = new Thread(() -> { other.lock(); lock.lock(); });
        thread.start();
        while (!lock.hasQueuedThread(thread) || thread.getState() != Thread.State.WAITING) { Thread.sleep(1); }
        System.exit(0);
    }
";
    assert_eq!(waits(body, "60"), [""; 0]);
}

/// Two threads wait for each other, one of them to end; the program ends itself all the same.
#[test]
fn an_exit_leaves_a_deadlock_behind() {
    let body = r"
    static final ReentrantLock lock = new ReentrantLock();
    public static void main(String[] args) throws Exception {
        Thread first = new Thread(() -> lock.lock());
        Thread second = new Thread(() -> {
            lock.lock();
            first.start();
            try { first.join(); } catch (InterruptedException stopped) { }
        });
        second.start();
        while (second.getState() != Thread.State.WAITING || first.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
        System.exit(0);
    }
";
    let found = waits(body, "60");
    assert_eq!(found, ["observed deadlock T2 java.util.concurrent.locks.ReentrantLock"]);
}

/// Ctrl-C goes to the program and to `foretrace`.
#[test]
fn an_interrupt_from_the_keyboard_shows_who_waits() {
    let body = r#"
    public static void main(String[] args) throws Exception {
        System.out.println("waits");
        new SynchronousQueue<String>().take();
    }
"#;
    let (folder, java) = (compiled(body), java());
    let run = folder.command(&["run", "--json", "result.json", "--", &java, "-cp", ".", "Main"]);
    // Tests that run in the background of a shell ignore this signal, and so would the program.
    let mut command = Command::new("env");
    command.arg("--default-signal=INT").arg(run.get_program()).args(run.get_args()).current_dir(folder.path(""));
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("foretrace runs");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut line).expect("a line");
    assert_eq!(line, "waits\n");
    // It is about to wait.
    std::thread::sleep(Duration::from_secs(1));
    let killed = Command::new("kill").args(["-INT", "--", &format!("-{}", child.id())]).status();
    assert!(killed.is_ok_and(|status| status.success()));
    child.wait().expect("it ends");
    let json = String::from_utf8(folder.read("result.json")).expect("UTF-8");
    assert_eq!(found(&json), ["warning hang java.util.concurrent.SynchronousQueue"]);
}
