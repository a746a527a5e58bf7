//! Properties for the oracle: atoms, their text, which events are steps, and the letter of each step of an order.

use crate::naive_past::{Run, Truth, values};
use event::{Names, Op, Space, Value};
use oracle::recorded::RecordedEvent;
use property::Formula;

/// Something a state atom compares.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Term {
    Int(i64),
    Variable(String),
    Sum(String, String),
}

/// A predicate on one step. Names are those of the trace; a thread that is `None` may be any.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Atom {
    Compare(Term, &'static str, Term),
    Read(String, Option<String>),
    Write(String, Option<String>),
    Acquire(String, Option<String>),
    Release(String, Option<String>),
    WaitBegin(String, Option<String>),
    WaitEnd(String, Option<String>),
    Notify(String, Option<String>),
    Fork(Option<String>, Option<String>),
    Join(Option<String>, Option<String>),
    Started(String),
    Finished(String),
}

/// A property without parameters. Unless a test of future-time formulas made it, it is past-time.
#[derive(Clone, Debug)]
pub(crate) struct Property {
    pub(crate) formula: Formula,
    pub(crate) atoms: Vec<Atom>,
    /// `steps = all`
    pub(crate) all_steps: bool,
}

/// What the variables of the state atoms hold; `None` is unknown, and stands for all other variables, too.
pub(crate) type Valuation = Vec<Option<i64>>;

/// A property on the events of one trace.
pub(crate) struct Judge {
    pub(crate) property: Property,
    /// By event: whether it is a step.
    pub(crate) is_step: Vec<bool>,
    /// By event and atom: whether the event atom holds of it.
    named: Vec<Vec<bool>>,
    /// By atom: the variables that it speaks of, and what it says.
    states: Vec<Option<(Number, &'static str, Number)>>,
    /// By variable: whether a state atom mentions it.
    mentioned: Vec<bool>,
    initial: Valuation,
}

/// A term with its variables found.
#[derive(Clone, Copy, Debug)]
enum Number {
    Int(i64),
    Variable(usize),
    Sum(usize, usize),
}

impl Judge {
    pub(crate) fn new(property: &Property, names: &Names, events: &[RecordedEvent], initial: &[Value]) -> Judge {
        let number =
            |name: &str| names.space(Space::Var).find(name.as_bytes()).expect("a variable of the trace") as usize;
        let term = |term: &Term| match term {
            Term::Int(n) => Number::Int(*n),
            Term::Variable(x) => Number::Variable(number(x)),
            Term::Sum(x, y) => Number::Sum(number(x), number(y)),
        };
        let state = |atom: &Atom| match atom {
            Atom::Compare(left, op, right) => Some((term(left), *op, term(right))),
            _ => None,
        };
        let states: Vec<_> = property.atoms.iter().map(state).collect();
        let named: Vec<Vec<bool>> =
            events.iter().map(|e| property.atoms.iter().map(|atom| names_it(atom, names, e)).collect()).collect();
        let mentions = |n: &Number, v: usize| match *n {
            Number::Int(_) => false,
            Number::Variable(x) => x == v,
            Number::Sum(x, y) => x == v || y == v,
        };
        let is_mentioned = |v| states.iter().flatten().any(|(left, _, right)| mentions(left, v) || mentions(right, v));
        let mentioned: Vec<bool> = (0..initial.len()).map(is_mentioned).collect();
        let written = |e: &RecordedEvent| e.writes() && mentioned[e.object as usize];
        let is_step =
            events.iter().zip(&named).map(|(e, named)| property.all_steps || written(e) || named.contains(&true));
        let is_step = is_step.collect();
        let initial = initial.iter().zip(&mentioned).map(|(&value, mentioned)| number_of(value).filter(|_| *mentioned));
        let initial = initial.collect();
        Judge { property: property.clone(), is_step, named, states, mentioned, initial }
    }

    pub(crate) fn initial(&self) -> Valuation {
        self.initial.clone()
    }

    /// The atoms at a step: of this event (none at step 0), with these values after it.
    pub(crate) fn letter(&self, event: Option<usize>, valuation: &Valuation) -> Vec<Truth> {
        let value = |n: Number| {
            Some(match n {
                Number::Int(n) => n,
                Number::Variable(x) => valuation[x]?,
                Number::Sum(x, y) => valuation[x]? + valuation[y]?,
            })
        };
        let compare = |(left, op, right): (Number, &str, Number)| {
            let (left, right) = (value(left)?, value(right)?);
            Some(match op {
                "==" => left == right,
                "!=" => left != right,
                "<" => left < right,
                "<=" => left <= right,
                ">" => left > right,
                ">=" => left >= right,
                _ => unreachable!("a comparison"),
            })
        };
        let atom = |(number, state): (usize, &Option<_>)| match state {
            Some(state) => compare(*state),
            None => Some(event.is_some_and(|e| self.named[e][number])),
        };
        self.states.iter().enumerate().map(atom).collect()
    }

    /// What an event leaves behind in the variables; a value that was not recorded is unknown.
    pub(crate) fn write(&self, event: &RecordedEvent, valuation: &mut Valuation) {
        if event.writes() && self.mentioned[event.object as usize] {
            valuation[event.object as usize] = number_of(event.value);
        }
    }

    /// The letters of step 0 and of the steps of an order of events.
    pub(crate) fn letters(&self, events: &[RecordedEvent], order: &[usize]) -> Run {
        let mut valuation = self.initial();
        let mut run = vec![self.letter(None, &valuation)];
        for &e in order {
            self.write(&events[e], &mut valuation);
            if self.is_step[e] {
                run.push(self.letter(Some(e), &valuation));
            }
        }
        run
    }

    /// The truth of the formula at step 0 and at the steps of an order of events, by the definition.
    pub(crate) fn truths(&self, events: &[RecordedEvent], order: &[usize]) -> Vec<Truth> {
        values(&self.property.formula, &self.letters(events, order))
    }
}

/// State atoms compare integers; truth values are 0 and 1.
fn number_of(value: Value) -> Option<i64> {
    match value {
        Value::Int(n) => Some(n),
        Value::Bool(b) => Some(i64::from(b)),
        _ => None,
    }
}

/// Whether an event atom holds of an event.
fn names_it(atom: &Atom, names: &Names, e: &RecordedEvent) -> bool {
    let name = |space| names.get(space, e.object);
    let is = |given: &Option<String>, actual: &str| given.as_deref().is_none_or(|given| given == actual);
    let thread = names.get(Space::Thread, e.thread);
    let lock = e.lock.map(|lock| names.get(Space::Lock, lock));
    match atom {
        Atom::Compare(..) => false,
        Atom::Read(x, t) => e.reads() && name(Space::Var) == x && is(t, thread),
        Atom::Write(x, t) => e.writes() && name(Space::Var) == x && is(t, thread),
        Atom::Acquire(l, t) => {
            matches!(e.op, Op::Acquire | Op::TryAcquire | Op::ReadAcquire) && lock == Some(l) && is(t, thread)
        }
        Atom::Release(l, t) => matches!(e.op, Op::Release | Op::ReadRelease) && lock == Some(l) && is(t, thread),
        // A wait is one of its condition and of its lock.
        Atom::WaitBegin(o, t) => e.op == Op::Wait && (name(Space::Cond) == o || lock == Some(o)) && is(t, thread),
        Atom::WaitEnd(o, t) => e.op == Op::Woken && (name(Space::Cond) == o || lock == Some(o)) && is(t, thread),
        Atom::Notify(o, t) => matches!(e.op, Op::Notify | Op::NotifyAll) && name(Space::Cond) == o && is(t, thread),
        Atom::Fork(t, u) => e.op == Op::Fork && is(t, thread) && is(u, name(Space::Thread)),
        Atom::Join(t, u) => e.op == Op::Join && is(t, thread) && is(u, name(Space::Thread)),
        Atom::Started(t) => e.nth == 0 && t == thread,
        Atom::Finished(t) => e.op == Op::Join && name(Space::Thread) == t,
    }
}

impl Term {
    fn text(&self) -> String {
        match self {
            Term::Int(n) => n.to_string(),
            Term::Variable(x) => x.clone(),
            Term::Sum(x, y) => format!("{x} + {y}"),
        }
    }
}

impl Atom {
    fn text(&self) -> String {
        let call = |name: &str, object: &str, thread: &Option<String>| match thread {
            Some(thread) => format!("{name}({object}, {thread})"),
            None => format!("{name}({object})"),
        };
        let any = |thread: &Option<String>| thread.clone().unwrap_or_else(|| "_".to_owned());
        match self {
            Atom::Compare(left, op, right) => format!("{} {op} {}", left.text(), right.text()),
            Atom::Read(x, t) => call("read", x, t),
            Atom::Write(x, t) => call("write", x, t),
            Atom::Acquire(l, t) => call("acquire", l, t),
            Atom::Release(l, t) => call("release", l, t),
            Atom::WaitBegin(o, t) => call("wait_begin", o, t),
            Atom::WaitEnd(o, t) => call("wait_end", o, t),
            Atom::Notify(o, t) => call("notify", o, t),
            Atom::Fork(t, u) => format!("fork({}, {})", any(t), any(u)),
            Atom::Join(t, u) => format!("join({}, {})", any(t), any(u)),
            Atom::Started(t) => format!("started({t})"),
            Atom::Finished(t) => format!("finished({t})"),
        }
    }
}

impl Property {
    /// The formula as `--property` takes it.
    pub(crate) fn text(&self) -> String {
        self.formula_text(&self.formula)
    }

    fn formula_text(&self, formula: &Formula) -> String {
        use Formula::*;
        let t = |f: &Formula| self.formula_text(f);
        match formula {
            Const(value) => value.to_string(),
            Atom(atom) => format!("({})", self.atoms[*atom as usize].text()),
            Not(f) => format!("!{}", t(f)),
            And(f, g) => format!("({} && {})", t(f), t(g)),
            Or(f, g) => format!("({} || {})", t(f), t(g)),
            Implies(f, g) => format!("({} -> {})", t(f), t(g)),
            Iff(f, g) => format!("({} <-> {})", t(f), t(g)),
            Prev(f) => format!("prev {}", t(f)),
            Yesterday(f) => format!("yesterday {}", t(f)),
            WYesterday(f) => format!("wyesterday {}", t(f)),
            Once(f) => format!("once {}", t(f)),
            Hist(f) => format!("hist {}", t(f)),
            Since(f, g) => format!("({} since {})", t(f), t(g)),
            WSince(f, g) => format!("({} wsince {})", t(f), t(g)),
            Interval(f, g) => format!("[{}, {})", t(f), t(g)),
            WInterval(f, g) => format!("weak [{}, {})", t(f), t(g)),
            Start(f) => format!("start({})", t(f)),
            End(f) => format!("end({})", t(f)),
            Always(f) => format!("always {}", t(f)),
            Eventually(f) => format!("eventually {}", t(f)),
            Next(f) => format!("next {}", t(f)),
            WNext(f) => format!("wnext {}", t(f)),
            Until(f, g) => format!("({} until {})", t(f), t(g)),
            WUntil(f, g) => format!("({} wuntil {})", t(f), t(g)),
            Releases(f, g) => format!("({} releases {})", t(f), t(g)),
        }
    }
}
