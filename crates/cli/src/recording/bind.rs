//! Binds what specifications speak of to the program that is to be watched: variables whose values are recorded,
//! functions that are regions or events.

use super::java_events::JavaEvents;
use super::searched;
use crate::args::Recorder;
use crate::specs;
use anyhow::{Context, Result, anyhow, bail};
use observe::{Encoding, Use, Watched};
use property::check::{Lock, Place, UserEvent, VariableKind};
use property::syntax::ast::{Lang, When};
use source::{Binder, NotBound, ValueKind};
use std::fmt::Write;
use std::path::PathBuf;

/// What specifications want recorded.
#[derive(Default)]
pub(crate) struct Bound {
    /// In C programs.
    pub(crate) native: Vec<Watched>,
    /// In Java programs: settings of their agent.
    pub(crate) java: String,
}

/// Binds every `at c` of the specifications: one that matches nothing is an error that offers the nearest names. Every
/// `at java` is bound by the agent when classes are loaded.
pub(crate) fn bound(specs: &[PathBuf], recorder: &Recorder, color: bool) -> Result<Bound> {
    let mut binder = None;
    let mut watched: Vec<Watched> = Vec::new();
    let mut java = String::new();
    let mut java_events = JavaEvents::default();
    let mut failures = Vec::new();
    for path in specs {
        for spec in specs::load(path, color)?.specs {
            // Nothing is recorded for a lock, but a name that the program does not have matches nothing. (Those of
            // memory from the heap are made up when it runs.)
            let named = |lock: &&Lock| lock.place.lang == Lang::C && lock.index.is_none();
            for lock in spec.locks.iter().filter(named) {
                let binder = match &mut binder {
                    Some(binder) => binder,
                    none => none.insert(open(recorder)?),
                };
                let name = lock.place.recorded();
                if let (false, Err(error)) = (name.contains(['#', '@']), binder.variable(&name)) {
                    failures.push(format!("{}: `{}`: {error:#}", path.display(), lock.name));
                }
            }
            let variables = spec.variables.iter().filter_map(|variable| {
                let wanted = match variable.kind {
                    VariableKind::Region => Wanted::Region,
                    VariableKind::Shared | VariableKind::Local => Wanted::Value,
                };
                Some((&variable.name, variable.place.as_ref()?, wanted))
            });
            let events = spec.events.iter().map(|event| (&event.name, &event.place, Wanted::Event(event)));
            for (name, place, wanted) in variables.chain(events) {
                if place.lang == Lang::Java {
                    match wanted {
                        Wanted::Value => drop(writeln!(java, "field {}", place.recorded())),
                        Wanted::Region => drop(writeln!(java, "region {}", place.recorded())),
                        Wanted::Event(event) => {
                            if let Err(error) = java_events.add(event) {
                                failures.push(format!("{}: `{name}`: {error:#}", path.display()));
                            }
                        }
                    }
                }
                if place.lang != Lang::C {
                    continue;
                }
                let binder = match &mut binder {
                    Some(binder) => binder,
                    none => none.insert(open(recorder)?),
                };
                let bound = match wanted {
                    Wanted::Value => value(binder, place, &watched),
                    Wanted::Region => function(binder, place, Use::Region),
                    Wanted::Event(event) => self::event(binder, event, &watched),
                };
                match bound {
                    Ok(found) => {
                        let new: Vec<_> = found.into_iter().filter(|one| !watched.contains(one)).collect();
                        watched.extend(new);
                    }
                    Err(error) => failures.push(format!("{}: `{name}`: {error:#}", path.display())),
                }
            }
        }
    }
    java_events.write(&mut java);
    match failures.as_slice() {
        [] => Ok(Bound { native: watched, java }),
        [one] => Err(anyhow!("{one}")),
        all => Err(anyhow!("names that cannot be bound in the program:\n  {}", all.join("\n  "))),
    }
}

/// What a specification wants to know of a place.
enum Wanted<'a> {
    Value,
    Region,
    Event(&'a UserEvent),
}

/// A function whose entry or exit is an event.
fn event(binder: &mut Binder, event: &UserEvent, known: &[Watched]) -> Result<Vec<Watched>> {
    let name = event.place.recorded();
    if !event.params.is_empty() {
        bail!(
            "the arguments of `{name}` are not recorded: mark the event in the program by FORETRACE_EVENT(\"{name}\", \
             value), and bind it `at trace \"{name}\"`"
        );
    }
    // A call is recorded inside the function; nothing of the thread can come between the two.
    let (used, other) = match event.when {
        When::Before => (Use::Entered, Use::Left),
        When::After => (Use::Left, Use::Entered),
    };
    if known.iter().any(|watched| watched.name == name && watched.used == other) {
        bail!("the entry and the exit of `{name}` cannot both be events: they would have the same name");
    }
    function(binder, &event.place, used).map_err(|error| match error.downcast_ref::<NotBound>() {
        Some(_) => anyhow!("{error:#} (a mark of foretrace.h is bound by `at trace \"{name}\"`)"),
        None => error,
    })
}

fn open(recorder: &Recorder) -> Result<Binder> {
    let program = recorder.command.first().context("no program is named")?;
    let file = searched::find(program).with_context(|| format!("{}: there is no such program", program.display()))?;
    Ok(Binder::open(&file)?)
}

fn value(binder: &mut Binder, place: &Place, known: &[Watched]) -> Result<Vec<Watched>> {
    let name = place.recorded();
    let source::Bound { module, address, size, kind, bits, tls, .. } = binder.variable(&name)?;
    if tls {
        bail!("`{name}` is thread-local: its values cannot be recorded yet");
    }
    let encoding = match kind {
        ValueKind::Signed => Encoding::Signed,
        ValueKind::Unsigned | ValueKind::Pointer => Encoding::Unsigned,
        ValueKind::Float => Encoding::Float,
        ValueKind::Bool => Encoding::Bool,
        ValueKind::Aggregate => bail!("`{name}` is not one value: name a field or an element of it"),
        // Without debug information, what the specification says of it is all there is.
        ValueKind::Unknown => Encoding::Signed,
    };
    if let Some((first, width)) = bits {
        let (address, first) = (address + first / 8, first % 8);
        let size = (first + width).div_ceil(8);
        // What both watched and unwatched accesses of it lie in.
        if address / 8 != (address + size - 1) / 8 {
            bail!("the bit-field `{name}` is spread over two words: its values cannot be recorded");
        }
        let used = Use::Bits { encoding, first: first as u8, width: width as u8 };
        let same_word = |watched: &&Watched| (&watched.module, watched.address / 8) == (&module, address / 8);
        let other = |watched: &&Watched| matches!(watched.used, Use::Bits { .. }) && watched.name != name;
        if let Some(other) = known.iter().filter(same_word).find(other) {
            bail!("`{name}` and `{}` are bit-fields of one word: only one of them can be bound", other.name);
        }
        return Ok(vec![Watched { module, address, size: size as u32, name, used }]);
    }
    let size = u32::try_from(size).ok().filter(|size| [1, 2, 4, 8].contains(size));
    let size = size.with_context(|| format!("`{name}` has a size that is no number's"))?;
    Ok(vec![Watched { module, address, size, name, used: Use::Value(encoding) }])
}

fn function(binder: &mut Binder, place: &Place, used: Use) -> Result<Vec<Watched>> {
    let name = place.recorded();
    let bound = binder.function(&name)?;
    let mut parts = Vec::new();
    for code in bound.code.iter().filter(|code| !code.inlined) {
        let size = u32::try_from(code.high - code.low).context("a function that large")?;
        parts.push(Watched { module: bound.module.clone(), address: code.low, size, name: name.clone(), used });
    }
    if parts.is_empty() {
        bail!(
            "`{name}` is inlined everywhere: nothing marks where it begins and ends; compile it with \
             __attribute__((noinline))"
        );
    }
    Ok(parts)
}
