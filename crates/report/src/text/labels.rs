//! Threads and objects by the names that the program gave them.

use crate::called::replaced;
use crate::{Finding, Schedule};

/// A thread as it is shown.
pub(super) fn thread<'a>(finding: &'a Finding, name: &'a str) -> &'a str {
    finding.exhibit.threads.get(name).map_or(name, String::as_str)
}

/// An object as it is shown.
pub(super) fn object<'a>(finding: &'a Finding, name: &'a str) -> &'a str {
    finding.called.get(name).map_or(name, String::as_str)
}

/// The schedules with these names.
pub(super) fn schedules(finding: &Finding) -> Vec<Schedule> {
    let mut schedules = finding.exhibit.schedules.clone();
    for step in schedules.iter_mut().flat_map(|schedule| &mut schedule.steps) {
        step.thread = thread(finding, &step.thread).to_owned();
        step.text = sentence(finding, &step.text);
    }
    schedules
}

/// A sentence, or an operation, in which every word that is a name in the trace is replaced.
pub(super) fn sentence(finding: &Finding, text: &str) -> String {
    let (threads, objects) = (&finding.exhibit.threads, &finding.called);
    if threads.is_empty() && objects.is_empty() {
        return text.to_owned();
    }
    replaced(text, |word| threads.get(word).or_else(|| objects.get(word)).map(String::as_str))
}
