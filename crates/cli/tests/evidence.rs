//! What backs findings, from the command line: witnesses and why there are none, incomplete traces, what the papers
//! found.

use crate::common::{Folder, Ran, corpus};
use serde_json::{Value, json};

fn check(folder: &Folder, trace: &str, args: &[&str]) -> (Ran, Value) {
    let ran = folder.run(&[&["check", trace, "--json", "out.json"], args].concat());
    let json = serde_json::from_slice(&folder.read("out.json")).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
    (ran, json)
}

fn found(json: &Value) -> Vec<&Value> {
    json["findings"].as_array().unwrap().iter().collect()
}

/// Havelund's example: `get` takes no lock, so the read of line 6 and the addition of line 4 race.
#[test]
fn the_race_of_the_paper_and_no_cycle_of_locks() {
    let folder = Folder::new();
    let trace = corpus("traces/value-task-race/trace.std");
    let trace = trace.to_str().expect("UTF-8");
    let (ran, json) = check(&folder, trace, &["--detect", "hb,lockset"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let is_it = |finding: &&Value| {
        let mut sites: Vec<&str> = finding["sites"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        sites.sort_unstable();
        let objects = [json!(["Value@0.x"]), json!(["Value@1.x"])];
        finding["kind"] == "race" && sites == ["Main.java:4", "Main.java:6"] && objects.contains(&finding["objects"])
    };
    let races: Vec<&Value> = found(&json).into_iter().filter(is_it).collect();
    assert!(races.iter().any(|race| race["status"] == "observed"), "{json}");
    let (ran, json) = check(&folder, trace, &["--detect", "lock-order"]);
    assert_eq!((ran.code, found(&json).len()), (Some(0), 0), "{json}");
}

#[test]
fn the_witnesses_of_the_json_do_not_depend_on_the_pictures() {
    let folder = Folder::new();
    let pair = |n: usize| format!("A|w(x{n})|a{n}\nB|w(x{n})|b{n}\n");
    folder.write("t.std", (0..100).map(pair).collect::<String>());
    let (_, json) = check(&folder, "t.std", &["--detect", "hb"]);
    assert_eq!(found(&json).len(), 100);
    assert!(found(&json).iter().all(|f| f["witness"].is_array()), "{json}");
}

#[test]
fn a_cycle_at_the_end_of_an_incomplete_trace_is_not_called_observed() {
    let folder = Folder::new();
    let whole = "A|acq(k)|1\nB|acq(l)|2\nA|req(l)|3\nB|req(k)|4\n";
    for (trace, deadlock, order) in
        [(whole.to_owned(), "observed", "deadlock"), (format!("{whole}B|w("), "predicted", "lock-order")]
    {
        folder.write("t.std", &trace);
        let (_, json) = check(&folder, "t.std", &["--detect", "deadlock"]);
        let kinds: Vec<_> = found(&json).iter().map(|f| (f["kind"].clone(), f["status"].clone())).collect();
        assert_eq!(kinds, [(json!("deadlock"), json!(deadlock))], "{json}");
        let (ran, json) = check(&folder, "t.std", &["--detect", "lock-order"]);
        assert_eq!((found(&json).len(), &found(&json)[0]["kind"]), (1, &json!(order)), "{json}");
        assert_eq!(ran.stdout.contains("the run ended so"), order == "deadlock", "{}", ran.stdout);
    }
}

#[test]
fn waits_without_a_test_are_reported() {
    let folder = Folder::new();
    let trace = "A|acq(l)|1\nA|wait(c,l)|2\nB|acq(l)|3\nB|notify(c)|4\nB|rel(l)|5\nA|woken(c,l)|6\nA|rel(l)|7\n";
    folder.write("t.std", trace);
    let (ran, json) = check(&folder, "t.std", &["--detect", "lost-wakeup", "--strict"]);
    assert_eq!((ran.code, found(&json).len()), (Some(0), 0), "{ran:?}");
    assert!(ran.stderr.contains("a wait has no read before it"), "{}", ran.stderr);
    assert!(json["stats"]["per_analysis"]["lost-wakeup"]["note"].is_string(), "{json}");
}
