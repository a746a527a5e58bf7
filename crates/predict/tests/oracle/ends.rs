//! Complete runs that fail by the rule for their end, against brute force: every order that a model admits, judged by
//! the definition of docs/semantics.md.

use crate::case::Case;
use crate::enumerate::Oracle;
use crate::formulas::Formulas;
use crate::meaning::Property;
use crate::naive_future::Definition;
use crate::naive_past::Run;
use event::{Causality, Id, Value, VarId};
use oracle::random::Random;
use oracle::{cases, initial_values};
use predict::{Options, Prediction, Predictor};
use property::Formula;
use property::check::{AtEnd, Const, Logic, Settings, Spec, Steps};
use property::monitor::{self, Verdict};
use property::steps::BoundSpec;
use std::collections::HashMap;
use std::path::Path;

/// Cases with more orders are left out.
const MOST_ORDERS: u32 = 3_000;

/// What the definition says of the runs of a model.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Expected {
    /// Some feasible prefix is violated.
    violated: bool,
    /// Some complete run is not, and fails at its end.
    unfulfilled: bool,
}

/// All orders of a case, judged one by one.
struct Enumeration<'a> {
    oracle: &'a Oracle,
    formula: Definition,
    rule: monitor::AtEnd,
    known: HashMap<Run, Option<(Verdict, Verdict)>>,
    orders: u32,
    /// Some atom was unknown: such runs are not judged here.
    unknown: bool,
}

impl Enumeration<'_> {
    /// The verdict after the last step, and if the run ends there.
    fn verdict(&mut self, order: &[usize]) -> Option<(Verdict, Verdict)> {
        let Enumeration { oracle, formula, rule, known, .. } = self;
        let run = oracle.letters(order);
        let judge = |run: &Run| {
            let is_known = run.iter().flatten().all(Option::is_some);
            is_known.then(|| formula.verdicts(run, *rule).pop()).flatten()
        };
        let verdict = known.entry(run).or_insert_with_key(judge).to_owned();
        self.unknown |= verdict.is_none();
        verdict
    }

    /// Goes through the orders that begin so. A violation is final, so it shows where an order cannot be continued.
    fn go_on(&mut self, order: &mut Vec<usize>, expected: &mut Expected) {
        if self.orders > MOST_ORDERS || self.unknown {
            return;
        }
        let mut continued = false;
        for &e in self.oracle.counted() {
            let comes = self.oracle.may_come(order, e);
            if !comes && !self.oracle.may_only_end(order, e) {
                continue;
            }
            order.push(e);
            if comes {
                continued = true;
                self.go_on(order, expected);
            } else {
                expected.violated |= self.verdict(order).is_some_and(|(verdict, _)| verdict == Verdict::Violated);
            }
            order.pop();
        }
        if !continued {
            self.orders += 1;
            let whole = order.len() == self.oracle.counted().len();
            let Some((verdict, end)) = self.verdict(order) else { return };
            expected.violated |= verdict == Verdict::Violated;
            expected.unfulfilled |= whole && end == Verdict::Unfulfilled;
        }
    }
}

fn predicted(case: &Case, model: Causality, rule: AtEnd) -> Result<Prediction, String> {
    let steps = if case.property.all_steps { Steps::All } else { Steps::Relevant };
    let (causality, steps, at_end) = (Some(model.into()), Some(steps), Some(rule));
    let settings = Settings { causality, steps, at_end, ..Settings::default() };
    let init: Vec<(String, Const)> = case.given.iter().map(|(name, n)| (name.clone(), Const::Int(*n))).collect();
    let (names, batch) = (&case.trace.names, &case.trace.batch);
    let bound = BoundSpec::new(&future_spec(case), settings, &init, Path::new(""), names, batch);
    let observed = bound.judge(0, names, batch, true).map_err(|error| error.to_string())?;
    let values = initial_values(&case.trace, &case.given);
    let initial = |var: VarId| values.get(var.index()).copied().unwrap_or(Value::Unknown);
    let predictor = Predictor::new(&bound, names, batch, &initial, Options { at_end: true, ..Options::default() });
    let mut predictions = predictor.predict_one(0, &observed).map_err(|error| error.to_string())?;
    let prediction = predictions.instances.pop().ok_or("one instance")?;
    match (&prediction.refused, &prediction.truncated[..]) {
        (Some(refused), _) => Err(format!("refused: {refused}")),
        (None, []) => Ok(prediction),
        (None, short) => Err(format!("cut short: {short:?}")),
    }
}

/// The property of a case as the language understands it. The command line has only past-time formulas, so the atoms
/// are read as one, and put into the future-time formula.
fn future_spec(case: &Case) -> Spec {
    let atoms: Vec<Formula> = (0..case.property.atoms.len() as u32).map(Formula::Atom).collect();
    let all = atoms.into_iter().rev().reduce(|rest, atom| Formula::And(Box::new(atom), Box::new(rest)));
    let all = Property { formula: all.unwrap_or(Formula::Const(true)), ..case.property.clone() };
    let mut spec = case.spec_of(&all.text());
    let property = &mut spec.properties[0];
    let Logic::Past(mut rest) = property.logic.clone() else { unreachable!("it is past-time") };
    let mut parts = Vec::new();
    for _ in 1..case.property.atoms.len() {
        let Formula::And(first, others) = rest else { unreachable!("so many atoms") };
        parts.push(*first);
        rest = *others;
    }
    parts.push(rest);
    property.logic = Logic::Future(replaced(&case.property.formula, &parts));
    spec
}

/// A formula with its atoms replaced by formulas.
fn replaced(formula: &Formula, parts: &[Formula]) -> Formula {
    use Formula::*;
    let of = |f: &Formula| Box::new(replaced(f, parts));
    match formula {
        Atom(atom) => parts[*atom as usize].clone(),
        Not(f) => Not(of(f)),
        Once(f) => Once(of(f)),
        Start(f) => Start(of(f)),
        And(f, g) => And(of(f), of(g)),
        Implies(f, g) => Implies(of(f), of(g)),
        Always(f) => Always(of(f)),
        Eventually(f) => Eventually(of(f)),
        Next(f) => Next(of(f)),
        WNext(f) => WNext(of(f)),
        Until(f, g) => Until(of(f), of(g)),
        WUntil(f, g) => WUntil(of(f), of(g)),
        Releases(f, g) => Releases(of(f), of(g)),
        other => unreachable!("no such operator is made: {other:?}"),
    }
}

/// A trace with a future-time property of it.
fn random_case(seed: u64) -> Case {
    let mut case = Case::random(seed);
    let mut r = Random::new(seed ^ 0x5eed);
    let property = Formulas::new(&case.trace).response(&mut r);
    case.property = Property { all_steps: r.percent(10), ..property };
    case
}

/// Whether a schedule is a feasible run of all events, other than the recorded one, that fails at its end.
fn is_witness(enumeration: &mut Enumeration<'_>, schedule: &[u64]) -> bool {
    let order: Vec<usize> = schedule.iter().map(|&e| e as usize).collect();
    let definition = enumeration.oracle.definition();
    let feasible = order.iter().enumerate().all(|(at, &e)| definition.may_come(&order[..at], e));
    let fails = enumeration.verdict(&order).is_some_and(|(_, end)| end == Verdict::Unfulfilled);
    feasible && fails && order.len() == definition.events().len() && !order.is_sorted()
}

#[test]
fn runs_that_fail_at_their_end_are_what_brute_force_finds() {
    let rules = [
        (AtEnd::Stutter, monitor::AtEnd::Stutter),
        (AtEnd::Strong, monitor::AtEnd::Strong),
        (AtEnd::Weak, monitor::AtEnd::Weak),
        (AtEnd::None, monitor::AtEnd::None),
    ];
    let (mut asked, mut found, mut both) = (0, 0, 0);
    for seed in 0..cases(2_000) {
        let case = random_case(seed);
        let (setting, rule) = rules[if seed % 2 == 0 { 0 } else { seed as usize / 2 % 4 }];
        let Some(formula) = Definition::new(&case.property.formula) else { continue };
        // `observed` has no other run.
        for model in Causality::ALL.into_iter().filter(|&model| model != Causality::Observed) {
            let oracle = Oracle::new(model, &case.trace, &case.property, &case.given);
            let (known, formula) = (HashMap::new(), formula.clone());
            let mut all = Enumeration { oracle: &oracle, formula, rule, known, orders: 0, unknown: false };
            let mut expected = Expected::default();
            all.go_on(&mut Vec::new(), &mut expected);
            let recorded: Vec<usize> = (0..case.trace.batch.events.len()).collect();
            let Some((verdict, end)) = all.verdict(&recorded).filter(|_| !all.unknown && all.orders <= MOST_ORDERS)
            else {
                continue;
            };
            asked += 1;
            expected.violated &= verdict != Verdict::Violated;
            expected.unfulfilled &= !verdict.is_bad() && !end.is_bad() && !expected.violated;
            let shown = || format!("seed {seed}, {model:?}, {rule:?}\n{}", case.shown());
            let prediction = predicted(&case, model, setting).unwrap_or_else(|why| panic!("{}{why}", shown()));
            let found_now =
                Expected { violated: prediction.predicted.is_some(), unfulfilled: prediction.unfulfilled.is_some() };
            assert_eq!(found_now, expected, "{}{prediction:?}", shown());
            if let Some(unfulfilled) = &prediction.unfulfilled {
                assert!(is_witness(&mut all, &unfulfilled.schedule), "{}{unfulfilled:?}", shown());
            }
            found += u64::from(expected.unfulfilled);
            both += u64::from(expected.violated);
        }
    }
    println!("{asked} questions, {found} runs that fail only at their end, {both} violations");
    assert!(found > asked / 50 && both > asked / 100, "{asked} {found} {both}");
}
