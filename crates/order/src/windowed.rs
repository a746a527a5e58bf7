//! What `weak-hb` and `maximal` share: one pass along a window that finds the relevant events, their predecessors and
//! their rules. A model differs in how it treats accesses of variables ([`Accesses`]).

use crate::builder::{ChainPosition, StructureBuilder, is_access};
use crate::event_structure::EventStructure;
use crate::lifetime_boundaries::LifetimeBoundaries;
use crate::lifetimes::{Lifetime, Lifetimes};
use crate::locks::Locks;
use crate::sections::Effect;
use crate::semaphores::Semaphores;
use crate::wakeups::Wakeups;
use crate::window::Window;
use event::{Event, Value};

/// An access other than `alloc` and `free`.
pub(crate) struct Access {
    pub(crate) event: Event,
    /// The number of its lifetime.
    pub(crate) lifetime: u32,
    /// Whether the rules speak of this lifetime, so that all its accesses are relevant.
    pub(crate) ruled: bool,
    /// Whether what it writes is read after the window.
    pub(crate) read_later: bool,
    /// Its recorded value.
    pub(crate) value: Value,
}

/// How a model treats accesses of variables.
pub(crate) trait Accesses {
    /// `up` and `down` keep their recorded order.
    const ORDERED_SEMAPHORES: bool;

    /// Whether the rules of the model speak of a lifetime.
    fn has_rule(&self, lifetime: &Lifetime) -> bool;

    /// Called before an access: joins the clocks of its predecessors.
    fn before(&mut self, access: &Access, builder: &mut StructureBuilder);

    /// Called after an access. `position`: where it stands, if it is relevant.
    fn after(&mut self, access: &Access, position: Option<ChainPosition>, builder: &mut StructureBuilder);

    /// Adds the rules to the structure.
    fn finish(self, lifetimes: &Lifetimes, window: &Window<'_>, structure: &mut EventStructure);
}

/// Builds the event structure of a window.
pub(crate) fn build<A: Accesses>(
    window: &Window<'_>,
    is_relevant: impl Fn(u64) -> bool,
    accesses: impl FnOnce(&Lifetimes) -> A,
) -> EventStructure {
    let lifetimes = Lifetimes::new(window);
    let mut accesses = accesses(&lifetimes);
    let mut builder = StructureBuilder::new(window.trace, &window.start.events);
    let mut locks = Locks::new(window);
    let mut boundaries = LifetimeBoundaries::new(window);
    let mut wakeups = Wakeups::new(window);
    let mut semaphores = Semaphores::new(window, A::ORDERED_SEMAPHORES);
    let mut sections = window.start.sections.clone();
    let last_readers = (window.range.end < window.trace.batch.events.len() as u64).then(|| window.trace.last_readers());
    for (index, event) in window.events() {
        let op = event.op();
        let effect = sections.step(window.trace.batch, event);
        builder.before(event);
        let access = lifetimes.of_event(index - window.range.start).map(|lifetime| Access {
            event,
            lifetime,
            ruled: accesses.has_rule(&lifetimes.all[lifetime as usize]),
            read_later: last_readers.is_some_and(|readers| u64::from(readers[index as usize]) >= window.range.end),
            value: window.trace.batch.extra(event).value,
        });
        if is_access(op) {
            boundaries.before(event, &mut builder);
        }
        if let Some(access) = &access {
            accesses.before(access, &mut builder);
        }
        locks.before(effect, event.thread(), &mut builder);
        wakeups.before(index, event, &mut builder);
        semaphores.before(event, &mut builder);

        let ruled = access.as_ref().is_some_and(|access| access.ruled)
            || locks.has_rule(effect)
            || wakeups.has_rule(index)
            || semaphores.has_rule(event);
        let position = (ruled || is_relevant(index)).then(|| builder.add(index, event));

        if is_access(op) {
            boundaries.after(event, builder.clock(event.thread()));
        }
        if let Some(access) = &access {
            accesses.after(access, position, &mut builder);
        }
        locks.after(effect, event.thread(), position, &mut builder);
        if let Some(position) = position {
            wakeups.after(index, event, position, &mut builder);
        }
        semaphores.after(event, position, &mut builder);
        debug_assert!(effect == Effect::None || access.is_none());
        builder.after(event);
    }
    let mut structure = builder.structure;
    locks.finish(&mut structure);
    semaphores.finish(window, &mut structure);
    accesses.finish(&lifetimes, window, &mut structure);
    structure
}
