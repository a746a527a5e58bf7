//! A lattice that is too large to be counted: a limit is met while counting.

use super::shared::{ask, read, spec};
use event::Causality;
use predict::Options;
use property::check::{Settings, Steps};

/// Violated on the recorded run, or safe at once: the search is over before it is cut short, then everything is
/// counted.
fn counted(max_cuts: Option<u64>, bytes: usize) -> Vec<String> {
    let mut text = String::new();
    for event in 0..40 {
        text.push_str(&format!("T{}|w(v{})|1\n", event % 4, event % 4));
    }
    let spec = spec("property p past { !write(x) }");
    let settings = Settings { steps: Some(Steps::All), max_cuts, ..Settings::default() };
    let options = Options { count: true, bytes, ..Options::default() };
    let answer = ask(&read(&text), &spec, Causality::FullHb, None, settings, options);
    let prediction = &answer.predictions.instances[0];
    assert_eq!(prediction.counts, None);
    prediction.truncated.clone()
}

#[test]
fn too_many_cuts_to_count() {
    assert!(!counted(Some(1000), 1 << 30).is_empty());
}

#[test]
fn too_little_memory_to_count() {
    assert!(!counted(None, 1 << 12).is_empty());
}
