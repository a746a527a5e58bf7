//! Exact counts of an instance's lattice, and its violated runs one by one.

use crate::group::{Group, groups};
use crate::predictor::{Counts, Prediction};
use crate::search::{MAX_CUTS, Search, class_of};
use event::Causality;
use lattice::{Counted, Limits, count, violated_runs};

impl Search<'_, '_> {
    /// Counts the lattice of an instance, and lists runs.
    pub(crate) fn count(&self, model: Causality, number: usize, prediction: &mut Prediction) {
        let mut group = groups(&self.instances, |instance| instance == number).remove(0);
        let all = self.settings.steps == Some(property::check::Steps::All);
        let structure = if order::is_windowed(model) {
            let mut windows = self.of.trace.windows(self.window(), self.of.initial);
            match windows.next_window() {
                Some(window) if window.range().end == self.of.batch.events.len() as u64 => {
                    Self::windowed_structure(model, &window, |_| true)
                }
                _ => {
                    prediction.truncated.push("a trace longer than the window cannot be counted".to_owned());
                    return;
                }
            }
        } else if model == Causality::Observed && !all {
            order::observed(self.of.batch, |_| true)
        } else {
            self.static_structure(model, std::slice::from_ref(&group))
        };
        let Group { events, automaton, .. } = &mut group;
        let class = |event: u64| class_of(events, event);
        let max_cuts = self.settings.max_cuts.or(Some(MAX_CUTS));
        let limits = Limits { deadline: None, max_cuts, ..self.limits() };
        match count(&structure, &class, &mut *automaton, &limits) {
            Ok(Counted { cuts, edges, dead_ends, runs }) => {
                let (runs, bad) = runs.into_iter().next().unwrap_or_default();
                let (runs, bad_runs) = (runs.to_string(), bad.to_string());
                prediction.counts = Some(Counts { cuts, edges, runs, bad_runs, dead_ends });
            }
            Err(short) => prediction.truncated.push(format!("counting: {short}")),
        }
        if self.of.options.list > 0 {
            prediction.bad_runs = violated_runs(&structure, &class, &mut *automaton, self.of.options.list);
        }
    }
}
