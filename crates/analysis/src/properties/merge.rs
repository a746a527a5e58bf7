//! What the recorded run and the other runs say of a property together, one entry for each instance and one for all.

use event::{Causality, CausalityChoice};
use num_bigint::BigUint;
use predict::{Counts, Prediction, Predictions, Tried};

use property::monitor;
use property::run::Outcome;
use report::{End, Verdict};

/// Entries of single instances; the others are only counted.
const INSTANCES: usize = 1000;

/// Different reasons that are listed of a property with many instances.
const LISTED: usize = 8;

/// What is known of an instance, or of a property as a whole.
pub(super) struct Entry {
    /// What its parameters stand for; empty for the whole.
    pub(super) instance: Vec<(String, String)>,
    pub(super) verdict: Verdict,
    pub(super) end: Option<End>,
    /// The event of a violation on the recorded run, unless that is step 0.
    pub(super) violating: Option<u64>,
    pub(super) prediction: Prediction,
    /// The inexact event because of which a violation is none for sure.
    pub(super) doubt: Option<u64>,
    pub(super) figures: Figures,
    /// The search was cut short.
    pub(super) truncated: bool,
    /// Instances that have no entry.
    pub(super) omitted: u64,
    /// If it never had a step: the bindings that saw nothing.
    pub(super) unseen: Vec<String>,
}

/// What was counted.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Figures {
    pub(super) cuts: Option<u64>,
    pub(super) edges: Option<u64>,
    pub(super) runs: Option<String>,
    pub(super) bad_runs: Option<String>,
    pub(super) dead_ends: Option<u64>,
}

/// A prediction that says nothing.
pub(super) fn nothing(property: usize, causality: Causality) -> Prediction {
    Prediction {
        property,
        instance: Vec::new(),
        causality,
        tried: Vec::new(),
        predicted: None,
        unfulfilled: None,
        doubtful: None,
        truncated: Vec::new(),
        counts: None,
        bad_runs: Vec::new(),
        refused: None,
    }
}

/// What the recorded run and the search say together.
fn entry(
    outcome: Outcome,
    mut prediction: Prediction,
    figures: Figures,
    asked: CausalityChoice,
    sure: Sure<'_>,
) -> Entry {
    let truncated = outcome.truncated || !prediction.truncated.is_empty() || prediction.refused.is_some();
    let mut doubt = None;
    let recorded = outcome.verdict;
    let (verdict, end) = match recorded {
        monitor::Verdict::Violated => match outcome.event.filter(|&event| !sure(event)) {
            Some(event) => {
                doubt = Some(event);
                (Verdict::Unknown, None)
            }
            None => (Verdict::Violated, None),
        },
        _ if prediction.predicted.is_some() => (Verdict::Predicted, None),
        monitor::Verdict::Unfulfilled => (Verdict::Unfulfilled, None),
        _ if prediction.unfulfilled.is_some() => (Verdict::PredictedUnfulfilled, None),
        _ if prediction.doubtful.is_some() => {
            doubt = prediction.doubtful.as_ref().map(|(_, event)| *event);
            (Verdict::Unknown, None)
        }
        _ if truncated => (Verdict::Truncated, None),
        monitor::Verdict::Unknown => (Verdict::Unknown, None),
        _ if outcome.unseen.is_some() => (Verdict::Vacuous, None),
        monitor::Verdict::Satisfied => (Verdict::Holds, Some(End::Satisfied)),
        monitor::Verdict::Fulfilled => (Verdict::Holds, Some(End::Fulfilled)),
        monitor::Verdict::Pending => (Verdict::Holds, Some(End::Pending)),
    };
    // A violation that happened needs no model.
    let is_recorded = recorded == monitor::Verdict::Violated;
    if is_recorded && asked == CausalityChoice::Auto && figures == Figures::default() {
        prediction.causality = Causality::Observed;
    }
    let violating = outcome.event.filter(|_| is_recorded);
    let Outcome { instance, omitted, unseen, .. } = outcome;
    let unseen = unseen.filter(|_| verdict == Verdict::Vacuous).unwrap_or_default();
    Entry { instance, verdict, end, violating, prediction, doubt, figures, truncated, omitted, unseen }
}

fn entry_alone(outcome: Outcome, prediction: Prediction, asked: CausalityChoice, sure: Sure<'_>) -> Entry {
    let figures = figures(std::slice::from_ref(&prediction));
    entry(outcome, prediction, figures, asked, sure)
}

/// Whether the recorder was sure of an event.
pub(super) type Sure<'a> = &'a dyn Fn(u64) -> bool;

/// The entry of the whole, then those of instances that do not hold. `outcomes` are those of one property, the whole
/// first.
pub(super) fn merge(
    mut outcomes: Vec<Outcome>,
    found: Predictions,
    asked: CausalityChoice,
    parametric: bool,
    sure: Sure<'_>,
) -> Vec<Entry> {
    if outcomes.is_empty() {
        return Vec::new();
    }
    let instances = outcomes.split_off(1);
    let whole = outcomes.remove(0);
    let number = whole.property;
    if !parametric {
        let prediction = found.instances.into_iter().next().unwrap_or_else(|| nothing(number, Causality::Observed));
        return vec![entry_alone(whole, prediction, asked, sure)];
    }
    let (whole_prediction, whole_figures) = (summary(number, &found, asked), figures(&found.instances));
    let mut entries: Vec<Entry> = Vec::new();
    let mut predictions: Vec<Option<Prediction>> = found.instances.into_iter().map(Some).collect();
    for outcome in instances {
        let mut same = predictions.iter_mut().filter(|p| p.as_ref().is_some_and(|p| p.instance == outcome.instance));
        let prediction =
            same.next().and_then(Option::take).unwrap_or_else(|| nothing(number, whole_prediction.causality));
        entries.push(entry_alone(outcome, prediction, asked, sure));
    }
    for prediction in predictions.into_iter().flatten().filter(shows) {
        let (instance, verdict) = (prediction.instance.clone(), monitor::Verdict::Pending);
        let outcome =
            Outcome { property: number, instance, verdict, event: None, omitted: 0, truncated: false, unseen: None };
        entries.push(entry_alone(outcome, prediction, asked, sure));
    }
    entries.retain(|entry| !matches!(entry.verdict, Verdict::Truncated));
    entries.sort_by_key(|entry| entry.verdict.severity());
    let mut of_whole = entry(whole, whole_prediction, whole_figures, asked, sure);
    // What the worst instance shows, the whole shows.
    if let Some(worst) = entries.first()
        && worst.verdict.severity() <= of_whole.verdict.severity()
    {
        of_whole.verdict = worst.verdict;
        of_whole.end = worst.end;
        of_whole.unseen.clear();
        of_whole.violating = worst.violating;
        of_whole.prediction.predicted = worst.prediction.predicted.clone();
        of_whole.prediction.unfulfilled = worst.prediction.unfulfilled.clone();
        let counted = of_whole.figures != Figures::default();
        let of_model = [Verdict::Violated, Verdict::Predicted, Verdict::PredictedUnfulfilled].contains(&worst.verdict);
        if of_model && !counted {
            of_whole.prediction.causality = worst.prediction.causality;
        }
    }
    let more = entries.len().saturating_sub(INSTANCES);
    entries.truncate(INSTANCES);
    of_whole.omitted += more as u64;
    let mut all = vec![of_whole];
    all.append(&mut entries);
    all
}

/// Whether a prediction shows something of an instance that the recorded run does not.
fn shows(prediction: &Prediction) -> bool {
    let Prediction { predicted, unfulfilled, doubtful, .. } = prediction;
    predicted.is_some() || unfulfilled.is_some() || doubtful.is_some()
}

/// What the search says of all instances together.
fn summary(number: usize, found: &Predictions, asked: CausalityChoice) -> Prediction {
    // The model that all of them were covered in.
    let rank = |model: &Causality| Causality::SOUND.iter().position(|other| other == model).unwrap_or(0);
    let models = || found.instances.iter().map(|prediction| prediction.causality);
    let widest = asked.models()[asked.models().len() - 1];
    let model = models().min_by_key(rank).unwrap_or(widest);
    let mut whole = nothing(number, model);
    for prediction in &found.instances {
        for tried in prediction.tried.iter().filter(|tried| tried.causality != model) {
            note(&mut whole.tried, tried);
        }
        for why in &prediction.truncated {
            list(&mut whole.truncated, why);
        }
        whole.refused = whole.refused.or_else(|| prediction.refused.clone());
    }
    if found.omitted > 0 {
        whole.truncated.push(format!("{} instances were not looked at", found.omitted));
    }
    whole
}

/// Notes what came of a model for one instance: what cut it short, if it was for any.
fn note(tried: &mut Vec<Tried>, one: &Tried) {
    match tried.iter_mut().find(|known| known.causality == one.causality) {
        None => tried.push(one.clone()),
        Some(known) => one.cut_short.iter().for_each(|why| list(&mut known.cut_short, why)),
    }
}

fn list(list: &mut Vec<String>, item: &str) {
    if list.len() < LISTED && !list.iter().any(|known| known == item) {
        list.push(item.to_owned());
    }
}

/// The figures on which all instances agree, and the sum of their bad runs.
fn figures(instances: &[Prediction]) -> Figures {
    let model = instances.first().map(|prediction| prediction.causality);
    let counts = instances.iter().map(|p| p.counts.as_ref().filter(|_| Some(p.causality) == model));
    let Some(all) = counts.collect::<Option<Vec<_>>>().filter(|all| !all.is_empty()) else { return Figures::default() };
    let number = |figure: fn(&Counts) -> u64| {
        let first = figure(all[0]);
        all.iter().all(|counts| figure(counts) == first).then_some(first)
    };
    let bad: Option<Vec<BigUint>> = all.iter().map(|counts| counts.bad_runs.parse().ok()).collect();
    Figures {
        cuts: number(|counts| counts.cuts),
        edges: number(|counts| counts.edges),
        runs: Some(&all[0].runs).filter(|runs| all.iter().all(|counts| counts.runs == **runs)).cloned(),
        bad_runs: bad.map(|bad| bad.iter().sum::<BigUint>().to_string()),
        dead_ends: number(|counts| counts.dead_ends),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(instance: &str, verdict: monitor::Verdict) -> Outcome {
        let instance = named(instance);
        Outcome { property: 0, instance, verdict, event: None, omitted: 0, truncated: false, unseen: None }
    }

    fn named(instance: &str) -> Vec<(String, String)> {
        if instance.is_empty() { Vec::new() } else { vec![("i".to_owned(), instance.to_owned())] }
    }

    fn predicted(instance: &str) -> Prediction {
        let found = predict::Predicted { schedule: vec![1, 0], event: 0, terminal: false, values: Vec::new() };
        Prediction { instance: named(instance), predicted: Some(found), ..nothing(0, Causality::FullHb) }
    }

    fn merge(outcomes: Vec<Outcome>, found: Predictions, asked: CausalityChoice, parametric: bool) -> Vec<Entry> {
        super::merge(outcomes, found, asked, parametric, &|_| true)
    }

    fn verdicts(entries: &[Entry]) -> Vec<(String, Verdict, Causality)> {
        let name = |entry: &Entry| entry.instance.first().map_or(String::new(), |(_, value)| value.clone());
        entries.iter().map(|entry| (name(entry), entry.verdict, entry.prediction.causality)).collect()
    }

    const HOLDS: monitor::Verdict = monitor::Verdict::Pending;

    #[test]
    fn the_worst_speaks_for_the_whole() {
        let outcomes = ["", "1"].map(|instance| outcome(instance, monitor::Verdict::Unfulfilled)).to_vec();
        let instances = vec![Prediction { instance: named("1"), ..nothing(0, Causality::Maximal) }, predicted("2")];
        let entries = merge(outcomes, Predictions { instances, omitted: 0 }, CausalityChoice::Auto, true);
        let expected = [
            (String::new(), Verdict::Predicted, Causality::FullHb),
            ("2".to_owned(), Verdict::Predicted, Causality::FullHb),
            ("1".to_owned(), Verdict::Unfulfilled, Causality::Maximal),
        ];
        assert_eq!(verdicts(&entries), expected);
        assert!(entries[0].prediction.predicted.is_some());
    }

    #[test]
    fn a_run_that_fails_at_its_end_is_no_violation() {
        let ended = |instance: &str| {
            let Prediction { predicted, .. } = predicted(instance);
            Prediction { unfulfilled: predicted, ..nothing(0, Causality::WeakHb) }
        };
        let alone = |recorded, prediction: Prediction| {
            let found = Predictions { instances: vec![prediction], omitted: 0 };
            merge(vec![outcome("", recorded)], found, CausalityChoice::Auto, false).remove(0)
        };
        let entry = alone(HOLDS, ended(""));
        assert_eq!((entry.verdict, entry.prediction.causality), (Verdict::PredictedUnfulfilled, Causality::WeakHb));
        assert_eq!(alone(monitor::Verdict::Unknown, ended("")).verdict, Verdict::PredictedUnfulfilled);
        assert_eq!(alone(monitor::Verdict::Violated, ended("")).verdict, Verdict::Violated);
        assert_eq!(alone(monitor::Verdict::Unfulfilled, ended("")).verdict, Verdict::Unfulfilled);
        let short = Prediction { truncated: vec!["time".to_owned()], ..ended("") };
        let entry = alone(HOLDS, short);
        assert_eq!((entry.verdict, entry.truncated), (Verdict::PredictedUnfulfilled, true));

        let instances = vec![Prediction { instance: named("1"), ..ended("1") }, predicted("2")];
        let entries =
            merge(vec![outcome("", HOLDS)], Predictions { instances, omitted: 0 }, CausalityChoice::Auto, true);
        let found: Vec<Verdict> = entries.iter().map(|entry| entry.verdict).collect();
        assert_eq!(found, [Verdict::Predicted, Verdict::Predicted, Verdict::PredictedUnfulfilled]);
    }

    #[test]
    fn what_was_not_looked_at_does_not_hold() {
        let search = |prediction: Prediction, omitted| Predictions { instances: vec![prediction], omitted };
        let alone =
            |prediction| merge(vec![outcome("", HOLDS)], search(prediction, 0), Causality::FullHb.into(), false);
        assert_eq!(alone(nothing(0, Causality::FullHb))[0].verdict, Verdict::Holds);
        let refused = Prediction { refused: Some("why".to_owned()), ..nothing(0, Causality::FullHb) };
        assert_eq!((alone(refused)[0].verdict, alone(predicted(""))[0].truncated), (Verdict::Truncated, false));
        let short = |prediction: Prediction| Prediction { truncated: vec!["time".to_owned()], ..prediction };
        assert_eq!(alone(short(nothing(0, Causality::FullHb)))[0].verdict, Verdict::Truncated);
        let found = &alone(short(predicted("")))[0];
        assert_eq!((found.verdict, found.truncated), (Verdict::Predicted, true));
        let one = Prediction { instance: named("1"), ..nothing(0, Causality::FullHb) };
        let entries = merge(vec![outcome("", HOLDS)], search(one, 5), Causality::FullHb.into(), true);
        assert_eq!(verdicts(&entries), [(String::new(), Verdict::Truncated, Causality::FullHb)]);
    }

    #[test]
    fn what_never_had_a_step_is_vacuous() {
        let unseen = || Some(vec!["event e".to_owned()]);
        let alone = |verdict, prediction: Prediction| {
            let outcomes = vec![Outcome { unseen: unseen(), ..outcome("", verdict) }];
            let found = Predictions { instances: vec![prediction], omitted: 0 };
            let mut entries = merge(outcomes, found, Causality::FullHb.into(), false);
            let Entry { verdict, unseen, .. } = entries.remove(0);
            (verdict, unseen)
        };
        let none = || nothing(0, Causality::FullHb);
        assert_eq!(alone(HOLDS, none()), (Verdict::Vacuous, unseen().unwrap_or_default()));
        assert_eq!(alone(monitor::Verdict::Satisfied, none()).0, Verdict::Vacuous);
        // Step 0 and the end may decide it all the same, and what was not looked at may have had steps.
        assert_eq!(alone(monitor::Verdict::Violated, none()), (Verdict::Violated, Vec::new()));
        assert_eq!(alone(monitor::Verdict::Unfulfilled, none()).0, Verdict::Unfulfilled);
        assert_eq!(alone(monitor::Verdict::Unknown, none()).0, Verdict::Unknown);
        let short = Prediction { truncated: vec!["time".to_owned()], ..none() };
        assert_eq!(alone(HOLDS, short).0, Verdict::Truncated);
    }

    #[test]
    fn what_rests_on_an_inexact_event_is_not_known() {
        let doubtful = |instance: &str| {
            let Prediction { predicted, .. } = predicted(instance);
            let doubtful = predicted.map(|predicted| (predicted, 1));
            Prediction { instance: named(instance), doubtful, ..nothing(0, Causality::FullHb) }
        };
        let found = Predictions { instances: vec![doubtful("1")], omitted: 0 };
        let entries = merge(vec![outcome("", HOLDS)], found, CausalityChoice::Auto, true);
        let unknown = |name: &str| (name.to_owned(), Verdict::Unknown, Causality::FullHb);
        assert_eq!(verdicts(&entries), [unknown(""), unknown("1")]);
        assert_eq!((entries[0].doubt, entries[1].doubt), (None, Some(1)));
        let found = Predictions { instances: vec![doubtful("")], omitted: 0 };
        let violated = vec![Outcome { event: Some(7), ..outcome("", monitor::Verdict::Violated) }];
        let entries = super::merge(violated, found, CausalityChoice::Auto, false, &|event| event != 7);
        assert_eq!((entries[0].verdict, entries[0].doubt, entries[0].violating), (Verdict::Unknown, Some(7), Some(7)));
    }

    #[test]
    fn instances_are_counted_together() {
        let counts =
            |cuts, bad: &str| Counts { cuts, edges: 3, runs: "7".to_owned(), bad_runs: bad.to_owned(), dead_ends: 0 };
        let counted = |counts| Prediction { counts: Some(counts), ..nothing(0, Causality::WeakHb) };
        let large = "9".repeat(50);
        let all = figures(&[counted(counts(4, &large)), counted(counts(5, "1"))]);
        assert_eq!((all.cuts, all.edges, all.runs.as_deref()), (None, Some(3), Some("7")));
        assert_eq!(all.bad_runs, Some(format!("1{}", "0".repeat(50))));
        assert_eq!(figures(&[counted(counts(4, "1")), nothing(0, Causality::WeakHb)]), Figures::default());
        assert_eq!(figures(&[]), Figures::default());
    }

    #[test]
    fn a_model_is_listed_once() {
        let mut tried = Vec::new();
        let one = |cut_short: &[&str]| {
            let cut_short = cut_short.iter().map(|&why| why.to_owned()).collect();
            Tried { causality: Causality::Maximal, cut_short }
        };
        for why in [&[][..], &["a", "b"], &[], &["b", "c"], &["a", "b"]] {
            note(&mut tried, &one(why));
        }
        assert_eq!(tried, [one(&["a", "b", "c"])]);
    }
}
