//! The view of a schedule: the recorded order and a predicted one side by side, as far as they matter to a reader.

mod matter;

use event::{Batch, Event, Names, Op, Order, Space};
use report::{EventOrder, Schedule, Step};
use trace::text::event_text;

/// Lines of one schedule, about.
const LINES: usize = 36;

/// Events before the first that is elsewhere than recorded: what matters of these is shown.
const BEFORE: u64 = 1000;

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
    /// Whether an event matters beside those that have a mark.
    pub(crate) concerns: &'a dyn Fn(u64) -> bool,
    /// Events that are always shown, and what is said of them in the predicted order.
    pub(crate) marks: &'a [(u64, &'a str)],
}

/// How much an event matters; less matters more, and [`NEVER`] is not shown.
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
        let first = marks.iter().map(|(marked, _)| *marked).min().unwrap_or(same);
        let from = same.saturating_sub(BEFORE).min(first.max(same.saturating_sub(2 * BEFORE)));
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
    /// Those, and so many of these after them, are as recorded.
    same: usize,
}

impl ScheduleView<'_> {
    /// The recorded order and the predicted one.
    pub(crate) fn orders(&self, schedule: &EventOrder) -> Vec<Schedule> {
        let Some(extent) = Extent::new(schedule, self.marks) else { return Vec::new() };
        let short = (extent.end - extent.from) as usize <= LONG;
        let stretch = if short { self.differing(schedule, &extent) } else { self.end(schedule) };
        let is_filler: Vec<bool> = stretch.recorded.iter().map(|&event| self.is_filler(event)).collect();
        let says = |&&event: &&u64| stretch.recorded.binary_search(&event).is_ok_and(|at| !is_filler[at]);
        // What of a gap is worth a line: events that say something.
        let between = |events: &[u64]| events.iter().filter(says).count();
        let mut recorded = Rows::default();
        let mut last = None;
        for at in self.shown(&stretch, &stretch.recorded) {
            let event = stretch.recorded[at];
            let from = last.map_or(0, |last| last + 1);
            // Only some of the events of a long stretch were looked at.
            let unseen = (event - last.map_or(0, |last| stretch.recorded[last] + 1)) as usize - (at - from);
            recorded.gap(unseen + between(&stretch.recorded[from..at]), "");
            recorded.steps.push(self.step(event));
            last = Some(at);
        }
        let rest = &stretch.recorded[last.map_or(0, |last| last + 1)..];
        recorded.gap(between(rest), "");
        let mut predicted = Rows::default();
        let mut next = 0;
        for at in self.shown(&stretch, &stretch.predicted) {
            let event = stretch.predicted[at];
            let gap = between(&stretch.predicted[next..at]);
            if next == 0 {
                let as_recorded = if at <= stretch.same { " as recorded" } else { "" };
                predicted.gap(stretch.before + gap, as_recorded);
            } else {
                predicted.gap(gap, "");
            }
            next = at + 1;
            let mark = self.marks.iter().find(|(marked, _)| *marked == event).map_or("", |(_, mark)| mark);
            predicted.steps.push(Step { moved: stretch.moved[at], mark: mark.to_owned(), ..self.step(event) });
        }
        predicted.gap(between(&stretch.predicted[next..]), "");
        let schedule = |title: &str, rows: Rows| Schedule { title: title.to_owned(), steps: rows.steps };
        vec![schedule("recorded", recorded), schedule("predicted", predicted)]
    }

    /// Whether an event is part of the finding.
    fn is_marked(&self, event: u64) -> bool {
        self.marks.iter().any(|(marked, _)| *marked == event)
    }

    /// Whether an event says nothing to a reader: a relaxed fence, which orders nothing (recorders give one to a thread
    /// without any event); the note that a thread is about to wait, or that accesses were dropped; a use in the
    /// lifetime of a lock or the like, which is a variable of its name; or what a library does with objects of its own.
    fn is_filler(&self, index: u64) -> bool {
        let event = self.event(index);
        let op = event.op();
        let is_object = || {
            let name = self.names.get(Space::Var, event.object()).as_bytes();
            let spaces = [Space::Lock, Space::Cond, Space::Latch, Space::Sem];
            op.space() == Some(Space::Var) && spaces.iter().any(|&space| self.names.space(space).find(name).is_some())
        };
        let is_plumbing = || {
            let of_object = matches!(op.space(), Some(Space::Var | Space::Lock | Space::Cond | Space::Sem));
            of_object && self.names.site(event.site()).starts_with('!')
        };
        let says_nothing = op == Op::Fence && self.trace.extra(event).order == Order::Relaxed
            || op.announces()
            || op.is_drop_barrier()
            || is_plumbing()
            || is_object();
        says_nothing && !self.is_marked(index) && !(self.concerns)(index)
    }

    /// The lock that an event takes or gives back.
    fn lock(&self, event: Event) -> Option<u32> {
        match event.op() {
            Op::Wait | Op::Woken => Some(self.trace.extra(event).lock.0),
            op if op.opens_section() || op.closes_section() => Some(event.object()),
            _ => None,
        }
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
        let recorded: Vec<u64> = (from..=end).collect();
        let ranks = matter::ranks(self, &recorded, &predicted, &moved);
        let same = (same - from) as usize;
        // Where events are only left out, those behind them come earlier for it.
        if !moved.contains(&true) {
            moved[same..].fill(true);
        }
        Stretch { recorded, predicted, moved, ranks, before: from as usize, same }
    }

    /// The end of a predicted order that differs over a long stretch.
    fn end(&self, schedule: &EventOrder) -> Stretch {
        let predicted = last(schedule, TAIL);
        let before = schedule.len() as usize - predicted.len();
        let mut recorded = predicted.clone();
        recorded.sort_unstable();
        let moved = witness::moved(&predicted);
        let ranks = matter::ranks(self, &recorded, &predicted, &moved);
        Stretch { recorded, predicted, moved, ranks, before, same: 0 }
    }

    /// The places of the events of an order that are shown: as many ranks as there is room for; the first and the last
    /// of the best rank, and those of the finding, if even these are too many.
    fn shown(&self, stretch: &Stretch, events: &[u64]) -> Vec<usize> {
        let rank = |event: u64| stretch.recorded.binary_search(&event).map_or(NEVER, |at| stretch.ranks[at]);
        let up_to = |worst: Rank| -> Vec<usize> { (0..events.len()).filter(|&at| rank(events[at]) <= worst).collect() };
        let worst = (0..NEVER).rev().find(|&worst| up_to(worst).len() <= LINES);
        let mut places = up_to(worst.unwrap_or(0));
        if places.len() > LINES {
            let tail = places.split_off(places.len() - LINES / 2);
            places.truncate(LINES / 2);
            places.extend(tail);
            for at in (0..events.len()).filter(|&at| self.is_marked(events[at])) {
                if let Err(place) = places.binary_search(&at) {
                    places.insert(place, at);
                }
            }
        }
        places
    }
}

/// The lines of a schedule.
#[derive(Default)]
struct Rows {
    steps: Vec<Step>,
}

impl Rows {
    /// Adds a line that stands for events that are not shown.
    fn gap(&mut self, events: usize, how: &str) {
        let what = if events == 1 { "event" } else { "events" };
        if events > 0 {
            self.steps.push(Step { text: format!("… {events} {what}{how}"), ..Step::default() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of both orders of a text trace: `thread op`, `*` before what moved, `… n` for what is folded.
    fn rows(text: &str, order: &[u64], marks: &[u64], concerned: &[u64]) -> [String; 2] {
        let mut source = trace::text::TextReader::new(text.as_bytes());
        let trace = trace::Trace::read(&mut source).expect("a trace");
        let (place, concerns) = (|event| event as usize, |index| concerned.contains(&index));
        let marks: Vec<(u64, &str)> = marks.iter().map(|&event| (event, "")).collect();
        let view = ScheduleView {
            names: &trace.names,
            trace: &trace.batch,
            place: &place,
            concerns: &concerns,
            marks: &marks,
        };
        let row = |step: &Step| match (step.thread.as_str(), step.moved) {
            ("", _) => step.text.replace(" events", "").replace(" event", ""),
            (thread, moved) => format!("{}{thread} {}", if moved { "*" } else { "" }, step.text),
        };
        let orders = view.orders(&order.to_vec().into());
        let order = |at: usize| orders[at].steps.iter().map(row).collect::<Vec<_>>().join(", ");
        [order(0), order(1)]
    }

    #[test]
    fn fences_that_order_nothing_are_left_out() {
        let text = "m|fork(t)|\nt|fence@relaxed|\nm|join(t)|\nm|w(x)|\nu|fence@acquire|\nu|r(x)|\n";
        let rows = rows(text, &[4, 5, 0, 1, 2, 3], &[3, 5], &[]);
        assert_eq!(rows, ["… 2, m w(x), u fence@acquire, u r(x)", "*u fence@acquire, *u r(x), … 2, m w(x)"]);
    }

    #[test]
    fn what_libraries_do_with_objects_of_their_own_is_left_out() {
        let jdk = "!java.util.concurrent.FutureTask.run FutureTask.java:1";
        let text =
            format!("m|w(state)|{jdk}\nm|w(x)|{jdk}\nm|acq(l)|{jdk}\nm|rel(l)|Main.java:2\nt|r(x)|Main.java:3\n");
        let rows = rows(&text, &[4, 0, 1, 2, 3], &[1, 4], &[]);
        assert_eq!(rows, ["m w(x), … 1, t r(x)", "*t r(x), m w(x), … 1"]);
    }

    #[test]
    fn only_the_finding_and_what_it_holds_matter() {
        // Uses of the lock `l` as an object with a lifetime, an announced wait, and another variable.
        let text = "m|fork(t)|\nm|fork(u)|\nt|r(l)|\nt|acq(l)|\nt|r(y)|\nt|acq(k)|\nt|rel(k)|\nt|rel(l)|\n\
                    m|jreq(t)|\nu|acq(k)|\nu|r(y)|\nu|acq(l)|\n";
        let rows = rows(text, &[0, 1, 2, 3, 4, 9, 10, 5, 11], &[5, 11], &[]);
        let recorded = "… 2, t acq(l), … 1, t acq(k), … 2, u acq(k), … 1, u acq(l)";
        assert_eq!(rows, [recorded, "… 2 as recorded, t acq(l), … 1, u acq(k), … 1, *t acq(k), u acq(l)"]);
    }

    #[test]
    fn orders_between_the_threads_of_a_finding_matter() {
        let text = "t|w(x)|\nt|post(o)|\nm|post(p)|\nu|await(p)|\nu|await(o)|\nt|w(y)|\nu|w(y)|\n";
        let rows = rows(text, &[0, 1, 2, 3, 4, 6, 5], &[5, 6], &[]);
        assert_eq!(rows[0], "… 1, t post(o), … 2, u await(o), t w(y), u w(y)");
    }

    #[test]
    fn a_lock_that_changes_hands_otherwise_shows_who_gave_it() {
        let text = "t|acq(l)|\nt|w(x)|\nt|rel(l)|\nu|acq(l)|\nu|w(z)|\nu|rel(l)|\nu|w(x)|\n";
        let rows = rows(text, &[3, 4, 5, 0, 1, 6], &[1, 6], &[]);
        assert_eq!(rows[1], "… 2, u rel(l), *t acq(l), *t w(x), u w(x)");
    }

    #[test]
    fn what_concerns_a_property_matters() {
        let text = "t|w(x)=1|\nt|w(y)=1|\nt|w(x)=2|\nu|w(z)=1|\nu|w(x)=3|\n";
        let rows = rows(text, &[0, 1, 2, 3, 4], &[4], &[0, 2]);
        assert_eq!(rows[0], "t w(x)=1, … 1, t w(x)=2, … 1, u w(x)=3");
    }
}
