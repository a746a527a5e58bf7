//! `foretrace weave`: a jar that was woven offline does what it did, and gives the same findings under `foretrace run`.

use crate::common::Folder;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

const SOURCES: &[(&str, &str)] = &[
    ("module-info.java", "module bank { exports bank; }"),
    (
        "bank/Main.java",
        "package bank;
        public class Main {
            static int total;
            public static void main(String[] args) throws Exception {
                Account account = new Account();
                Thread[] threads = new Thread[2];
                for (int i = 0; i < 2; i++) {
                    threads[i] = new Thread(() -> {
                        account.add(1); account.addLocked(1); bank.more.Log.note();
                        synchronized (Main.class) { total++; }
                    });
                    threads[i].start();
                }
                for (Thread thread : threads) thread.join();
                synchronized (account) { account.notifyAll(); account.wait(1, 1); }
                System.out.println(account.locked + \" \" + total + \" \" + Account.class.getSuperclass()
                    + \" \" + Account.class.getDeclaredFields().length);
            }
        }",
    ),
    (
        "bank/Account.java",
        "package bank;
        public class Account {
            int balance, locked;
            void add(int amount) { balance += amount; }
            synchronized void addLocked(int amount) { locked += amount; }
        }",
    ),
    (
        "bank/more/Log.java",
        "package bank.more;
        public class Log {
            static final java.util.concurrent.atomic.AtomicInteger count =
                new java.util.concurrent.atomic.AtomicInteger();
            public static void note() { count.incrementAndGet(); }
        }",
    ),
];

fn tool(folder: &Folder, name: &str, args: &[&str]) -> Output {
    let out = Command::new(name).args(args).current_dir(folder.path("")).output();
    let out = out.unwrap_or_else(|error| panic!("{name} of a JDK (`./test` installs one): {error}"));
    assert!(
        out.status.success(),
        "{name} {args:?}: {}{}",
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr)
    );
    out
}

/// Makes a jar of the program.
fn made(folder: &Folder) {
    for (name, text) in SOURCES {
        let path = folder.path("src").join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        std::fs::write(path, text).expect("writable");
    }
    let sources: Vec<String> = SOURCES.iter().map(|(name, _)| format!("src/{name}")).collect();
    let mut args = vec!["--release", "11", "-g", "-d", "classes"];
    args.extend(sources.iter().map(String::as_str));
    tool(folder, "javac", &args);
    tool(folder, "jar", &["-c", "-f", "in.jar", "-e", "bank.Main", "-C", "classes", "."]);
}

/// What is found, as far as it does not depend on the run; and what standard error says.
fn found(folder: &Folder, options: &[&str], java: &[&str]) -> (BTreeSet<String>, String) {
    let mut args = vec!["run", "--json", "result.json"];
    args.extend(options);
    args.extend(["--", "java"]);
    args.extend(java);
    let ran = folder.run(&args);
    let json: Value = serde_json::from_slice(&folder.read("result.json")).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
    assert_eq!(json["processes"][0]["agent"], "java", "{ran:?}");
    let findings =
        json["findings"].as_array().expect("findings").iter().filter(|finding| finding["status"] != "warning");
    let of = |finding: &Value| format!("{} {}", finding["kind"], finding["sites"]);
    (findings.map(of).collect(), ran.stderr)
}

#[test]
fn a_woven_jar_does_the_same_and_shows_the_same() {
    let folder = Folder::new();
    made(&folder);
    let said = folder.ok(&["weave", "in.jar", "out.jar"]).stderr;
    assert!(said.contains("3 classes woven, 1 left as they were (1 have nothing to watch)"), "{said}");
    // As a class path and as a module.
    let plain = tool(&folder, "java", &["-jar", "in.jar"]).stdout;
    for args in [&["-Xverify:all", "-jar", "out.jar"][..], &["-Xverify:all", "-p", "out.jar", "-m", "bank/bank.Main"]] {
        let woven = tool(&folder, "java", args);
        assert_eq!(String::from_utf8_lossy(&woven.stdout), String::from_utf8_lossy(&plain));
        assert_eq!(String::from_utf8_lossy(&woven.stderr), "");
    }
    let (expected, _) = found(&folder, &[], &["-jar", "in.jar"]);
    assert!(expected.iter().any(|finding| finding.contains("Account.add ")), "{expected:?}");
    for args in [&["-jar", "out.jar"][..], &["-p", "out.jar", "-m", "bank/bank.Main"]] {
        assert_eq!(found(&folder, &[], args).0, expected, "{args:?}");
    }
    // Where a class is excluded, it is what it was.
    let (nothing, _) = found(&folder, &["--exclude", "bank"], &["-jar", "out.jar"]);
    assert_eq!(nothing, BTreeSet::new());
}

#[test]
fn a_specification_sees_more_than_was_woven() {
    let folder = Folder::new();
    made(&folder);
    folder.ok(&["weave", "in.jar", "out.jar"]);
    folder.write(
        "bank.rvs",
        "spec Bank {
  target java;
  shared int total = 0 at java bank.Main.total;
  property small past { total < 2 }
}
",
    );
    let mut all = Vec::new();
    for jar in ["in.jar", "out.jar"] {
        let (found, said) = found(&folder, &["--spec", "bank.rvs"], &["-jar", jar]);
        assert!(found.iter().any(|finding| finding.contains("property")), "{jar}: {said}");
        all.push(found);
    }
    assert_eq!(all[0], all[1]);
}

#[test]
fn classes_of_another_version_are_woven_anew() {
    let folder = Folder::new();
    made(&folder);
    folder.ok(&["weave", "in.jar", "out.jar"]);
    let (expected, _) = found(&folder, &[], &["-jar", "in.jar"]);
    // As if another version had woven them.
    std::fs::create_dir(folder.path("old")).expect("writable");
    tool(&folder, "unzip", &["-q", "out.jar", "-d", "old"]);
    for class in ["bank/Main", "bank/Account", "bank/more/Log"] {
        let path = folder.path("old").join(format!("{class}.class"));
        let mut file = std::fs::read(&path).expect("readable");
        let version = file.len() - 16;
        file[version] ^= 0x55;
        std::fs::write(path, file).expect("writable");
    }
    let (found, said) = found(&folder, &[], &["-cp", "old", "bank.Main"]);
    assert_eq!(found, expected);
    assert_eq!(said.matches("another version of foretrace").count(), 1, "{said}");
}

#[test]
fn a_jar_may_be_replaced_and_one_that_is_wrong_leaves_nothing() {
    let folder = Folder::new();
    made(&folder);
    let before = folder.names();
    folder.write("wrong.jar", &folder.read("in.jar")[..500]);
    let ran = folder.run(&["weave", "wrong.jar", "out.jar"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("cannot weave wrong.jar: not a jar"), "{}", ran.stderr);
    std::fs::remove_file(folder.path("wrong.jar")).expect("there");
    assert_eq!(folder.names(), before);
    folder.ok(&["weave", "in.jar", "in.jar"]);
    assert_eq!(folder.names(), before);
    let once = folder.read("in.jar");
    folder.ok(&["weave", "in.jar", "in.jar"]);
    assert!(folder.read("in.jar") == once);
    tool(&folder, "java", &["-jar", "in.jar"]);
    assert!(Path::new(&folder.path("in.jar")).exists());
}
