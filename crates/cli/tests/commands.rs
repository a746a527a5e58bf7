//! The commands around the traces: demo, doctor, help, completions, the manual page.

use crate::common::Folder;
use std::io::Read;
use std::process::Stdio;

#[test]
fn the_demo_shows_the_recorded_run_and_the_violating_ones() {
    let folder = Folder::new();
    let ran = folder.ok(&["demo"]);
    let run = "\
  controller     radio
  r(radio)=1
  w(approved)=1
  r(approved)=1
  w(landing)=1
                 w(radio)=0
";
    assert!(ran.stdout.contains(run), "{}", ran.stdout);
    let beside = "\
  recorded                       violating 1                     violating 2
  controller     radio           controller     radio            controller     radio
  r(radio)=1                     r(radio)=1                      r(radio)=1
  w(approved)=1                  w(approved)=1                 *                w(radio)=0
  r(approved)=1                  r(approved)=1                   w(approved)=1
  w(landing)=1                 *                w(radio)=0       r(approved)=1
                 w(radio)=0      w(landing)=1  <- violation      w(landing)=1  <- violation
(* moved against the recorded order)
";
    assert!(ran.stdout.contains(beside), "{}", ran.stdout);
    assert_eq!(folder.ok(&["demo", "landing"]).stdout, ran.stdout);
    assert!(folder.ok(&["demo", "--list"]).stdout.starts_with("landing "));
    let unknown = folder.run(&["demo", "nothing"]);
    assert!(unknown.code == Some(2) && unknown.stderr.contains("there is: landing"), "{unknown:?}");
}

/// The figures of the papers, each on a line of its own.
#[test]
fn every_demo_counts_its_runs() {
    let folder = Folder::new();
    for (name, figures) in [
        ("landing", "6 states, 3 runs, 2 violating"),
        ("interval", "7 states, 3 runs, 1 violating"),
        ("permit", "8 states, 3 runs, 1 violating"),
        ("automaton", "13 states, 4 runs, 1 violating"),
        ("rax", "17 states, 4 runs, 3 violating"),
    ] {
        let ran = folder.ok(&["demo", name]);
        assert!(ran.stdout.lines().any(|line| line.trim() == figures), "{}", ran.stdout);
        let violating: usize = figures.split(' ').nth(4).unwrap().parse().unwrap();
        assert_eq!(ran.stdout.matches("<- violation").count(), violating, "{}", ran.stdout);
        assert!(folder.ok(&["demo", "--list"]).stdout.contains(name));
    }
}

#[test]
fn the_commands_that_the_demo_recommends_work() {
    let folder = Folder::new();
    for name in ["landing", "interval", "permit", "automaton", "rax"] {
        folder.write("t.std", folder.ok(&["demo", name, "--trace"]).stdout);
        folder.write("t.rvs", folder.ok(&["demo", name, "--spec"]).stdout);
        let ran = folder.run(&["check", "t.std", "--spec", "t.rvs"]);
        assert!(ran.code != Some(0) && ran.stdout.contains("predicted violation of"), "{ran:?}");
    }
    folder.write("landing.std", folder.ok(&["demo", "landing", "--trace"]).stdout);
    let ran = folder.ok(&["check", "landing.std", "--strict", "--detect", "none"]);
    assert!(ran.stdout.starts_with("trace     9 events, 3 threads, 3 variables, 0 locks\n"), "{}", ran.stdout);
    folder.ok(&["convert", "landing.std", "landing.ftrace"]);
}

#[test]
fn doctor_says_what_is_there_and_what_is_missing() {
    let folder = Folder::new();
    let bare = folder.command(&["doctor"]).env("PATH", "").output().unwrap();
    assert!(bare.status.success());
    let text = String::from_utf8(bare.stdout).unwrap();
    for tool in ["gcc", "clang", "java", "cargo", "maude"] {
        let line = text.lines().find(|line| line.starts_with(tool)).unwrap();
        assert!(line.contains("missing"), "{line}");
    }
    assert!(text.contains("apt-get install gcc g++ clang"), "{text}");
    let here = folder.ok(&["doctor"]).stdout;
    let cargo = here.lines().find(|line| line.starts_with("cargo")).unwrap();
    assert!(cargo.contains("cargo 1."), "{cargo}");
}

#[test]
fn help_completions_and_the_manual_page_name_every_command() {
    let folder = Folder::new();
    let commands = [
        "demo",
        "run",
        "record",
        "check",
        "spec",
        "locks",
        "window",
        "show",
        "convert",
        "gen",
        "weave",
        "doctor",
        "completions",
        "man",
    ];
    let help = folder.ok(&["--help"]).stdout;
    let man = folder.ok(&["man"]).stdout;
    let bash = folder.ok(&["completions", "bash"]).stdout;
    for command in commands {
        for (what, text) in [("help", &help), ("man", &man), ("completions", &bash)] {
            assert!(text.contains(command), "{what} lacks {command}");
        }
        assert!(!folder.ok(&[command, "--help"]).stdout.is_empty());
    }
    for option in ["--detect", "--causality", "--max-cuts", "--count", "--strict", "--from", "--all-ops", "--seed"] {
        assert!(man.replace("\\-", "-").contains(option), "the manual page lacks {option}");
    }
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        assert!(folder.ok(&["completions", shell]).stdout.contains("foretrace"));
    }
}

#[test]
fn packages_that_fit_no_class_are_refused() {
    let folder = Folder::new();
    for command in [&["run", "--", "true"][..], &["record", "--", "true"], &["weave", "in.jar", "out.jar"]] {
        for option in ["--include=*", "--include=.", "--exclude=", "--include=org.*.impl"] {
            let ran = folder.run(&[&command[..1], &[option], &command[1..]].concat());
            assert_eq!(ran.code, Some(2), "{command:?} {option}");
            assert!(ran.stderr.contains("it names no Java package or class"), "{}", ran.stderr);
        }
    }
    let ran = folder.run(&["weave", "--include=org.example.*", "in.jar", "out.jar"]);
    assert!(ran.stderr.contains("cannot read in.jar"), "{}", ran.stderr);
}

#[test]
fn help_tells_what_becomes_of_java_programs() {
    let folder = Folder::new();
    // Lines are broken anywhere.
    let help = |command| folder.ok(&[command, "--help"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in
        ["Picked up JAVA_TOOL_OPTIONS", "GRADLE_OPTS", "-XX:-DontCompileHugeMethods", "org.example.*", "Hamcrest"]
    {
        assert!(help("run").contains(text), "{text}");
    }
    for text in ["Exit codes: 0 if", "folders with classes", "-XX:-DontCompileHugeMethods", "signer information"] {
        assert!(help("weave").contains(text), "{text}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let folder = Folder::new();
    folder.ok(&["gen", "--events", "200000", "-o", "t.ftrace"]);
    let mut child =
        folder.command(&["show", "t.ftrace"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success() && out.stderr.is_empty(), "{out:?}");
}

#[test]
fn the_sdk_comes_out_of_the_binary() {
    let folder = Folder::new();
    folder.ok(&["sdk", "kit"]);
    let header = String::from_utf8(folder.read("kit/include/foretrace.h")).expect("UTF-8");
    assert!(header.contains("FORETRACE_EVENT"));
    let api = String::from_utf8(folder.read("kit/java/foretrace/Monitor.java")).expect("UTF-8");
    assert!(api.contains("package foretrace;") && api.contains("class Monitor"));
    folder.write("p.c", "#include <foretrace.h>\nint main(void) { FORETRACE_EVENT0(\"a\"); return 0; }\n");
    folder.ok(&["cc", "-I", "kit/include", "p.c", "-o", "p"]);
    folder.write("file", "");
    assert_eq!(folder.run(&["sdk", "file"]).code, Some(2));
}
