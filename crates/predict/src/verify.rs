//! Trusts no search: a schedule must pass the checker of the model, and when the property is evaluated along it, it
//! must be violated, or unfulfilled at the end of a complete run.

use crate::predictor::Predictor;
use event::{Batch, Causality};
use property::monitor::Verdict;
use property::run::Outcome;

/// Whether a schedule is feasible and its last event violates the property for an instance; if not, why.
pub(crate) fn verify(
    of: &Predictor<'_>,
    model: Causality,
    property: usize,
    instance: &[(String, String)],
    schedule: &[u64],
    terminal: bool,
) -> Result<(), String> {
    let checked = witness::check(model, of.names, of.batch, of.initial, schedule, terminal);
    let checked = checked.map_err(|refused| refused.to_string())?;
    if checked.terminal_read != terminal {
        return Err("the last event is not the terminal read that it should be".to_owned());
    }
    let last = schedule.len() as u64 - 1;
    let violates = |outcomes: &[Outcome]| {
        outcomes.iter().any(|o| o.instance == *instance && o.verdict == Verdict::Violated && o.event == Some(last))
    };
    if violates(&judge(of, property, schedule, false)?) {
        return Ok(());
    }
    // An instance has a verdict only when all its subjects have been named: that may be later.
    let mut taken = vec![false; of.batch.events.len()];
    schedule.iter().for_each(|&event| taken[event as usize] = true);
    let rest = (0..of.batch.events.len() as u64).filter(|&event| !taken[event as usize]);
    let whole: Vec<u64> = schedule.iter().copied().chain(rest).collect();
    if !instance.is_empty() && violates(&judge(of, property, &whole, false)?) {
        return Ok(());
    }
    Err("the property is not violated at its last event".to_owned())
}

/// Whether a schedule is a feasible run of all events, other than the recorded one, and fails the property for an
/// instance by the rule for its end; if not, why. `false`: so many instances fail that this one is not listed.
pub(crate) fn verify_end(
    of: &Predictor<'_>,
    model: Causality,
    property: usize,
    instance: &[(String, String)],
    schedule: &[u64],
) -> Result<bool, String> {
    let checked = witness::check(model, of.names, of.batch, of.initial, schedule, false);
    checked.map_err(|refused| refused.to_string())?;
    // The checker has seen that no event comes twice.
    if schedule.len() != of.batch.events.len() {
        return Err("it is no complete run".to_owned());
    }
    let outcomes = judge(of, property, schedule, true)?;
    if outcomes.iter().any(|o| o.instance == *instance && o.verdict == Verdict::Unfulfilled) {
        return Ok(true);
    }
    match outcomes.first() {
        Some(whole) if whole.omitted > 0 => Ok(false),
        _ => Err("the property is not unfulfilled at the end".to_owned()),
    }
}

/// Whether the recorder was not sure of an event's value or place.
pub(crate) fn is_inexact(trace: &Batch, event: u64) -> bool {
    trace.extra(trace.events[event as usize]).inexact
}

/// Why the recorded run itself is not feasible, if it is not.
pub(crate) fn recorded_problem(of: &Predictor<'_>, model: Causality) -> Option<String> {
    let recorded: Vec<u64> = (0..of.batch.events.len() as u64).collect();
    let checked = witness::check(model, of.names, of.batch, of.initial, &recorded, false);
    checked.err().map(|refused| refused.to_string())
}

fn judge(of: &Predictor<'_>, property: usize, schedule: &[u64], at_end: bool) -> Result<Vec<Outcome>, String> {
    let batch = in_order(of.batch, schedule);
    of.bound.judge(property, of.names, &batch, at_end).map_err(|error| error.to_string())
}

/// Some events of a trace in another order.
fn in_order(trace: &Batch, schedule: &[u64]) -> Batch {
    let mut batch = Batch::default();
    let (first, late) = trace.inits.split_at(trace.inits.partition_point(|init| init.before == 0));
    first.iter().for_each(|init| batch.push_init(init.name, init.value));
    for &event in schedule {
        // Initial values given late stay before the event that they stood before.
        let from = late.partition_point(|init| u64::from(init.before) < event);
        let here = late[from..].iter().take_while(|init| u64::from(init.before) == event);
        here.for_each(|init| batch.push_init(init.name, init.value));
        batch.push_from(trace, trace.events[event as usize]);
    }
    batch
}
