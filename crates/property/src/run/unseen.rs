//! Why a property never had a step: which of its bindings saw nothing.

use crate::bind::Bindings;
use crate::check::{Atom, EventPattern, LockPattern, Property, Spec, Variable};
use crate::syntax::sort_text;

/// What a property speaks of that did not happen, each in words. `met` are its event atoms that held at some event, as
/// bits; no variable of it was written, or none for an instance with all its parameters.
pub(super) fn unseen(property: &Property, met: u64, spec: &Spec, bindings: &Bindings) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut say = |line: String| {
        if !lines.contains(&line) {
            lines.push(line);
        }
    };
    for (number, (atom, _)) in property.atoms.iter().enumerate() {
        if let Atom::Event(pattern) = atom
            && met >> number & 1 == 0
        {
            say(event(pattern, spec, bindings));
        }
    }
    for var in &property.relevant.variables {
        say(format!("{} was not written", variable(&spec.variables[var.var as usize])));
    }
    if lines.is_empty() {
        let names: Vec<String> = property.params.iter().map(|param| format!("`{}`", param.name)).collect();
        lines.push(match names.as_slice() {
            [] => "it speaks of no event and of no variable".to_owned(),
            names => format!("nothing stood for {} at once", names.join(", ")),
        });
    }
    lines
}

fn event(pattern: &EventPattern, spec: &Spec, bindings: &Bindings) -> String {
    let of_lock = |pattern: &LockPattern, what: &str| match pattern {
        LockPattern::Lock(number, _) => {
            let lock = &spec.locks[*number as usize];
            format!("lock `{}` ({}) was not {what}", lock.name, lock.place.recorded())
        }
        LockPattern::Arg(_) => format!("no lock was {what}"),
    };
    let of_variable =
        |number: u32, what: &str| format!("{} was not {what}", variable(&spec.variables[number as usize]));
    match pattern {
        EventPattern::Read(var, _) => of_variable(var.var, "read"),
        EventPattern::Write(var, _) => of_variable(var.var, "written"),
        EventPattern::Acquire(lock, _) => of_lock(lock, "acquired"),
        EventPattern::Release(lock, _) => of_lock(lock, "released"),
        EventPattern::WaitBegin(lock, _) => of_lock(lock, "waited for"),
        EventPattern::WaitEnd(lock, _) => of_lock(lock, "woken from"),
        EventPattern::Notify(lock, _) => of_lock(lock, "notified"),
        EventPattern::Fork(..) => "no thread was started".to_owned(),
        EventPattern::Join(..) | EventPattern::Finished(_) => "no thread was joined".to_owned(),
        EventPattern::Enter(region, _) => of_variable(*region, "entered"),
        EventPattern::Exit(region, _) => of_variable(*region, "left"),
        EventPattern::Started(_) => "no thread ran".to_owned(),
        EventPattern::User(number, _) => {
            let event = &spec.events[*number as usize];
            let (name, place) = (&event.name, event.recorded());
            if !bindings.has_event(*number) {
                return format!("event `{name}` saw nothing: `{place}` was not recorded");
            }
            let params: Vec<String> =
                event.params.iter().map(|(name, sort)| format!("{name} : {}", sort_text(sort))).collect();
            format!("event `{name}` saw nothing: `{place}` was not recorded with ({})", params.join(", "))
        }
    }
}

/// A variable or region, with its place.
fn variable(variable: &Variable) -> String {
    let kind = match variable.kind {
        crate::check::VariableKind::Region => "region",
        _ => "variable",
    };
    let place = variable.place.as_ref().map(|place| format!(" ({})", place.recorded())).unwrap_or_default();
    format!("{kind} `{}`{place}", variable.name)
}
