//! Reports survive being written and read; files that contradict themselves do not get in.

use event::Causality;
use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;
use report::{
    AnalysisStats, Confirm, Creation, End, Entity, Evidence, Exhibit, Finding, Kind, Origin, Problem, ProcessOf,
    PropertyResult, Report, Side, Stats, TraceFigures, Tried, Unshown, Verdict, read_json, render_json,
};

fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{0,3}", any::<String>()]
}

fn evidence() -> impl Strategy<Value = Evidence> {
    use Confirm::*;
    let witness = || vec(any::<u64>(), 0..4);
    let basis = prop_oneof![
        of(witness()).prop_map(|witness| Evidence::observed(witness.map(Into::into))),
        any::<u64>().prop_map(Evidence::observed_without_room),
        Just(Evidence::observed_without(Unshown::NoTime)),
        witness().prop_map(Evidence::predicted),
        Just(Evidence::warning()),
    ];
    let outcome = prop::sample::select(vec![Confirmed, ConfirmedFailing, NotReproduced, Diverged, Refuted]);
    (basis, vec(outcome, 0..3)).prop_map(|(basis, outcomes)| outcomes.into_iter().fold(basis, Evidence::tried))
}

fn side() -> impl Strategy<Value = Side> {
    (any::<u64>(), name(), name(), name(), vec(("[a-z]", "[a-z]"), 0..3), vec(name(), 0..3), vec("[a-z]", 0..2))
        .prop_map(|(event, thread, op, site, locks, stack, libraries)| {
            let (locks_held, lock_sites) = locks.into_iter().unzip();
            Side { event, thread, op, site, locks_held, lock_sites, stack, libraries }
        })
}

fn origin() -> impl Strategy<Value = Origin> {
    use Entity::*;
    let of = prop::sample::select(vec![Variable, Lock, Condition, Latch, Semaphore, Thread]);
    let made =
        prop::sample::select(vec![Creation::Allocated, Creation::Initialised, Creation::Defined, Creation::Created]);
    (of, name(), of_name(), made, of_name(), proptest::option::of(any::<u64>()), name(), vec(name(), 0..3)).prop_map(
        |(of, name, called, made, thread, size, site, stack)| Origin {
            of,
            name,
            called,
            made,
            thread,
            size,
            site,
            stack,
        },
    )
}

fn of_name() -> impl Strategy<Value = Option<String>> {
    of(name())
}

fn finding() -> impl Strategy<Value = Finding> {
    let kind = prop::sample::select(Kind::ALL.to_vec());
    let texts = (name(), "[0-9a-f]{1}", name(), vec(name(), 0..3));
    let process = (any::<u32>(), name(), of_name()).prop_map(|(pid, program, trace)| ProcessOf { pid, program, trace });
    let flags = (any::<bool>(), any::<bool>());
    let texts = (texts, btree_map(name(), name(), 0..2));
    (kind, evidence(), texts, vec(side(), 0..4), vec(origin(), 0..3), of(process), flags, 0..3u64).prop_map(
        |(kind, evidence, texts, sides, origins, process, (kept_apart, suppressed), merged)| {
            let ((detector, fingerprint, message, objects), called) = texts;
            let mut finding = Finding {
                kind,
                detector,
                evidence,
                fingerprint,
                message,
                objects,
                called,
                sides,
                origins,
                process,
                kept_apart,
                behind: Vec::new(),
                suppressed,
                merged,
                exhibit: Exhibit::default(),
            };
            finding.behind = if suppressed { vec![finding.clone()] } else { Vec::new() };
            finding
        },
    )
}

fn causality() -> impl Strategy<Value = Causality> {
    prop::sample::select(Causality::ALL.to_vec())
}

fn property() -> impl Strategy<Value = PropertyResult> {
    use Verdict::*;
    let verdict = prop::sample::select(vec![
        Holds,
        Violated,
        Predicted,
        Unfulfilled,
        PredictedUnfulfilled,
        Truncated,
        Unknown,
        Vacuous,
    ]);
    let end = of(prop::sample::select(vec![End::Satisfied, End::Fulfilled, End::Pending]));
    let tried =
        of(vec((causality(), of(name())).prop_map(|(causality, cut_short)| Tried { causality, cut_short }), 0..2));
    (
        (name(), name(), causality(), verdict, any::<bool>(), end, tried),
        (of(btree_map(name(), name(), 0..3)), of(any::<u64>()), of(any::<u64>()), of("[0-9]{1,40}"), of("[0-9]{1,40}")),
        (of(any::<u64>()), of(vec(any::<u64>(), 0..4)), of(any::<u64>()), of(any::<u64>())),
    )
        .prop_map(|(head, counts, rest)| PropertyResult {
            truncated: head.4,
            end: head.5,
            tried: head.6,
            instance: counts.0,
            cuts: counts.1,
            edges: counts.2,
            runs: counts.3,
            bad_runs: counts.4,
            dead_ends: rest.0,
            witness: rest.1,
            violating_event: rest.2,
            instances_omitted: rest.3,
            ..PropertyResult::new(&head.0, &head.1, head.2, head.3)
        })
}

fn trace() -> impl Strategy<Value = TraceFigures> {
    let problem =
        (of(any::<u64>()), of(name()), name()).prop_map(|(event, place, message)| Problem { event, place, message });
    (any::<[u64; 5]>(), any::<bool>(), vec(problem, 0..3), vec(name(), 0..3)).prop_map(
        |([events, threads, variables, locks, problems_omitted], complete, problems, losses)| TraceFigures {
            events,
            threads,
            variables,
            locks,
            complete,
            problems,
            problems_omitted,
            losses,
        },
    )
}

fn stats() -> impl Strategy<Value = Stats> {
    let number = || of(any::<u64>());
    let analysis = (0.0..1e9, [number(), number(), number(), number(), number()], of(name()), of(name())).prop_map(
        |(seconds, [racy_events, racy_sites, left_out, windows, undecided], truncated, note)| AnalysisStats {
            seconds,
            racy_events,
            racy_sites,
            left_out,
            windows,
            undecided,
            truncated,
            note,
        },
    );
    (0.0..1e9, any::<u64>(), btree_map(name(), analysis, 0..3))
        .prop_map(|(seconds, peak_rss_bytes, per_analysis)| Stats { seconds, peak_rss_bytes, per_analysis })
}

fn any_report() -> impl Strategy<Value = Report> {
    (name(), trace(), vec(property(), 0..3), vec(finding(), 0..6), stats()).prop_map(
        |(version, trace, properties, findings, stats)| {
            let mut report = Report::new(&version, trace);
            report.properties = properties;
            report.findings = findings.into();
            report.stats = stats;
            report
        },
    )
}

fn json(report: &Report) -> Vec<u8> {
    let mut out = Vec::new();
    render_json(report, &mut out).expect("writing to memory");
    out
}

proptest! {
    #[test]
    fn what_is_written_is_read(report in any_report()) {
        let bytes = json(&report);
        let back = read_json(&bytes).expect("its own output");
        prop_assert_eq!(&back, &report);
        prop_assert_eq!(json(&back), bytes);
    }

    #[test]
    fn any_report_can_be_shown(report in any_report(), width in 0..120usize) {
        let mut out = Vec::new();
        let options = report::TextOptions { width, ..Default::default() };
        report::render_text(&report, &options, &mut out).expect("writing to memory");
        let text = String::from_utf8(out).expect("UTF-8");
        prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
    }

    #[test]
    fn the_order_of_findings_does_not_matter(findings in vec(finding(), 0..6).prop_shuffle(), seed in 0..6usize) {
        let mut rotated = findings.clone();
        rotated.rotate_left(seed.min(findings.len()));
        prop_assert_eq!(report::Findings::from(rotated), report::Findings::from(findings));
    }

    #[test]
    fn damaged_files_are_errors(report in any_report(), at in any::<prop::sample::Index>()) {
        let bytes = json(&report);
        let object = bytes.len() - 1;
        prop_assert!(read_json(&bytes[..at.index(object)]).is_err());
    }
}

const HEAD: &str = r#"{"schema_version":1,"tool":"foretrace","version":"0","later":[],
    "trace":{"events":2,"threads":2,"variables":1,"locks":0,"complete":true}"#;

fn read_finding(fields: &str) -> Result<Report, String> {
    let finding = r#""kind":"race","detector":"hb","fingerprint":"f","message":"m","objects":["x"]"#;
    read_json(format!("{HEAD},\"findings\":[{{{finding},{fields}}}]}}").as_bytes()).map_err(|e| e.to_string())
}

#[test]
fn what_may_be_left_out_may_be_left_out() {
    let report = read_json(format!("{HEAD}}}").as_bytes()).expect("a report without findings");
    assert_eq!((report.trace.events, report.findings.len()), (2, 0));
    let report = read_finding(r#""status":"observed","events":[0,1],"threads":["a","b"]"#).expect("a short finding");
    assert_eq!(report.findings[0].sides[1], Side { event: 1, thread: "b".to_owned(), ..Side::default() });
}

#[test]
fn contradictions_name_what_is_wrong() {
    for (fields, complaint) in [
        (r#""status":"predicted","events":[],"threads":[]"#, "must have a witness"),
        (r#""status":"warning","events":[],"threads":[],"witness":[0]"#, "cannot have a witness"),
        (r#""status":"confirmed","events":[],"threads":[]"#, "must have `confirm`"),
        (r#""status":"observed","confirm":"confirmed","events":[],"threads":[]"#, "not `observed`"),
        (r#""status":"observed","events":[0,1],"threads":["a"]"#, "2 events but 1 threads"),
        (r#""status":"guessed","events":[],"threads":[]"#, "guessed"),
    ] {
        let message = read_finding(fields).expect_err(fields);
        assert!(message.contains(complaint) && message.contains("line 2"), "{message}");
    }
    let newer = HEAD.replace("\"schema_version\":1", "\"schema_version\":2") + "}";
    let message = read_json(newer.as_bytes()).expect_err("a newer schema").to_string();
    assert!(message.contains("schema_version 2"), "{message}");
}
