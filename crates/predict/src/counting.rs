//! Exact counts of an instance's lattice, and its violated runs one by one.

use crate::group::{Group, groups};
use crate::predictor::{Counts, Prediction};
use crate::search::{MAX_CUTS, Search, class_of};
use event::Causality;
use lattice::{Counted, Limits, count, violated_runs};
use order::EventStructure;

/// What counting the lattice of an instance gave; or why it gave nothing, in words.
#[derive(Clone)]
pub(crate) struct Figures {
    model: Causality,
    counts: Result<Counts, String>,
    /// Whether no run is violated, or can fail at its end, and every monitor could be followed.
    pub(crate) shows_no_violation: bool,
}

impl Search<'_, '_> {
    /// The instance alone, and its lattice in a model; `None` if that cannot be counted.
    fn lattice(&self, model: Causality, number: usize) -> (Group, Option<EventStructure>) {
        let group = groups(&self.instances, |instance| instance == number).remove(0);
        let all = self.settings.steps == Some(property::check::Steps::All);
        let structure = if order::is_windowed(model) {
            let mut windows = self.of.trace.windows(self.window(), self.of.initial);
            let window = windows.next_window().filter(|w| w.range().end == self.of.batch.events.len() as u64);
            window.map(|window| Self::windowed_structure(model, &window, |_| true))
        } else if model == Causality::Observed && !all {
            Some(order::observed(self.of.batch, |_| true))
        } else {
            Some(self.static_structure(model, std::slice::from_ref(&group)))
        };
        (group, structure)
    }

    /// Counts the lattice of an instance.
    pub(crate) fn figures(&self, model: Causality, number: usize) -> Figures {
        let (mut group, structure) = self.lattice(model, number);
        let Some(structure) = structure else {
            let counts = Err("a trace longer than the window cannot be counted".to_owned());
            return Figures { model, counts, shows_no_violation: false };
        };
        let Group { events, automaton, .. } = &mut group;
        let class = |event: u64| class_of(events, event);
        let max_cuts = self.settings.max_cuts.or(Some(MAX_CUTS));
        let limits = Limits { deadline: None, max_cuts, ..self.limits() };
        match count(&structure, &class, &mut *automaton, &limits) {
            Ok(Counted { cuts, edges, dead_ends, runs }) => {
                let (runs, bad) = runs.into_iter().next().unwrap_or_default();
                let (runs, bad_runs) = (runs.to_string(), bad.to_string());
                // With rules, a terminal read may show what no run of all events does.
                let is_all = !structure.has_rules() && !automaton.gave_up && !automaton.may_fail_at_end();
                let shows_no_violation = bad_runs == "0" && is_all;
                let counts = Ok(Counts { cuts, edges, runs, bad_runs, dead_ends });
                Figures { model, counts, shows_no_violation }
            }
            Err(short) => Figures { model, counts: Err(format!("counting: {short}")), shows_no_violation: false },
        }
    }

    /// Counts the lattice of an instance, if that was not done before, and lists runs.
    pub(crate) fn count(&self, model: Causality, number: usize, prediction: &mut Prediction) {
        let known = self.figures[number].clone().filter(|known| known.model == model);
        match known.unwrap_or_else(|| self.figures(model, number)).counts {
            Ok(counts) => prediction.counts = Some(counts),
            Err(why) => prediction.truncated.push(why),
        }
        let list = self.of.options.list;
        if let (mut group, Some(structure)) = self.lattice(model, number)
            && list > 0
        {
            let Group { events, automaton, .. } = &mut group;
            let class = |event: u64| class_of(events, event);
            prediction.bad_runs = violated_runs(&structure, &class, &mut *automaton, list);
        }
    }
}
