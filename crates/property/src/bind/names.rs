//! Which recorded names a specification's declarations mean (docs/properties.md).
//!
//! A variable, lock, region or event means the recorded name that its place spells. An indexed one means many:
//! `v[o : object<C>] at java C.v` the names `C.v@3` of the objects `C@3`, a lock `m[o : object<C>] at java C` the locks
//! `C@3`, and `a[i : int] at c a` the elements `a[3]`.

use super::declared::{Declared, Meant};
use super::subject::{Objects, Subject};
use crate::check::{Spec, UserEvent, Variable, VariableKind, nearest};
use crate::syntax::Span;
use crate::syntax::ast::{Lang, Sort, Type};
use event::{Names, Space};
use std::collections::HashSet;

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

/// The index that `rest`, which follows a recorded name, has between brackets.
fn in_brackets(rest: &str) -> Option<&str> {
    rest.strip_prefix('[')?.strip_suffix(']').filter(|inner| !inner.is_empty())
}

/// The number of an object in `rest`, which follows the recorded name of a field or class.
fn behind_at(rest: &str) -> Option<&str> {
    rest.strip_prefix('@').filter(|id| !id.is_empty())
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
        let is_region = |v: &Variable| v.kind == VariableKind::Region;
        let placed = |regions: bool| {
            let placed = (0..).zip(&spec.variables).filter(move |(_, v)| is_region(v) == regions);
            placed.filter_map(|(number, v)| Some((number, v.place.as_ref()?.recorded(), v)))
        };
        let data = Declared::new(placed(false).map(|(number, recorded, v)| (number, recorded, v.index.as_ref())));
        let regions = Declared::new(placed(true).map(|(number, recorded, _)| (number, recorded, None)));
        let locks = (0..).zip(&spec.locks).map(|(number, lock)| (number, lock.place.recorded(), lock.index.as_ref()));
        let locks = Declared::new(locks);
        let events = Declared::new((0..).zip(&spec.events).map(|(number, event)| (number, event.recorded(), None)));
        for number in self.vars.len()..names.space(Space::Var).len() {
            let name = names.get(Space::Var, number as u32);
            let meant = data.meant(name, |rest, recorded, sort| match sort {
                Sort::Object(_) => {
                    let name = format!("{}@{}", class_of(recorded), behind_at(rest)?);
                    Some(Subject::Object(objects.number(&name)))
                }
                sort => element(in_brackets(rest)?, sort, names, objects),
            });
            self.used.extend(meant.iter().map(|meant| (Kind::Variable, meant.number)));
            self.vars.push(meant);
        }
        for number in self.locks.len()..names.space(Space::Lock).len() {
            let meant = self.lock(&locks, names.get(Space::Lock, number as u32), names, objects);
            self.locks.push(meant);
        }
        for number in self.conds.len()..names.space(Space::Cond).len() {
            let meant = self.lock(&locks, names.get(Space::Cond, number as u32), names, objects);
            self.conds.push(meant);
        }
        for number in self.blocks.len()..names.space(Space::Block).len() {
            let regions = regions.single(names.get(Space::Block, number as u32)).to_vec();
            self.used.extend(regions.iter().map(|&region| (Kind::Variable, region)));
            self.blocks.push(regions);
        }
        if self.sure.is_empty() {
            let sorts = |e: &UserEvent| e.params.iter().map(|(_, sort)| sort.clone()).collect();
            let sure = |e: &UserEvent| if matches!(e.place.lang, Lang::Java | Lang::C) { sorts(e) } else { Vec::new() };
            self.sure = spec.events.iter().map(sure).collect();
        }
        for number in self.labels.len()..names.space(Space::Label).len() {
            let events = events.single(names.get(Space::Label, number as u32)).to_vec();
            self.used.extend(events.iter().map(|&event| (Kind::Event, event)));
            self.labels.push(events);
        }
    }

    /// What the name of a lock or condition means, and its number as an object.
    fn lock(&mut self, declared: &Declared<'_>, name: &str, names: &Names, objects: &mut Objects) -> (Vec<Meant>, u32) {
        let object = objects.number(name);
        let meant = declared.meant(name, |rest, _, sort| match sort {
            Sort::Object(_) | Sort::Lock if behind_at(rest).is_some() => Some(Subject::Object(object)),
            sort => element(in_brackets(rest)?, sort, names, objects),
        });
        self.used.extend(meant.iter().map(|meant| (Kind::Lock, meant.number)));
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
