//! Detectors from the command line: what each finds in the corpus, exit codes, the JSON contract, `check` lines.

use crate::common::{Folder, Ran, corpus};
use serde_json::{Value, json};
use std::process::Stdio;

/// Checks a trace of the corpus.
fn check(name: &str, args: &[&str]) -> (Ran, Value) {
    let folder = Folder::new();
    let path = corpus("traces").join(name);
    let path = path.to_str().expect("UTF-8");
    let ran = folder.run(&[&["check", path, "--json", "out.json"], args].concat());
    let json = serde_json::from_slice(&folder.read("out.json")).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
    (ran, json)
}

/// Kind, status, detector and objects of all findings.
fn findings(json: &Value) -> Vec<(String, String, String, Vec<String>)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let list = |value: &Value| value.as_array().unwrap().iter().map(text).collect();
    let findings = json["findings"].as_array().unwrap().iter();
    findings.map(|f| (text(&f["kind"]), text(&f["status"]), text(&f["detector"]), list(&f["objects"]))).collect()
}

fn one(kind: &str, status: &str, detector: &str, objects: &[&str]) -> (String, String, String, Vec<String>) {
    let objects = objects.iter().map(|&object| object.to_owned()).collect();
    (kind.to_owned(), status.to_owned(), detector.to_owned(), objects)
}

const RACE: &str = "main|fork(A)|\nmain|fork(B)|\nA|acq(l)|a.c:1\nA|w(x)=1|a.c:2\nA|rel(l)|a.c:3\nB|r(x)=1|b.c:4\n";

#[test]
fn a_race_names_both_sides_and_why() {
    let folder = Folder::new();
    folder.write("t.std", RACE);
    let ran = folder.run(&["check", "t.std", "--detect", "hb,lockset"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    for line in [
        "observed race on x: a.c:2 and b.c:4",
        "A  w(x)=1  event 3  at a.c:2  holding l",
        "B  r(x)=1  event 5  at b.c:4  holding no lock",
        "no lock is held by both; no fork, join or other synchronisation orders them",
        "1 finding: 1 observed",
    ] {
        assert!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
    }
    let ran = folder.run(&["check", "t.std", "--detect", "hb", "--json", "-"]);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    let finding = &json["findings"][0];
    assert_eq!(finding["events"], json!([3, 5]));
    assert_eq!(finding["threads"], json!(["A", "B"]));
    assert_eq!(finding["locks_held"], json!([["l"], []]));
    assert_eq!(finding["sites"], json!(["a.c:2", "b.c:4"]));
    assert_eq!(finding["stacks"], json!([[], []]));
    assert_eq!(finding["fingerprint"].as_str().unwrap().len(), 16);
    let stats = &json["stats"]["per_analysis"]["hb"];
    assert_eq!((&stats["racy_events"], &stats["racy_sites"]), (&json!(1), &json!(1)));
    assert!(stats["seconds"].is_number());
    assert_eq!(json["stats"]["per_analysis"]["lockset"], Value::Null, "only hb was asked for");
}

#[test]
fn locks_of_two_tasks_in_contradicting_orders() {
    let (ran, json) = check("value-task/trace.std", &["--detect", "hb,lockset,lock-order"]);
    assert_eq!(ran.code, Some(0), "a warning is no finding: {ran:?}");
    assert_eq!(findings(&json), [one("lock-order", "warning", "lock-order", &["Value@0", "Value@1"])]);
    assert!(ran.stdout.contains("Task@0 holds Value@0 and asks for Value@1"), "{}", ran.stdout);
    let (ran, _) = check("value-task/trace.std", &["--detect", "lock_order", "--strict"]);
    assert_eq!(ran.code, Some(1), "--strict counts warnings");
}

#[test]
fn a_value_that_is_read_without_its_lock() {
    let (ran, json) = check("value-task-race/trace.std", &[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let races: Vec<_> = findings(&json).into_iter().filter(|f| f.0 == "race").collect();
    assert!(!races.is_empty() && races.iter().all(|f| f.3[0].ends_with(".x")), "{json}");
    assert!(races.iter().any(|f| f.1 != "warning"), "{json}");
}

#[test]
fn gate_locks_leave_one_conflict_of_figure_7() {
    let (_, json) = check("goodlock/trace.std", &["--detect", "lock-order"]);
    assert_eq!(findings(&json), [one("lock-order", "warning", "lock-order", &["L3", "L4"])]);
    assert_eq!(json["findings"][0]["sites"], json!(["5", "18"]));
    assert_eq!(json["findings"][0]["locks_held"], json!([["L1", "L3"], ["L4"]]));
}

#[test]
fn three_threads_around_three_locks() {
    let (_, json) = check("three-locks/trace.std", &["--detect", "lock-order"]);
    assert_eq!(findings(&json), [one("lock-order", "warning", "lock-order", &["L1", "L2", "L3"])]);
}

#[test]
fn philosophers_of_any_number() {
    for n in [2, 3, 4, 6, 10, 20] {
        let (_, json) = check(&format!("philosophers/with-{n}.std"), &["--detect", "lock-order"]);
        let found = findings(&json);
        assert_eq!((found.len(), found[0].3.len()), (1, n), "{n}: {found:?}");
    }
}

#[test]
fn the_philosophers_starve_in_another_run() {
    for n in [2, 3, 5, 8] {
        let name = if n == 5 { "philosophers/trace.std".to_owned() } else { format!("philosophers/with-{n}.std") };
        let (ran, json) = check(&name, &["--detect", "deadlock,lock-order"]);
        assert_eq!(ran.code, Some(1), "{n}: {ran:?}");
        let found = findings(&json);
        assert_eq!((found.len(), found[0].0.as_str(), found[0].1.as_str()), (1, "deadlock", "predicted"), "{n}");
        assert_eq!(found[0].3.len(), n);
        let list = |key: &str| json["findings"][0][key].as_array().unwrap().clone();
        let (witness, events) = (list("witness"), list("events"));
        let last = &witness[witness.len() - n..];
        assert!(events.iter().all(|event| last.contains(event)), "a prefix, then the requests: {json}");
        assert!(ran.stdout.contains("also      found by lock-order\n"), "{}", ran.stdout);
        assert!(ran.stdout.contains("<- waits for ever"), "{}", ran.stdout);
    }
}

#[test]
fn a_race_behind_a_lock() {
    let (_, json) = check("hidden/trace.std", &["--detect", "hb"]);
    assert_eq!(findings(&json), []);
    for detector in ["sync-preserving", "sync_preserving", "maximal"] {
        let (ran, json) = check("hidden/trace.std", &["--detect", detector]);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let name = detector.replace('_', "-");
        assert_eq!(findings(&json), [one("race", "predicted", &name, &["z"])]);
        assert!(ran.stdout.contains("only the order of the sections of l"), "{}", ran.stdout);
        let witness: Vec<u64> =
            json["findings"][0]["witness"].as_array().unwrap().iter().map(|event| event.as_u64().unwrap()).collect();
        let mut last = witness[witness.len() - 2..].to_vec();
        last.sort_unstable();
        assert_eq!(last, [0, 7], "{json}");
        assert!(ran.stdout.contains("predicted") && ran.stdout.contains("<- race"), "{}", ran.stdout);
    }
    let (_, json) = check("hidden/trace.std", &[]);
    assert_eq!(findings(&json).iter().filter(|f| f.0 == "race" && f.3 == ["z"]).count(), 1, "{json}");
    assert!(json["stats"]["per_analysis"]["maximal"]["windows"] == 1, "{json}");
}

/// A publishes y and z by a plain flag, twice; B reads them only because of it. z is ordered by the lock.
const BEHIND: &str = "A|w(y)|a.c:1\nA|acq(l)|a.c:2\nA|w(z)|a.c:3\nA|rel(l)|a.c:4\nA|w(flag)|a.c:5\nB|r(flag)|b.c:1\n\
                      B|r(y)|b.c:2\nB|w(y)|b.c:6\nB|acq(l)|b.c:3\nB|r(z)|b.c:4\nB|rel(l)|b.c:5\n";

#[test]
fn what_only_a_race_orders_is_behind_it() {
    let folder = Folder::new();
    folder.write("t.std", BEHIND);
    let check = |args: &[&str]| {
        let ran = folder.run(&[&["check", "t.std", "--json", "out.json"], args].concat());
        let json: Value = serde_json::from_slice(&folder.read("out.json")).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
        (ran, json)
    };
    for detectors in ["hb", "all"] {
        let (ran, json) = check(&["--detect", detectors]);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert_eq!(findings(&json), [one("race", "observed", "hb", &["flag"])], "{}", ran.stdout);
        let behind = json["findings"][0]["behind"].as_array().unwrap_or_else(|| panic!("{json:#}"));
        let events: Vec<&Value> = behind.iter().map(|pair| &pair["events"]).collect();
        // That of events 0 and 7 has the same code and object.
        assert_eq!((events, &behind[0]["merged"]), (vec![&json!([0, 6])], &json!(1)), "{json:#}");
        assert_eq!((&behind[0]["status"], &behind[0]["witness_missing"]), (&json!("observed"), &json!("behind-race")));
        let why = "only the race on flag (a.c:5 and b.c:1) does";
        assert!(behind[0]["message"].as_str().is_some_and(|message| message.contains(why)), "{json:#}");
        assert!(ran.stdout.contains("  behind it race on y: a.c:1 and b.c:2\n"), "{}", ran.stdout);
        assert!(ran.stdout.contains("1 finding: 1 observed\n"), "{}", ran.stdout);
    }
    folder.write("flag.supp", "race:^flag$\n");
    let (ran, json) = check(&["--detect", "hb", "--suppress", "flag.supp"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let [y, flag] = ["y", "flag"].map(|object| one("race", "observed", "hb", &[object]));
    assert_eq!(findings(&json), [y, flag], "{}", ran.stdout);
    assert!(ran.stdout.contains("leaves it unordered by happens-before"), "{}", ran.stdout);
    folder.write("both.supp", "race:^flag$\nrace:^y$\n");
    let (ran, _) = check(&["--detect", "hb", "--suppress", "both.supp"]);
    assert!(ran.code == Some(0) && ran.stdout.contains("no findings; 2 suppressed"), "{ran:?}");
}

/// What is behind a race of a long trace, which is not kept, is checked by reading it again.
#[test]
fn what_is_behind_a_race_of_a_long_trace() {
    let folder = Folder::new();
    let mut text = String::from("#! init s=1\nA|w(y)|a.c:1\nA|up(s)|\nA|w(x)|a.c:2\nA|w(flag)|a.c:5\n");
    (0..120_000).for_each(|n| text += &format!("A|w(v{})|a.c:9\nB|down(s)|\nB|up(s)|\n", n % 1000));
    text += "B|r(flag)|b.c:1\nB|r(x)|b.c:2\nB|r(y)|b.c:3\n";
    folder.write("t.std", &text);
    let ran = folder.run(&["check", "t.std", "--detect", "hb", "--json", "out.json"]);
    let json: Value = serde_json::from_slice(&folder.read("out.json")).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
    assert_eq!(findings(&json), [one("race", "observed", "hb", &["flag"])], "{}", ran.stdout);
    let behind = json["findings"][0]["behind"].as_array().unwrap_or_else(|| panic!("{json:#}"));
    let objects: Vec<&Value> = behind.iter().map(|pair| &pair["objects"]).collect();
    assert_eq!(objects, [&json!(["x"])], "the semaphore orders y: {json:#}");
}

#[test]
fn the_wake_up_of_the_remote_agent_gets_lost() {
    let (ran, json) = check("rax/trace.std", &["--detect", "lost-wakeup"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(findings(&json), [one("lost-wakeup", "predicted", "lost-wakeup", &["Event@1"])]);
    assert_eq!(json["findings"][0]["events"], json!([0, 6, 2]));
    let (_, json) = check("rax-locked/trace.std", &["--detect", "lost_wakeup"]);
    assert_eq!(findings(&json), []);
}

#[test]
fn the_sum_in_the_middle_of_a_transfer() {
    let (ran, json) = check("bank/trace.std", &["--detect", "atomicity"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(!findings(&json).is_empty());
    assert!(findings(&json).iter().all(|f| f.0 == "atomicity" && f.3 == ["txn"]), "{json}");
    assert_eq!(findings(&json)[0].1, "observed");
    let (_, json) = check("bank-serial/trace.std", &["--detect", "atomicity"]);
    assert!(findings(&json).iter().any(|f| f.1 == "predicted" && f.3 == ["txn"]), "{json}");
    assert!(findings(&json).iter().all(|f| f.1 == "predicted"), "as recorded it is serialisable: {json}");
    let (_, json) = check("bank-locked/trace.std", &["--detect", "atomicity"]);
    assert_eq!(findings(&json), []);
}

#[test]
fn an_observed_deadlock_is_no_warning() {
    let folder = Folder::new();
    folder.write("t.std", "A|acq(k)|1\nB|acq(l)|2\nA|req(l)|3\nB|req(k)|4\n");
    let ran = folder.run(&["check", "t.std", "--detect", "lock-order", "--json", "-"]);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(findings(&json), [one("deadlock", "observed", "lock-order", &["k", "l"])]);
}

#[test]
fn detectors_are_chosen_by_name() {
    let folder = Folder::new();
    folder.write("t.std", RACE);
    let ran = folder.run(&["check", "t.std", "--detect", "frob"]);
    assert_eq!(ran.code, Some(2));
    let some = "hb, sync-preserving, maximal, lockset, deadlock, lock-order, atomicity, lost-wakeup, \
                wait-without-loop, misuse, ";
    assert!(
        ran.stderr.contains("frob") && ran.stderr.contains(some) && ran.stderr.contains(", all, none"),
        "{}",
        ran.stderr
    );
    let ran = folder.run(&["check", "t.std", "--detect", "none,hb"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("`none` stands alone"), "{ran:?}");
    let analyses = |list: &str| {
        let ran = folder.run(&["check", "t.std", "--detect", list, "--json", "-"]);
        let json: Value = serde_json::from_str(&ran.stdout).unwrap();
        let names: Vec<String> = json["stats"]["per_analysis"].as_object().unwrap().keys().cloned().collect();
        names
    };
    assert_eq!(analyses("lock_order,lockset"), ["lock-order", "lockset", "validate"]);
    assert_eq!(analyses("none"), ["validate"]);
    let ran = folder.ok(&["check", "t.std", "--detect", "none"]);
    assert!(ran.stdout.ends_with("no findings: neither detectors nor properties were asked for\n"), "{}", ran.stdout);
}

#[test]
fn one_finding_for_what_several_detectors_say() {
    let folder = Folder::new();
    let mut trace = RACE.replace("B|r(x)=1", "B|w(x)=2");
    for _ in 0..5 {
        trace += "B|w(x)=2|b.c:4\n";
    }
    // Another pair of sites on the same variable, that only lockset knows.
    trace += "A|acq(l)|a.c:5\nA|rel(l)|a.c:6\nB|acq(l)|b.c:5\nB|w(x)=2|b.c:6\nB|rel(l)|b.c:7\n";
    trace += "A|acq(l)|a.c:7\nA|rel(l)|a.c:8\nA|w(x)=2|m.c:9\n";
    folder.write("t.std", trace);
    let ran = folder.run(&["check", "t.std", "--detect", "hb,lockset", "--json", "out.json"]);
    let json: Value = serde_json::from_slice(&folder.read("out.json")).unwrap();
    assert_eq!(findings(&json), [one("race", "observed", "hb", &["x"])]);
    assert!(ran.stdout.contains("also      found by lockset\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("5 more with the same code and object"), "{}", ran.stdout);
    let ran = folder.run(&["check", "t.std", "--detect", "lockset", "--json", "-"]);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(findings(&json).iter().all(|f| f.1 == "warning"), "{json}");
    assert_eq!(findings(&json).len(), 2);
    assert_eq!(ran.code, Some(0));
}

#[test]
fn many_findings_are_counted_in_the_text_and_all_in_the_json() {
    let folder = Folder::new();
    let mut trace = String::new();
    for n in 0..100 {
        trace += &format!("A|w(x{n})|a{n}\nB|w(x{n})|b{n}\n");
    }
    folder.write("t.std", trace);
    let ran = folder.run(&["check", "t.std", "--detect", "hb", "--json", "out.json"]);
    let json: Value = serde_json::from_slice(&folder.read("out.json")).unwrap();
    assert_eq!(findings(&json).len(), 100);
    assert_eq!(ran.stdout.matches("observed race on").count(), 30);
    assert!(ran.stdout.contains("\n… and 70 more races; --json has them\n"), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("100 findings: 100 observed\n"), "{}", ran.stdout);
}

#[test]
fn the_same_input_gives_the_same_bytes_but_for_the_statistics() {
    let folder = Folder::new();
    folder.ok(&[
        "gen",
        "--events",
        "3000",
        "--threads",
        "5",
        "--racy",
        "0.05",
        "--rev",
        "0.2",
        "--txn",
        "-o",
        "t.ftrace",
    ]);
    let text = || {
        let ran = folder.run(&["check", "t.ftrace", "--json", "-"]);
        ran.stdout.split("\"stats\"").next().unwrap().to_owned()
    };
    let first = text();
    assert!(first.contains("\"race\"") && first == text());
}

#[test]
fn what_was_not_kept_is_read_again() {
    let folder = Folder::new();
    folder.write("t.std", RACE.replace("B|r(x)=1|b.c:4", "B|w(x)=2|b.c:4"));
    // Neither of these needs the trace.
    let ran = folder.run(&["check", "t.std", "--detect", "lockset,lock-order", "--warnings"]);
    assert!(ran.stdout.contains("B  w(x)=2  event 5  at b.c:4  holding no lock"), "{}", ran.stdout);
    let trace = folder.read("t.std");
    let ran = folder.run_with_input(&["check", "-", "--detect", "lockset,lock-order", "--warnings"], &trace);
    assert!(ran.stdout.contains("B  event 5  at b.c:4  holding no lock"), "{}", ran.stdout);
}

#[test]
fn stacks_come_from_the_trace() {
    // The text format has none: what is there is what `stacks` of the JSON shows.
    let (_, json) = check("recorded/account.std", &["--detect", "hb"]);
    assert_eq!(json["findings"][0]["stacks"], json!([[], []]));
    assert_eq!(json["stats"]["per_analysis"]["hb"]["racy_events"], 3);
}

const SPEC: &str = "spec S {\n  shared int x at trace \"x\";\n  region r at trace \"r\";\n  CHECK\n}\n";

fn with_checks(trace: &str, checks: &str, args: &[&str]) -> (Ran, Value) {
    let folder = Folder::new();
    folder.write("t.std", trace);
    folder.write("s.rvs", SPEC.replace("CHECK", checks));
    let ran = folder.run(&[&["check", "t.std", "--spec", "s.rvs", "--json", "out.json"], args].concat());
    let json = serde_json::from_slice(&folder.read("out.json")).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
    (ran, json)
}

#[test]
fn check_lines_of_a_specification_choose_the_detectors() {
    let both = RACE.to_owned() + "A|w(y)|a.c:7\nB|w(y)|b.c:8\n";
    let (_, json) = with_checks(&both, "check races on x using hb;", &[]);
    assert_eq!(findings(&json), [one("race", "observed", "hb", &["x"])]);
    let analyses: Vec<&String> = json["stats"]["per_analysis"].as_object().unwrap().keys().collect();
    assert_eq!(analyses, ["hb", "properties", "validate"]);
    let (_, json) = with_checks(&both, "check races using hb;", &[]);
    assert_eq!(findings(&json).len(), 2);
    let (_, json) = with_checks(&both, "check races on x using hb; check races using hb;", &[]);
    assert_eq!(findings(&json).len(), 2, "one of them is without restriction");
    let (_, json) = with_checks(&both, "check races on x using hb;", &["--detect", "lockset"]);
    assert!(findings(&json).iter().all(|f| f.2 == "lockset"), "--detect replaces them: {json}");
    let (_, json) = with_checks(&both, "check races on x using hb;", &["--detect", "none"]);
    assert_eq!(findings(&json), []);
    let (_, json) = with_checks(&both, "", &[]);
    assert_eq!(findings(&json).len(), 2, "without check lines all detectors run");
    let (_, json) = with_checks(&both, "check races on x using weak_hb;", &[]);
    let adjacent: Vec<_> = findings(&json).into_iter().map(|(kind, status, by, _)| (kind, status, by)).collect();
    assert_eq!(adjacent, [("property".into(), "predicted".into(), "races_on_x".into())]);
    let locked = RACE.replace("B|r(x)=1|", "B|acq(l)|b.c:3\nB|r(x)=1|") + "B|rel(l)|b.c:5\nA|begin(r)|\n";
    let (ran, json) = with_checks(&locked, "check races on x using weak_hb;", &[]);
    assert_eq!((findings(&json), ran.code), (Vec::new(), Some(0)), "a step of the lock is always between them");
}

#[test]
fn deadlocks_of_few_threads() {
    let trace = std::fs::read_to_string(corpus("traces/three-locks/trace.std")).unwrap() + "A|w(x)|\nA|begin(r)|\n";
    let (_, json) = with_checks(&trace, "check deadlocks upto 2 threads;", &[]);
    assert_eq!(findings(&json), []);
    let (_, json) = with_checks(&trace, "check deadlocks upto 3 threads;", &[]);
    assert_eq!(findings(&json).len(), 1);
}

#[test]
fn a_region_for_one_thread_at_a_time() {
    let trace = "A|w(x)|\nA|begin(r)|a.c:1\nB|begin(r)|b.c:1\nA|end(r)|a.c:2\nB|end(r)|b.c:2\n";
    let (ran, json) = with_checks(trace, "check mutex of r;", &[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(json["properties"][0]["verdict"], "violated");
    assert_eq!(json["findings"][0]["detector"], "mutex_of_r");
    let apart = "A|w(x)|\nA|begin(r)|a.c:1\nA|end(r)|a.c:2\nB|begin(r)|b.c:1\nB|end(r)|b.c:2\n";
    let (_, json) = with_checks(apart, "check mutex of r;", &[]);
    assert_eq!(json["properties"][0]["verdict"], "predicted", "nothing keeps them apart");
    let locked = apart.replace("A|begin", "A|acq(l)|\nA|begin").replace("A|end(r)|a.c:2", "A|end(r)|a.c:2\nA|rel(l)|");
    let locked = locked.replace("B|begin", "B|acq(l)|\nB|begin").replace("B|end(r)|b.c:2", "B|end(r)|b.c:2\nB|rel(l)|");
    let (_, json) = with_checks(&locked, "check mutex of r with { causality = weak_hb; };", &[]);
    assert_eq!(json["properties"][0]["verdict"], "holds", "{json}");
    let (_, json) = with_checks(trace, "check mutex of r;", &["--detect", "none"]);
    assert_eq!(json["properties"], json!([]));
}

#[test]
fn blocks_that_are_not_serialisable() {
    let folder = Folder::new();
    folder.write("t.std", "A|begin(r)|a.c:1\nA|r(x)|a.c:2\nB|w(x)|b.c:3\nA|w(x)|a.c:4\nA|end(r)|a.c:5\n");
    let ran = folder.run(&["check", "t.std", "--detect", "atomicity", "--json", "out.json"]);
    let json: Value = serde_json::from_slice(&folder.read("out.json")).unwrap();
    assert_eq!(findings(&json), [one("atomicity", "observed", "atomicity", &["r"])]);
    assert_eq!(json["findings"][0]["events"], json!([0, 1, 2, 3]));
    assert!(ran.stdout.contains("observed atomicity on r"), "{}", ran.stdout);
    let trace = String::from_utf8(folder.read("t.std")).unwrap();
    let nested = trace.replace("A|begin(r)|a.c:1", "A|begin(q)|a.c:0\nA|begin(r)|a.c:1") + "A|end(q)|a.c:6\n";
    let (_, json) = with_checks(&nested, "check atomicity of r;", &[]);
    assert_eq!(findings(&json), [one("atomicity", "observed", "atomicity", &["r"])]);
}

#[test]
fn suppressions_and_handlers_hold_for_checks() {
    let checks = "check races using hb; suppress races at \"b.c:4\" because \"known\";";
    let (ran, json) = with_checks(RACE, checks, &[]);
    assert_eq!((ran.code, &json["findings"][0]["suppressed"]), (Some(0), &json!(true)), "{ran:?}");
    let (ran, _) = with_checks(RACE, "check races using hb; on violation { exit 7; }", &[]);
    assert_eq!(ran.code, Some(7), "{ran:?}");
    let (ran, _) = with_checks(RACE, "check races using hb; on predicted { exit 7; }", &[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
}

#[test]
fn an_interrupted_analysis_reports_what_it_found() {
    let folder = Folder::new();
    folder.ok(&["gen", "--events", "4000000", "--racy", "0.01", "--vars", "1000", "-o", "t.ftrace"]);
    let mut command = folder.command(&["check", "t.ftrace", "--json", "-"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1000));
    let asked = std::time::Instant::now();
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert!(asked.elapsed().as_secs() < 20, "{:?}", asked.elapsed());
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(findings(&json).iter().any(|f| f.0 == "race"), "what was found so far");
    assert!(ran.stderr.contains("cut short") || ran.stderr.contains("interrupted"), "{}", ran.stderr);
}

/// The state of a process, and the seconds of processor time that it has had.
fn cpu(pid: u32) -> (String, f64) {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks = |at: usize| fields[at].parse::<f64>().unwrap();
    // A tick is a hundredth of a second.
    (fields[0].to_owned(), (ticks(11) + ticks(12)) / 100.0)
}

/// Ctrl-C and `kill` end an analysis of a long trace within half a second of its own time, wherever it is.
#[test]
fn an_analysis_stops_within_half_a_second() {
    let folder = Folder::new();
    folder.ok(&["gen", "--events", "4000000", "--racy", "0.01", "--vars", "1000", "-o", "t.ftrace"]);
    let mut late = Vec::new();
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        for after in [0.2, 0.9, 2.0] {
            // A file: a pipe would have to be read.
            let mut command =
                folder.command(&["check", "t.ftrace", "--json", "out.json", "--property", "V1 < 1000000"]);
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            let pause = || std::thread::sleep(std::time::Duration::from_millis(5));
            let mut now = cpu(child.id());
            while now.0 != "Z" && now.1 < after {
                pause();
                now = cpu(child.id());
            }
            if now.0 != "Z" {
                let kill = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
                assert!(kill.unwrap().success());
                let asked = now.1;
                while now.0 != "Z" {
                    pause();
                    now = cpu(child.id());
                }
                late.push((signal, after, now.1 - asked));
                assert_eq!(child.wait().unwrap().code(), Some(code), "{late:?}");
            }
            let _ = child.wait();
        }
    }
    assert!(late.len() >= 4 && late.iter().all(|(.., seconds)| *seconds < 0.5), "{late:?}");
}

#[test]
fn demos_of_detectors() {
    let folder = Folder::new();
    for (name, says) in [
        ("hidden", "predicted race on z: 21 and 34"),
        ("philosophers", "predicted deadlock on F0, F1, F2, F3, F4"),
        ("bank", "predicted atomicity on txn"),
        ("lost-wakeup", "predicted lost-wakeup on Event@1"),
    ] {
        let shown = folder.ok(&["demo", name]).stdout;
        assert!(shown.contains(says), "{shown}");
        folder.write("t.std", folder.ok(&["demo", name, "--trace"]).stdout);
        let recommended = shown.lines().find(|line| line.contains("--detect") && line.contains(".std")).unwrap();
        let list = recommended.split("--detect ").nth(1).unwrap().split(' ').next().unwrap();
        let ran = folder.run(&["check", "t.std", "--detect", list]);
        assert!(ran.code == Some(1) && ran.stdout.contains(says), "{ran:?}");
        let ran = folder.run(&["demo", name, "--spec"]);
        assert!(ran.code == Some(2) && ran.stderr.contains("has no specification"), "{ran:?}");
        assert!(folder.ok(&["demo", "--list"]).stdout.lines().any(|line| line.starts_with(name)));
    }
}

#[test]
fn lock_trees_and_their_cycles() {
    let folder = Folder::new();
    let path = corpus("traces/goodlock/trace.std");
    let ran = folder.ok(&["locks", path.to_str().unwrap()]);
    assert!(
        ran.stdout.starts_with("T1\n  L1 at 2\n    L3 at 3\n      L2 at 4\n      L4 at 5\n  L4 at 9\n"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.contains("cycle of L3, L4\n  T1 holds L1, L3 and asks for L4 at 5 (event 6)\n"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.ends_with("\n1 cycle\n"), "{}", ran.stdout);
    folder.write("t.std", "A|w(x)|\n");
    assert!(folder.ok(&["locks", "t.std"]).stdout.starts_with("no lock is taken\n"));
    assert_eq!(folder.run(&["locks", "no.such"]).code, Some(2));
}

#[test]
fn the_race_window_and_its_extension() {
    let folder = Folder::new();
    let trace =
        RACE.to_owned() + "main|fork(C)|\nC|acq(m)|\nC|w(z)|\nC|rel(m)|\nA|acq(m)|\nA|r(z)|\nA|rel(m)|\nD|w(q)|\n";
    folder.write("t.std", trace);
    let ran = folder.ok(&["window", "t.std", "--detect", "hb"]);
    let expected = "race window: 2 of 5 threads\n  A     observed race on x\n  B     observed race on x\n\n\
        extended by those that have a hand in them: 4 of 5 threads\n  A     in the window\n  B     in the window\n  \
        main  forked A\n  C     wrote z, which A reads\n";
    assert_eq!(ran.stdout, expected);
    folder.write("t.std", "A|w(x)|\n");
    assert!(folder.ok(&["window", "t.std"]).stdout.starts_with("the race window is empty"));
}

#[test]
fn all_is_the_default() {
    let analyses = |args: &[&str]| {
        let (ran, json) = check("value-task-race/trace.std", args);
        let names: Vec<String> = json["stats"]["per_analysis"].as_object().unwrap().keys().cloned().collect();
        (ran.code, names, findings(&json))
    };
    let default = analyses(&[]);
    assert!(default.1.len() > 8, "{default:?}");
    assert_eq!(analyses(&["--detect", "all"]), default);
    assert_eq!(analyses(&["--detect", "hb,all"]), default);
    let folder = Folder::new();
    folder.write("t.std", RACE);
    let ran = folder.run(&["check", "t.std", "--detect", "all,none"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("`none` stands alone"), "{ran:?}");
    assert_eq!(folder.ok(&["window", "t.std", "--detect", "all"]).stdout, folder.ok(&["window", "t.std"]).stdout);
}

/// Who waits for what, by more than locks; what is right beside it stays unmentioned.
#[test]
fn deadlocks_around_more_than_locks() {
    let predicted = |objects: &[&str]| one("deadlock", "predicted", "deadlock", objects);
    for (name, expected, why) in [
        ("join", predicted(&["T1", "table"]), "main holds table and waits for the end of T1, T1 waits for table"),
        (
            "latch",
            predicted(&["ready", "config"]),
            "main holds config and waits for ready, to be released by T1, T1 waits for config",
        ),
        (
            "semaphores",
            predicted(&["truck", "crane"]),
            "T1 waits for truck, to be incremented by T2, T2 waits for crane, to be incremented by T1",
        ),
        (
            "queue",
            predicted(&["room", "log"]),
            "T1 holds log and waits for room, to be incremented by T2, T2 waits for log",
        ),
        (
            "barrier",
            predicted(&["meeting", "paint"]),
            "main holds paint and waits for meeting, to be released by T1, T1 waits for paint",
        ),
        (
            "nested-monitor",
            one("deadlock", "warning", "deadlock", &["outer", "inner"]),
            "T2 waits for outer, T1 holds outer and waits for a notify of inner by T2",
        ),
        (
            "ended",
            one("deadlock", "observed", "deadlock", &["T1", "table"]),
            "main holds table and waits for the end of T1, T1 waits for table: the run ended so",
        ),
    ] {
        let (ran, json) = check(&format!("waiting/{name}.std"), &["--detect", "all"]);
        assert_eq!(findings(&json), [expected], "{name}: {ran:?}");
        let text: String = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(why), "{name}: {why}\n{}", ran.stdout);
        assert!(!text.contains("FAULT"), "{name}: {}", ran.stdout);
    }
}
