//! The answers, by going through the orders that a definition admits.

use crate::meaning::{Judge, Property, Valuation};
use crate::naive_past::Run;
use crate::recurrence::{Column, step};
use event::{Causality, Value};
use oracle::definition::{Definition, Set, set_of};
use oracle::initial_values;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use trace::Trace;

/// What a model says of a property on a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Expected {
    pub(crate) cuts: u64,
    pub(crate) edges: u64,
    pub(crate) runs: u128,
    pub(crate) bad_runs: u128,
    pub(crate) dead_ends: u64,
    /// The recorded run violates the property.
    pub(crate) recorded_violates: bool,
    /// Some feasible prefix does, or one that ends with a terminal read.
    pub(crate) some_violates: bool,
    /// None but those that end with a terminal read.
    pub(crate) only_terminal: bool,
    /// At some step of the recorded run the property is neither true nor false.
    pub(crate) recorded_unknown: bool,
}

impl Expected {
    /// As in the JSON.
    pub(crate) fn verdict(&self) -> &'static str {
        match self {
            Expected { recorded_violates: true, .. } => "violated",
            Expected { some_violates: true, .. } => "predicted",
            Expected { recorded_unknown: true, .. } => "unknown",
            _ => "holds",
        }
    }
}

/// One question: a trace, a property, a model.
pub(crate) struct Oracle {
    definition: Definition,
    judge: Judge,
    /// What is counted: the steps in `full-hb` and `sync-only` with relevant steps, else every event.
    counted: Vec<usize>,
    /// By event, where only the steps are counted: all that precede it.
    precede: Option<Vec<Set>>,
}

impl Oracle {
    /// `given` are initial values that win over those of the trace.
    pub(crate) fn new(model: Causality, trace: &Trace, property: &Property, given: &[(String, i64)]) -> Oracle {
        let initial: Vec<Value> = initial_values(trace, given);
        let definition = Definition::new(model, &trace.names, &trace.batch, &initial);
        let judge = Judge::new(property, &trace.names, definition.events(), &initial);
        let projected = matches!(model, Causality::FullHb | Causality::SyncOnly) && !property.all_steps;
        let counted = (0..definition.events().len()).filter(|&e| !projected || judge.is_step[e]).collect();
        let precede = projected.then(|| definition.closure());
        Oracle { definition, judge, counted, precede }
    }

    pub(crate) fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Whether an order of counted events may be continued with this one.
    pub(crate) fn may_come(&self, prefix: &[usize], e: usize) -> bool {
        match &self.precede {
            None => self.definition.may_come(prefix, e),
            Some(precede) => {
                let came = set_of(prefix);
                came >> e & 1 == 0 && precede[e] & set_of(&self.counted) & !came == 0
            }
        }
    }

    pub(crate) fn may_only_end(&self, prefix: &[usize], e: usize) -> bool {
        self.precede.is_none() && self.definition.may_only_end(prefix, e)
    }

    /// What is counted.
    pub(crate) fn counted(&self) -> &[usize] {
        &self.counted
    }

    /// The letters of step 0 and of the steps of an order of events.
    pub(crate) fn letters(&self, order: &[usize]) -> Run {
        self.judge.letters(self.definition.events(), order)
    }

    /// Whether some step of an order of events violates the property, step 0 included.
    pub(crate) fn violates(&self, order: &[usize]) -> bool {
        self.judge.truths(self.definition.events(), order).contains(&Some(false))
    }

    fn of_recorded(&self) -> Expected {
        let recorded: Vec<usize> = (0..self.definition.events().len()).collect();
        let truths = self.judge.truths(self.definition.events(), &recorded);
        Expected {
            cuts: 0,
            edges: 0,
            runs: 0,
            bad_runs: 0,
            dead_ends: 0,
            recorded_violates: truths.contains(&Some(false)),
            some_violates: false,
            only_terminal: false,
            recorded_unknown: truths.contains(&None),
        }
    }

    /// The answer, from every single order.
    pub(crate) fn by_all_orders(&self) -> Expected {
        let mut expected = self.of_recorded();
        let mut continued: BTreeMap<Set, BTreeSet<usize>> = BTreeMap::new();
        let mut terminal = false;
        self.orders(&mut Vec::new(), &mut continued, &mut terminal, &mut expected);
        self.count(&continued, terminal, &mut expected);
        expected
    }

    fn orders(
        &self,
        prefix: &mut Vec<usize>,
        continued: &mut BTreeMap<Set, BTreeSet<usize>>,
        terminal: &mut bool,
        expected: &mut Expected,
    ) {
        continued.entry(set_of(prefix)).or_default();
        let violates = self.violates(prefix);
        expected.some_violates |= violates;
        if prefix.len() == self.counted.len() {
            expected.runs += 1;
            expected.bad_runs += u128::from(violates);
        }
        for &e in &self.counted {
            if self.may_only_end(prefix, e) {
                prefix.push(e);
                *terminal |= self.violates(prefix);
                prefix.pop();
            }
            if self.may_come(prefix, e) {
                continued.entry(set_of(prefix)).or_default().insert(e);
                prefix.push(e);
                self.orders(prefix, continued, terminal, expected);
                prefix.pop();
            }
        }
    }

    /// Cuts, edges and dead ends, from the cuts and what each can be continued with; and whether terminal reads
    /// violate.
    fn count(&self, continued: &BTreeMap<Set, BTreeSet<usize>>, terminal: bool, expected: &mut Expected) {
        expected.only_terminal = terminal && !expected.some_violates;
        expected.some_violates |= terminal;
        let whole = set_of(&self.counted);
        expected.cuts = continued.len() as u64;
        expected.edges = continued.values().map(|events| events.len() as u64).sum();
        let dead = continued.iter().filter(|(cut, events)| **cut != whole && events.is_empty());
        expected.dead_ends = dead.count() as u64;
    }

    /// That answer, faster. Prefixes that neither the rules nor the property distinguish any more are continued as
    /// one, and counted.
    pub(crate) fn expected(&self) -> Expected {
        let mut expected = self.of_recorded();
        let mut continued: BTreeMap<Set, BTreeSet<usize>> = BTreeMap::new();
        let initial = self.judge.initial();
        let column = step(&self.judge.property.formula, None, &self.judge.letter(None, &initial));
        let mut level: HashMap<Seen, Alike> = HashMap::new();
        let mut terminal = false;
        self.add(&mut level, Vec::new(), 1, Some((initial, column)).filter(not_violated));
        for _ in 0..=self.counted.len() {
            let mut next: HashMap<Seen, Alike> = HashMap::new();
            for (seen, alike) in level {
                let cut = continued.entry(seen.cut).or_default();
                expected.some_violates |= seen.past.is_none();
                if seen.cut == set_of(&self.counted) {
                    expected.runs += alike.ways;
                    expected.bad_runs += if seen.past.is_none() { alike.ways } else { 0 };
                }
                for &e in &self.counted {
                    let comes = self.may_come(&alike.prefix, e);
                    if !comes && !self.may_only_end(&alike.prefix, e) {
                        continue;
                    }
                    let past = seen.past.as_ref().and_then(|past| self.after(past, e));
                    if !comes {
                        terminal |= past.is_none();
                    } else {
                        cut.insert(e);
                        let prefix = alike.prefix.iter().copied().chain([e]).collect();
                        self.add(&mut next, prefix, alike.ways, past);
                    }
                }
            }
            level = next;
        }
        self.count(&continued, terminal, &mut expected);
        expected
    }

    /// What the property remembers after one more event; `None` once it is violated.
    fn after(&self, (valuation, column): &(Valuation, Column), e: usize) -> Option<(Valuation, Column)> {
        let mut valuation = valuation.clone();
        self.judge.write(&self.definition.events()[e], &mut valuation);
        if !self.judge.is_step[e] {
            return Some((valuation, column.clone()));
        }
        let letter = self.judge.letter(Some(e), &valuation);
        Some((valuation, step(&self.judge.property.formula, Some(column), &letter))).filter(not_violated)
    }

    /// Adds so many prefixes like this one.
    fn add(&self, level: &mut HashMap<Seen, Alike>, prefix: Vec<usize>, ways: u128, past: Option<(Valuation, Column)>) {
        let seen = Seen { cut: set_of(&prefix), order: self.definition.visible(&prefix), past };
        level.entry(seen).or_insert(Alike { prefix, ways: 0 }).ways += ways;
    }

    /// Whether this is the whole schedule, up to and including the event that first violates the property, of a run
    /// that the model admits. Empty: step 0 violates it.
    pub(crate) fn is_violating_witness(&self, schedule: &[u64]) -> bool {
        let count = self.definition.events().len();
        let order: Vec<usize> = schedule.iter().filter_map(|&e| usize::try_from(e).ok()).collect();
        if order.len() != schedule.len() || order.iter().any(|&e| e >= count) {
            return false;
        }
        let last = order.len().saturating_sub(1);
        let feasible = order.iter().enumerate().all(|(at, &e)| {
            let prefix = &order[..at];
            self.definition.may_come(prefix, e) || at == last && self.definition.may_only_end(prefix, e)
        });
        let ends_with_a_step = order.last().is_none_or(|&e| self.judge.is_step[e]);
        let truths = self.judge.truths(self.definition.events(), &order);
        let first = truths.iter().position(|&truth| truth == Some(false));
        feasible && ends_with_a_step && first == Some(truths.len() - 1)
    }
}

fn not_violated((_, column): &(Valuation, Column)) -> bool {
    column.last() != Some(&Some(false))
}

/// Everything of a prefix that can matter later.
#[derive(PartialEq, Eq, Hash)]
struct Seen {
    cut: Set,
    order: Vec<u8>,
    /// What the variables hold and where the property stands; `None`: it is violated already.
    past: Option<(Valuation, Column)>,
}

/// Prefixes of which the same is seen.
struct Alike {
    /// One of them.
    prefix: Vec<usize>,
    /// How many there are.
    ways: u128,
}
