//! What variables hold on the run, and how an instance sees them.

use super::subject::{Objects, Subject};
use crate::check::{Arg, Const, ParamId, Spec, Valuation, Value, VarRef, VariableKind};
use crate::syntax::ast::Type;
use event::{Names, ThreadId};
use std::collections::{BTreeMap, HashMap};

/// A variable: its number in the specification, and of which instance or thread.
pub(super) type Key = (u32, Option<Subject>);

/// What is held, as recorded; strings by their numbers in [`Objects`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Held {
    Unknown,
    Known(Subject),
}

/// An initial value by recorded name.
#[derive(Clone, Copy, Debug)]
struct Told {
    held: Held,
    /// From the command line: it wins over the specification.
    by_user: bool,
    /// After the first event: too late for what was there from the start.
    late: bool,
}

/// What all variables of a specification hold.
#[derive(Default)]
pub(super) struct Values {
    held: HashMap<Key, Held>,
    /// By variable: its value before the first write.
    initial: Vec<Held>,
    /// Initial values of the command line, and of the trace, which count where the specification says nothing.
    told: BTreeMap<String, Told>,
    /// How deep each thread is in each region.
    depth: HashMap<(u32, ThreadId), u32>,
}

impl Values {
    pub(super) fn new(spec: &Spec, objects: &mut Objects, init: &[(String, Const)]) -> Values {
        let mut initial = Vec::new();
        for variable in &spec.variables {
            let given = init.iter().find(|(name, _)| *name == variable.name).map(|(_, value)| value);
            let recorded = variable.place.as_ref().map(|place| place.recorded());
            let given = given.or_else(|| init.iter().find(|(name, _)| Some(name) == recorded.as_ref()).map(|(_, v)| v));
            initial.push(match given.or(variable.init.as_ref()) {
                Some(constant) => Held::Known(of_constant(objects, constant)),
                None if variable.kind == VariableKind::Region => Held::Known(Subject::Bool(false)),
                None => Held::Unknown,
            });
        }
        // Values of single objects are known by their recorded names.
        let told = init.iter().map(|(name, value)| {
            let held = Held::Known(of_constant(objects, value));
            (name.clone(), Told { held, by_user: true, late: false })
        });
        let told = told.collect();
        Values { initial, told, ..Values::default() }
    }

    /// An initial value that the trace gives.
    /// Where the command line gave one, that stays.
    pub(super) fn tell(&mut self, name: &str, held: Held, late: bool) {
        self.told.entry(name.to_owned()).or_insert(Told { held, by_user: false, late });
    }

    /// Makes initial values of the trace those of the variables that have none.
    pub(super) fn take_told(&mut self, spec: &Spec) {
        for (variable, initial) in spec.variables.iter().zip(&mut self.initial) {
            if variable.index.is_none()
                && *initial == Held::Unknown
                && let Some(place) = &variable.place
                && let Some(told) = self.told.get(&place.recorded()).filter(|told| !told.late)
            {
                *initial = told.held;
            }
        }
    }

    /// Gives a variable of an instance the initial value that the trace gave under its name.
    pub(super) fn take_told_of(&mut self, key: Key, name: &str) {
        if let Some(told) = self.told.get(name)
            && (told.by_user || self.initial[key.0 as usize] == Held::Unknown)
        {
            self.held.entry(key).or_insert(told.held);
        }
    }

    /// What was written is no longer there.
    pub(super) fn forget(&mut self, key: Key) {
        self.held.remove(&key);
    }

    pub(super) fn set(&mut self, key: Key, held: Held) {
        self.held.insert(key, held);
    }

    fn get(&self, key: Key) -> Held {
        self.held.get(&key).copied().unwrap_or(self.initial[key.0 as usize])
    }

    /// A thread enters or leaves a region. Whether it is the outermost one.
    pub(super) fn cross(&mut self, region: u32, thread: ThreadId, enters: bool) -> bool {
        let depth = self.depth.entry((region, thread)).or_default();
        let outermost = if enters {
            *depth += 1;
            *depth == 1
        } else {
            *depth = depth.saturating_sub(1);
            *depth == 0
        };
        if outermost {
            self.set((region, Some(Subject::Thread(thread))), Held::Known(Subject::Bool(enters)));
        }
        outermost
    }
}

/// The subject that a constant is.
pub(super) fn of_constant(objects: &mut Objects, constant: &Const) -> Subject {
    match constant {
        Const::Bool(b) => Subject::Bool(*b),
        Const::Int(n) => Subject::Int(*n),
        Const::Real(r) => Subject::Real(r.to_bits()),
        Const::Str(s) => Subject::Text(objects.number(s)),
    }
}

/// What an instance sees: its parameters, and the variables they choose.
pub(super) struct View<'a> {
    pub(super) spec: &'a Spec,
    pub(super) names: &'a Names,
    pub(super) values: &'a Values,
    pub(super) objects: &'a Objects,
    /// By parameter; `None` where it stands for nothing yet.
    pub(super) binding: &'a [Option<Subject>],
}

impl View<'_> {
    /// The key of a variable; `None` if its index stands for nothing yet.
    fn key(&self, var: &VarRef) -> Option<Key> {
        let index = match &var.index {
            None => None,
            Some(Arg::Param(param)) => Some((*self.binding.get(*param as usize)?)?),
            Some(Arg::Const(constant)) => Some(match constant {
                Const::Bool(b) => Subject::Bool(*b),
                Const::Int(n) => Subject::Int(*n),
                Const::Real(r) => Subject::Real(r.to_bits()),
                Const::Str(s) => Subject::Text(self.objects.find(s)?),
            }),
            Some(Arg::Thread(name)) => {
                Some(Subject::Thread(ThreadId(self.names.space(event::Space::Thread).find(name.as_bytes())?)))
            }
            Some(_) => return None,
        };
        Some((var.var, index))
    }
}

impl Valuation for View<'_> {
    fn variable(&self, var: &VarRef) -> Value<'_> {
        // What an index that stands for nothing yet will stand for has not been written: it holds its initial value.
        let held = self.key(var).map_or(self.values.initial[var.var as usize], |key| self.values.get(key));
        let Held::Known(subject) = held else { return Value::Unknown };
        match (self.spec.variables[var.var as usize].ty, subject) {
            // Languages without truth values record 0 and 1.
            (Some(Type::Bool), Subject::Int(n @ (0 | 1))) => Value::Bool(n == 1),
            (Some(Type::Real), Subject::Int(n)) => Value::Real(n as f64),
            _ => self.objects.value(subject),
        }
    }

    fn param(&self, param: ParamId) -> Value<'_> {
        match self.binding.get(param as usize) {
            Some(Some(subject)) => self.objects.value(*subject),
            _ => Value::Unknown,
        }
    }

    fn thread(&self, name: &str) -> Value<'_> {
        match self.names.space(event::Space::Thread).find(name.as_bytes()) {
            Some(number) => self.objects.value(Subject::Thread(ThreadId(number))),
            None => Value::Unknown,
        }
    }
}
