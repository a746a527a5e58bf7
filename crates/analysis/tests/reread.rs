//! A trace that is not retained, but read again: the same findings as of one that is.

use analysis::{Analysis, Control, EachBatch, Plan};
use event::Batch;
use generate::{Generator, Options};
use oracle::random::Random;
use oracle::schedule::{faulty_trace, waiting_trace};
use report::{Finding, Report};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use trace::text::{TextReader, TextWriter};
use trace::{Source, Trace};

/// What a report says beside times.
fn said(report: &Report) -> (Vec<String>, BTreeMap<String, String>) {
    let finding = |finding: &Finding| {
        let sides = finding.sides.iter().map(|side| (side.event, side.op.clone(), side.stack.clone()));
        let sides: Vec<_> = sides.collect();
        format!("{:?} {} {:?} {sides:?} {:?}", finding.status(), finding.fingerprint, finding.kind, finding.kept_apart)
    };
    let mut findings: Vec<String> = report.findings.iter().map(finding).collect();
    findings.sort();
    let stats = report.stats.per_analysis.iter().map(|(name, stats)| {
        let truncated = stats.truncated.clone().map(|text| text.contains("seconds in all"));
        (name.clone(), format!("{:?} {:?} {:?} {truncated:?}", stats.racy_events, stats.left_out, stats.windows))
    });
    (findings, stats.collect())
}

fn analysed(text: &str, plan: Plan) -> Report {
    let reread = |_: u64, each: &mut EachBatch<'_>| {
        let mut source = TextReader::new(text.as_bytes());
        let mut batch = Batch::default();
        while source.next_batch(&mut batch).expect("the same text") {
            if each(&source, &batch).is_break() {
                break;
            }
        }
    };
    static NEVER: AtomicBool = AtomicBool::new(false);
    let control = Control { cancel: &NEVER, progress: &(), reread: Some(&reread) };
    let mut analysis = Analysis::new(plan).expect("a plan");
    analysis.run(&mut TextReader::new(text.as_bytes()), &control).expect("an outcome").report
}

fn generated(number: u64) -> String {
    let options = Options {
        events: 1000,
        threads: 2 + (number % 4) as u32,
        locks: 2,
        vars: 20,
        seed: number,
        racy: if number.is_multiple_of(3) { 0.02 } else { 0.0 },
        waits: if number.is_multiple_of(2) { 0.2 } else { 0.0 },
        nest: if number.is_multiple_of(5) { 0.2 } else { 0.0 },
        values: number.is_multiple_of(4),
        txn: number.is_multiple_of(7),
        ..Options::default()
    };
    let generated = Trace::read(&mut Generator::new(options).expect("options")).expect("a trace");
    let mut writer = TextWriter::new(Vec::new());
    writer.write_batch(&generated.names, &generated.batch).expect("room");
    String::from_utf8(writer.finish(&[]).expect("room")).expect("text")
}

#[test]
fn what_is_read_again_gives_the_same_findings() {
    let mut findings = 0;
    for number in 0..400 {
        let mut r = Random::new(number);
        let text = match number % 8 {
            0 => generated(number / 8),
            1..5 => faulty_trace(&mut r),
            _ => waiting_trace(&mut r),
        };
        let whole = said(&analysed(&text, Plan::new()));
        let again = said(&analysed(&text, Plan::new().rereadable(true).retain_at_first(number as usize % 3)));
        // Where nothing is searched, the witness of an observed race is looked for in another way.
        assert_eq!(whole, again, "{number}\n{text}");
        findings += whole.0.len();
    }
    assert!(findings > 100, "{findings}");
}
