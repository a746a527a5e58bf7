//! Long traces: what one finding costs, and that it is shown all the same.

use crate::common::Folder;
use event::Causality;
use serde_json::Value;
use std::time::{Duration, Instant};

/// A trace of 3 million events with a few races, in both formats.
fn long() -> Folder {
    let folder = Folder::new();
    folder.ok(&["gen", "--events", "3000000", "--vars", "100000", "--racy", "0.002", "-o", "t.ftrace"]);
    folder.ok(&["convert", "t.ftrace", "t.std"]);
    folder
}

fn findings(folder: &Folder, trace: &str, detect: &str) -> (Vec<Value>, u64) {
    let ran = folder.run(&["check", trace, "--detect", detect, "--json", "-"]);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {}", ran.stderr));
    let peak = json["stats"]["peak_rss_bytes"].as_u64().expect("a number");
    (json["findings"].as_array().expect("a list").clone(), peak)
}

fn numbers(list: &Value) -> Vec<u64> {
    list.as_array().expect("a list").iter().map(|number| number.as_u64().expect("a number")).collect()
}

#[test]
fn observed_races_have_witnesses_and_the_trace_is_not_retained() {
    let folder = long();
    let (found, peak) = findings(&folder, "t.ftrace", "hb");
    let (text, text_peak) = findings(&folder, "t.std", "hb");
    assert!((1..20).contains(&found.len()), "{} races", found.len());
    assert_eq!(found, text, "the format does not matter");
    assert!(peak < 60_000_000 && text_peak < 60_000_000, "{peak} and {text_peak} bytes");
    let file = std::fs::File::open(folder.path("t.ftrace")).expect("a trace");
    let mut opened = trace::open_file(file, |_| unreachable!("a file")).expect("a trace");
    let trace = trace::Trace::read(&mut *opened.source).expect("a trace");
    for finding in found {
        let (witness, events) = (numbers(&finding["witness"]), numbers(&finding["events"]));
        let (prefix, last) = witness.split_at(witness.len() - 2);
        assert_eq!(last, events);
        let race = [events[0], events[1]];
        let initial = |_| event::Value::Unknown;
        let checked = witness::check_race(Causality::Maximal, &trace.names, &trace.batch, &initial, prefix, race);
        assert_eq!(checked, Ok(()));
    }
}

/// What is said of an event does not depend on how much of the trace was read for it: the lock of one access was taken
/// shortly before, that of the other long before.
#[test]
fn the_context_of_events_is_that_of_a_trace_that_was_retained() {
    let padding = |thread: &str, events: usize| format!("{thread}|ev(step)|9\n").repeat(events);
    let text = [
        "A|acq(k)|1\nA|acq(m)|2\n",
        &padding("B", 300_000),
        "A|rel(m)|3\nA|w(x)|4\n",
        &padding("C", 100),
        "B|acq(l)|5\n",
        &padding("C", 100),
        "B|w(x)|6\nB|rel(l)|7\nA|rel(k)|8\n",
    ];
    let folder = Folder::new();
    folder.write("t.std", text.concat());
    folder.ok(&["convert", "t.std", "t.ftrace"]);
    // Standard input cannot be read again, and is retained.
    let ran = folder.run_with_input(&["check", "-", "--detect", "hb", "--json", "-"], &folder.read("t.std"));
    let json: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let retained = json["findings"].as_array().expect("a list");
    assert_eq!(retained[0]["lock_sites"], serde_json::json!([["1"], ["5"]]));
    for trace in ["t.std", "t.ftrace"] {
        let (again, _) = findings(&folder, trace, "hb");
        assert_eq!((again.len(), retained.len()), (1, 1));
        for part in ["fingerprint", "ops", "sites", "locks_held", "lock_sites", "status"] {
            assert_eq!(again[0][part], retained[0][part], "{part} of {trace}");
        }
        assert!(again[0]["witness"].is_array(), "{}", again[0]);
    }
}

#[test]
fn a_signal_stops_the_reading_of_blank_lines() {
    let folder = Folder::new();
    folder.write("blank.std", vec![b'\n'; 400_000_000]);
    let started = Instant::now();
    let ran = folder.command(&["check", "blank.std"]).stdin(std::process::Stdio::null()).spawn();
    let mut child = ran.expect("foretrace runs");
    std::thread::sleep(Duration::from_millis(300));
    let asked = Instant::now();
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().is_ok_and(|killed| killed.success()));
    let status = child.wait().expect("it ends");
    assert!(asked.elapsed() < Duration::from_millis(1500), "{:?} of {:?}", asked.elapsed(), started.elapsed());
    // Nothing was read, so there is nothing to report.
    assert_eq!(status.code(), Some(2));
}
