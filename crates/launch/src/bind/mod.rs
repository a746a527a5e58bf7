//! Finds in a program what specifications speak of.

mod java_events;
mod native;
mod native_events;

use crate::Error;
use crate::program;
use java_events::JavaEvents;
use native::Native;
use observe::Watched;
use property::check::{Lock, Place, Spec, UserEvent, VariableKind};
use property::syntax::ast::Lang;
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::Path;

/// What specifications want recorded.
#[derive(Default)]
pub struct Recordable {
    /// In C programs.
    pub native: Vec<Watched>,
    /// In Java programs: settings of their agent.
    pub java: String,
    /// What the user should know of calls that are not seen.
    pub notes: Vec<String>,
}

/// What a specification wants to know of a place.
enum Wanted<'a> {
    Value,
    Region,
    Event(&'a UserEvent),
}

/// Binds every `at c` of specifications (each with the name of its file) in a program: one that matches nothing is an
/// error that offers the nearest names. Every `at java` is bound by the agent when classes are loaded.
///
/// # Errors
///
/// Some names match nothing or too much, or the program cannot be read.
pub fn bind<'a>(specs: impl Iterator<Item = (&'a Path, &'a Spec)>, program: &OsStr) -> Result<Recordable, Error> {
    let mut native: Option<Native> = None;
    let mut java = String::new();
    let mut java_events = JavaEvents::default();
    let mut failures = Vec::new();
    for (path, spec) in specs {
        let mut fail = |name: &str, why: String| failures.push(format!("{}: `{name}`: {why}", path.display()));
        // Nothing is recorded for a lock, but a name that the program does not have matches nothing. (Those of
        // memory from the heap are made up when it runs.)
        let named = |lock: &&Lock| lock.place.lang == Lang::C && lock.index.is_none();
        for lock in spec.locks.iter().filter(named) {
            let native = open_once(&mut native, program)?;
            if let Err(why) = native.lock(&lock.place) {
                fail(&lock.name, why);
            }
        }
        for (name, place, wanted) in places(spec) {
            match place.lang {
                Lang::Java => match wanted {
                    Wanted::Value => drop(writeln!(java, "field {}", place.recorded())),
                    Wanted::Region => drop(writeln!(java, "region {}", place.recorded())),
                    Wanted::Event(event) => java_events.add(event).unwrap_or_else(|why| fail(name, why)),
                },
                Lang::C => open_once(&mut native, program)?.add(place, wanted).unwrap_or_else(|why| fail(name, why)),
                _ => {}
            }
        }
    }
    java_events.write(&mut java);
    let (native, mut notes) = native.map(Native::finish).unwrap_or_default();
    notes.sort_unstable();
    notes.dedup();
    if failures.is_empty() { Ok(Recordable { native, java, notes }) } else { Err(Error::Unbound(failures)) }
}

/// The places of a specification from which something is to be recorded, with the names that it gives them.
fn places(spec: &Spec) -> impl Iterator<Item = (&str, &Place, Wanted<'_>)> {
    let variables = spec.variables.iter().filter_map(|variable| {
        let wanted = match variable.kind {
            VariableKind::Region => Wanted::Region,
            VariableKind::Shared | VariableKind::Local => Wanted::Value,
        };
        Some((variable.name.as_str(), variable.place.as_ref()?, wanted))
    });
    variables.chain(spec.events.iter().map(|event| (event.name.as_str(), &event.place, Wanted::Event(event))))
}

/// Reads the program's names when the first one is needed.
fn open_once<'a>(native: &'a mut Option<Native>, program: &OsStr) -> Result<&'a mut Native, Error> {
    match native {
        Some(native) => Ok(native),
        none => {
            let file = program::find(program).ok_or_else(|| Error::Missing(program.into()))?;
            Ok(none.insert(Native::open(&file)?))
        }
    }
}
