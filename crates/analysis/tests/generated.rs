//! All detectors over generated traces of many shapes: whatever they claim, the checker accepts.

use analysis::{Analysis, Control, Plan};
use generate::{Generator, Options};
use std::time::Duration;
use trace::Trace;
use trace::text::{TextReader, TextWriter};

/// A shape for each number: few and many threads, variables, locks and waits.
fn shape(number: u64) -> Options {
    let pick = |from: &[u32], salt: u64| from[(number.wrapping_mul(2 * salt + 1) / (salt + 1)) as usize % from.len()];
    let (threads, locks) = (pick(&[2, 3, 5, 9, 80], 0), pick(&[1, 3, 8, 30], 1));
    let fraction = |from: &[u32], salt| f64::from(pick(from, salt)) / 100.0;
    Options {
        events: 1500 + 500 * (number % 6),
        threads,
        locks,
        vars: threads + locks + pick(&[5, 40, 150, 400], 2),
        seed: number,
        quantum: f64::from(pick(&[2, 7, 40], 3)),
        cslen: f64::from(pick(&[1, 3, 8], 4)),
        pcs: fraction(&[6, 20, 50], 5),
        racy: fraction(&[0, 1, 5], 6),
        nest: fraction(&[0, 10, 40], 7),
        rev: fraction(&[0, 10, 50], 8),
        writes: fraction(&[20, 30, 60], 9),
        txn: number.is_multiple_of(4),
        values: !number.is_multiple_of(3),
        readers: fraction(&[0, 20], 10),
        waits: fraction(&[0, 10, 30, 60], 11),
        stranded: number.is_multiple_of(7) && !number.is_multiple_of(5),
        churn: if number.is_multiple_of(11) { 0.05 } else { 0.0 },
        all_ops: !number.is_multiple_of(5),
        ..Options::default()
    }
}

/// The lines in which a detector says that something is wrong with it.
fn faults(options: Options) -> (usize, Vec<String>) {
    // Read from text, names have their numbers in the order in which they occur.
    let generated = Trace::read(&mut Generator::new(options).expect("options")).expect("a trace");
    let mut writer = TextWriter::new(Vec::new());
    writer.write_batch(&generated.names, &generated.batch).expect("room");
    let text = writer.finish(&[]).expect("room");
    let mut source = TextReader::new(text.as_slice());
    let mut analysis = Analysis::new(Plan::new().search_time(Some(Duration::from_millis(300)))).expect("a plan");
    let outcome = analysis.run(&mut source, &Control::none()).expect("an outcome");
    let is_fault = |line: &String| line.contains("FAULT") || line.contains("refused");
    let lines = outcome.report.stats.per_analysis.values().filter_map(|stats| stats.truncated.clone());
    let messages = analysis.take_messages().into_iter().map(|message| format!("{message:?}"));
    (outcome.report.findings.iter().count(), lines.chain(messages).filter(is_fault).collect())
}

#[test]
fn no_claim_is_refused() {
    let mut findings = 0;
    for number in 0..cases(200) {
        let (found, faults) = faults(shape(number));
        assert_eq!(faults, Vec::<String>::new(), "{:?}", shape(number));
        findings += found;
    }
    assert!(findings > 500, "{findings}");
}

/// `FORETRACE_CASES`, or so many.
fn cases(usual: u64) -> u64 {
    std::env::var("FORETRACE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}
