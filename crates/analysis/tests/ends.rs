//! Properties that another complete run leaves unfulfilled.

use analysis::{Analysis, Control, Plan};
use event::CausalityChoice;
use property::check::{AtEnd, Settings, check_file};
use property::syntax::Loader;
use report::{PropertyResult, Report, Status, TextOptions, Verdict, render_text};
use std::path::Path;
use trace::text::TextReader;
use trace::{InputPosition, Loss, Source};

/// The text of a specification.
struct Text<'a>(&'a str);

impl Loader for Text<'_> {
    fn load(&self, _: &str) -> Result<Vec<u8>, String> {
        Ok(self.0.as_bytes().to_vec())
    }
}

fn plan(spec: &str, settings: Settings) -> Plan {
    let checked = check_file("s.rvs", &Text(spec));
    assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
    let with = |plan: Plan, spec| plan.spec(spec, checked.sources.clone(), Path::new(""));
    let plan = checked.specs.into_iter().fold(Plan::new(), with);
    plan.detectors([]).options(settings)
}

fn report_of(source: &mut dyn Source, spec: &str, settings: Settings) -> (Report, Option<u8>) {
    let mut analysis = Analysis::new(plan(spec, settings)).expect("a plan");
    let outcome = analysis.run(source, &Control::none()).expect("an outcome");
    (outcome.report, outcome.exit)
}

fn report(trace: &str, spec: &str, settings: Settings) -> (Report, Option<u8>) {
    report_of(&mut TextReader::new(trace.as_bytes()), spec, settings)
}

fn verdict(trace: &str, spec: &str, settings: Settings) -> Verdict {
    report(trace, spec, settings).0.properties[0].verdict
}

const RESPONSE: &str = "spec R { target c; event req at c req; event resp at c resp;
  property answered future { always (req -> eventually resp) }
  on unfulfilled { report \"left alone\"; } on predicted { exit 11; } }\n";

const TRACE: &str = "M|fork(A)|m:1\nM|fork(B)|m:2\nA|ev(req)|a.c:1\nB|ev(resp)|b.c:2\nM|join(A)|m:3\n";

#[test]
fn another_complete_run_may_leave_a_request_open() {
    let (report, exit) = report(TRACE, RESPONSE, Settings::default());
    let PropertyResult { verdict, witness, violating_event, causality, .. } = &report.properties[0];
    assert_eq!((*verdict, *violating_event, exit), (Verdict::PredictedUnfulfilled, Some(2), Some(11)));
    assert_eq!((witness.as_deref(), causality.text()), (Some(&[0, 1, 3, 2, 4][..]), "full-hb"));
    let finding = report.findings.iter().next().expect("a finding");
    assert_eq!(finding.status(), Status::Predicted);
    let expected = "answered is not fulfilled at the end of another complete run, which full-hb admits: left alone";
    assert_eq!(finding.message, expected);

    let mut text = Vec::new();
    render_text(&report, &TextOptions { width: 200, ..TextOptions::default() }, &mut text).expect("room");
    let text = String::from_utf8(text).expect("text");
    assert!(text.contains("answered  predicted-unfulfilled  future, full-hb, provisional"), "{text}");
    assert!(text.contains("more steps might fulfil it; B was never joined"), "{text}");
}

#[test]
fn runs_that_are_no_complete_ones_and_rules_without_an_end_say_nothing() {
    let usual = Settings::default();
    let ordered = "M|fork(A)|m:1\nA|ev(req)|a.c:1\nM|join(A)|m:3\nM|ev(resp)|m.c:2\n";
    assert_eq!(verdict(ordered, RESPONSE, usual), Verdict::Holds);
    let open = "B|ev(resp)|b.c:2\nA|ev(req)|a.c:1\n";
    assert_eq!(verdict(open, RESPONSE, usual), Verdict::Unfulfilled);
    assert_eq!(verdict(TRACE, RESPONSE, Settings { at_end: Some(AtEnd::None), ..usual }), Verdict::Holds);
    let observed = Settings { causality: Some(CausalityChoice::OBSERVED), ..usual };
    assert_eq!(verdict(TRACE, RESPONSE, observed), Verdict::Holds);
}

/// A trace of which something is missing.
struct Incomplete<'a>(TextReader<&'a [u8]>, Vec<Loss>);

impl Source for Incomplete<'_> {
    fn next_batch(&mut self, batch: &mut event::Batch) -> Result<bool, trace::Error> {
        self.0.next_batch(batch)
    }
    fn names(&self) -> &event::Names {
        self.0.names()
    }
    fn meta(&self) -> &event::Meta {
        self.0.meta()
    }
    fn losses(&self) -> &[Loss] {
        &self.1
    }
    fn place(&self, index: usize) -> Option<InputPosition> {
        self.0.place(index)
    }
    fn consumed(&self) -> u64 {
        self.0.consumed()
    }
}

#[test]
fn an_incomplete_trace_says_nothing_about_ends() {
    let mut source = Incomplete(TextReader::new(TRACE.as_bytes()), vec![Loss::killed()]);
    let (report, _) = report_of(&mut source, RESPONSE, Settings::default());
    assert_ne!(report.properties[0].verdict, Verdict::PredictedUnfulfilled);
    assert_eq!(report.findings.iter().count(), 0);
}

#[test]
fn the_end_counts_for_each_instance() {
    let closed = "spec C { target java; shared int v[o : object<C>] = 0 at java C.v;
      property closed(o : object<C>) future { always (v[o] == 1 -> eventually v[o] == 2) } }\n";
    // Of the first and the third object nothing orders the two writes, and the first is freed.
    let trace = "A|w(C.v@1)=1|a:1\nB|w(C.v@1)=2|b:1\nA|free(C.v@1)|a:2\n\
                 A|w(C.v@2)=1|a:3\nA|w(C.v@2)=2|a:4\nA|w(C.v@3)=1|a:5\nB|w(C.v@3)=2|b:2\n";
    let (report, _) = report(trace, closed, Settings::default());
    let instance = |result: &PropertyResult| result.instance.as_ref().map(|instance| instance["o"].clone());
    let of: Vec<_> = report.properties.iter().map(|result| (instance(result), result.verdict)).collect();
    let open = |name: &str| (Some(name.to_owned()), Verdict::PredictedUnfulfilled);
    assert_eq!(of, [(None, Verdict::PredictedUnfulfilled), open("C@1"), open("C@3")]);
}
