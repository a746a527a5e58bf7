//! Smallest traces with problems: `order` and the checker must read them alike, or say that the trace has problems.

use super::shared::{ask, read, spec};
use event::{Causality, CausalityChoice};
use predict::Options;
use property::check::Settings;

fn refused(text: &str, property: &str, window: Option<u64>) -> Vec<String> {
    let trace = read(text);
    let spec = spec(property);
    let mut refused = Vec::new();
    for causality in [Causality::WeakHb.into(), Causality::Maximal.into(), CausalityChoice::Auto] {
        let answer = ask(&trace, &spec, causality, window, Settings::default(), Options::default());
        refused.extend(answer.predictions.instances.into_iter().filter_map(|p| p.refused));
    }
    refused
}

const X_AFTER_Y: &str = "property p past { write(x) -> once write(y) }";

/// A semaphore that only one thread uses has no rule in `order`, even if it goes below 0.
#[test]
fn semaphore_of_one_thread_below_zero() {
    let text = "T0|w(y)|1\nT1|down(s)|1\nT1|w(x)|1\n";
    assert_eq!(refused(text, X_AFTER_Y, None), [""; 0]);
}

/// A wake-up without its wait opens no section in `order`, but one in `witness`.
#[test]
fn woken_without_wait() {
    let text = "T0|acq(l)|1\nT0|rel(l)|1\nT1|woken(c,l)=spurious|1\nT1|w(x)|1\n";
    let property = "property p past { write(x) -> !([acquire(l), release(l))) }";
    assert_eq!(refused(text, property, None), [""; 0]);
}

/// A failed try is not kept before the release of a section that is open from the beginning.
#[test]
fn tfail_in_a_section_that_is_open_from_the_beginning() {
    let text = "T0|w(y)|1\nT0|tfail(l)|1\nT1|rel(l)|1\nT1|w(x)|1\n";
    assert_eq!(refused(text, X_AFTER_Y, None), [""; 0]);
}

/// Two threads have a lock: every prediction in a later window is refused, for the recorded run itself is.
#[test]
fn recorded_run_that_is_refused_itself() {
    let text = "T1|acq(l)|1\nT0|acq(l)|1\nT0|w(y)|1\nT1|w(x)|1\n";
    assert_eq!(refused(text, X_AFTER_Y, Some(2)), [""; 0]);
}

/// A release in a later window than another thread's acquire: open from the beginning only there.
#[test]
fn release_without_acquire_in_a_later_window() {
    let text = "T1|acq(l)|1\nT1|rel(l)|1\nT0|w(y)|1\nT1|w(x)|1\nT2|rel(l)|1\nT2|w(z)|1\n";
    assert_eq!(refused(text, X_AFTER_Y, Some(2)), [""; 0]);
}

/// The greatest initial count: one `up` more overflows.
#[test]
fn semaphore_with_the_greatest_count() {
    let text =
        "#! init s=9223372036854775807\nT0|up(s)|1\nT0|w(y)|1\nT1|down(s)|1\nT1|w(x)|1\nT0|up(s)|1\nT1|down(s)|1\n";
    assert_eq!(refused(text, X_AFTER_Y, None), [""; 0]);
    assert_eq!(refused(text, X_AFTER_Y, Some(2)), [""; 0]);
}
