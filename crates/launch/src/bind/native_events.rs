//! Events that specifications bind in C and C++ programs: the entry or the exit of a function, and the values of its
//! parameters.

use super::native::{note_inlined, query};
use observe::{PARAMETERS, Use, Watched, meaning, parameter};
use property::check::UserEvent;
use property::syntax::ast::{Origin, Sort, Type, When};
use property::syntax::sort_text;
use source::{Binder, BoundFunction, Entry, Parameter, Place, ValueKind};

/// What to record for an event. Events of one name are one to the agent, with as many values as any of them has.
pub(super) fn event(
    binder: &mut Binder,
    event: &UserEvent,
    known: &mut [Watched],
    notes: &mut Vec<String>,
) -> Result<Vec<Watched>, String> {
    let name = event.recorded();
    let place = event.place.recorded();
    let query = query(binder, &event.place);
    let bound = binder.function(&query);
    let bound = bound.map_err(|error| format!("{error} (a mark of foretrace.h is bound by `at trace \"{place}\"`)"))?;
    let note = note_inlined(&bound, &event.place);
    let new = match event.when {
        When::After if !event.params.is_empty() => {
            return Err(format!(
                "the values of `{place}` are recorded when it is entered: leave out `after` (or mark the event in the \
                 program by FORETRACE_EVENT, and bind it `at trace`)"
            ));
        }
        // A call is recorded inside the function; nothing of the thread can come between the two.
        When::After => super::native::code(bound, name.clone(), Use::Left)?,
        When::Before => entered(binder, event, &query, bound, &name)?,
    };
    let is_exit = |watched: &Watched| watched.used == Use::Left;
    let is_entry = |watched: &Watched| matches!(watched.used, Use::Entered | Use::Called(_));
    for one in &new {
        let other = known
            .iter()
            .find(|old| old.name == name && (is_exit(old) && is_entry(one) || is_entry(old) && is_exit(one)));
        if other.is_some() {
            return Err(format!(
                "the entry and the exit of `{place}` cannot both be events: they would have the same name"
            ));
        }
    }
    let new = merge(event, new, known)?;
    notes.extend(note);
    Ok(new)
}

/// Takes those out of the new ones that are known. A known one with fewer values gets those of the new one.
fn merge(event: &UserEvent, new: Vec<Watched>, known: &mut [Watched]) -> Result<Vec<Watched>, String> {
    let mut others = Vec::new();
    for one in new {
        let same = |old: &&mut Watched| {
            (&old.module, old.address, &old.name) == (&one.module, one.address, &one.name)
                && matches!(old.used, Use::Entered | Use::Called(_))
        };
        match (known.iter_mut().find(same), one.used) {
            (Some(old), Use::Called(values)) => {
                if let Use::Called(before) = old.used {
                    let both = before.iter().zip(&values);
                    let mut both = both.filter(|(a, b)| a.place != parameter::NONE && b.place != parameter::NONE);
                    if both.any(|(a, b)| a != b) {
                        return Err(format!(
                            "its values are of other sorts than those of another event at `{}`",
                            event.place.recorded()
                        ));
                    }
                    let count = |values: &[observe::Parameter]| {
                        values.iter().take_while(|one| one.place != parameter::NONE).count()
                    };
                    if count(&before) >= count(&values) {
                        continue;
                    }
                }
                old.used = one.used;
            }
            (Some(_), _) => {}
            (None, _) => others.push(one),
        }
    }
    Ok(others)
}

/// A function whose entry is an event.
fn entered(
    binder: &mut Binder,
    event: &UserEvent,
    query: &str,
    bound: BoundFunction,
    name: &str,
) -> Result<Vec<Watched>, String> {
    let place = event.place.recorded();
    let entries = binder.entries(query).map_err(|error| error.to_string())?;
    let has_room = !entries.is_empty() && entries.iter().all(|entry| entry.has_room);
    if event.params.is_empty() && !has_room {
        return super::native::code(bound, name.to_owned(), Use::Entered);
    }
    if entries.is_empty() {
        // Says that it is inlined everywhere.
        return super::native::code(bound, name.to_owned(), Use::Entered);
    }
    if !event.params.is_empty() {
        if !bound.overloads.is_empty() {
            let all: Vec<String> = bound.overloads.iter().map(|one| format!("at c \"{one}\"")).collect();
            return Err(format!("`{place}` is the name of several functions: write {}", all.join(" or ")));
        }
        if bound.code.iter().any(|code| code.inlined) {
            return Err(format!(
                "`{place}` is inlined into some of its callers, where nothing passes its arguments: compile it with \
                 __attribute__((noinline))"
            ));
        }
        if !has_room {
            return Err(format!(
                "the arguments of `{place}` cannot be recorded: the code of the function has no room for a hook where \
                 it begins; compile it by `foretrace cc` (or with -fpatchable-function-entry=8,6)"
            ));
        }
    }
    let size_of = |low: u64| {
        let code = bound.code.iter().find(|code| code.low == low);
        code.and_then(|code| u32::try_from(code.high - code.low).ok()).unwrap_or(0)
    };
    let watched = |entry: Entry| {
        let mut values = [observe::Parameter::default(); PARAMETERS];
        if event.params.len() > PARAMETERS {
            return Err(format!("of a function, {PARAMETERS} values can be recorded at most"));
        }
        for (value, (origin, (_, sort))) in values.iter_mut().zip(event.origins.iter().zip(&event.params)) {
            *value = recorded(&place, entry.parameters.as_deref(), *origin, sort)?;
        }
        Ok(Watched {
            module: bound.module.clone(),
            address: entry.low,
            size: size_of(entry.low),
            name: name.to_owned(),
            used: Use::Called(values),
        })
    };
    entries.into_iter().map(watched).collect()
}

/// How the agent finds a value.
fn recorded(
    place: &str,
    parameters: Option<&[Parameter]>,
    origin: Origin,
    sort: &Sort,
) -> Result<observe::Parameter, String> {
    let Some(parameters) = parameters else {
        return Err(format!("nothing is known of the parameters of `{place}`: compile it with -g"));
    };
    let found = match origin {
        Origin::Result => {
            return Err(format!("the result of `{place}` cannot be recorded: only arguments of C functions can"));
        }
        Origin::This => parameters.iter().find(|one| one.is_this),
        Origin::Arg(number) => parameters.iter().filter(|one| !one.is_this).nth((number as usize).saturating_sub(1)),
    };
    let Some(found) = found else {
        let what = match origin {
            Origin::Arg(number) => format!("no argument {number}"),
            _ => "no `this`".to_owned(),
        };
        return Err(format!("`{place}` has {what}"));
    };
    let called = if found.name.is_empty() { "without a name".to_owned() } else { format!("`{}`", found.name) };
    let refuse = |why: String| Err(format!("the parameter {called} of `{place}` cannot be recorded: {why}"));
    let meaning = match meaning_of(found, sort) {
        Ok(meaning) => meaning,
        Err(why) => return refuse(why),
    };
    let (kind, at) = match &found.place {
        Ok(Place::Register(number)) => (parameter::REGISTER, i32::from(*number)),
        Ok(Place::Vector(number)) => (parameter::VECTOR, i32::from(*number)),
        Ok(Place::Stack(above)) => (parameter::STACK, *above),
        Ok(Place::Constant(value)) => (parameter::CONSTANT, *value),
        Err(why) => return refuse(why.clone()),
    };
    Ok(observe::Parameter { place: kind, size: found.size as u8, meaning, unused: 0, at })
}

/// What the bytes of a parameter mean to an event that takes it as this sort.
fn meaning_of(found: &Parameter, sort: &Sort) -> Result<u8, String> {
    let is_pointer = found.kind == ValueKind::Pointer;
    let fits = match sort {
        Sort::Value(Type::Int) => match found.kind {
            ValueKind::Signed => Some(meaning::SIGNED),
            ValueKind::Unsigned | ValueKind::Bool => Some(meaning::UNSIGNED),
            _ => None,
        },
        Sort::Value(Type::Bool) => (found.kind == ValueKind::Bool).then_some(meaning::BOOL),
        Sort::Value(Type::Real) => (found.kind == ValueKind::Float).then_some(meaning::FLOAT),
        Sort::Value(Type::String) => (is_pointer && found.is_text).then_some(meaning::TEXT),
        Sort::Lock => is_pointer.then_some(meaning::LOCK),
        Sort::Object(None) | Sort::Value(Type::Ref) => is_pointer.then_some(meaning::OBJECT),
        Sort::Object(Some(class)) => {
            let wanted = class.replace('.', "::");
            (is_pointer && found.pointee.contains(&wanted)).then_some(meaning::OBJECT)
        }
        Sort::Thread => return Err("threads are no values of C programs".to_owned()),
    };
    let fits = fits.filter(|_| [1, 2, 4, 8].contains(&found.size));
    fits.ok_or_else(|| {
        let what = match found.kind {
            ValueKind::Signed | ValueKind::Unsigned => "a whole number".to_owned(),
            ValueKind::Float => "a floating-point number".to_owned(),
            ValueKind::Bool => "a truth value".to_owned(),
            ValueKind::Pointer => match found.pointee.last() {
                Some(name) => format!("a pointer to `{name}`"),
                None => "a pointer".to_owned(),
            },
            ValueKind::Aggregate => "a structure, passed by value".to_owned(),
            ValueKind::Unknown => "of a type that is not known".to_owned(),
        };
        let size = if found.kind == ValueKind::Pointer { String::new() } else { format!(" of {} bytes", found.size) };
        format!("it is {what}{size}, not `{}`", sort_text(sort))
    })
}
