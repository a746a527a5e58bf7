//! What parameters and indexes stand for: threads, locks and objects by name, values.

use crate::check::{Const, Value};
use crate::syntax::ast::{Sort, Type};
use event::{MAX_THREADS, Names, Space, ThreadId};
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
    threads: Threads,
}

/// Threads that names speak of before they have appeared in the run: `a[T2]`, written before T2 is forked.
///
/// Such a thread has a number of its own, beyond those of the trace, and keeps it when it appears.
#[derive(Clone, Default)]
struct Threads {
    /// Their names, in the order of their own numbers, and the numbers in the trace of those that have appeared.
    expected: Vec<(String, Option<ThreadId>)>,
    own: HashMap<ThreadId, ThreadId>,
    /// How many threads of the trace were looked at.
    seen: usize,
    /// All threads have appeared.
    all: bool,
}

/// So many threads are expected at most; of names that speak of more, those are taken for no threads.
const MOST_EXPECTED: usize = 1024;

/// The first of those numbers: a trace has fewer threads.
const OWN: u32 = MAX_THREADS as u32;

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

    /// The thread with this name, which may not have appeared yet.
    pub(crate) fn expect_thread(&mut self, names: &Names, name: &str) -> Option<Subject> {
        if let Some(thread) = self.thread_named(names, name) {
            return Some(thread);
        }
        let threads = &self.table.threads;
        let known = threads.expected.iter().position(|(expected, _)| expected == name);
        if known.is_none() && (threads.all || threads.expected.len() >= MOST_EXPECTED) {
            return None;
        }
        let place = known.unwrap_or_else(|| {
            let threads = &mut Arc::make_mut(&mut self.table).threads;
            threads.expected.push((name.to_owned(), None));
            threads.expected.len() - 1
        });
        Some(Subject::Thread(ThreadId(OWN + place as u32)))
    }

    /// No thread is to appear any more.
    pub(crate) fn expect_no_threads(&mut self) {
        Arc::make_mut(&mut self.table).threads.all = true;
    }

    /// Looks at the threads that appeared since the last time; whether one of them was expected.
    pub(crate) fn meet_threads(&mut self, names: &Names) -> bool {
        let count = names.space(Space::Thread).len();
        if self.table.threads.expected.is_empty() || self.table.threads.seen == count {
            return false;
        }
        let threads = &mut Arc::make_mut(&mut self.table).threads;
        let mut met = false;
        for number in std::mem::replace(&mut threads.seen, count) as u32..count as u32 {
            let (name, thread) = (names.get(Space::Thread, number), ThreadId(number));
            let expected = (OWN..).zip(&mut threads.expected).find(|(_, expected)| expected.0 == name);
            if let Some((own, expected)) = expected.filter(|(_, expected)| expected.1.is_none()) {
                expected.1 = Some(thread);
                threads.own.insert(thread, ThreadId(own));
                met = true;
            }
        }
        met
    }

    /// The threads that are expected and have not appeared.
    pub(crate) fn absent_threads(&self) -> impl Iterator<Item = Subject> + '_ {
        let expected = (OWN..).zip(&self.table.threads.expected);
        expected.filter(|(_, expected)| expected.1.is_none()).map(|(own, _)| Subject::Thread(ThreadId(own)))
    }

    /// How many threads names spoke of before they had appeared.
    pub(crate) fn expected(&self) -> usize {
        self.table.threads.expected.len()
    }

    /// The subject that a thread of the trace is.
    #[inline]
    pub(crate) fn thread(&self, thread: ThreadId) -> Subject {
        let own = &self.table.threads.own;
        Subject::Thread(if own.is_empty() { thread } else { own.get(&thread).copied().unwrap_or(thread) })
    }

    /// The subject that a thread of this name is, if it has appeared.
    pub(crate) fn thread_named(&self, names: &Names, name: &str) -> Option<Subject> {
        names.space(Space::Thread).find(name.as_bytes()).map(|number| self.thread(ThreadId(number)))
    }

    /// The name of a thread.
    pub(crate) fn thread_name<'a>(&'a self, names: &'a Names, thread: ThreadId) -> &'a str {
        match thread.0.checked_sub(OWN) {
            Some(place) => &self.table.threads.expected[place as usize].0,
            None => names.thread(thread),
        }
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
            (Sort::Thread, Subject::Text(text)) => self.thread_named(names, &self.table.names[text as usize])?,
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
            (Sort::Value(Type::Int), Subject::Bool(b)) => Subject::Int(b.into()),
            _ => return None,
        })
    }

    /// An identity that was recorded as a value: of a thread, or of anything else by name or number.
    pub(crate) fn of_identity(&mut self, names: &Names, subject: Subject) -> Subject {
        match subject {
            Subject::Text(text) => {
                self.thread_named(names, &self.table.names[text as usize]).unwrap_or(Subject::Object(text))
            }
            // No name looks like this.
            Subject::Int(n) => Subject::Object(self.number(&format!("\u{0}{n}"))),
            other => other,
        }
    }

    /// Whether a subject is this constant.
    pub(crate) fn is(&self, subject: Subject, constant: &Const) -> bool {
        match (subject, constant) {
            (Subject::Bool(a), Const::Bool(b)) => a == *b,
            (Subject::Bool(a), Const::Int(b)) => i64::from(a) == *b,
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
            Subject::Thread(thread) => self.thread_name(names, thread).to_owned(),
            Subject::Object(number) => self.table.names[number as usize].clone(),
            Subject::Bool(b) => b.to_string(),
            Subject::Int(n) => n.to_string(),
            Subject::Real(bits) => format!("{:?}", f64::from_bits(bits)),
            Subject::Text(number) => format!("{:?}", self.table.names[number as usize]),
        }
    }
}
