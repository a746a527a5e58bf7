//! Answers and windows against brute force over the definitions of docs/causality.md.

mod answers;
mod dense;
mod windows;

use event::{Space, Value};
use oracle::{definition, random, recorded, schedule};
use trace::Trace;
use trace::text::TextReader;

fn read(text: &str) -> Trace {
    Trace::read(&mut TextReader::new(text.as_bytes())).expect("the trace is one")
}

/// By variable: what the trace says it holds at first.
fn initial_values(trace: &Trace) -> Vec<Value> {
    let vars = trace.names.space(Space::Var);
    let mut values = vec![Value::Unknown; vars.len()];
    for init in &trace.batch.inits {
        if let Some(var) = vars.find(trace.names.str(init.name).as_bytes()) {
            values[var as usize] = init.value;
        }
    }
    values
}
