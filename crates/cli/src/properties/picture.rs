//! The recorded order and a predicted one, as far as they matter, for a reader.

use event::{Batch, Event, Names, Op, Space};
use report::{Schedule, Step};
use std::collections::HashSet;
use trace::text::event_text;

/// Events of which all are shown.
const FEW: usize = 30;

/// Lines of one schedule, about.
const LINES: usize = 36;

/// Events shown before the first that is elsewhere than recorded.
const CONTEXT: usize = 3;

/// An event as a step of a schedule.
pub(crate) fn step(names: &Names, trace: &Batch, event: Event) -> Step {
    let thread = names.thread(event.thread()).to_owned();
    Step { thread, text: event_text(names, trace, event), ..Step::default() }
}

/// A trace, and which of its events concern the property.
pub(super) struct Scene<'a> {
    pub(super) names: &'a Names,
    pub(super) trace: &'a Batch,
    pub(super) concerns: &'a dyn Fn(u64) -> bool,
}

/// How much an event matters; less matters more.
type Rank = u8;
const NEVER: Rank = 3;

impl Scene<'_> {
    /// The recorded order and the predicted one, whose last event violates the property.
    pub(super) fn orders(&self, schedule: &[u64]) -> Vec<Schedule> {
        let Some((&last, &end)) = schedule.last().zip(schedule.iter().max()) else { return Vec::new() };
        let mut moved = witness::moved(schedule);
        let same = (0u64..).zip(schedule).take_while(|(index, event)| index == *event).count();
        // Where events are only left out, those behind them come earlier for it.
        if !moved.contains(&true) {
            moved[same..].fill(true);
        }
        let from = same.saturating_sub(CONTEXT);
        let ranks = self.ranks(schedule, &moved, from, end);
        let recorded: Vec<u64> = (from as u64..=end).collect();
        let rank = |event: u64| ranks[event as usize - from];
        let lines = |events: &[u64], moved: &dyn Fn(usize) -> bool, mark: &str| {
            let as_recorded = if mark.is_empty() { "" } else { " as recorded" };
            let mut steps: Vec<Step> = gap(from, as_recorded).into_iter().collect();
            let mut next = 0;
            for at in shown(events, rank, last) {
                steps.extend(gap(at - next, ""));
                next = at + 1;
                let event = events[at];
                let mark = if event == last { mark.to_owned() } else { String::new() };
                let shown = step(self.names, self.trace, self.trace.events[event as usize]);
                steps.push(Step { moved: moved(at), mark, ..shown });
            }
            steps.extend(gap(events.len() - next, ""));
            steps
        };
        let before = lines(&recorded, &|_| false, "");
        let after = lines(&schedule[from..], &|at| moved[from + at], "violation");
        let schedule = |title: &str, steps| Schedule { title: title.to_owned(), steps };
        vec![schedule("recorded", before), schedule("predicted", after)]
    }

    /// How much each event from one to another matters.
    fn ranks(&self, schedule: &[u64], moved: &[bool], from: usize, end: u64) -> Vec<Rank> {
        let events = || (from as u64..=end).map(|index| (index, self.trace.events[index as usize]));
        if end as usize + 1 - from <= FEW {
            return vec![0; end as usize + 1 - from];
        }
        let is_variable = |event: Event| event.op().space() == Some(Space::Var);
        let mut ranks = vec![NEVER; end as usize + 1 - from];
        let mut better = |event: u64, rank: Rank| {
            let known = &mut ranks[event as usize - from];
            *known = (*known).min(rank);
        };
        let mut variables = HashSet::new();
        for (index, event) in events() {
            if (self.concerns)(index) {
                better(index, 0);
                if is_variable(event) {
                    variables.insert(event.object());
                }
            }
        }
        schedule[from..].iter().take(CONTEXT).for_each(|&event| better(event, 1));
        schedule.last().into_iter().for_each(|&event| better(event, 0));
        // Of a stretch of moved events its ends, in the order they come.
        for at in from..schedule.len() {
            let edge = |other: Option<&bool>| other != Some(&true);
            if moved[at] {
                let ends = edge(at.checked_sub(1).and_then(|before| moved.get(before))) || edge(moved.get(at + 1));
                better(schedule[at], if ends { 0 } else { 2 });
            }
        }
        for (index, event) in events() {
            if is_variable(event) && variables.contains(&event.object()) {
                better(index, 1);
            } else if event.op().space().is_some_and(|space| !matches!(space, Space::Var | Space::Block | Space::Label))
                || event.op() == Op::Fence
            {
                better(index, 2);
            }
        }
        ranks
    }
}

/// A line that stands for events that are not shown.
fn gap(events: usize, how: &str) -> Option<Step> {
    let what = if events == 1 { "event" } else { "events" };
    (events > 0).then(|| Step { text: format!("… {events} {what}{how}"), ..Step::default() })
}

/// The places of the events that are shown: as many ranks as there is room for; the first and the last of the best rank,
/// if even these are too many.
fn shown(events: &[u64], rank: impl Fn(u64) -> Rank, last: u64) -> Vec<usize> {
    let up_to = |worst: Rank| -> Vec<usize> { (0..events.len()).filter(|&at| rank(events[at]) <= worst).collect() };
    let worst = (0..NEVER).rev().find(|&worst| up_to(worst).len() <= LINES);
    let mut places = up_to(worst.unwrap_or(0));
    if places.len() > LINES {
        let tail = places.split_off(places.len() - LINES / 2);
        places.truncate(LINES / 2);
        let violating = events.iter().position(|&event| event == last);
        places.extend(tail);
        if let Some(at) = violating
            && let Err(place) = places.binary_search(&at)
        {
            places.insert(place, at);
        }
    }
    // A line that stands for one event takes as much room as the event.
    let alone = |at: &usize| places.binary_search(at).is_ok() || stands_alone(&places, *at, events.len());
    (0..events.len()).filter(alone).collect()
}

/// Whether a place that is not shown stands alone between others that are.
fn stands_alone(places: &[usize], at: usize, end: usize) -> bool {
    let is_shown = |place: usize| places.binary_search(&place).is_ok();
    let before = at.checked_sub(1).is_none_or(is_shown);
    before && (at + 1 == end || is_shown(at + 1))
}
