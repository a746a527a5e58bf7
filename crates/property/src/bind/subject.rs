//! What parameters and indexes stand for: threads, locks and objects by name, values.

use crate::check::{Const, Value};
use crate::syntax::ast::{Sort, Type};
use event::{Names, Space, ThreadId};
use std::collections::HashMap;
use std::sync::Arc;

/// What a parameter stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Subject {
    Thread(ThreadId),
    /// A lock or an object: the number of its name in [`Objects`].
    Object(u32),
    Bool(bool),
    Int(i64),
    /// By its bits.
    Real(u64),
    /// A string: the number of its text in [`Objects`].
    Text(u32),
}

/// The names of locks and objects, and other texts that distinguish instances.
///
/// Clones share their memory until one of them learns a new name.
#[derive(Clone, Default)]
pub(crate) struct Objects {
    table: Arc<Table>,
}

#[derive(Clone, Default)]
struct Table {
    numbers: HashMap<String, u32>,
    names: Vec<String>,
}

impl Objects {
    pub(crate) fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.find(name) {
            return number;
        }
        let table = Arc::make_mut(&mut self.table);
        let number = table.names.len() as u32;
        table.numbers.insert(name.to_owned(), number);
        table.names.push(name.to_owned());
        number
    }

    pub(crate) fn name(&self, number: u32) -> &str {
        &self.table.names[number as usize]
    }

    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        self.table.numbers.get(name).copied()
    }

    /// The subject that a recorded value is.
    pub(crate) fn of_value(&mut self, names: &Names, value: event::Value) -> Option<Subject> {
        Some(match value {
            event::Value::Unknown => return None,
            event::Value::Bool(b) => Subject::Bool(b),
            event::Value::Int(n) => Subject::Int(n),
            event::Value::Real(r) => Subject::Real(r.to_bits()),
            event::Value::Str(id) => Subject::Text(self.number(names.str(id))),
        })
    }

    /// The subject as one of a sort, if it is one. A string names a thread, lock or object.
    pub(crate) fn of_sort(&self, names: &Names, subject: Subject, sort: &Sort) -> Option<Subject> {
        Some(match (sort, subject) {
            (Sort::Thread, Subject::Thread(_)) => subject,
            (Sort::Thread, Subject::Text(text)) => {
                let number = names.space(Space::Thread).find(self.table.names[text as usize].as_bytes())?;
                Subject::Thread(ThreadId(number))
            }
            (Sort::Lock | Sort::Object(None), Subject::Object(_)) => subject,
            (Sort::Lock | Sort::Object(None), Subject::Text(text)) => Subject::Object(text),
            (Sort::Object(Some(class)), Subject::Object(name) | Subject::Text(name)) => {
                let of = self.table.names[name as usize].strip_prefix(class.as_str())?;
                of.starts_with('@').then_some(Subject::Object(name))?
            }
            (Sort::Value(Type::Bool), Subject::Bool(_))
            | (Sort::Value(Type::Int), Subject::Int(_))
            | (Sort::Value(Type::Real), Subject::Real(_))
            | (Sort::Value(Type::String), Subject::Text(_))
            | (Sort::Value(Type::Ref), _) => subject,
            (Sort::Value(Type::Real), Subject::Int(n)) => Subject::Real((n as f64).to_bits()),
            _ => return None,
        })
    }

    /// An identity that was recorded as a value: of a thread, or of anything else by name or number.
    pub(crate) fn of_identity(&mut self, names: &Names, subject: Subject) -> Subject {
        match subject {
            Subject::Text(text) => match names.space(Space::Thread).find(self.table.names[text as usize].as_bytes()) {
                Some(thread) => Subject::Thread(ThreadId(thread)),
                None => Subject::Object(text),
            },
            // No name looks like this.
            Subject::Int(n) => Subject::Object(self.number(&format!("\u{0}{n}"))),
            other => other,
        }
    }

    /// Whether a subject is this constant.
    pub(crate) fn is(&self, subject: Subject, constant: &Const) -> bool {
        match (subject, constant) {
            (Subject::Bool(a), Const::Bool(b)) => a == *b,
            (Subject::Int(a), Const::Int(b)) => a == *b,
            (Subject::Real(a), Const::Real(b)) => a == b.to_bits(),
            (Subject::Text(a), Const::Str(b)) => self.find(b) == Some(a),
            _ => false,
        }
    }

    /// As a value of expressions.
    pub(crate) fn value(&self, subject: Subject) -> Value<'_> {
        match subject {
            // Threads and objects are never compared with each other; the top bit keeps them apart all the same.
            Subject::Thread(thread) => Value::Ref(1 << 63 | u64::from(thread.0)),
            Subject::Object(number) => Value::Ref(number.into()),
            Subject::Bool(b) => Value::Bool(b),
            Subject::Int(n) => Value::Int(n),
            Subject::Real(bits) => Value::Real(f64::from_bits(bits)),
            Subject::Text(number) => Value::Str(&self.table.names[number as usize]),
        }
    }

    /// In words.
    pub(crate) fn text(&self, names: &Names, subject: Subject) -> String {
        match subject {
            Subject::Thread(thread) => names.get(Space::Thread, thread.0).to_owned(),
            Subject::Object(number) => self.table.names[number as usize].clone(),
            Subject::Bool(b) => b.to_string(),
            Subject::Int(n) => n.to_string(),
            Subject::Real(bits) => format!("{:?}", f64::from_bits(bits)),
            Subject::Text(number) => format!("{:?}", self.table.names[number as usize]),
        }
    }
}
