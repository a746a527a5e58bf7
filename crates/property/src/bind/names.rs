//! Which recorded names a specification's declarations mean (docs/properties.md).
//!
//! A variable, lock, region or event means the recorded name that its place spells. An indexed one means many:
//! `v[o : object<C>] at java C.v` the names `C.v@3` of the objects `C@3`, a lock `m[o : object<C>] at java C` the locks
//! `C@3`, and `a[i : int] at c a` the elements `a[3]`.

use super::subject::{Objects, Subject};
use crate::check::{Spec, UserEvent, VariableKind, nearest};
use crate::syntax::Span;
use crate::syntax::ast::{Lang, Sort, Type};
use event::{Names, Space};
use std::collections::HashSet;

/// Something declared, and of which instance.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Meant {
    /// Its number in the specification.
    pub(crate) number: u32,
    /// The instance of an indexed one.
    pub(crate) index: Option<Subject>,
}

/// A declaration that no recorded name matches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unbound {
    /// What is declared: `variable x`.
    pub what: String,
    /// The recorded name that was looked for.
    pub place: String,
    /// Where it is declared.
    pub span: Span,
    /// It may simply not have happened in this run: an event, a region, a lock. A variable is always somewhere.
    pub may_be_absent: bool,
    /// The recorded name that looks most like it.
    pub nearest: Option<String>,
}

/// What the recorded names of each space mean. Names are looked at once, when they first appear.
#[derive(Clone, Default)]
pub(crate) struct Bindings {
    /// By variable of the trace.
    pub(crate) vars: Vec<Vec<Meant>>,
    /// By lock and by condition of the trace, and its number as an object.
    pub(crate) locks: Vec<(Vec<Meant>, u32)>,
    pub(crate) conds: Vec<(Vec<Meant>, u32)>,
    /// Regions by block of the trace: numbers of their flags.
    pub(crate) blocks: Vec<Vec<u32>>,
    /// Events by label of the trace.
    pub(crate) labels: Vec<Vec<u32>>,
    /// By event: the sorts of those of its values that the recorder has made sure of.
    pub(crate) sure: Vec<Vec<Sort>>,
    /// Declarations that something matched.
    used: HashSet<(Kind, u32)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Variable,
    Lock,
    Event,
}

/// The text between two others.
fn between<'a>(name: &'a str, before: &str, after: &str) -> Option<&'a str> {
    name.strip_prefix(before)?.strip_suffix(after).filter(|inner| !inner.is_empty())
}

/// The class in the recorded name of a field: all but the last part.
fn class_of(recorded: &str) -> &str {
    recorded.rfind(['.', ':']).map_or("", |at| recorded[..at].trim_end_matches(':'))
}

/// The index that stands between brackets in a recorded name.
fn element(inner: &str, sort: &Sort, names: &Names, objects: &mut Objects) -> Option<Subject> {
    Some(match sort {
        Sort::Thread => objects.expect_thread(names, inner)?,
        Sort::Lock | Sort::Object(_) | Sort::Value(Type::Ref) => Subject::Object(objects.number(inner)),
        Sort::Value(Type::Int) => Subject::Int(inner.parse().ok()?),
        Sort::Value(Type::Bool) => Subject::Bool(inner.parse().ok()?),
        Sort::Value(Type::Real) => Subject::Real(inner.parse::<f64>().ok()?.to_bits()),
        Sort::Value(Type::String) => Subject::Text(objects.number(inner)),
    })
}

/// The subject in brackets behind a recorded name.
fn index(name: &str, recorded: &str, sort: &Sort, names: &Names, objects: &mut Objects) -> Option<Subject> {
    element(between(name, &format!("{recorded}["), "]")?, sort, names, objects)
}

impl Bindings {
    /// Whether all of these names were looked at.
    pub(crate) fn is_complete(&self, names: &Names) -> bool {
        let known = [
            (Space::Var, self.vars.len()),
            (Space::Lock, self.locks.len()),
            (Space::Cond, self.conds.len()),
            (Space::Block, self.blocks.len()),
            (Space::Label, self.labels.len()),
        ];
        known.iter().all(|&(space, known)| known >= names.space(space).len())
    }

    /// Looks at the names that appeared since the last time.
    pub(crate) fn grow(&mut self, spec: &Spec, names: &Names, objects: &mut Objects) {
        for number in self.vars.len()..names.space(Space::Var).len() {
            let name = names.get(Space::Var, number as u32);
            let meant = self.variable(spec, name, names, objects);
            self.vars.push(meant);
        }
        for number in self.locks.len()..names.space(Space::Lock).len() {
            let meant = self.lock(spec, names.get(Space::Lock, number as u32), names, objects);
            self.locks.push(meant);
        }
        for number in self.conds.len()..names.space(Space::Cond).len() {
            let meant = self.lock(spec, names.get(Space::Cond, number as u32), names, objects);
            self.conds.push(meant);
        }
        for number in self.blocks.len()..names.space(Space::Block).len() {
            let name = names.get(Space::Block, number as u32);
            let regions = spec.variables.iter().enumerate().filter(|(_, v)| {
                v.kind == VariableKind::Region && v.place.as_ref().is_some_and(|place| place.recorded() == name)
            });
            let regions: Vec<u32> = regions.map(|(i, _)| i as u32).collect();
            self.used.extend(regions.iter().map(|&i| (Kind::Variable, i)));
            self.blocks.push(regions);
        }
        if self.sure.is_empty() {
            let sorts = |e: &UserEvent| e.params.iter().map(|(_, sort)| sort.clone()).collect();
            let sure = |e: &UserEvent| if e.place.lang == Lang::Java { sorts(e) } else { Vec::new() };
            self.sure = spec.events.iter().map(sure).collect();
        }
        for number in self.labels.len()..names.space(Space::Label).len() {
            let name = names.get(Space::Label, number as u32);
            let events = spec.events.iter().enumerate().filter(|(_, e)| e.recorded() == name);
            let events: Vec<u32> = events.map(|(i, _)| i as u32).collect();
            self.used.extend(events.iter().map(|&i| (Kind::Event, i)));
            self.labels.push(events);
        }
    }

    fn variable(&mut self, spec: &Spec, name: &str, names: &Names, objects: &mut Objects) -> Vec<Meant> {
        let mut meant = Vec::new();
        for (number, variable) in spec.variables.iter().enumerate() {
            let Some(place) = variable.place.as_ref().filter(|_| variable.kind != VariableKind::Region) else {
                continue;
            };
            let recorded = place.recorded();
            let index = match &variable.index {
                None if recorded == name => None,
                None => continue,
                Some(Sort::Object(_)) => {
                    let Some(id) = between(name, &format!("{recorded}@"), "") else { continue };
                    Some(Subject::Object(objects.number(&format!("{}@{id}", class_of(&recorded)))))
                }
                Some(sort) => {
                    let Some(index) = index(name, &recorded, sort, names, objects) else { continue };
                    Some(index)
                }
            };
            self.used.insert((Kind::Variable, number as u32));
            meant.push(Meant { number: number as u32, index });
        }
        meant
    }

    fn lock(&mut self, spec: &Spec, name: &str, names: &Names, objects: &mut Objects) -> (Vec<Meant>, u32) {
        let object = objects.number(name);
        let mut meant = Vec::new();
        for (number, lock) in spec.locks.iter().enumerate() {
            let recorded = lock.place.recorded();
            let index = match &lock.index {
                None if recorded == name => None,
                Some(Sort::Object(_) | Sort::Lock) if between(name, &format!("{recorded}@"), "").is_some() => {
                    Some(Subject::Object(object))
                }
                Some(sort) => {
                    let Some(index) = index(name, &recorded, sort, names, objects) else { continue };
                    Some(index)
                }
                None => continue,
            };
            self.used.insert((Kind::Lock, number as u32));
            meant.push(Meant { number: number as u32, index });
        }
        (meant, object)
    }

    /// Whether the trace mentions the place of an event.
    pub(crate) fn has_event(&self, number: u32) -> bool {
        self.used.contains(&(Kind::Event, number))
    }

    /// Declarations that matched nothing in the whole trace.
    pub(crate) fn unbound(&self, spec: &Spec, names: &Names) -> Vec<Unbound> {
        let mut unbound = Vec::new();
        let mut check = |kind, number: usize, what: String, place: String, span, spaces: &[Space]| {
            if self.used.contains(&(kind, number as u32)) {
                return;
            }
            let known = spaces
                .iter()
                .flat_map(|&space| (0..names.space(space).len()).map(move |number| names.get(space, number as u32)));
            let nearest = nearest(&place, known).map(str::to_owned);
            let may_be_absent = spaces != [Space::Var];
            unbound.push(Unbound { what, place, span, may_be_absent, nearest });
        };
        for (i, v) in spec.variables.iter().enumerate() {
            if let Some(place) = &v.place {
                let (what, spaces): (_, &[Space]) = match v.kind {
                    VariableKind::Region => ("region", &[Space::Block]),
                    _ => ("variable", &[Space::Var]),
                };
                check(Kind::Variable, i, format!("{what} {}", v.name), place.recorded(), v.span, spaces);
            }
        }
        for (i, l) in spec.locks.iter().enumerate() {
            let spaces = [Space::Lock, Space::Cond];
            check(Kind::Lock, i, format!("lock {}", l.name), l.place.recorded(), l.span, &spaces);
        }
        for (i, e) in spec.events.iter().enumerate() {
            check(Kind::Event, i, format!("event {}", e.name), e.recorded(), e.span, &[Space::Label]);
        }
        unbound
    }
}
