//! What each event of a region needs by the rules, as edges between neighbours only.

use super::graph::Graph;
use crate::ops::{Side, is_access, is_read, side};
use crate::pins::Pins;
use crate::sections::{NONE, Sections, effect, lock_of};
use event::{Batch, Causality, Event, Names, Op, Space};
use std::collections::HashMap;

/// Events of one object in recorded order: runs of events that are free among themselves, each of which needs the
/// whole run before.
struct Runs {
    kind: u8,
    run: Vec<u32>,
    before: u32,
}

impl Default for Runs {
    fn default() -> Self {
        Runs { kind: EACH, run: Vec::new(), before: NONE }
    }
}

/// The kind of events that keep their order with each other, too.
const EACH: u8 = 0;

impl Runs {
    fn add(&mut self, graph: &mut Graph, node: u32, kind: u8) {
        if kind == EACH || kind != self.kind {
            if !self.run.is_empty() {
                self.before = graph.all_of(&self.run, node);
                self.run.clear();
            }
            self.kind = kind;
        }
        graph.need(self.before, node);
        self.run.push(node);
    }
}

/// The posts of a latch.
struct Posts {
    /// Comes when all posts came that an await needed so far.
    gate: u32,
    fresh: Vec<u32>,
}

/// The kinds of objects that keep an order.
#[derive(Clone, Copy)]
enum Kind {
    Var,
    Lock,
    Cond,
    Sem,
}

/// Looks through the recorded order, from its beginning.
pub(super) struct Needs<'a> {
    /// Whether the model orders more than every model does.
    is_ordered: bool,
    /// Whether it orders plain accesses of one variable.
    orders_data: bool,
    names: &'a Names,
    trace: &'a Batch,
    pins: Option<Pins>,
    sections: Sections,
    /// By thread: its last event in the region, or [`NONE`].
    threads: Vec<u32>,
    forks: HashMap<u32, Vec<u32>>,
    posts: HashMap<u32, Posts>,
    /// By kind of pin and variable: threads with pinned events, and the last of these.
    pinned: HashMap<(Op, u32), Vec<(u32, u32)>>,
    /// By kind and object; the tables grow as objects are met.
    objects: [Vec<Runs>; 4],
}

impl<'a> Needs<'a> {
    pub(super) fn new(model: Causality, names: &'a Names, trace: &'a Batch) -> Self {
        Needs {
            is_ordered: !matches!(model, Causality::WeakHb | Causality::Maximal),
            orders_data: matches!(model, Causality::Observed | Causality::FullHb),
            names,
            trace,
            pins: Pins::new(trace, names.space(Space::Thread).len()),
            sections: Sections::default(),
            threads: vec![NONE; names.space(Space::Thread).len()],
            forks: HashMap::new(),
            posts: HashMap::new(),
            pinned: HashMap::new(),
            objects: Default::default(),
        }
    }

    /// Passes over an event before the region: nothing there can be moved.
    pub(super) fn skip(&mut self, at: u32, event: Event) {
        if let Some(pins) = &mut self.pins {
            pins.step(event.thread().0);
        }
        if self.is_ordered {
            self.sections.step(self.trace, at, event);
        }
    }

    /// Adds what an event of the region needs.
    pub(super) fn add(&mut self, graph: &mut Graph, at: u32, node: u32, event: Event) {
        self.common(graph, node, event);
        if self.is_ordered {
            self.ordered(graph, at, node, event);
        }
    }

    fn common(&mut self, graph: &mut Graph, node: u32, event: Event) {
        let thread = event.thread().0;
        graph.need(std::mem::replace(&mut self.threads[thread as usize], node), node);
        if !self.forks.is_empty() {
            for fork in self.forks.remove(&thread).into_iter().flatten() {
                graph.need(fork, node);
            }
        }
        match event.op() {
            Op::Fork => self.forks.entry(event.child().0).or_default().push(node),
            Op::Join if event.child() != event.thread() => {
                graph.need(self.threads[event.child().0 as usize], node);
            }
            Op::Post => {
                let none = || Posts { gate: NONE, fresh: Vec::new() };
                self.posts.entry(event.object()).or_insert_with(none).fresh.push(node);
            }
            Op::Await => {
                if let Some(posts) = self.posts.get_mut(&event.object()) {
                    if posts.gate != NONE && !posts.fresh.is_empty() {
                        posts.fresh.push(posts.gate);
                    }
                    if !posts.fresh.is_empty() {
                        posts.gate = graph.all_of(&posts.fresh, node);
                        posts.fresh.clear();
                    }
                    graph.need(posts.gate, node);
                }
            }
            _ => {}
        }
        if let Some(pins) = &mut self.pins {
            for pin in Op::DROP_BARRIERS.into_iter().filter(|pin| pin.holds_back(event.op())) {
                let pinned = self.pinned.get(&(pin, event.object())).into_iter().flatten();
                for &(_, pinned) in pinned.filter(|p| p.0 != thread) {
                    graph.need(pinned, node);
                }
            }
            for &(_, _, kind, var) in pins.step(thread) {
                let pinned = self.pinned.entry((kind, var)).or_default();
                pinned.retain(|p| p.0 != thread);
                pinned.push((thread, node));
            }
        }
    }

    /// The orders of `full-hb` and `sync-only`.
    fn ordered(&mut self, graph: &mut Graph, at: u32, node: u32, event: Event) {
        let op = event.op();
        let mut add = |kind: Kind, object: u32, run| {
            let objects = &mut self.objects[kind as usize];
            if objects.len() <= object as usize {
                objects.resize_with(object as usize + 1, Runs::default);
            }
            objects[object as usize].add(graph, node, run);
        };
        if is_access(op) {
            if self.orders_data || op.is_atomic() {
                add(Kind::Var, event.object(), if is_read(op) { 1 } else { EACH });
            }
            return;
        }
        match op {
            Op::Up | Op::Down => add(Kind::Sem, event.object(), EACH),
            Op::Wait | Op::Woken | Op::Notify | Op::NotifyAll => add(Kind::Cond, event.object(), EACH),
            _ => {}
        }
        let does = self.sections.step(self.trace, at, event).effect & !(effect::OWN | effect::OWN_SHARED);
        let lock = match op {
            Op::Notify | Op::NotifyAll => self.names.space(Space::Lock).find(self.names.cond(event.cond()).as_bytes()),
            Op::Wait | Op::Woken | Op::TryFail => lock_of(self.trace, event),
            _ => lock_of(self.trace, event).filter(|_| does != 0),
        };
        if let Some(lock) = lock {
            let run = match side(op) {
                Side::Exclusive => EACH,
                Side::Shared => 1,
                Side::Failed => 2,
            };
            add(Kind::Lock, lock, run);
        }
    }
}
