//! The view of a schedule: the recorded order and a predicted one side by side, as far as they matter to a reader.

use event::{Batch, Event, Names, Op, Order, Space};
use report::{EventOrder, Schedule, Step};
use std::collections::HashSet;
use trace::text::event_text;

/// Events of which all are shown.
const FEW: usize = 30;

/// Lines of one schedule, about.
const LINES: usize = 36;

/// Events shown before the first that is elsewhere than recorded.
const CONTEXT: usize = 3;

/// Where the two orders differ over more events than this, only the end of the predicted one is looked at.
const LONG: usize = 200_000;

/// So much of it.
const TAIL: usize = 1000;

/// An event as a step of a schedule.
pub fn step(names: &Names, trace: &Batch, event: Event) -> Step {
    let thread = names.thread(event.thread()).to_owned();
    Step { thread, text: event_text(names, trace, event), ..Step::default() }
}

/// A trace, and which of its events matter.
pub(crate) struct ScheduleView<'a> {
    pub(crate) names: &'a Names,
    pub(crate) trace: &'a Batch,
    /// Where in it an event stands: it may have only those that [`looked_at`] names.
    pub(crate) place: &'a dyn Fn(u64) -> usize,
    /// Whether an event concerns what is shown.
    pub(crate) concerns: &'a dyn Fn(u64) -> bool,
    /// Events that are always shown, and what is said of them in the predicted order.
    pub(crate) marks: &'a [(u64, &'a str)],
}

/// How much an event matters; less matters more.
type Rank = u8;
const NEVER: Rank = 3;

/// The events of both orders that a view looks at, ascending.
pub(crate) fn looked_at(schedule: &EventOrder, marks: &[(u64, &str)]) -> Vec<u64> {
    let Some(Extent { from, end, .. }) = Extent::new(schedule, marks) else { return Vec::new() };
    if (end - from) as usize <= LONG {
        (from..=end).collect()
    } else {
        let mut events = last(schedule, TAIL);
        events.sort_unstable();
        events
    }
}

/// The last events of an order.
fn last(schedule: &EventOrder, events: usize) -> Vec<u64> {
    (schedule.len().saturating_sub(events as u64)..schedule.len()).filter_map(|at| schedule.get(at)).collect()
}

/// From where on the two orders are shown.
struct Extent {
    from: u64,
    /// So many events at the beginning are as recorded.
    same: u64,
    /// The last event, as recorded.
    end: u64,
}

impl Extent {
    fn new(schedule: &EventOrder, marks: &[(u64, &str)]) -> Option<Extent> {
        let same = schedule.as_recorded();
        let end = same.checked_sub(1).into_iter().chain(schedule.rest().iter().copied()).max()?;
        let mut from = same.saturating_sub(CONTEXT as u64);
        // What is said of events shortly before is to be seen, too.
        let first = marks.iter().map(|(marked, _)| *marked).filter(|&marked| marked < from).min();
        if let Some(first) = first.filter(|first| from - first <= FEW as u64) {
            from = first;
        }
        Some(Extent { from, same, end })
    }
}

/// Some events of both orders.
struct Stretch {
    /// Those of the recorded order, ascending.
    recorded: Vec<u64>,
    /// Those of the predicted one.
    predicted: Vec<u64>,
    /// By position in `predicted`: elsewhere than recorded.
    moved: Vec<bool>,
    /// By position in `recorded`.
    ranks: Vec<Rank>,
    /// Events of the predicted order before these.
    before: usize,
    /// Those are as recorded.
    as_recorded: bool,
}

impl ScheduleView<'_> {
    /// The recorded order and the predicted one.
    pub(crate) fn orders(&self, schedule: &EventOrder) -> Vec<Schedule> {
        let Some(extent) = Extent::new(schedule, self.marks) else { return Vec::new() };
        let end = extent.end;
        let is_marked = |event: u64| self.marks.iter().any(|(marked, _)| *marked == event);
        let short = (end - extent.from) as usize <= LONG;
        let stretch = if short { self.differing(schedule, &extent) } else { self.end(schedule) };
        let rank = |event: u64| stretch.recorded.binary_search(&event).map_or(NEVER, |at| stretch.ranks[at]);
        let is_filler = |event: u64| self.is_filler(event) && !is_marked(event);
        let mut before: Vec<Step> = Vec::new();
        let (mut next, mut fillers) = (0, 0);
        for at in shown(&stretch.recorded, rank, is_marked) {
            let event = stretch.recorded[at];
            if is_filler(event) {
                fillers += 1;
                continue;
            }
            before.extend(gap((event - next) as usize - fillers, ""));
            (next, fillers) = (event + 1, 0);
            before.push(self.step(event));
        }
        before.extend(gap((end + 1 - next) as usize - fillers, ""));
        let mut after: Vec<Step> = Vec::new();
        after.extend(gap(stretch.before, if stretch.as_recorded { " as recorded" } else { "" }));
        let (mut next, mut fillers) = (0, 0);
        for at in shown(&stretch.predicted, rank, is_marked) {
            let event = stretch.predicted[at];
            if is_filler(event) {
                fillers += 1;
                continue;
            }
            after.extend(gap(at - next - fillers, ""));
            (next, fillers) = (at + 1, 0);
            let mark = self.marks.iter().find(|(marked, _)| *marked == event).map_or("", |(_, mark)| mark);
            after.push(Step { moved: stretch.moved[at], mark: mark.to_owned(), ..self.step(event) });
        }
        after.extend(gap(stretch.predicted.len() - next - fillers, ""));
        let schedule = |title: &str, steps| Schedule { title: title.to_owned(), steps };
        vec![schedule("recorded", before), schedule("predicted", after)]
    }

    /// Whether an event says nothing to a reader: a relaxed fence, which orders nothing (recorders give one to a thread
    /// without any event); or what a library does with objects of its own.
    fn is_filler(&self, index: u64) -> bool {
        let event = self.event(index);
        let is_plumbing = || {
            let of_object = matches!(event.op().space(), Some(Space::Var | Space::Lock | Space::Cond | Space::Sem));
            of_object && self.names.site(event.site()).starts_with('!') && !(self.concerns)(index)
        };
        event.op() == Op::Fence && self.trace.extra(event).order == Order::Relaxed || is_plumbing()
    }

    fn event(&self, index: u64) -> Event {
        self.trace.events[(self.place)(index)]
    }

    fn step(&self, event: u64) -> Step {
        step(self.names, self.trace, self.event(event))
    }

    /// All from where the orders differ.
    fn differing(&self, schedule: &EventOrder, &Extent { from, same, end }: &Extent) -> Stretch {
        let predicted: Vec<u64> = (from..same).chain(schedule.rest().iter().copied()).collect();
        // All events before are as recorded, and recorded before these.
        let mut moved = witness::moved(&predicted);
        // Where events are only left out, those behind them come earlier for it.
        if !moved.contains(&true) {
            moved[(same - from) as usize..].fill(true);
        }
        let recorded: Vec<u64> = (from..=end).collect();
        let ranks = self.ranks(&recorded, &predicted, &moved);
        Stretch { recorded, predicted, moved, ranks, before: from as usize, as_recorded: true }
    }

    /// The end of a predicted order that differs over a long stretch.
    fn end(&self, schedule: &EventOrder) -> Stretch {
        let predicted = last(schedule, TAIL);
        let before = schedule.len() as usize - predicted.len();
        let mut recorded = predicted.clone();
        recorded.sort_unstable();
        let moved = witness::moved(&predicted);
        let ranks = self.ranks(&recorded, &predicted, &moved);
        Stretch { recorded, predicted, moved, ranks, before, as_recorded: false }
    }

    /// How much each event of a stretch of the recorded order matters.
    fn ranks(&self, recorded: &[u64], predicted: &[u64], moved: &[bool]) -> Vec<Rank> {
        let event = |index: u64| self.event(index);
        if recorded.len() <= FEW {
            return vec![0; recorded.len()];
        }
        let is_variable = |event: Event| event.op().space() == Some(Space::Var);
        let mut ranks = vec![NEVER; recorded.len()];
        let mut better = |event: u64, rank: Rank| {
            if let Ok(at) = recorded.binary_search(&event) {
                ranks[at] = ranks[at].min(rank);
            }
        };
        let mut variables = HashSet::new();
        for &index in recorded {
            if (self.concerns)(index) {
                better(index, 0);
                if is_variable(event(index)) {
                    variables.insert(event(index).object());
                }
            }
        }
        predicted.iter().take(CONTEXT).for_each(|&event| better(event, 1));
        self.marks.iter().for_each(|&(event, _)| better(event, 0));
        // Of a stretch of moved events its ends, in the order they come.
        for (at, &index) in predicted.iter().enumerate() {
            let edge = |other: Option<&bool>| other != Some(&true);
            if moved[at] {
                let ends = edge(at.checked_sub(1).and_then(|before| moved.get(before))) || edge(moved.get(at + 1));
                better(index, if ends { 0 } else { 2 });
            }
        }
        for &index in recorded {
            let event = event(index);
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

/// The places of the events that are shown: as many ranks as there is room for; the first and the last of the best
/// rank, and those that must be, if even these are too many.
fn shown(events: &[u64], rank: impl Fn(u64) -> Rank, must: impl Fn(u64) -> bool) -> Vec<usize> {
    let up_to = |worst: Rank| -> Vec<usize> { (0..events.len()).filter(|&at| rank(events[at]) <= worst).collect() };
    let worst = (0..NEVER).rev().find(|&worst| up_to(worst).len() <= LINES);
    let mut places = up_to(worst.unwrap_or(0));
    if places.len() > LINES {
        let tail = places.split_off(places.len() - LINES / 2);
        places.truncate(LINES / 2);
        places.extend(tail);
        for at in (0..events.len()).filter(|&at| must(events[at])) {
            if let Err(place) = places.binary_search(&at) {
                places.insert(place, at);
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_that_order_nothing_are_left_out() {
        let text = "m|fork(t)|\nt|fence@relaxed|\nm|join(t)|\nm|w(x)|\nu|fence@acquire|\nu|r(x)|\n";
        let mut source = trace::text::TextReader::new(text.as_bytes());
        let trace = trace::Trace::read(&mut source).expect("a trace");
        let place = |event| event as usize;
        let (names, trace) = (&trace.names, &trace.batch);
        let view = ScheduleView { names, trace, place: &place, concerns: &|_| true, marks: &[] };
        for schedule in view.orders(&vec![4, 5, 0, 1, 2, 3].into()) {
            let steps: Vec<&str> = schedule.steps.iter().map(|step| step.text.as_str()).collect();
            assert_eq!(steps.len(), 5, "{steps:?}");
            assert!(!steps.iter().any(|text| text.contains("relaxed") || text.contains('…')), "{steps:?}");
        }
    }

    #[test]
    fn what_libraries_do_with_objects_of_their_own_is_left_out() {
        let jdk = "!java.util.concurrent.FutureTask.run FutureTask.java:1";
        let text =
            format!("m|w(state)|{jdk}\nm|w(x)|{jdk}\nm|acq(l)|{jdk}\nm|rel(l)|Main.java:2\nt|r(x)|Main.java:3\n");
        let mut source = trace::text::TextReader::new(text.as_bytes());
        let trace = trace::Trace::read(&mut source).expect("a trace");
        let (place, concerns) = (|event| event as usize, |index| index == 1);
        let (names, trace) = (&trace.names, &trace.batch);
        let view = ScheduleView { names, trace, place: &place, concerns: &concerns, marks: &[] };
        for schedule in view.orders(&vec![4, 0, 1, 2, 3].into()) {
            let mut steps: Vec<&str> = schedule.steps.iter().map(|step| step.text.as_str()).collect();
            steps.sort_unstable();
            assert_eq!(steps, ["r(x)", "rel(l)", "w(x)"]);
        }
    }
}
