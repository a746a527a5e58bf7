//! Tests with small traces written by hand: sections, wake-ups, event structures, windows.

mod conditions;
mod event_structures;
mod sections;
mod windows;

use trace::text::TextReader;

/// Reads a trace in which events are separated by spaces, and have no site.
fn read(text: &str) -> trace::Trace {
    let lines: String = text.split_whitespace().map(|event| format!("{event}|0\n")).collect();
    trace::Trace::read(&mut TextReader::new(lines.as_bytes())).expect("the trace is one")
}
