//! Warnings are quiet unless they tell something.

use crate::common::Folder;
use serde_json::Value;

/// What `check` prints of a trace, and its JSON.
fn check(trace: &str, args: &[&str]) -> (String, Value) {
    let folder = Folder::new();
    folder.write("t.std", trace);
    let ran = folder.ok(&[&["check", "t.std", "--json", "out.json"], args].concat());
    (ran.stdout, serde_json::from_slice(&folder.read("out.json")).expect("JSON"))
}

/// A buffer that one thread fills, and hands over by a queue under a lock to another, which changes it.
const HANDED_OVER: &str = "\
main|fork(A)|
main|fork(B)|
A|w(buffer)=1|fill a.c:1
A|acq(queue)|
A|w(head)=1|
A|rel(queue)|
B|acq(queue)|
B|r(head)=1|
B|rel(queue)|
B|w(buffer)=2|change b.c:4
";

#[test]
fn what_was_handed_over_is_only_counted() {
    let (text, json) = check(HANDED_OVER, &[]);
    assert!(!text.contains("warning: race"), "{text}");
    let counted = "\
warnings  1 variable is accessed without a common lock, in an order that the program seems to make;
          --warnings shows more

no findings; 1 warning with --warnings
";
    assert!(text.ends_with(counted), "{text}");
    let warning = &json["findings"][0];
    assert_eq!((&warning["status"], &warning["detector"]), (&"warning".into(), &"lockset".into()), "{json}");
    assert_eq!((&warning["kept_apart"], &warning["objects"][0]), (&true.into(), &"buffer".into()), "{json}");
    // Nothing is lost: it is shown where it is asked for, and counts where warnings do.
    let (text, _) = check(HANDED_OVER, &["--warnings"]);
    assert!(text.contains("warning: race on buffer: fill a.c:1 and change b.c:4\n"), "{text}");
    assert!(text.ends_with("no findings; 1 warning\n"), "{text}");
    let folder = Folder::new();
    folder.write("t.std", HANDED_OVER);
    assert_eq!(folder.run(&["check", "t.std", "--strict"]).code, Some(1));
    let (text, _) = check(HANDED_OVER, &["--detect", "all,-lockset"]);
    assert!(text.ends_with("no findings\n"), "{text}");
}

#[test]
fn what_was_handed_over_far_away_is_only_counted_too() {
    let far: String = (0..50).map(|_| "A|ev(tick)|\n").collect();
    let trace = HANDED_OVER.replace("B|acq", &format!("{far}B|acq"));
    let (text, json) = check(&trace, &["--window", "20"]);
    assert_eq!(json["findings"][0]["kept_apart"], true, "{json}");
    assert!(text.contains("warnings  1 variable is accessed"), "{text}");
}

#[test]
fn what_was_not_decided_is_a_line_for_each_variable_globals_first() {
    let on = |name: &str| HANDED_OVER.replace("buffer", name).replace("main|fork(A)|\nmain|fork(B)|\n", "");
    let trace = format!("main|fork(A)|\nmain|fork(B)|\n{}{}", on("Item.next@3"), on("total"));
    let trace = trace + "B|w(total)=3|again b.c:9\nA|w(total)=4|more a.c:9\n";
    let (text, _) = check(&trace, &["--detect", "lockset"]);
    let lines = "
warnings  race on total: fill a.c:1 and change b.c:4: no common lock (and 2 warnings alike)
          race on Item.next@3: fill a.c:1 and change b.c:4: no common lock

no findings; 4 warnings
";
    assert!(text.ends_with(lines), "{text}");
}

#[test]
fn what_forks_joins_and_frees_keep_in_order_is_no_warning() {
    let trace = "\
main|w(x)=1|
main|fork(A)|
A|w(x)=2|
main|join(A)|
main|w(x)=3|
main|fork(B)|
B|r(x)=3|
main|r(x)=3|
B|w(y)=1|
main|free(y)|
";
    for args in [&["--detect", "lockset"][..], &["--detect", "lockset", "--warnings"]] {
        let (text, json) = check(trace, args);
        assert!(text.ends_with("no findings\n"), "{text}");
        assert_eq!(json["findings"], serde_json::json!([]));
    }
}
