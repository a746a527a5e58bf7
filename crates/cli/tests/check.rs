//! `check`: figures, problems, losses, exit codes and the JSON contract.

use crate::common;

use crate::common::{Folder, corpus};
use serde_json::{Value, json};

fn json_of(folder: &Folder, args: &[&str]) -> Value {
    let ran = folder.run(&[args, &["--json", "-"]].concat());
    let report = report::read_json(ran.stdout.as_bytes()).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
    let mut again = Vec::new();
    report::render_json(&report, &mut again).expect("writing to memory");
    assert_eq!(String::from_utf8_lossy(&again), ran.stdout, "what is read back is written alike");
    serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {ran:?}"))
}

#[test]
fn figures_of_a_recorded_trace() {
    let folder = Folder::new();
    let path = corpus("traces/recorded/bubblesort.std");
    let ran = folder.ok(&["check", path.to_str().unwrap(), "--detect", "none"]);
    let first = ran.stdout.lines().next().unwrap();
    assert_eq!(first, "trace     1654 events, 13 threads, 25 variables, 1 lock");
    assert!(ran.stdout.contains("complete") && ran.stderr.is_empty(), "{ran:?}");
}

#[test]
fn json_is_one_object_alone_on_standard_output() {
    let folder = Folder::new();
    folder.ok(&["gen", "--events", "5000", "--all-ops", "-o", "t.ftrace"]);
    let json = json_of(&folder, &["check", "t.ftrace", "--detect", "none"]);
    assert_eq!(json["schema_version"], 1);
    assert_eq!(json["tool"], "foretrace");
    assert_eq!(json["trace"]["events"], 5000);
    assert_eq!(json["trace"]["threads"], 8);
    assert_eq!(json["trace"]["complete"], true);
    assert_eq!((&json["properties"], &json["findings"]), (&json!([]), &json!([])));
    assert!(json["stats"]["seconds"].as_f64().unwrap() > 0.0);
    assert!(json["stats"]["peak_rss_bytes"].as_u64().unwrap() > 0);
}

#[test]
fn the_same_input_gives_the_same_json_but_for_the_statistics() {
    let folder = Folder::new();
    folder.write("t.std", "T1|rel(l)|1\nT1|w(x)=1|2\nT2|r(x)=2|3\n");
    let text = |ran: common::Ran| ran.stdout.split("\"stats\"").next().unwrap().to_owned();
    let first = text(folder.run(&["check", "t.std", "--json", "-"]));
    assert!(first.contains("problems") && first == text(folder.run(&["check", "t.std", "--json", "-"])));
}

#[test]
fn json_goes_to_a_file_beside_the_text() {
    let folder = Folder::new();
    folder.write("t.std", "T1|w(x)|1\n");
    let ran = folder.ok(&["check", "t.std", "--json", "out.json"]);
    assert!(ran.stdout.starts_with("trace     1 event,"), "{}", ran.stdout);
    let json: Value = serde_json::from_slice(&folder.read("out.json")).unwrap();
    assert_eq!(json["trace"]["events"], 1);
    let quiet = folder.ok(&["check", "t.std", "--quiet", "--json", "quiet.json"]);
    assert!(quiet.stdout.is_empty() && quiet.stderr.is_empty(), "{quiet:?}");
    assert!(!folder.read("quiet.json").is_empty());
}

#[test]
fn problems_name_their_line_and_do_not_stop_it() {
    let folder = Folder::new();
    folder.write("t.std", "# a comment\nT1|acq(l)|1\nT2|acq(l)|2\nT2|rel(l)|3\nT2|w(x)=1|4\nT2|r(x)=5|5\n");
    let ran = folder.ok(&["check", "t.std"]);
    assert!(ran.stdout.contains("line 3, event 1: T2 takes l while T1 holds it (since event 0)"), "{}", ran.stdout);
    assert!(ran.stdout.contains("line 6, event 4: T2 reads x as 5, but it holds 1"), "{}", ran.stdout);
    assert!(ran.stderr.contains("t.std: the trace has 2 problems"), "{}", ran.stderr);
    assert_eq!(folder.run(&["check", "t.std", "--strict"]).code, Some(1));
    let problems = &json_of(&folder, &["check", "t.std"])["trace"]["problems"];
    assert_eq!(problems[0]["event"], 1);
    assert_eq!(problems[0]["place"], "line 3");
    let shown = folder.ok(&["show", "t.std"]);
    assert!(shown.stderr.contains("line 3: event 1: T2 takes l"), "{}", shown.stderr);
}

#[test]
fn a_malformed_line_is_reported_with_its_number_after_what_was_read() {
    let folder = Folder::new();
    folder.write("t.std", "T1|w(x)|1\nT1|wriet(x)|2\nT1|w(x)|3\n");
    assert_eq!(folder.run(&["check", "t.std", "--strict"]).code, Some(1));
    let ran = folder.run(&["check", "t.std"]);
    assert_eq!(ran.code, Some(0), "what was read is analysed; the trace is incomplete");
    assert!(ran.stdout.contains("1 event,"), "{}", ran.stdout);
    assert!(ran.stderr.contains("line 2: ") && ran.stderr.contains("wriet"), "{}", ran.stderr);
    folder.write("t.std", "this is not a trace\n");
    let ran = folder.run(&["check", "t.std"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("t.std: line 1: ") && ran.stdout.is_empty(), "{ran:?}");
}

#[test]
fn a_cut_off_trace_is_analysed_as_far_as_it_goes() {
    let folder = Folder::new();
    folder.ok(&["gen", "--events", "100000", "-o", "t.ftrace"]);
    let whole = folder.read("t.ftrace");
    folder.write("t.ftrace", &whole[..whole.len() * 3 / 4]);
    let ran = folder.run(&["check", "t.ftrace", "--detect", "none"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.stdout.contains("65536 events") && ran.stdout.contains("incomplete"), "{}", ran.stdout);
    assert!(ran.stderr.contains("byte ") && ran.stderr.contains("bytes are lost"), "{}", ran.stderr);
    assert_eq!(folder.run(&["check", "t.ftrace", "--detect", "none", "--strict"]).code, Some(1));
    assert_eq!(json_of(&folder, &["check", "t.ftrace", "--detect", "none"])["trace"]["complete"], false);
    folder.write("text.std", "T1|w(x)|1\nT1|w(y)|2\nT1|w(");
    let ran = folder.run(&["check", "text.std"]);
    assert!(ran.code == Some(0) && ran.stderr.contains("line 3: the last line is cut off"), "{ran:?}");
}

#[test]
fn what_cannot_be_read_fails_plainly() {
    let folder = Folder::new();
    for (args, what) in [
        (vec!["check", "no.such"], "cannot read no.such: No such file"),
        (vec!["check", "."], "cannot read .: "),
        (vec!["check", "t", "--detect", "frob"], "frob"),
        (vec!["check"], "TRACE"),
        (vec!["frobnicate"], "frobnicate"),
    ] {
        let ran = folder.run(&args);
        assert!(ran.code == Some(2) && ran.stderr.contains(what), "{args:?}: {ran:?}");
    }
    let mut later = b"\x89FTR\r\n\x1a\n\x07\0\0\0".to_vec();
    later.extend_from_slice(&[0; 4]);
    folder.write("later.ftrace", later);
    let ran = folder.run(&["check", "later.ftrace"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("byte 8"), "{ran:?}");
}

#[test]
fn a_binary_trace_cut_off_in_its_header_is_known_for_what_it_is() {
    let folder = Folder::new();
    folder.ok(&["gen", "--events", "100", "-o", "t.ftrace"]);
    let whole = folder.read("t.ftrace");
    for len in 1..=16 {
        folder.write("cut.ftrace", &whole[..len]);
        let ran = folder.run(&["check", "cut.ftrace"]);
        assert!(ran.code == Some(2) && ran.stderr.contains("byte "), "{len}: {ran:?}");
        assert!(ran.stderr.contains("cut off") || ran.stderr.contains("no end mark"), "{len}: {ran:?}");
    }
}

#[test]
fn what_stands_behind_the_end_mark_is_reported() {
    let folder = Folder::new();
    folder.ok(&["gen", "--events", "100", "-o", "t.ftrace"]);
    let whole = folder.read("t.ftrace");
    let twice = [&whole[..], &whole].concat();
    folder.write("twice.ftrace", &twice);
    for ran in [
        folder.run(&["check", "twice.ftrace", "--detect", "none"]),
        folder.run_with_input(&["check", "-", "--detect", "none"], &twice),
    ] {
        let expected = format!("{} bytes behind the end mark were not read", whole.len());
        assert!(ran.code == Some(0) && ran.stderr.contains(&expected), "{ran:?}");
    }
}

#[test]
fn a_compressed_binary_trace_reads_as_far_as_it_goes() {
    let folder = Folder::new();
    folder.ok(&["gen", "--events", "200000", "-o", "t.ftrace"]);
    let packed = std::process::Command::new("gzip").args(["-c", "t.ftrace"]).current_dir(folder.path("")).output();
    let packed = packed.unwrap().stdout;
    folder.write("t.ftrace.gz", &packed);
    assert!(folder.ok(&["check", "t.ftrace.gz", "--detect", "none", "--strict"]).stdout.contains("200000 events"));
    folder.write("t.ftrace.gz", &packed[..packed.len() / 2]);
    let ran = folder.ok(&["check", "t.ftrace.gz", "--detect", "none"]);
    assert!(ran.stdout.contains("incomplete") && !ran.stdout.contains(" 0 events"), "{ran:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn nobody_listening_is_no_failure() {
    let folder = Folder::new();
    folder.write("t.std", "T1|rel(l)|1\n");
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let status = folder.command(&["check", "t.std"]).stderr(full).stdout(std::process::Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(0));
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let ran = folder.command(&["check", "t.std"]).stdout(full).output().unwrap();
    assert_eq!(ran.status.code(), Some(2), "a full disk is a failure");
}

#[test]
fn an_empty_trace_is_fine() {
    let folder = Folder::new();
    folder.write("t.std", "");
    assert!(folder.ok(&["check", "t.std"]).stdout.starts_with("trace     0 events"));
    folder.ok(&["convert", "t.std", "t.ftrace"]);
    assert!(folder.ok(&["check", "t.ftrace", "--strict"]).stdout.contains("complete"));
}

#[test]
fn names_cannot_drive_the_terminal() {
    let folder = Folder::new();
    folder.write("t.std", "T\x1b[2J|rel(l)|1\n");
    let ran = folder.run(&["check", "t.std"]);
    assert!(!ran.stdout.contains('\x1b') && !ran.stderr.contains('\x1b'), "{ran:?}");
    assert!(folder.run(&["check", "t.std", "--color", "always"]).stdout.contains("\x1b["));
}

/// Text of any length is read in bounded memory.
#[test]
fn memory_does_not_grow_with_the_trace() {
    let folder = Folder::new();
    let peak = |events: &str| {
        folder.ok(&["gen", "--events", events, "--vars", "20000", "-o", "t.std"]);
        json_of(&folder, &["check", "t.std", "--detect", "none"])["stats"]["peak_rss_bytes"].as_u64().unwrap()
    };
    let (short, long) = (peak("200000"), peak("2000000"));
    assert!(long < short + 8_000_000, "{short} bytes for 200 thousand events, {long} for 2 million");
}

#[test]
fn suppressed_findings_are_kept_apart_and_do_not_count() {
    let folder = Folder::new();
    folder.write("t.std", "T1|w(x)|bank.c:1\nT2|w(x)|bank.c:2\nT1|w(y)|log.c:3\nT2|w(y)|log.c:4\n");
    assert_eq!(folder.run(&["check", "t.std", "--detect", "hb"]).code, Some(1));
    folder.write("some.supp", "# known\nrace:^log.c$\nrace:nobody\ndeadlock:bank.c\n");
    let ran = folder.run(&["check", "t.std", "--detect", "hb", "--suppress", "some.supp"]);
    assert_eq!(ran.code, Some(1), "x is not suppressed: {ran:?}");
    assert!(ran.stdout.contains("1 finding: 1 observed; 1 suppressed"), "{}", ran.stdout);
    assert!(ran.stdout.contains("silenced  1 finding by race:^log.c$\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("race:nobody matched nothing"), "{}", ran.stdout);
    assert!(ran.stdout.contains("deadlock:bank.c matched nothing"), "{}", ran.stdout);
    folder.write("more.supp", "race_top:bank.c\n");
    let both = ["check", "t.std", "--detect", "hb", "--strict", "--suppress", "some.supp", "--suppress", "more.supp"];
    let ran = folder.ok(&both);
    assert!(ran.stdout.contains("no findings; 2 suppressed"), "{}", ran.stdout);
    let json = json_of(&folder, &both);
    let suppressed: Vec<_> = json["findings"].as_array().unwrap().iter().map(|f| &f["suppressed"]).collect();
    assert_eq!(suppressed, [true, true]);
    assert_eq!(json["suppressions"]["unused"], json!(["race:nobody", "deadlock:bank.c"]));
    assert_eq!(json["suppressions"]["used"][0], json!({"rule": "race:^log.c$", "findings": 1}));
    assert!(json_of(&folder, &["check", "t.std"]).get("suppressions").is_none());
}

#[test]
fn a_suppression_file_that_cannot_be_read_is_an_error_that_names_it() {
    let folder = Folder::new();
    folder.write("t.std", "T1|w(x)|1\n");
    folder.write("bad.supp", "race:x\nrase:y\n");
    let ran = folder.run(&["check", "t.std", "--suppress", "bad.supp"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("bad.supp: line 2: `rase` is none of"), "{ran:?}");
    let ran = folder.run(&["check", "t.std", "--suppress", "none.supp"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("none.supp"), "{ran:?}");
}
