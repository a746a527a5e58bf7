//! Threads by the names that the program gave them.

use crate::{Finding, Schedule};
use std::collections::BTreeMap;

/// A thread as it is shown.
pub(super) fn thread<'a>(finding: &'a Finding, name: &'a str) -> &'a str {
    finding.exhibit.threads.get(name).map_or(name, String::as_str)
}

/// The schedules with these names.
pub(super) fn schedules(finding: &Finding) -> Vec<Schedule> {
    let mut schedules = finding.exhibit.schedules.clone();
    for step in schedules.iter_mut().flat_map(|schedule| &mut schedule.steps) {
        step.thread = thread(finding, &step.thread).to_owned();
    }
    schedules
}

/// A sentence in which every word that is a thread's name in the trace is replaced.
pub(super) fn sentence(finding: &Finding, text: &str) -> String {
    if finding.exhibit.threads.is_empty() { text.to_owned() } else { replaced(text, &finding.exhibit.threads) }
}

fn replaced(text: &str, names: &BTreeMap<String, String>) -> String {
    let ends = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '(' | ')' | '\'');
    let mut out = String::with_capacity(text.len());
    for piece in text.split_inclusive(ends) {
        let word = piece.trim_end_matches(ends);
        out += names.get(word).map_or(word, String::as_str);
        out += &piece[word.len()..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::replaced;

    #[test]
    fn only_whole_words_are_threads() {
        let names = [("T1".to_owned(), "teller".to_owned())].into();
        let text = "T1 holds T1.lock, and T10 waits for T1: T1's turn (T1)";
        assert_eq!(replaced(text, &names), "teller holds T1.lock, and T10 waits for teller: teller's turn (teller)");
    }
}
