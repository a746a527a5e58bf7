//! Misuse of locks and memory, from the command line: each is reported once, by the part that knows it best.

use crate::common::{Folder, Ran};
use serde_json::{Value, json};

fn check(trace: &str, args: &[&str]) -> (Ran, Value) {
    let folder = Folder::new();
    folder.write("t.std", trace);
    let ran = folder.run(&[&["check", "t.std", "--json", "out.json"], args].concat());
    let json = serde_json::from_slice(&folder.read("out.json")).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
    (ran, json)
}

/// What the findings say: kind, status, events, and why.
fn misuses(json: &Value) -> Vec<String> {
    let finding = |f: &Value| {
        let text = |key: &str| f[key].as_str().unwrap().to_owned();
        format!("{} {} {} {}", text("status"), text("kind"), f["events"], text("message"))
    };
    json["findings"].as_array().unwrap().iter().map(finding).collect()
}

#[test]
fn each_misuse_is_reported_with_why() {
    for (trace, expected) in [
        (
            "A|acq(m)|1\nA|rel(m)|2\nA|rel(m)|3\n",
            "observed misuse [2] A unlocks m, which it does not hold, nor does another thread",
        ),
        ("A|acq(m)|1\nB|rel(m)|2\nA|rel(m)|3\n", "observed misuse [0,1] B unlocks m, which A holds"),
        (
            "A|acq(m)|1\nA|rel(m)|2\nB|rrel(m)|3\n",
            "observed misuse [2] B unlocks m, which it does not hold, nor does another thread",
        ),
        (
            "A|acq(m)|1\nA|req(m)|2\n",
            "observed misuse [0,1] A asks for m, which it holds already: it waits for itself, and the run ended so",
        ),
        (
            "A|w(x)|1\nA|free(x)|2\nA|r(x)|3\n",
            "observed misuse [1,2] A uses x after A freed it, and before it is allocated again",
        ),
        ("A|alloc(x)|1\nA|free(x)|2\nA|free(x)|3\n", "observed misuse [1,2] A frees x, which A freed before"),
        (
            "A|acq(m)|1\nA|ev(foretrace.misuse,\"destroyed while locked\",\"m\")|2\n",
            "observed misuse [1] A: destroyed while locked (seen by the recorder)",
        ),
        // Its order is known, so it is no race.
        (
            "A|fork(B)|1\nA|free(x)|2\nA|post(o)|3\nB|await(o)|4\nB|w(x)|5\n",
            "observed misuse [1,4] B uses x after A freed it, and before it is allocated again",
        ),
        // What is missing may be what makes it right.
        (
            "#! incomplete chunks were dropped\nA|acq(m)|1\nA|rel(m)|2\nA|rel(m)|3\n",
            "warning misuse [2] A unlocks m, which it does not hold, nor does another thread",
        ),
        (
            "#! incomplete chunks were dropped\nA|ev(foretrace.misuse,\"destroyed while locked\",\"m\")|2\n",
            "observed misuse [0] A: destroyed while locked (seen by the recorder)",
        ),
        (
            "A|acq(m)|1\nA|rel(m)|2\nA|rel(m)~|3\n",
            "warning misuse [2] A unlocks m, which it does not hold, nor does another thread; only a warning, for it \
             rests on event 2, of whose value or place the recorder was not sure",
        ),
    ] {
        let (ran, json) = check(trace, &["--detect", "hb,sync-preserving,maximal,deadlock,misuse"]);
        assert_eq!(misuses(&json), [expected], "{trace}");
        assert_eq!(ran.code, Some(i32::from(expected.starts_with("observed"))), "{ran:?}");
        assert!(!ran.stdout.contains("problem") && !ran.stderr.contains("problem"), "{ran:?}");
    }
}

#[test]
fn what_is_right_is_not_reported() {
    for trace in [
        "A|acq(m)|1\nA|acq(m)|2\nA|rel(m)|3\nA|rel(m)|4\n",
        "A|acq(m)|1\nA|req(m)|2\nA|acq(m)|3\nA|rel(m)|4\nA|rel(m)|5\n",
        "A|acq(m)|1\nA|wait(c,m)|2\nA|woken(c,m)=spurious|3\nA|rel(m)|4\n",
        "A|free(x)|1\nA|alloc(x)|2\nA|w(x)|3\nA|free(x)|4\n",
        "A|acq(m)|1\nB|req(m)|2\n",
        "A|ev(misuse,\"a\",\"b\")|1\n",
    ] {
        let (ran, json) = check(trace, &["--detect", "misuse"]);
        assert_eq!((misuses(&json).len(), ran.code), (0, Some(0)), "{trace}: {json}");
    }
}

/// A lock without an acquire may have been held from the beginning: that is for the list of problems.
#[test]
fn a_lock_that_nobody_took_is_a_problem_of_the_trace() {
    let (ran, json) = check("A|rel(m)|1\n", &[]);
    assert_eq!((misuses(&json).len(), ran.code), (0, Some(0)), "{json}");
    assert!(ran.stdout.contains("A releases m, which it does not hold"), "{}", ran.stdout);
    // And so is an unlock, without the detector `misuse`.
    let (ran, json) = check("A|acq(m)|1\nA|rel(m)|2\nA|rel(m)|3\n", &["--detect", "hb"]);
    assert_eq!((misuses(&json).len(), ran.code), (0, Some(0)), "{json}");
    assert!(ran.stdout.contains("event 2: A releases m, which it does not hold"), "{}", ran.stdout);
}

#[test]
fn a_use_that_races_with_the_free_is_reported_as_a_race() {
    let trace = "A|alloc(x)|1\nA|fork(B)|2\nA|free(x)|3\nB|r(x)|4\n";
    let (_, json) = check(trace, &[]);
    assert_eq!(json["findings"].as_array().unwrap().len(), 1, "{json}");
    assert_eq!((&json["findings"][0]["kind"], &json["findings"][0]["events"]), (&json!("race"), &json!([2, 3])));
    let (_, json) = check(trace, &["--detect", "misuse"]);
    assert_eq!(misuses(&json), ["observed misuse [2,3] B uses x after A freed it, and before it is allocated again"]);
}

#[test]
fn a_misuse_can_be_suppressed() {
    let folder = Folder::new();
    folder.write("t.std", "A|acq(m)|1\nA|rel(m)|2\nA|rel(m)|unlock a.c:3\n");
    folder.write("s.rvs", "spec S { target c; suppress misuse at \"a.c:3\"; }\n");
    let ran = folder.run(&["check", "t.std", "--spec", "s.rvs"]);
    assert!(ran.code == Some(0) && ran.stdout.contains("1 suppressed"), "{ran:?}");
}

#[test]
fn many_of_the_same_are_one() {
    let mut trace = "A|acq(m)|1\nA|rel(m)|2\n".to_owned();
    trace.push_str(&"A|rel(m)|unlock_all a.c:3\n".repeat(50));
    let (ran, json) = check(&trace, &[]);
    assert_eq!((misuses(&json).len(), &json["findings"][0]["merged"]), (1, &json!(49)), "{json}");
    assert!(ran.stdout.contains("observed misuse of m: unlock_all a.c:3"), "{}", ran.stdout);
    assert_eq!(json["findings"][0]["objects"], json!(["m"]));
}
