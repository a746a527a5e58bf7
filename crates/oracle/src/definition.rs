//! The causality models of docs/causality.md, sentence by sentence: may this event come next after this prefix?

use crate::recorded::{Recorded, RecordedEvent, Section, Writer};
use event::{Batch, Causality, Names, Op, Value};

/// A set of events, as bits.
pub type Set = u64;

/// The set of these events.
pub fn set_of(events: &[usize]) -> Set {
    events.iter().fold(0, |set, &e| set | 1 << e)
}

/// Whether an event is in a set.
pub fn has(set: Set, e: usize) -> bool {
    set >> e & 1 == 1
}

/// One model on one recorded run.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The model.
    pub model: Causality,
    /// The run.
    pub run: Recorded,
    /// By variable: its value before the first event.
    pub initial: Vec<Value>,
    /// By event: the events that always come before it in this model.
    predecessors: Vec<Set>,
    /// By event: the events that come before it in every model.
    pub(crate) common_predecessors: Vec<Set>,
}

impl Definition {
    /// A model on a trace.
    pub fn new(model: Causality, names: &Names, batch: &Batch, initial: &[Value]) -> Definition {
        let run = Recorded::new(names, batch);
        let count = run.events.len();
        assert!(count <= Set::BITS as usize, "an oracle for small traces");
        let mut definition = Definition {
            model,
            run,
            initial: initial.to_vec(),
            predecessors: vec![0; count],
            common_predecessors: vec![0; count],
        };
        for b in 0..count {
            for a in 0..count {
                let always = definition.ordered_in_every_model(a, b);
                let ordered = always
                    || match model {
                        Causality::Observed => false,
                        Causality::FullHb | Causality::SyncOnly => definition.keeps_order(a, b),
                        Causality::WeakHb => definition.weak_order(a, b) || definition.common_order(a, b),
                        Causality::Maximal => definition.common_order(a, b),
                    };
                definition.predecessors[b] |= Set::from(ordered) << a;
                definition.common_predecessors[b] |= Set::from(always) << a;
            }
        }
        definition
    }

    /// The events of the run.
    pub fn events(&self) -> &[RecordedEvent] {
        &self.run.events
    }

    /// Whether a feasible prefix, continued with this event, is a feasible prefix.
    pub fn may_come(&self, prefix: &[usize], e: usize) -> bool {
        self.may_be_tried(prefix, e) && (self.model != Causality::Maximal || self.sees_what_it_saw(prefix, e))
    }

    /// Whether every event of an order may come after those before it.
    pub fn is_feasible(&self, order: &[usize]) -> bool {
        order.iter().enumerate().all(|(at, &e)| e < self.events().len() && self.may_come(&order[..at], e))
    }

    /// *Terminal reads.* Whether this event can continue a feasible prefix only as the last event of a witness: it is a
    /// read (`r`, `ald`) that would see something else.
    pub fn may_only_end(&self, prefix: &[usize], e: usize) -> bool {
        self.model == Causality::Maximal
            && matches!(self.events()[e].op, Op::Read | Op::AtomicLoad)
            && self.may_be_tried(prefix, e)
            && !self.sees_what_it_saw(prefix, e)
    }

    /// Whether all rules allow this event after the prefix, except what `maximal` says of reads.
    fn may_be_tried(&self, prefix: &[usize], e: usize) -> bool {
        let came = set_of(prefix);
        if has(came, e) || self.predecessors[e] & !came != 0 {
            return false;
        }
        match self.model {
            Causality::Observed => prefix.iter().copied().eq(0..e),
            Causality::FullHb | Causality::SyncOnly => true,
            Causality::WeakHb => self.no_set_is_open(came, e) && self.locks_and_conditions(prefix, e),
            Causality::Maximal => self.count_allows(prefix, e) && self.locks_and_conditions(prefix, e),
        }
    }

    /// What `weak-hb` and `maximal` say of locks and conditions.
    fn locks_and_conditions(&self, prefix: &[usize], e: usize) -> bool {
        let came = set_of(prefix);
        self.lock_is_free(came, e) && self.fails_again(came, e) && self.not_lost(prefix, e)
    }

    // What every model keeps.

    fn ordered_in_every_model(&self, a: usize, b: usize) -> bool {
        let (before, event) = (&self.events()[a], &self.events()[b]);
        let recorded_before = a < b;
        recorded_before
            && (before.thread == event.thread
                || before.op == Op::Fork && before.object == event.thread
                || before.op == Op::Fork && event.op == Op::Join && before.object == event.object
                || event.op == Op::Join && event.object == before.thread
                || before.op == Op::Post && event.op == Op::Await && before.object == event.object
                || self.behind_drop_barrier(before, event))
    }

    /// Event n of thread T, if some `pin(x,n)` of T is anywhere in the trace, the event accesses x, and belongs to
    /// another thread; or some `rpin(x,n)`, and the event does not only read.
    fn behind_drop_barrier(&self, before: &RecordedEvent, event: &RecordedEvent) -> bool {
        let names_it = |pin: &RecordedEvent| {
            let only_reads = matches!(event.op, Op::Read | Op::AtomicLoad);
            (pin.op == Op::Pin || pin.op == Op::ReadPin && !only_reads)
                && pin.thread == before.thread
                && pin.value == Value::Int(before.nth as i64)
                && event.accesses() == Some(pin.object)
        };
        before.thread != event.thread && self.events().iter().any(names_it)
    }

    // `full-hb` and `sync-only`.

    /// Whether the two keep their recorded order, a before b.
    fn keeps_order(&self, a: usize, b: usize) -> bool {
        let (one, other) = (&self.events()[a], &self.events()[b]);
        let same = |x: Option<u32>, y: Option<u32>| x.is_some() && x == y;
        a < b
            && (self.conflict(one, other)
                || same(self.acts_on_lock(a), self.acts_on_lock(b)) && !compatible(one, other)
                || same(one.condition(), other.condition())
                || same(one.semaphore(), other.semaphore()))
    }

    /// They access the same variable, and at least one is neither `r` nor `ald`. In `sync-only` only atomic accesses
    /// keep their order.
    fn conflict(&self, one: &RecordedEvent, other: &RecordedEvent) -> bool {
        let harmless = |e: &RecordedEvent| matches!(e.op, Op::Read | Op::AtomicLoad);
        let counts =
            |e: &RecordedEvent| e.accesses().is_some() && (self.model == Causality::FullHb || e.op.is_atomic());
        counts(one) && counts(other) && one.object == other.object && !(harmless(one) && harmless(other))
    }

    /// The lock that an event with effect acts on.
    fn acts_on_lock(&self, e: usize) -> Option<u32> {
        self.events()[e].lock.filter(|_| !self.run.without_effect[e])
    }

    /// The transitive closure: by event, all events that precede it.
    pub fn closure(&self) -> Vec<Set> {
        let mut precede = self.predecessors.clone();
        let count = precede.len();
        for middle in 0..count {
            for e in 0..count {
                if has(precede[e], middle) {
                    precede[e] |= precede[middle];
                }
            }
        }
        precede
    }

    // What `weak-hb` and `maximal` have in common.

    /// `alloc(x)` and `free(x)` keep their recorded order with every access of x; a `tfail` comes after the opening
    /// events of the sections it failed in; a paired `woken` comes after its notify.
    fn common_order(&self, a: usize, b: usize) -> bool {
        let (one, other) = (&self.events()[a], &self.events()[b]);
        let boundary = a < b
            && (one.bounds_lifetime() || other.bounds_lifetime())
            && one.accesses().is_some()
            && one.accesses() == other.accesses();
        let mut failed_in = self.run.failed_in.get(&b).into_iter().flatten();
        let failed_inside = failed_in.any(|&s| self.run.sections[s].opens == Some(a));
        let notified = self.run.woken_by.get(&b).is_some_and(|&(_, notify)| notify == a);
        boundary || failed_inside || notified
    }

    /// A `tfail` comes only while none of the sections it failed in is closed.
    fn fails_again(&self, came: Set, e: usize) -> bool {
        let mut failed_in = self.run.failed_in.get(&e).into_iter().flatten();
        !failed_in.any(|&s| self.run.sections[s].closes.is_some_and(|c| has(came, c)))
    }

    /// An opening exclusive event comes only while no other thread has a section of that lock open, of either kind; an
    /// opening shared event only while no other thread has an exclusive section open.
    fn lock_is_free(&self, came: Set, e: usize) -> bool {
        let is_open = |s: &Section| s.opens.is_none_or(|o| has(came, o)) && !s.closes.is_some_and(|c| has(came, c));
        let Some(opened) = self.run.sections.iter().find(|s| s.opens == Some(e)) else { return true };
        let hinders = |s: &Section| {
            s.lock == opened.lock && s.thread != opened.thread && is_open(s) && !(s.shared && opened.shared)
        };
        !self.run.sections.iter().any(hinders)
    }

    /// A paired `woken` comes only if its `wait` came before its notify in this prefix.
    fn not_lost(&self, prefix: &[usize], e: usize) -> bool {
        let place = |event| prefix.iter().position(|&p| p == event);
        self.run.woken_by.get(&e).is_none_or(|&(wait, notify)| place(wait) < place(notify))
    }

    // `weak-hb`.

    /// A member of a set comes after the event that opened it; an `armw` comes after all other members of the set
    /// before; `up` and `down` of one semaphore keep their recorded order.
    fn weak_order(&self, a: usize, b: usize) -> bool {
        let (one, other) = (&self.events()[a], &self.events()[b]);
        let in_a_set = self.run.sets.iter().any(|set| {
            set.members.contains(&b)
                && (set.opens == Some(a) || other.op == Op::AtomicRmw && a != b && set.members.contains(&a))
        });
        in_a_set || a < b && one.semaphore().is_some() && one.semaphore() == other.semaphore()
    }

    /// While a set of x is open (the prefix contains the event that opened it, but not all its members), no access of
    /// x that is not a member of it may come.
    fn no_set_is_open(&self, came: Set, e: usize) -> bool {
        let hinders = |set: &&crate::recorded::AtomicSet| {
            let open = set.opens.is_none_or(|o| has(came, o)) && set_of(&set.members) & !came != 0;
            self.events()[e].accesses() == Some(set.variable) && open && !set.members.contains(&e)
        };
        !self.run.sets.iter().any(|set| hinders(&set))
    }

    // `maximal`.

    /// `down(s)` comes only if the initial count and the `up(s)` so far exceed the `down(s)` so far.
    fn count_allows(&self, prefix: &[usize], e: usize) -> bool {
        let event = &self.events()[e];
        let so_far = |op| {
            prefix.iter().filter(|&&p| self.events()[p].op == op && self.events()[p].object == event.object).count()
        };
        event.op != Op::Down || self.run.counts[&event.object] + so_far(Op::Up) as i64 > so_far(Op::Down) as i64
    }

    /// A read sees its recorded writer, or a write or initial value whose recorded value equals the one that the read
    /// recorded. An `armw` always needs its recorded writer.
    fn sees_what_it_saw(&self, prefix: &[usize], e: usize) -> bool {
        let event = &self.events()[e];
        if !event.reads() {
            return true;
        }
        let sees = self.run.last_write(prefix, event.object);
        if sees == self.run.recorded_writer(e) {
            return true;
        }
        let seen = match sees {
            Writer::Write(write) => self.events()[write].value,
            Writer::Initial => self.initial_value(prefix, event.object),
        };
        event.op != Op::AtomicRmw && seen.is_known() && seen == event.value
    }

    /// Only before the first lifetime boundary does the initial value have a recorded value.
    fn initial_value(&self, prefix: &[usize], variable: u32) -> Value {
        let boundary = |&e: &usize| self.events()[e].bounds_lifetime() && self.events()[e].object == variable;
        if prefix.iter().any(boundary) { Value::Unknown } else { self.initial[variable as usize] }
    }

    // To count without trying every order.

    /// What the rules depend on beside the set of events of a prefix. Prefixes of equal sets for which this is equal
    /// have equal continuations.
    pub fn visible(&self, prefix: &[usize]) -> Vec<u8> {
        let mut visible = Vec::new();
        if matches!(self.model, Causality::WeakHb | Causality::Maximal) {
            let place = |event| prefix.iter().position(|&p| p == event);
            visible.extend(self.run.woken_by.values().map(|&(wait, notify)| u8::from(place(wait) < place(notify))));
        }
        if self.model == Causality::Maximal {
            for variable in 0..self.initial.len() as u32 {
                visible.push(match self.run.last_write(prefix, variable) {
                    Writer::Write(write) => write as u8,
                    Writer::Initial => u8::MAX,
                });
            }
        }
        visible
    }
}

/// Whether both are `racq` or `rrel`, or both are `tfail`.
fn compatible(one: &RecordedEvent, other: &RecordedEvent) -> bool {
    let shared = |e: &RecordedEvent| matches!(e.op, Op::ReadAcquire | Op::ReadRelease);
    let failed = |e: &RecordedEvent| e.op == Op::TryFail;
    shared(one) && shared(other) || failed(one) && failed(other)
}
