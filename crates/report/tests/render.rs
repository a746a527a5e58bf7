//! What users see: whole reports as text and as JSON, byte for byte.

use event::Causality;
use insta::assert_snapshot;
use report::{
    AnalysisStats, Confirm, Evidence, Finding, Kind, Problem, PropertyResult, Report, Schedule, Side, Step,
    TextOptions, TraceFigures, Tried, Verdict, fingerprint, read_json, render_json, render_text, site_identity,
};

fn text_with(report: &Report, options: &TextOptions) -> String {
    let mut out = Vec::new();
    render_text(report, options, &mut out).expect("writing to memory");
    String::from_utf8(out).expect("UTF-8")
}

fn text(report: &Report) -> String {
    text_with(report, &TextOptions::default())
}

fn json(report: &Report) -> String {
    let mut out = Vec::new();
    render_json(report, &mut out).expect("writing to memory");
    assert_eq!(&read_json(&out).expect("its own output"), report);
    String::from_utf8(out).expect("UTF-8")
}

fn report(events: u64, threads: u64, variables: u64, locks: u64) -> Report {
    Report::new("0.1.0", TraceFigures { events, threads, variables, locks, ..TraceFigures::default() })
}

fn side(event: u64, thread: &str, op: &str, site: &str, locks: &[&str]) -> Side {
    Side {
        event,
        thread: thread.to_owned(),
        op: op.to_owned(),
        site: site.to_owned(),
        locks_held: locks.iter().map(|&l| l.to_owned()).collect(),
        ..Side::default()
    }
}

fn finding(
    kind: Kind,
    detector: &str,
    evidence: Evidence,
    message: &str,
    objects: &[&str],
    sides: Vec<Side>,
) -> Finding {
    let identities: Vec<&str> = sides.iter().map(|s| site_identity(&s.site)).collect();
    let fingerprint = fingerprint(kind, &identities, &objects.join(" "));
    let mut finding = Finding::new(kind, detector, evidence, fingerprint, message.to_owned());
    finding.objects = objects.iter().map(|&o| o.to_owned()).collect();
    finding.sides = sides;
    finding
}

fn race(evidence: Evidence) -> Finding {
    let mut sides =
        vec![side(3, "T1", "w(x)=1", "Main.java:12", &["l"]), side(5, "main", "r(x)=0", "Main.java:200", &[])];
    sides[0].stack = vec!["Main.bump (Main.java:12)".to_owned(), "Worker.run (Worker.java:7)".to_owned()];
    sides[1].stack = vec!["Main.main (Main.java:200)".to_owned()];
    let message =
        "the two accesses can come next to each other: no lock is held in common and nothing else orders them";
    finding(Kind::Race, "sync-preserving", evidence, message, &["x"], sides)
}

fn lockset_warning() -> Finding {
    let sides = vec![side(1, "T1", "w(count)", "17", &["a"]), side(8, "T2", "w(count)", "23", &["b"])];
    finding(Kind::Race, "lockset", Evidence::warning(), "no lock protects every access", &["count"], sides)
}

#[test]
fn empty() {
    assert_snapshot!("empty_text", text(&report(0, 0, 0, 0)));
    assert_snapshot!("empty_json", json(&report(0, 0, 0, 0)));
}

#[test]
fn race_with_witness() {
    let mut report = report(8, 2, 1, 1);
    report.findings.add([race(Evidence::predicted(vec![0, 1, 2, 4, 3, 5]))]);
    report.stats.seconds = 0.25;
    report.stats.peak_rss_bytes = 1 << 20;
    let hb = AnalysisStats { seconds: 0.125, racy_events: Some(0), racy_sites: Some(0), ..AnalysisStats::default() };
    report.stats.per_analysis.insert("hb".to_owned(), hb);
    report.stats.per_analysis.insert("deadlock".to_owned(), AnalysisStats::default());
    assert_snapshot!("race_with_witness_text", text(&report));
    assert_snapshot!("race_with_witness_json", json(&report));
}

#[test]
fn deadlock_of_three_threads() {
    let mut report = report(1000, 4, 2, 3);
    let sides = vec![
        side(10, "philosopher-1", "acq(fork-2)", "Table.java:31", &["fork-1"]),
        side(400, "philosopher-2", "acq(fork-3)", "Table.java:31", &["fork-2"]),
        side(999, "philosopher-3", "acq(fork-1)", "Table.java:40", &["fork-3"]),
    ];
    let message = "each thread holds the lock that the one before it requests";
    let objects = ["fork-1", "fork-2", "fork-3"];
    let evidence = Evidence::predicted((0..100).collect()).tried(Confirm::ConfirmedFailing);
    report.findings.add([finding(Kind::Deadlock, "deadlock", evidence, message, &objects, sides)]);
    assert_snapshot!("deadlock_of_three_threads_text", text(&report));
    assert_snapshot!("deadlock_of_three_threads_json", json(&report));
}

#[test]
fn warning_only() {
    let mut report = report(9, 2, 1, 2);
    report.findings.add([lockset_warning(), lockset_warning()]);
    assert_snapshot!("warning_only_text", text(&report));
    assert_snapshot!("warning_only_json", json(&report));
}

#[test]
fn incomplete_trace() {
    let mut report = report(25, 2, 1, 1);
    report.trace.complete = false;
    report.trace.losses = vec!["byte 4096: the file ends within a chunk".to_owned()];
    report.trace.problems = (0..25)
        .map(|i| Problem {
            event: (i % 2 == 0).then_some(i),
            place: Some(format!("line {}", i + 1)),
            message: "T1 gives back lock l, which it does not hold".to_owned(),
        })
        .collect();
    assert_snapshot!("incomplete_trace_text", text(&report));
    report.trace.problems.truncate(2);
    assert_snapshot!("incomplete_trace_json", json(&report));
}

#[test]
fn property_predicted() {
    let mut report = report(4, 2, 3, 0);
    let mut landing = PropertyResult::new("landing", "ptltl", Causality::FullHb, Verdict::Predicted);
    landing.cuts = Some(6);
    landing.edges = Some(7);
    landing.runs = Some("3".to_owned());
    landing.bad_runs = Some("2".to_owned());
    landing.tried =
        Some(vec![Tried { causality: Causality::Maximal, cut_short: Some("no values were recorded".to_owned()) }]);
    landing.witness = Some(vec![0, 2, 1]);
    landing.violating_event = Some(1);
    let mut cut_short = PropertyResult::new("mutex", "ere", Causality::FullHb, Verdict::Truncated);
    cut_short.instance = Some([("o".to_owned(), "C@3".to_owned())].into());
    report.properties = vec![landing, cut_short];
    let message = "landing -> [approved, !radio) is false after event 1";
    let sides = vec![side(1, "T1", "w(landing)=1", "", &[])];
    let evidence = Evidence::predicted(vec![0, 2, 1]);
    report.findings.add([finding(Kind::Property, "landing", evidence, message, &["landing"], sides)]);
    assert_snapshot!("property_predicted_text", text(&report));
    assert_snapshot!("property_predicted_json", json(&report));
}

#[test]
fn orders_beside_each_other() {
    let mut report = report(9, 2, 2, 0);
    let mut wide = PropertyResult::new("q", "past", Causality::WeakHb, Verdict::Holds);
    wide.tried = Some(vec![
        Tried { causality: Causality::FullHb, cut_short: None },
        Tried { causality: Causality::Maximal, cut_short: Some("10 seconds".to_owned()) },
    ]);
    let mut cut_short = PropertyResult::new("r", "past", Causality::SyncOnly, Verdict::Truncated);
    cut_short.cut_short = vec!["50 cuts a level".to_owned()];
    report.properties = vec![wide, cut_short];
    let step = |thread: &str, text: &str| Step { thread: thread.to_owned(), text: text.to_owned(), ..Step::default() };
    let (first, second) = (step("T1", "w(x)=1"), step("T2", "w(y)=1"));
    let gap = step("", "… 4 events as recorded");
    let recorded = vec![gap.clone(), first.clone(), second.clone()];
    let predicted = vec![gap, Step { moved: true, ..second }, Step { mark: "violation".to_owned(), ..first }];
    let sides = vec![side(4, "T1", "w(x)=1", "a.c:1", &[])];
    let evidence = Evidence::predicted(vec![0, 1, 2, 3, 5, 4]);
    let mut finding = finding(Kind::Property, "p", evidence, "p is violated", &["p"], sides);
    finding.exhibit.entries = vec![("values".to_owned(), "x = 1, y = 1".to_owned())];
    finding.exhibit.schedules = vec![
        Schedule { title: "recorded".to_owned(), steps: recorded },
        Schedule { title: "predicted".to_owned(), steps: predicted },
    ];
    report.findings.add([finding]);
    assert_snapshot!(text(&report));
}

#[test]
fn mixed_in_color() {
    let mut report = report(9, 2, 2, 2);
    let mut suppressed = lockset_warning();
    suppressed.suppressed = true;
    suppressed.fingerprint = "0".repeat(16);
    let mut observed = race(Evidence::observed(None));
    observed.fingerprint = "1".repeat(16);
    report.findings.add([suppressed, lockset_warning(), race(Evidence::predicted(vec![5, 3])), observed]);
    let colored = text_with(&report, &TextOptions { color: true, width: 60, ..TextOptions::default() });
    assert_snapshot!(colored.replace('\x1b', "ESC"));
}

/// No byte of a hostile trace reaches the terminal as a control character, and none breaks a line.
#[test]
fn hostile_names_are_harmless() {
    let evil = "x\x1b]0;owned\x07\r\n\u{9b}31m\u{202e}";
    let mut report = report(1, 1, 1, 1);
    report.trace.complete = false;
    report.trace.losses = vec![evil.to_owned()];
    report.trace.problems = vec![Problem { event: None, place: Some(evil.to_owned()), message: evil.to_owned() }];
    let mut property = PropertyResult::new(evil, evil, Causality::Maximal, Verdict::Holds);
    property.instance = Some([(evil.to_owned(), evil.to_owned())].into());
    property.runs = Some(evil.to_owned());
    report.properties = vec![property];
    let mut sides = vec![side(0, evil, evil, evil, &[evil]), side(1, evil, evil, evil, &[evil])];
    sides[0].stack = vec![evil.to_owned()];
    let mut finding = finding(Kind::Race, evil, Evidence::warning(), evil, &[evil], sides);
    finding.fingerprint = evil.to_owned();
    report.findings.add([finding.clone()]);
    // The JSON does not have this, and would not come back as it was.
    let mut shown = report.clone();
    finding.exhibit.entries = vec![(evil.to_owned(), evil.to_owned())];
    let step =
        |thread: &str| Step { thread: thread.to_owned(), text: evil.to_owned(), moved: true, mark: evil.to_owned() };
    finding.exhibit.schedules = vec![Schedule { title: evil.to_owned(), steps: vec![step(evil), step("")] }];
    shown.findings = [finding].into_iter().collect();
    let text = text(&shown);
    assert!(!text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{text:?}");
    assert!(text.lines().all(|line| !line.starts_with("31m")), "{text}");
    assert!(json(&report).chars().all(|c| c == '\n' || !c.is_ascii_control()));
    let notes = report::notes(&report).concat();
    assert!(!notes.chars().any(|c| c.is_control()), "{notes:?}");
}
