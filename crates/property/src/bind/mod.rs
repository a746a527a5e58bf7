//! A specification bound to a trace: which recorded names its declarations mean, and what each event does to it.
//!
//! The recorded run ([`crate::run`]) and the search of other runs ([`crate::steps`]) read events by the same
//! `Reader`, and the names that the run has bound are not bound again.

mod declared;
mod filter;
pub(crate) mod matching;
mod names;
pub(crate) mod reader;
pub(crate) mod subject;
pub(crate) mod values;

pub(crate) use declared::Meant;
pub(crate) use names::Bindings;
pub use names::Unbound;

use crate::check::{Const, Spec};
use event::{Batch, Names, Space, Value, VarId};
use reader::Reader;
use std::sync::Arc;
use subject::Objects;

/// The names of a trace as far as they were looked at: what they mean to a specification, and the numbers of objects.
/// Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct BoundNames {
    pub(crate) bindings: Arc<Bindings>,
    pub(crate) objects: Objects,
}

/// What the variables of a trace hold at first: what the command line says, else the specification, else the trace.
#[derive(Clone, Default, Debug)]
pub struct InitialValues(Vec<Value>);

impl InitialValues {
    /// Those of a trace without any specification.
    pub fn of_trace(init: &[(String, Const)], names: &Names, trace: &Batch) -> InitialValues {
        InitialValues::new(&Arc::new(Spec::default()), init, BoundNames::default(), names, trace)
    }

    pub(crate) fn new(
        spec: &Arc<Spec>,
        init: &[(String, Const)],
        bound: BoundNames,
        names: &Names,
        trace: &Batch,
    ) -> InitialValues {
        let mut reader = Reader::new(spec, [], init, bound, false);
        reader.objects.expect_no_threads();
        reader.open(names, trace, false);
        reader.begin();
        InitialValues::of_reader(&reader, names)
    }

    /// Those of a reader that has not read any event.
    pub(crate) fn of_reader(reader: &Reader, names: &Names) -> InitialValues {
        let mut values = vec![Value::Unknown; names.space(Space::Var).len()];
        for (number, value) in values.iter_mut().enumerate().filter(|&(number, _)| reader.speaks_of(number)) {
            *value = reader.initial(names, VarId(number as u32));
        }
        InitialValues(values)
    }

    /// What a variable holds; unknown if nothing says.
    pub fn get(&self, var: VarId) -> Value {
        self.0.get(var.0 as usize).copied().unwrap_or_default()
    }
}
