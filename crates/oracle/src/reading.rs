//! Traces from text, and what a test wants to know before it begins.

use event::{Space, Value, VarId};
use trace::Trace;
use trace::text::TextReader;
use trace::validate::Validator;

/// A trace without problems.
///
/// # Panics
///
/// If it is none.
pub fn read(text: &str) -> Trace {
    let trace = Trace::read(&mut TextReader::new(text.as_bytes())).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut validator = Validator::new();
    assert_eq!(validator.check(&trace.names, &trace.batch), [], "{text}");
    trace
}

/// By variable: what it holds before the first event. `given` values win over those of the trace.
pub fn initial_values(trace: &Trace, given: &[(String, i64)]) -> Vec<Value> {
    let names = &trace.names;
    let value = |x: u32| {
        let name = names.var(VarId(x));
        let given = given.iter().find(|(given, _)| given == name).map(|&(_, n)| Value::Int(n));
        let told = trace.batch.inits.iter().find(|init| names.str(init.name) == name).map(|init| init.value);
        given.or(told).unwrap_or_default()
    };
    (0..names.space(Space::Var).len() as u32).map(value).collect()
}

/// How many cases: `FORETRACE_CASES`, else so many.
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
