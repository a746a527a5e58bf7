//! Adds the direct predecessors of each event of a region to the graph, by the rules of the model.

use super::graph::Graph;
use crate::drop_barriers::DropBarriers;
use crate::ops::{LockRole, is_access, is_read, lock_role};
use crate::sections::{NONE, Sections, effect, lock_of};
use event::{Batch, Causality, Event, Names, Op, Space};
use std::collections::HashMap;

/// Events of one object in recorded order, as runs of events that may change their order among themselves. Each event
/// follows all of the run before.
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

/// The kind of events that keep their order among themselves, too.
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
        graph.add_edge(self.before, node);
        self.run.push(node);
    }
}

/// The posts of a latch.
struct Posts {
    /// Comes after all posts before the last await.
    gate: u32,
    /// The posts since the last await.
    fresh: Vec<u32>,
}

/// The kinds of objects whose events keep an order.
#[derive(Clone, Copy)]
enum Kind {
    Var,
    Lock,
    Cond,
    Sem,
}

/// A pass along the recorded run, from its beginning.
pub(super) struct Predecessors<'a> {
    /// Whether the model orders more than every model does.
    is_ordered: bool,
    /// Whether it orders plain accesses of one variable.
    orders_data: bool,
    names: &'a Names,
    trace: &'a Batch,
    barriers: Option<DropBarriers>,
    sections: Sections,
    /// By thread: its last event in the region, or [`NONE`].
    threads: Vec<u32>,
    /// By thread: its forks that no event of it has come after.
    forks: HashMap<u32, Vec<u32>>,
    posts: HashMap<u32, Posts>,
    /// By kind of drop barrier and variable: the last named event of each thread.
    named: HashMap<(Op, u32), Vec<(u32, u32)>>,
    /// By kind and object. The tables grow when an object first occurs.
    objects: [Vec<Runs>; 4],
}

impl<'a> Predecessors<'a> {
    pub(super) fn new(model: Causality, names: &'a Names, trace: &'a Batch) -> Self {
        Predecessors {
            is_ordered: !matches!(model, Causality::WeakHb | Causality::Maximal),
            orders_data: matches!(model, Causality::Observed | Causality::FullHb),
            names,
            trace,
            barriers: DropBarriers::new(trace, names.space(Space::Thread).len()),
            sections: Sections::default(),
            threads: vec![NONE; names.space(Space::Thread).len()],
            forks: HashMap::new(),
            posts: HashMap::new(),
            named: HashMap::new(),
            objects: Default::default(),
        }
    }

    /// Passes over an event before the region, which cannot be moved.
    pub(super) fn skip(&mut self, at: u32, event: Event) {
        if let Some(barriers) = &mut self.barriers {
            barriers.step(event.thread().0);
        }
        if self.is_ordered {
            self.sections.step(self.trace, at, event);
        }
    }

    /// Adds the predecessors of an event of the region.
    pub(super) fn add(&mut self, graph: &mut Graph, at: u32, node: u32, event: Event) {
        self.common(graph, node, event);
        if self.is_ordered {
            self.ordered(graph, at, node, event);
        }
    }

    fn common(&mut self, graph: &mut Graph, node: u32, event: Event) {
        let thread = event.thread().0;
        graph.add_edge(std::mem::replace(&mut self.threads[thread as usize], node), node);
        if !self.forks.is_empty() {
            for fork in self.forks.remove(&thread).into_iter().flatten() {
                graph.add_edge(fork, node);
            }
        }
        match event.op() {
            Op::Fork => self.forks.entry(event.child().0).or_default().push(node),
            Op::Join if event.child() != event.thread() => {
                let child = event.child().0;
                graph.add_edge(self.threads[child as usize], node);
                if let Some(forks) = self.forks.get_mut(&child) {
                    *forks = vec![graph.all_of(forks, node)];
                    graph.add_edge(forks[0], node);
                }
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
                    graph.add_edge(posts.gate, node);
                }
            }
            _ => {}
        }
        if let Some(barriers) = &mut self.barriers {
            for kind in Op::DROP_BARRIERS.into_iter().filter(|kind| kind.holds_back(event.op())) {
                let named = self.named.get(&(kind, event.object())).into_iter().flatten();
                for &(_, named) in named.filter(|p| p.0 != thread) {
                    graph.add_edge(named, node);
                }
            }
            for &(_, _, kind, var) in barriers.step(thread) {
                let named = self.named.entry((kind, var)).or_default();
                named.retain(|p| p.0 != thread);
                named.push((thread, node));
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
            let run = match lock_role(op) {
                LockRole::Exclusive => EACH,
                LockRole::Shared => 1,
                LockRole::Failed => 2,
            };
            add(Kind::Lock, lock, run);
        }
    }
}
