//! What a result means for the exit code and for standard error.

use crate::{Report, Status, plain::harmless};

/// 1 if something new was observed, predicted or confirmed, else 0. With `strict`, an unsuppressed warning, a search
/// that was cut short, a finding that is not listed and an incomplete trace give 1 too. (2, that the tool or its
/// input failed, is not for a report to say.)
pub fn exit_code(report: &Report, strict: bool) -> u8 {
    let found = report.findings.iter().any(|f| !f.suppressed && (strict || f.status() != Status::Warning));
    let doubtful = is_truncated(report) || unlisted(report).next().is_some() || !report.trace.is_complete();
    u8::from(found || (strict && doubtful))
}

/// Whether a search was cut short, so that "nothing found" does not mean "nothing there".
pub(crate) fn is_truncated(report: &Report) -> bool {
    report.properties.iter().any(|p| p.is_truncated())
        || report.stats.per_analysis.values().any(|a| a.truncated.is_some())
}

/// Analyses that found more than the report lists, and how much more.
pub(crate) fn unlisted(report: &Report) -> impl Iterator<Item = (&str, u64)> {
    let analyses = report.stats.per_analysis.iter();
    analyses.filter_map(|(name, analysis)| Some((name.as_str(), analysis.left_out.filter(|&more| more > 0)?)))
}

/// The lines that must stand on standard error so that a result is not taken for more than it is.
pub fn notes(report: &Report) -> Vec<String> {
    let mut notes = Vec::new();
    let trace = &report.trace;
    if !trace.is_complete() {
        notes.push(match trace.losses.as_slice() {
            [] => "the trace is incomplete: what is missing was not analysed".to_owned(),
            [only] => format!("the trace is incomplete: {}", harmless(only)),
            [first, rest @ ..] => format!("the trace is incomplete: {} (and {} more)", harmless(first), rest.len()),
        });
    }
    if let Some(first) = trace.problems.first() {
        let place = first.place.as_ref().map(|p| format!("{p}: ")).unwrap_or_default();
        let first = harmless(&format!("{place}{}", first.message)).into_owned();
        notes.push(match trace.problems.len() as u64 + trace.problems_omitted {
            1 => format!("the trace has a problem: {first}"),
            n => format!("the trace has {n} problems, the first: {first}"),
        });
    }
    let cut_short = || report.properties.iter().filter(|p| p.is_truncated());
    for property in cut_short() {
        let instance = property.instance_text().map(|i| format!(" {i}")).unwrap_or_default();
        // The property as a whole speaks for its instances.
        if !instance.is_empty() && cut_short().any(|p| p.instance.is_none() && p.name == property.name) {
            continue;
        }
        let why =
            if property.cut_short.is_empty() { String::new() } else { format!(": {}", property.cut_short.join("; ")) };
        let name = format!("{}{instance}", property.name);
        notes.push(harmless(&format!("the search for violations of {name} was cut short{why}")).into_owned());
    }
    for (name, analysis) in &report.stats.per_analysis {
        if let Some(what) = &analysis.truncated {
            notes.push(format!("{} was cut short: {}", harmless(name), harmless(what)));
        }
        if let Some(what) = &analysis.note {
            notes.push(format!("{}: {}", harmless(name), harmless(what)));
        }
    }
    for (name, more) in unlisted(report) {
        notes.push(format!("{} found {more} more, which are only counted", harmless(name)));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnalysisStats, Evidence, Finding, Kind, PropertyResult, TraceFigures, Verdict};
    use event::Causality;

    fn codes(report: &Report) -> (u8, u8) {
        (exit_code(report, false), exit_code(report, true))
    }

    fn empty() -> Report {
        Report::new("0", TraceFigures::default())
    }

    fn with(evidence: Evidence, suppressed: bool) -> Report {
        let mut report = empty();
        let mut finding = Finding::new(Kind::Race, "hb", evidence, "f".to_owned(), String::new());
        finding.suppressed = suppressed;
        report.findings.add([finding]);
        report
    }

    #[test]
    fn findings_count_unless_suppressed_and_warnings_only_when_strict() {
        assert_eq!(codes(&empty()), (0, 0));
        assert_eq!(codes(&with(Evidence::observed(None), false)), (1, 1));
        assert_eq!(codes(&with(Evidence::predicted(vec![0]), false)), (1, 1));
        assert_eq!(codes(&with(Evidence::warning().tried(crate::Confirm::Confirmed), false)), (1, 1));
        assert_eq!(codes(&with(Evidence::warning(), false)), (0, 1));
        assert_eq!(codes(&with(Evidence::observed(None), true)), (0, 0));
        assert_eq!(codes(&with(Evidence::warning(), true)), (0, 0));
    }

    #[test]
    fn an_incomplete_trace_is_said_and_counts_when_strict() {
        let mut report = empty();
        assert!(notes(&report).is_empty());
        report.trace.complete = false;
        assert_eq!((codes(&report), notes(&report).len()), ((0, 1), 1));
        report.trace.losses = vec!["byte 9: cut\x1b[2J off".to_owned(), "more".to_owned()];
        assert_eq!(notes(&report), ["the trace is incomplete: byte 9: cut\\x1b[2J off (and 1 more)"]);
        report.trace.complete = true;
        assert_eq!((codes(&report), notes(&report).len()), ((0, 1), 1));
    }

    #[test]
    fn a_truncated_search_is_said_and_counts_when_strict() {
        let mut report = empty();
        report.properties = vec![PropertyResult::new("p", "ptltl", Causality::FullHb, Verdict::Truncated)];
        assert_eq!(codes(&report), (0, 1));
        assert_eq!(notes(&report), ["the search for violations of p was cut short"]);
        report.properties[0].cut_short = vec!["10 seconds".to_owned(), "50 cuts a level".to_owned()];
        let instance =
            PropertyResult { instance: Some([("i".into(), "1".into())].into()), ..report.properties[0].clone() };
        report.properties.push(instance);
        assert_eq!(notes(&report), ["the search for violations of p was cut short: 10 seconds; 50 cuts a level"]);
        let mut report = empty();
        let truncated = Some("3 windows undecided".to_owned());
        report.stats.per_analysis.insert("maximal".to_owned(), AnalysisStats { truncated, ..Default::default() });
        assert_eq!(codes(&report), (0, 1));
        assert_eq!(notes(&report), ["maximal was cut short: 3 windows undecided"]);
    }

    #[test]
    fn what_is_not_listed_is_said_and_counts_when_strict() {
        let mut report = empty();
        let figures = |left_out| AnalysisStats { left_out, ..Default::default() };
        report.stats.per_analysis.insert("hb".to_owned(), figures(Some(0)));
        assert_eq!((codes(&report), notes(&report).len()), ((0, 0), 0));
        report.stats.per_analysis.insert("hb".to_owned(), figures(Some(7)));
        assert_eq!(codes(&report), (0, 1));
        assert_eq!(notes(&report), ["hb found 7 more, which are only counted"]);
    }

    #[test]
    fn a_note_of_an_analysis_is_said_and_does_not_count() {
        let mut report = empty();
        let note = Some("2 waits without a test".to_owned());
        report.stats.per_analysis.insert("lost-wakeup".to_owned(), AnalysisStats { note, ..Default::default() });
        assert_eq!(codes(&report), (0, 0));
        assert_eq!(notes(&report), ["lost-wakeup: 2 waits without a test"]);
    }

    #[test]
    fn problems_are_said_and_do_not_count() {
        let mut report = empty();
        let problem =
            |message: &str| crate::Problem { place: Some("line 3".into()), message: message.into(), event: None };
        report.trace.problems = vec![problem("a"), problem("b")];
        assert_eq!(codes(&report), (0, 0));
        assert_eq!(notes(&report), ["the trace has 2 problems, the first: line 3: a"]);
    }
}
