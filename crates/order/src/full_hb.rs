//! `full-hb` and `sync-only` by multithreaded vector clocks (algorithm A of Roşu and Sen, *An instrumentation
//! technique for online analysis of multithreaded programs*).
//!
//! Each event joins the clocks of the conflicting events before it. The paper keeps two clocks for a variable, that of
//! its accesses and that of its writes. Here these are the clock of the last write and that of the reads since; their
//! join is the paper's access clock. Locks, conditions and semaphores are treated as variables that every operation
//! writes, except that shared holders of a lock read it. `sync-only` leaves out plain accesses.

use crate::builder::{StructureBuilder, is_access, is_read};
use crate::event_structure::EventStructure;
use crate::sections::{Effect, Sections};
use crate::window::Trace;
use clock::VectorClock;
use event::{Event, LockId, Op, Space, ThreadId};

/// The clocks of a variable: writes keep their order with all accesses.
#[derive(Clone, Default)]
struct VariableClocks {
    write: VectorClock,
    /// Of the reads since the last write.
    reads: VectorClock,
}

impl VariableClocks {
    fn read(&mut self, builder: &mut StructureBuilder, thread: ThreadId) {
        builder.join(thread, &self.write);
    }

    fn write(&mut self, builder: &mut StructureBuilder, thread: ThreadId) {
        builder.join(thread, &self.write);
        builder.join(thread, &self.reads);
    }

    fn has_read(&mut self, clock: &VectorClock) {
        self.reads.join(clock);
    }

    fn has_written(&mut self, clock: &VectorClock) {
        self.write.copy_from(clock);
        self.reads.clear();
    }
}

/// The clocks of a lock. Events of different kinds keep their order, and so do exclusive ones among themselves.
#[derive(Clone, Default)]
struct LockClocks {
    exclusive: VectorClock,
    /// Of the shared events since the last exclusive one.
    shared: VectorClock,
    /// Of the failed tries since the last exclusive one.
    failed: VectorClock,
}

#[derive(Clone, Copy)]
enum LockKind {
    Exclusive,
    Shared,
    Failed,
}

impl LockClocks {
    fn before(&self, kind: LockKind, builder: &mut StructureBuilder, thread: ThreadId) {
        builder.join(thread, &self.exclusive);
        if !matches!(kind, LockKind::Shared) {
            builder.join(thread, &self.shared);
        }
        if !matches!(kind, LockKind::Failed) {
            builder.join(thread, &self.failed);
        }
    }

    fn after(&mut self, kind: LockKind, clock: &VectorClock) {
        match kind {
            LockKind::Exclusive => {
                self.exclusive.copy_from(clock);
                self.shared.clear();
                self.failed.clear();
            }
            LockKind::Shared => self.shared.join(clock),
            LockKind::Failed => self.failed.join(clock),
        }
    }
}

/// The event structure of `full-hb` over the events that `is_relevant` accepts, by index.
pub fn full_hb(trace: &Trace<'_>, is_relevant: impl Fn(u64) -> bool) -> EventStructure {
    ClockPass::new(trace, true).run(trace, is_relevant)
}

/// The event structure of `sync-only` over the events that `is_relevant` accepts, by index.
pub fn sync_only(trace: &Trace<'_>, is_relevant: impl Fn(u64) -> bool) -> EventStructure {
    ClockPass::new(trace, false).run(trace, is_relevant)
}

/// One pass along the recorded order.
struct ClockPass {
    builder: StructureBuilder,
    sections: Sections,
    vars: Vec<VariableClocks>,
    locks: Vec<LockClocks>,
    conds: Vec<VectorClock>,
    sems: Vec<VectorClock>,
    /// By condition: the lock of the same name, if there is one.
    lock_of: Vec<Option<LockId>>,
    /// Whether plain accesses keep their order.
    data: bool,
}

impl ClockPass {
    fn new(trace: &Trace<'_>, data: bool) -> ClockPass {
        let names = trace.names;
        let count = |space| names.space(space).len();
        let lock_of = |cond| names.space(Space::Lock).find(names.get(Space::Cond, cond as u32).as_bytes()).map(LockId);
        ClockPass {
            builder: StructureBuilder::new(trace, &[]),
            sections: Sections::default(),
            vars: vec![VariableClocks::default(); count(Space::Var)],
            locks: vec![LockClocks::default(); count(Space::Lock)],
            conds: vec![VectorClock::default(); count(Space::Cond)],
            sems: vec![VectorClock::default(); count(Space::Sem)],
            lock_of: (0..count(Space::Cond)).map(lock_of).collect(),
            data,
        }
    }

    fn run(mut self, trace: &Trace<'_>, is_relevant: impl Fn(u64) -> bool) -> EventStructure {
        for (index, &event) in trace.batch.events.iter().enumerate() {
            self.step(trace, index as u64, event, is_relevant(index as u64));
        }
        self.builder.structure
    }

    #[inline]
    fn step(&mut self, trace: &Trace<'_>, index: u64, event: Event, is_relevant: bool) {
        let (op, thread) = (event.op(), event.thread());
        self.builder.before(event);
        if is_access(op) {
            let counts = (self.data || op.is_atomic()) && trace.is_shared(event.var());
            let variable = counts.then(|| &mut self.vars[event.var().0 as usize]);
            if let Some(variable) = variable {
                if is_read(op) {
                    variable.read(&mut self.builder, thread);
                } else {
                    variable.write(&mut self.builder, thread);
                }
            }
            if is_relevant {
                self.builder.add(index, event);
            }
            if counts {
                let variable = &mut self.vars[event.var().0 as usize];
                let clock = self.builder.clock(thread);
                if is_read(op) { variable.has_read(clock) } else { variable.has_written(clock) }
            }
        } else {
            self.other(trace, index, event, is_relevant);
        }
        self.builder.after(event);
    }

    /// A step of an event that is no access.
    fn other(&mut self, trace: &Trace<'_>, index: u64, event: Event, is_relevant: bool) {
        let thread = event.thread();
        let lock = self.lock(trace, event);
        if let Some((lock, kind)) = lock {
            self.locks[lock.0 as usize].before(kind, &mut self.builder, thread);
        }
        let other = match event.op() {
            Op::Wait | Op::Woken | Op::Notify | Op::NotifyAll => Some(&mut self.conds[event.cond().0 as usize]),
            Op::Up | Op::Down => Some(&mut self.sems[event.sem().0 as usize]),
            _ => None,
        };
        if let Some(clock) = &other {
            self.builder.join(thread, clock);
        }
        if is_relevant {
            self.builder.add(index, event);
        }
        let clock = self.builder.clock(thread);
        if let Some(other) = other {
            other.copy_from(clock);
        }
        if let Some((lock, kind)) = lock {
            self.locks[lock.0 as usize].after(kind, clock);
        }
    }

    /// The lock that an event acts on, and how.
    fn lock(&mut self, trace: &Trace<'_>, event: Event) -> Option<(LockId, LockKind)> {
        let effect = self.sections.step(trace.batch, event);
        match (event.op(), effect) {
            (Op::Wait | Op::Woken, _) => Some((trace.batch.extra(event).lock, LockKind::Exclusive)),
            (Op::Notify | Op::NotifyAll, _) => Some((self.lock_of[event.cond().0 as usize]?, LockKind::Exclusive)),
            (_, Effect::Open(lock) | Effect::Close(lock) | Effect::OpenBoth(lock) | Effect::CloseBoth(lock)) => {
                Some((lock, LockKind::Exclusive))
            }
            (_, Effect::OpenShared(lock) | Effect::CloseShared(lock)) => Some((lock, LockKind::Shared)),
            (_, Effect::Fail(lock)) => Some((lock, LockKind::Failed)),
            (_, Effect::None) => None,
        }
    }
}
