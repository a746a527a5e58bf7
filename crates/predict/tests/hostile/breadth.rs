//! `auto` searches narrowly first. Where no breadth is set, a search that covered everything reports none.

use super::shared::{ask, read, spec};
use event::CausalityChoice;
use predict::Options;
use property::check::{Settings, Steps};

#[test]
fn what_is_found_at_once_was_not_cut_short() {
    let mut text = String::new();
    for _ in 0..3 {
        (0..8).for_each(|thread| text.push_str(&format!("T{thread}|w(v{thread})|1\n")));
    }
    text.push_str("T0|w(x)|1\nT1|w(y)|1\n");
    let spec = spec("property p past { write(y) -> once write(x) }");
    let settings = Settings { steps: Some(Steps::All), ..Settings::default() };
    let answer = ask(&read(&text), &spec, CausalityChoice::Auto, None, settings, Options::default());
    let prediction = &answer.predictions.instances[0];
    assert!(prediction.predicted.is_some());
    assert_eq!(prediction.truncated, [""; 0]);
}
