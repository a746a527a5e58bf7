//! What variables hold on the run, and how an instance sees them.

use super::reader::EventEffect;
use super::subject::{Objects, Subject};
use crate::check::{Arg, Const, ParamId, Spec, Valuation, Value, VarRef, VariableKind};
use crate::syntax::ast::Type;
use event::Names;
use std::collections::{BTreeMap, HashMap};

/// A variable: its number in the specification, and of which instance or thread.
pub(crate) type Key = (u32, Option<Subject>);

/// What is held, as recorded; strings by their numbers in [`Objects`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum HeldValue {
    Unknown,
    Known(Subject),
}

/// An initial value by recorded name.
#[derive(Clone, Copy, Debug)]
struct Given {
    held: HeldValue,
    /// From the command line: it wins over the specification.
    by_user: bool,
    /// After the first event: too late for what was there from the start.
    late: bool,
}

/// What all variables of a specification hold.
#[derive(Default)]
pub(crate) struct Values {
    held: HashMap<Key, HeldValue>,
    /// By variable: its value before the first write.
    initial: Vec<HeldValue>,
    /// Initial values of the command line, and of the trace, which count where the specification says nothing.
    given: BTreeMap<String, Given>,
}

impl Values {
    pub(crate) fn new(spec: &Spec, objects: &mut Objects, init: &[(String, Const)]) -> Values {
        let mut initial = Vec::new();
        for variable in &spec.variables {
            let given = init.iter().find(|(name, _)| *name == variable.name).map(|(_, value)| value);
            let recorded = variable.place.as_ref().map(|place| place.recorded());
            let given = given.or_else(|| init.iter().find(|(name, _)| Some(name) == recorded.as_ref()).map(|(_, v)| v));
            initial.push(match given.or(variable.init.as_ref()) {
                Some(constant) => HeldValue::Known(of_constant(objects, constant)),
                None if variable.kind == VariableKind::Region => HeldValue::Known(Subject::Bool(false)),
                None => HeldValue::Unknown,
            });
        }
        // Values of single objects are known by their recorded names.
        let given = init.iter().map(|(name, value)| {
            let held = HeldValue::Known(of_constant(objects, value));
            (name.clone(), Given { held, by_user: true, late: false })
        });
        let given = given.collect();
        Values { initial, given, ..Values::default() }
    }

    /// An initial value that the trace gives.
    /// Where the command line gave one, that stays.
    pub(crate) fn give(&mut self, name: &str, held: HeldValue, late: bool) {
        self.given.entry(name.to_owned()).or_insert(Given { held, by_user: false, late });
    }

    /// What was given for a recorded name from the start.
    pub(crate) fn given(&self, name: &str) -> Option<HeldValue> {
        self.given.get(name).filter(|given| !given.late).map(|given| given.held)
    }

    /// Whether anything was given.
    pub(crate) fn has_given(&self) -> bool {
        !self.given.is_empty()
    }

    /// Makes initial values of the trace those of the variables that have none.
    pub(crate) fn adopt_given(&mut self, spec: &Spec) {
        for (variable, initial) in spec.variables.iter().zip(&mut self.initial) {
            if variable.index.is_none()
                && *initial == HeldValue::Unknown
                && let Some(place) = &variable.place
                && let Some(given) = self.given.get(&place.recorded()).filter(|given| !given.late)
            {
                *initial = given.held;
            }
        }
    }

    /// Gives a variable of an instance the initial value that the trace gave under its name.
    pub(crate) fn adopt_given_of(&mut self, key: Key, name: &str) {
        if let Some(given) = self.given.get(name)
            && (given.by_user || self.initial[key.0 as usize] == HeldValue::Unknown)
        {
            self.held.entry(key).or_insert(given.held);
        }
    }

    /// What an event did: what it wrote is there, what it forgot no longer.
    pub(crate) fn apply(&mut self, effect: &EventEffect) {
        self.held.extend(effect.written.iter().copied());
        for key in &effect.forgotten {
            self.held.remove(key);
        }
    }

    /// What a variable holds before its first write, where nothing was given for its name.
    pub(crate) fn initial(&self, variable: u32) -> HeldValue {
        self.initial[variable as usize]
    }

    pub(crate) fn get(&self, key: Key) -> HeldValue {
        self.held.get(&key).copied().unwrap_or(self.initial[key.0 as usize])
    }
}

/// The subject that a constant is.
pub(crate) fn of_constant(objects: &mut Objects, constant: &Const) -> Subject {
    match constant {
        Const::Bool(b) => Subject::Bool(*b),
        Const::Int(n) => Subject::Int(*n),
        Const::Real(r) => Subject::Real(r.to_bits()),
        Const::Str(s) => Subject::Text(objects.number(s)),
    }
}

/// What a variable of this type holds, as a value of expressions.
pub(crate) fn value<'a>(held: HeldValue, ty: Option<Type>, objects: &'a Objects) -> Value<'a> {
    match (ty, held) {
        (_, HeldValue::Unknown) => Value::Unknown,
        // Languages without truth values record 0 and 1.
        (Some(Type::Bool), HeldValue::Known(Subject::Int(n @ (0 | 1)))) => Value::Bool(n == 1),
        (Some(Type::Real), HeldValue::Known(Subject::Int(n))) => Value::Real(n as f64),
        (_, HeldValue::Known(subject)) => objects.value(subject),
    }
}

/// What an instance sees: its parameters, and the variables they choose.
pub(crate) struct View<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) names: &'a Names,
    pub(crate) values: &'a Values,
    pub(crate) objects: &'a Objects,
    /// By parameter; `None` where it stands for nothing yet.
    pub(crate) binding: &'a [Option<Subject>],
}

impl View<'_> {
    /// The key of a variable; `None` if its index stands for nothing yet.
    pub(crate) fn key(&self, var: &VarRef) -> Option<Key> {
        let index = match &var.index {
            None => None,
            Some(Arg::Param(param)) => Some((*self.binding.get(*param as usize)?)?),
            Some(Arg::Const(constant)) => Some(match constant {
                Const::Bool(b) => Subject::Bool(*b),
                Const::Int(n) => Subject::Int(*n),
                Const::Real(r) => Subject::Real(r.to_bits()),
                Const::Str(s) => Subject::Text(self.objects.find(s)?),
            }),
            Some(Arg::Thread(name)) => Some(self.objects.thread_named(self.names, name)?),
            Some(_) => return None,
        };
        Some((var.var, index))
    }
}

impl Valuation for View<'_> {
    fn variable(&self, var: &VarRef) -> Value<'_> {
        // What an index that stands for nothing yet will stand for has not been written: it holds its initial value.
        let held = self.key(var).map_or(self.values.initial[var.var as usize], |key| self.values.get(key));
        value(held, self.spec.variables[var.var as usize].ty, self.objects)
    }

    fn param(&self, param: ParamId) -> Value<'_> {
        match self.binding.get(param as usize) {
            Some(Some(subject)) => self.objects.value(*subject),
            _ => Value::Unknown,
        }
    }

    fn thread(&self, name: &str) -> Value<'_> {
        self.objects.thread_named(self.names, name).map_or(Value::Unknown, |thread| self.objects.value(thread))
    }
}
