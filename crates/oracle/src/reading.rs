//! Reads traces from text for tests.

use event::{Space, Value, VarId};
use std::ops::Range;
use trace::Trace;
use trace::text::TextReader;
use trace::validate::Validator;

/// Reads a trace without problems.
///
/// # Panics
///
/// If the text is no trace, or one with problems.
pub fn read(text: &str) -> Trace {
    let trace = Trace::read(&mut TextReader::new(text.as_bytes())).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut validator = Validator::new();
    assert_eq!(validator.check(&trace.names, &trace.batch), [], "{text}");
    trace
}

/// By variable: its value before the first event. Values in `given` replace those of the trace.
pub fn initial_values(trace: &Trace, given: &[(String, i64)]) -> Vec<Value> {
    let names = &trace.names;
    let value = |x: u32| {
        let name = names.var(VarId(x));
        let given = given.iter().find(|(given, _)| given == name).map(|&(_, n)| Value::Int(n));
        let recorded = trace.batch.inits.iter().find(|init| names.str(init.name) == name).map(|init| init.value);
        given.or(recorded).unwrap_or_default()
    };
    (0..names.space(Space::Var).len() as u32).map(value).collect()
}

/// The number of random cases of a test: `FORETRACE_CASES`, or the default.
///
/// # Panics
///
/// If `FORETRACE_CASES` is not a number.
pub fn cases(default: u64) -> u64 {
    match std::env::var("FORETRACE_CASES") {
        Ok(text) => text.parse().expect("FORETRACE_CASES is a number"),
        Err(_) => default,
    }
}

/// The seeds of the random cases of a test: so many (`FORETRACE_CASES`, or the default), from `FORETRACE_SEED` on.
///
/// # Panics
///
/// If `FORETRACE_SEED` or `FORETRACE_CASES` is not a number.
pub fn seeds(default: u64) -> Range<u64> {
    let first = std::env::var("FORETRACE_SEED");
    let first = first.map_or(0, |text| text.parse().expect("FORETRACE_SEED is a number"));
    first..first + cases(default)
}
