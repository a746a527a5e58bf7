//! Nothing sure rests on an event that the recorder was not sure of.

use crate::common::Folder;
use serde_json::Value;

/// Checks a trace in which these events are marked; the JSON and the exit code.
fn check(trace: &[&str], inexact: &[usize], args: &[&str]) -> (Value, Option<i32>) {
    let folder = Folder::new();
    let line = |(at, line): (usize, &&str)| match inexact.contains(&at) {
        false => format!("{line}\n"),
        true => {
            let (event, site) = line.rsplit_once('|').unwrap();
            format!("{event}~|{site}\n")
        }
    };
    folder.write("t.std", trace.iter().enumerate().map(line).collect::<String>());
    let ran = folder.run(&[&["check", "t.std", "--json", "out.json"], args].concat());
    let json = serde_json::from_slice(&folder.read("out.json")).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
    (json, ran.code)
}

/// The status of the only finding, and whether its reason is the inexact event.
#[track_caller]
fn status(json: &Value, inexact: Option<usize>) -> String {
    assert_eq!(json["findings"].as_array().unwrap().len(), 1, "{json}");
    let finding = &json["findings"][0];
    let message = finding["message"].as_str().unwrap();
    let named = inexact.is_some_and(|event| message.contains(&format!("rests on event {event}, of whose value")));
    assert_eq!(named, finding["status"] == "warning", "{json}");
    assert!(!named || finding["witness"].is_null(), "{json}");
    finding["status"].as_str().unwrap().to_owned()
}

/// A race behind a lock: the order that shows it is the section of T2, then both writes of z.
const HIDDEN: [&str; 8] = [
    "T1|w(z)|21",
    "T1|acq(l)|22",
    "T1|w(x)|23",
    "T1|rel(l)|24",
    "T2|acq(l)|31",
    "T2|w(x)|32",
    "T2|rel(l)|33",
    "T2|w(z)|34",
];

#[test]
fn a_race_is_predicted_only_by_exact_events() {
    for detector in ["sync-preserving", "maximal"] {
        for marked in 0..HIDDEN.len() {
            let (json, code) = check(&HIDDEN, &[marked], &["--detect", detector]);
            let expected = if (1..=3).contains(&marked) { ("predicted", 1) } else { ("warning", 0) };
            assert_eq!((status(&json, Some(marked)).as_str(), code), (expected.0, Some(expected.1)), "{marked}");
        }
    }
}

#[test]
fn a_race_is_observed_only_by_exact_events() {
    let trace = ["main|fork(A)|1", "main|fork(B)|2", "A|w(y)|3", "A|w(x)|4", "B|r(x)|5", "B|r(y)|6"];
    for (marked, expected) in [(2, "observed"), (3, "warning"), (4, "warning"), (5, "observed")] {
        // The read of y races with its write, too; its own race is not looked at here.
        let (mut json, _) = check(&trace, &[marked], &["--detect", "hb"]);
        json["findings"].as_array_mut().unwrap().retain(|finding| finding["objects"][0] == "x");
        assert_eq!(status(&json, Some(marked)), expected, "{marked}");
        // The order that shows it holds the write of y.
        let missing = if marked == 2 { Value::from("inexact") } else { Value::Null };
        assert_eq!(json["findings"][0]["witness_missing"], missing, "{json}");
    }
}

#[test]
fn a_deadlock_is_sure_only_by_exact_events() {
    let predicted = ["A|acq(k)|1", "A|acq(l)|2", "A|rel(l)|3", "A|rel(k)|4", "B|acq(l)|5", "B|acq(k)|6"];
    let ended = ["A|acq(k)|1", "B|acq(l)|2", "A|req(l)|3", "B|req(k)|4"];
    for (trace, marked, expected) in [
        (&predicted[..], 3, "predicted"),
        (&predicted, 0, "warning"),
        (&predicted, 5, "warning"),
        (&ended, 0, "observed"),
        (&ended, 2, "warning"),
    ] {
        let (json, _) = check(trace, &[marked], &["--detect", "deadlock"]);
        assert_eq!(status(&json, Some(marked)), expected, "{marked}");
    }
}

#[test]
fn a_property_is_violated_only_by_exact_events() {
    let recorded = ["A|w(x)=1|1", "B|w(y)=1|2", "A|w(x)=2|3"];
    let other = ["A|w(x)=1|1", "B|w(y)=1|2"];
    for (trace, property, marked, verdict, expected) in [
        (&recorded[..], "!(x == 2)", None, "violated", "observed"),
        (&recorded, "!(x == 2)", Some(0), "violated", "observed"),
        (&recorded, "!(x == 2)", Some(2), "unknown", "warning"),
        (&other, "y == 1 -> x == 1", None, "predicted", "predicted"),
        (&other, "y == 1 -> x == 1", Some(0), "predicted", "predicted"),
        (&other, "y == 1 -> x == 1", Some(1), "unknown", "warning"),
    ] {
        let marks: Vec<usize> = marked.into_iter().collect();
        let args = ["--detect", "none", "--property", property, "--init", "x=0,y=0"];
        let (json, code) = check(trace, &marks, &args);
        assert_eq!(json["properties"][0]["verdict"], verdict, "{property} {marked:?}");
        assert_eq!(json["properties"][0]["witness"].is_null(), verdict == "unknown", "{json}");
        assert_eq!(status(&json, marked), expected, "{property} {marked:?}");
        assert_eq!(code, Some(i32::from(expected != "warning")));
    }
}
