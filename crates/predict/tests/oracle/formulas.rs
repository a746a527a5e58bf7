//! Random past-time properties over the names of a trace, with a bias to those that hold on the recorded run and
//! depend on its order.

use crate::meaning::{Atom, Property, Term};
use event::{Batch, Event, Names, Op, Space};
use oracle::programs::NUMBERS;
use oracle::random::Random;
use property::Formula;
use trace::Trace;

type Binary = fn(Box<Formula>, Box<Formula>) -> Formula;
type Unary = fn(Box<Formula>) -> Formula;

const CONNECTIVES: [Binary; 8] = [
    Formula::And,
    Formula::Or,
    Formula::Implies,
    Formula::Iff,
    Formula::Since,
    Formula::WSince,
    Formula::Interval,
    Formula::WInterval,
];

const OPERATORS: [Unary; 8] = [
    Formula::Not,
    Formula::Prev,
    Formula::Yesterday,
    Formula::WYesterday,
    Formula::Once,
    Formula::Hist,
    Formula::Start,
    Formula::End,
];

const COMPARISONS: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];

/// Makes properties for one trace.
pub(crate) struct Formulas<'a> {
    trace: &'a Trace,
    /// Variables that may stand in state atoms: those that no `alloc` or `free` touches.
    numbers: Vec<&'static str>,
    atoms: Vec<Atom>,
}

impl<'a> Formulas<'a> {
    pub(crate) fn new(trace: &'a Trace) -> Formulas<'a> {
        let (names, batch) = (&trace.names, &trace.batch);
        let boundary =
            |x: &str| batch.events.iter().any(|e| matches!(e.op(), Op::Alloc | Op::Free) && names.var(e.var()) == x);
        let numbers =
            NUMBERS.into_iter().filter(|x| names.space(Space::Var).find(x.as_bytes()).is_some() && !boundary(x));
        Formulas { trace, numbers: numbers.collect(), atoms: Vec::new() }
    }

    pub(crate) fn property(mut self, r: &mut Random) -> Property {
        let formula = match r.below(10) {
            0..=5 => self.ordered(r),
            _ => {
                let (atoms, size) = (1 + r.below(3), 1 + r.below(5));
                let atoms: Vec<Formula> = (0..atoms).map(|_| self.atom(r)).collect();
                random(r, &atoms, size)
            }
        };
        let (formula, atoms) = only_used(&formula, &self.atoms);
        Property { formula, atoms, all_steps: r.percent(25) }
    }

    /// A future-time property: what one event makes true is owed by another.
    pub(crate) fn response(mut self, r: &mut Random) -> Property {
        use Formula::*;
        fn b(formula: Formula) -> Box<Formula> {
            Box::new(formula)
        }
        let (p, q, s) = (self.atom(r), self.atom(r), self.atom(r));
        let owed = match r.below(8) {
            0..=2 => Eventually(b(q)),
            3 => Eventually(b(And(b(q), b(Not(b(Once(b(s)))))))),
            4 => Until(b(Not(b(s))), b(q)),
            5 => WUntil(b(Not(b(s))), b(q)),
            6 => Next(b(Eventually(b(q)))),
            _ => WNext(b(q)),
        };
        let formula = match r.below(8) {
            0..=4 => Always(b(Implies(b(p), b(owed)))),
            5 => Always(b(Implies(b(Start(b(p))), b(owed)))),
            6 => owed,
            _ => Releases(b(p), b(owed)),
        };
        let (formula, atoms) = only_used(&formula, &self.atoms);
        Property { formula, atoms, all_steps: false }
    }

    fn number(&mut self, atom: Atom) -> Formula {
        let place = self.atoms.iter().position(|a| *a == atom).unwrap_or_else(|| {
            self.atoms.push(atom);
            self.atoms.len() - 1
        });
        Formula::Atom(place as u32)
    }

    fn atom(&mut self, r: &mut Random) -> Formula {
        let events = self.trace.batch.events.len();
        let atom = match r.below(10) {
            0..=4 if !self.numbers.is_empty() => self.state(r),
            _ => {
                let event = r.below(events);
                self.of_event(r, event)
            }
        };
        self.number(atom)
    }

    fn state(&self, r: &mut Random) -> Atom {
        let any = |r: &mut Random| r.pick(&self.numbers).to_string();
        let left = Term::Variable(any(r));
        let op = *r.pick(&COMPARISONS);
        match r.below(6) {
            0..=3 => Atom::Compare(left, op, Term::Int(r.below(3) as i64)),
            4 => Atom::Compare(left, op, Term::Variable(any(r))),
            _ => Atom::Compare(Term::Sum(any(r), any(r)), op, Term::Int(1 + r.below(3) as i64)),
        }
    }

    /// An atom that a recorded event makes true, if there are atoms about such events.
    fn of_event(&self, r: &mut Random, event: usize) -> Atom {
        let Trace { names, batch, .. } = self.trace;
        let event = batch.events[event];
        about(r, names, batch, event).unwrap_or_else(|| Atom::Started(names.thread(event.thread()).to_owned()))
    }

    /// What an event makes true of the state, if it writes a variable that may be compared.
    fn effect(&self, r: &mut Random, event: usize) -> Option<Atom> {
        let Trace { names, batch, .. } = self.trace;
        let event = batch.events[event];
        if !matches!(event.op(), Op::Write | Op::AtomicStore | Op::AtomicRmw) {
            return None;
        }
        let name = names.var(event.var());
        let event::Value::Int(n) = batch.extra(event).value else { return None };
        let known = self.numbers.contains(&name);
        let op = *r.pick(&["==", "==", ">=", "<="]);
        known.then(|| Atom::Compare(Term::Variable(name.to_owned()), op, Term::Int(n)))
    }

    /// About the order of two events of different threads: holds on the recorded run, if nothing else interferes.
    fn ordered(&mut self, r: &mut Random) -> Formula {
        let events = &self.trace.batch.events;
        let mut pairs = Vec::new();
        for (second, e) in events.iter().enumerate() {
            pairs
                .extend((0..second).filter(|&first| events[first].thread() != e.thread()).map(|first| (first, second)));
        }
        if pairs.is_empty() {
            return self.atom(r);
        }
        let (first, second) = *r.pick(&pairs);
        let named = |this: &mut Self, r: &mut Random, event| {
            let effect = if r.percent(50) { this.effect(r, event) } else { None };
            let is_state = effect.is_some();
            let atom = effect.unwrap_or_else(|| this.of_event(r, event));
            let formula = Box::new(this.number(atom));
            if is_state && r.percent(60) { Box::new(Formula::Start(formula)) } else { formula }
        };
        let (before, after) = (named(self, r, first), named(self, r, second));
        let third = Box::new(self.atom(r));
        match r.below(8) {
            0..=2 => Formula::Implies(after, Box::new(Formula::Once(before))),
            3 => Formula::Implies(before, Box::new(Formula::Not(Box::new(Formula::Once(after))))),
            4 => Formula::Implies(after, Box::new(Formula::Interval(before, third))),
            5 => Formula::Implies(after, Box::new(Formula::Since(Box::new(Formula::Not(third)), before))),
            6 => Formula::Not(Box::new(Formula::And(before, Box::new(Formula::Yesterday(after))))),
            _ => Formula::Implies(after, Box::new(Formula::Prev(before))),
        }
    }
}

/// The atoms that stand in a formula: others would make steps. They get new numbers.
fn only_used(formula: &Formula, atoms: &[Atom]) -> (Formula, Vec<Atom>) {
    let mut used = Vec::new();
    let mut formula = formula.clone();
    for_atoms(&mut formula, &mut |atom| {
        let place = used.iter().position(|u| u == atom).unwrap_or_else(|| {
            used.push(*atom);
            used.len() - 1
        });
        *atom = place as u32;
    });
    (formula, used.iter().map(|&atom| atoms[atom as usize].clone()).collect())
}

fn for_atoms(formula: &mut Formula, visit: &mut dyn FnMut(&mut u32)) {
    use Formula::*;
    match formula {
        Const(_) => {}
        Atom(atom) => visit(atom),
        Not(f) | Prev(f) | Yesterday(f) | WYesterday(f) | Once(f) | Hist(f) | Start(f) | End(f) => for_atoms(f, visit),
        Always(f) | Eventually(f) | Next(f) | WNext(f) => for_atoms(f, visit),
        And(f, g)
        | Or(f, g)
        | Implies(f, g)
        | Iff(f, g)
        | Since(f, g)
        | WSince(f, g)
        | Interval(f, g)
        | WInterval(f, g)
        | Until(f, g)
        | WUntil(f, g)
        | Releases(f, g) => {
            for_atoms(f, visit);
            for_atoms(g, visit);
        }
    }
}

/// A formula with about so many operators.
fn random(r: &mut Random, atoms: &[Formula], size: usize) -> Formula {
    if size == 0 {
        return r.pick(atoms).clone();
    }
    if size == 1 || r.percent(45) {
        let op = *r.pick(&OPERATORS);
        return op(Box::new(random(r, atoms, size - 1)));
    }
    let op = *r.pick(&CONNECTIVES);
    let left = r.below(size);
    op(Box::new(random(r, atoms, left)), Box::new(random(r, atoms, size - 1 - left)))
}

/// An event atom that holds of an event.
fn about(r: &mut Random, names: &Names, batch: &Batch, event: Event) -> Option<Atom> {
    let thread = names.thread(event.thread()).to_owned();
    let by = if r.percent(60) { Some(thread.clone()) } else { None };
    let lock = |r: &mut Random| {
        let lock = names.lock(batch.extra(event).lock).to_owned();
        let cond = names.cond(event.cond());
        // A condition without a lock of its name has no name in a formula.
        let named = names.space(Space::Lock).find(cond.as_bytes()).is_some();
        if named && r.percent(50) { cond.to_owned() } else { lock }
    };
    Some(match event.op() {
        Op::Read | Op::AtomicLoad => Atom::Read(names.var(event.var()).to_owned(), by),
        Op::Write | Op::AtomicStore => Atom::Write(names.var(event.var()).to_owned(), by),
        Op::AtomicRmw if r.percent(50) => Atom::Read(names.var(event.var()).to_owned(), by),
        Op::AtomicRmw => Atom::Write(names.var(event.var()).to_owned(), by),
        Op::Acquire | Op::TryAcquire | Op::ReadAcquire => Atom::Acquire(names.lock(event.lock()).to_owned(), by),
        Op::Release | Op::ReadRelease => Atom::Release(names.lock(event.lock()).to_owned(), by),
        Op::Wait => Atom::WaitBegin(lock(r), by),
        Op::Woken => Atom::WaitEnd(lock(r), by),
        Op::Notify | Op::NotifyAll => {
            let cond = names.cond(event.cond());
            names.space(Space::Lock).find(cond.as_bytes())?;
            Atom::Notify(cond.to_owned(), by)
        }
        Op::Fork => Atom::Fork(by, Some(names.thread(event.child()).to_owned()).filter(|_| r.percent(50))),
        Op::Join if r.percent(50) => Atom::Finished(names.thread(event.child()).to_owned()),
        Op::Join => Atom::Join(by, Some(names.thread(event.child()).to_owned()).filter(|_| r.percent(50))),
        _ => return None,
    })
}
