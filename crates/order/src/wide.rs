//! What `weak-hb` and `maximal` share: the pass along a window that finds the events, their clocks and their rules.

use crate::barriers::Barriers;
use crate::event_structure::EventStructure;
use crate::locks::Locks;
use crate::sections::Effect;
use crate::semaphores::Semaphores;
use crate::threads::{Place, Threads, is_access};
use crate::variables::{Span, Spans};
use crate::wakeups::Wakeups;
use crate::window::Window;
use event::{Event, Value};

/// An access that is no barrier.
pub(crate) struct Access {
    pub(crate) event: Event,
    /// Its span.
    pub(crate) number: u32,
    /// The rules speak of its span: all its accesses are events.
    pub(crate) ruled: bool,
    /// What it writes is read behind the window.
    pub(crate) read_later: bool,
    /// The value that it recorded.
    pub(crate) value: Value,
}

/// How a model treats accesses of variables.
pub(crate) trait Accesses {
    /// `up` and `down` keep their recorded order.
    const ORDERED_SEMAPHORES: bool;

    /// Whether the rules speak of a span.
    fn is_ruled(&self, span: &Span) -> bool;

    /// Before an access: joins what it comes after.
    fn before(&mut self, access: &Access, threads: &mut Threads);

    /// After it.
    fn after(&mut self, access: &Access, place: Option<Place>, threads: &mut Threads);

    /// Gives the structure its rules.
    fn finish(self, spans: &Spans, window: &Window<'_>, structure: &mut EventStructure);
}

/// The structure of a window.
pub(crate) fn build<A: Accesses>(
    window: &Window<'_>,
    is_relevant: impl Fn(u64) -> bool,
    accesses: impl FnOnce(&Spans) -> A,
) -> EventStructure {
    let spans = Spans::new(window);
    let mut accesses = accesses(&spans);
    let mut threads = Threads::new(window.trace, &window.start.events);
    let mut locks = Locks::new(window);
    let mut barriers = Barriers::new(window);
    let mut wakeups = Wakeups::new(window);
    let mut semaphores = Semaphores::new(window, A::ORDERED_SEMAPHORES);
    let mut sections = window.start.sections.clone();
    let until = (window.range.end < window.trace.batch.events.len() as u64).then(|| window.trace.until());
    for (index, event) in window.events() {
        let op = event.op();
        let effect = sections.step(window.trace.batch, event);
        threads.before(event);
        let access = spans.of(index - window.range.start).map(|number| Access {
            event,
            number,
            ruled: accesses.is_ruled(&spans.spans[number as usize]),
            read_later: until.is_some_and(|until| u64::from(until[index as usize]) >= window.range.end),
            value: window.trace.batch.extra(event).value,
        });
        if is_access(op) {
            barriers.before(event, &mut threads);
        }
        if let Some(access) = &access {
            accesses.before(access, &mut threads);
        }
        locks.before(effect, event.thread(), &mut threads);
        wakeups.before(index, event, &mut threads);
        semaphores.before(event, &mut threads);

        let ruled = access.as_ref().is_some_and(|access| access.ruled)
            || locks.is_ruled(effect)
            || wakeups.is_ruled(index)
            || semaphores.is_ruled(event);
        let place = (ruled || is_relevant(index)).then(|| threads.event(index, event));

        if is_access(op) {
            barriers.after(event, threads.clock(event.thread()));
        }
        if let Some(access) = &access {
            accesses.after(access, place, &mut threads);
        }
        locks.after(effect, event.thread(), place, &mut threads);
        if let Some(place) = place {
            wakeups.after(index, event, place, &mut threads);
        }
        semaphores.after(event, place, &mut threads);
        debug_assert!(effect == Effect::None || access.is_none());
        threads.after(event);
    }
    let mut structure = threads.structure;
    locks.finish(&mut structure);
    semaphores.finish(window, &mut structure);
    accesses.finish(&spans, window, &mut structure);
    structure
}
