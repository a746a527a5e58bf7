//! Contexts of `maximal` must stay small: a broader search of a long window finds what a narrow one finds.

use super::shared::{ask, read, spec};
use event::Causality;
use oracle::random::Random;
use predict::Options;
use property::check::{Breadth, Settings};

/// Writes and reads of shared variables; late, two writes that can swap.
fn text(variables: usize, events: usize) -> String {
    let mut r = Random::new(3);
    let mut text = String::new();
    let mut values = vec![None; variables];
    for event in 0..events {
        let (thread, variable) = (r.below(6), r.below(variables));
        let line = if event + 100 == events {
            "T0|w(x)=1|1\n".to_owned()
        } else if event + 90 == events {
            "T1|w(y)=1|1\n".to_owned()
        } else if r.percent(50) {
            values[variable] = Some(event);
            format!("T{thread}|w(v{variable})={event}|1\n")
        } else {
            let value = values[variable].map_or(String::new(), |value| format!("={value}"));
            format!("T{thread}|r(v{variable}){value}|1\n")
        };
        text.push_str(&line);
    }
    text
}

#[test]
fn a_broader_search_finds_what_a_narrow_one_finds() {
    let trace = read(&text(100, 2000));
    let spec = spec("property p past { write(y) -> once write(x) }");
    let answers: Vec<_> = [1, 8, 64]
        .into_iter()
        .map(|breadth| {
            let settings = Settings { breadth: Some(Breadth::Cuts(breadth)), ..Settings::default() };
            let options = Options { bytes: 1 << 25, ..Options::default() };
            let answer = ask(&trace, &spec, Causality::Maximal, None, settings, options);
            let prediction = &answer.predictions.instances[0];
            (breadth, prediction.predicted.is_some(), prediction.truncated.clone())
        })
        .collect();
    assert!(answers.iter().all(|(_, found, _)| *found), "{answers:?}");
}
