//! Which event atoms an event makes true, and for which parameters.

use super::subject::{Objects, Subject};
use super::values::{HeldValue, Key};
use super::{Bindings, Meant};
use crate::check::{Arg, Atom, EventPattern, LockPattern, Param, ParamId, Property, VarRef};
use crate::syntax::ast::Sort;
use event::{Batch, Event, Names, Op, ThreadId};

/// What parameters must stand for so that an atom holds.
pub(crate) type Conditions = Vec<(ParamId, Subject)>;

/// The operations that an event of a pattern can be, as bits.
pub(crate) fn operations(pattern: &EventPattern) -> u64 {
    let ops: &[Op] = match pattern {
        EventPattern::Read(..) => &[Op::Read, Op::AtomicLoad, Op::AtomicRmw],
        EventPattern::Write(..) => &[Op::Write, Op::AtomicStore, Op::AtomicRmw],
        EventPattern::Acquire(..) => &[Op::Acquire, Op::TryAcquire, Op::ReadAcquire],
        EventPattern::Release(..) => &[Op::Release, Op::ReadRelease],
        EventPattern::WaitBegin(..) => &[Op::Wait],
        EventPattern::WaitEnd(..) => &[Op::Woken],
        EventPattern::Notify(..) => &[Op::Notify, Op::NotifyAll],
        EventPattern::Fork(..) => &[Op::Fork],
        EventPattern::Join(..) | EventPattern::Finished(_) => &[Op::Join],
        EventPattern::Enter(..) => &[Op::Begin],
        EventPattern::Exit(..) => &[Op::End],
        EventPattern::Started(_) => Op::ALL,
        EventPattern::User(..) => &[Op::Internal],
    };
    ops.iter().fold(0, |set, &op| set | 1 << op as u32)
}

/// What one event is, in the words of a specification.
pub(crate) struct EventView<'a> {
    pub(crate) names: &'a Names,
    pub(crate) batch: &'a Batch,
    pub(crate) event: Event,
    pub(crate) bindings: &'a Bindings,
    pub(crate) objects: &'a Objects,
    /// Regions that it enters or leaves, outermost.
    pub(crate) crossed: &'a [u32],
    /// It is the first of its thread.
    pub(crate) first: bool,
    /// The arguments of an internal event.
    pub(crate) args: &'a [Option<Subject>],
}

impl EventView<'_> {
    /// Whether the event is one of this pattern; then, what for. Parameters stand only for subjects of their sorts.
    pub(crate) fn matches(&self, pattern: &EventPattern, params: &[Param]) -> Option<Conditions> {
        let event = self.event;
        let thread = event.thread();
        let mut conditions = Conditions::new();
        let out = &mut conditions;
        let matched = match (pattern, event.op()) {
            (EventPattern::Read(var, t), Op::Read | Op::AtomicLoad | Op::AtomicRmw)
            | (EventPattern::Write(var, t), Op::Write | Op::AtomicStore | Op::AtomicRmw) => {
                self.var(var, &self.bindings.vars[event.var().0 as usize], out) && self.thread(t, thread, out)
            }
            (EventPattern::Acquire(lock, t), Op::Acquire | Op::TryAcquire | Op::ReadAcquire)
            | (EventPattern::Release(lock, t), Op::Release | Op::ReadRelease) => {
                self.lock(lock, &self.bindings.locks[event.lock().0 as usize], out) && self.thread(t, thread, out)
            }
            (EventPattern::WaitBegin(lock, t), Op::Wait) | (EventPattern::WaitEnd(lock, t), Op::Woken) => {
                let own = self.batch.extra(event).lock;
                let matched = self.lock(lock, &self.bindings.conds[event.cond().0 as usize], out) || {
                    out.clear();
                    self.lock(lock, &self.bindings.locks[own.0 as usize], out)
                };
                matched && self.thread(t, thread, out)
            }
            (EventPattern::Notify(lock, t), Op::Notify | Op::NotifyAll) => {
                self.lock(lock, &self.bindings.conds[event.cond().0 as usize], out) && self.thread(t, thread, out)
            }
            (EventPattern::Fork(t, u), Op::Fork) | (EventPattern::Join(t, u), Op::Join) => {
                self.thread(t, thread, out) && self.thread(u, event.child(), out)
            }
            (EventPattern::Enter(region, t), Op::Begin) | (EventPattern::Exit(region, t), Op::End) => {
                self.crossed.contains(region) && self.thread(t, thread, out)
            }
            (EventPattern::Started(t), _) => self.first && self.thread(t, thread, out),
            (EventPattern::Finished(t), Op::Join) => self.thread(t, event.child(), out),
            (EventPattern::User(number, args), Op::Internal) => {
                self.bindings.labels[event.label().0 as usize].contains(number)
                    && (args.is_empty() || args.len() <= self.args.len())
                    && args.iter().zip(self.args).all(|(arg, subject)| self.arg(arg, *subject, out))
            }
            _ => false,
        };
        for (param, subject) in &mut conditions {
            let sort = &params[*param as usize].sort;
            // An object may be of a subclass, which its name does not say: the recorder has looked.
            let is_sure = matches!(sort, Sort::Object(Some(_))) && self.is_sure(pattern, *param, sort);
            let sort = if is_sure { &Sort::Object(None) } else { sort };
            *subject = self.objects.of_sort(self.names, *subject, sort)?;
        }
        (matched && consistent(&conditions)).then_some(conditions)
    }

    /// Whether the recorder has made sure that the value of a parameter is of this sort.
    fn is_sure(&self, pattern: &EventPattern, param: ParamId, sort: &Sort) -> bool {
        let EventPattern::User(number, args) = pattern else { return false };
        let sure = self.bindings.sure.get(*number as usize).map_or(&[][..], Vec::as_slice);
        let mut own = args.iter().zip(sure).filter(|(arg, _)| **arg == Arg::Param(param));
        own.any(|(_, known)| known == sort)
    }

    fn arg(&self, arg: &Arg, subject: Option<Subject>, out: &mut Conditions) -> bool {
        match (arg, subject) {
            (Arg::Free, _) => true,
            (Arg::Param(param), Some(subject)) => {
                out.push((*param, subject));
                true
            }
            (Arg::Const(constant), Some(subject)) => self.objects.is(subject, constant),
            (Arg::Thread(name), Some(Subject::Thread(thread))) => self.objects.thread_name(self.names, thread) == name,
            _ => false,
        }
    }

    fn thread(&self, arg: &Arg, thread: ThreadId, out: &mut Conditions) -> bool {
        self.arg(arg, Some(self.objects.thread(thread)), out)
    }

    /// Whether an access of a variable that means these is one of this one.
    pub(crate) fn var(&self, var: &VarRef, meant: &[Meant], out: &mut Conditions) -> bool {
        meant.iter().any(|m| {
            m.number == var.var
                && match &var.index {
                    None => true,
                    Some(arg) => self.arg(arg, m.index, out),
                }
        })
    }

    fn lock(&self, pattern: &LockPattern, (meant, object): &(Vec<Meant>, u32), out: &mut Conditions) -> bool {
        match pattern {
            LockPattern::Lock(number, index) => meant.iter().any(|m| {
                m.number == *number
                    && match index {
                        None => true,
                        Some(arg) => self.arg(arg, m.index, out),
                    }
            }),
            LockPattern::Arg(arg) => self.arg(arg, Some(Subject::Object(*object)), out),
        }
    }
}

/// One parameter cannot stand for two things.
fn consistent(conditions: &Conditions) -> bool {
    conditions.iter().enumerate().all(|(i, (p, s))| conditions[..i].iter().all(|(q, t)| p != q || s == t))
}

/// The instances for which a write of a variable of this index is a write of `var`; `None` for no instance.
pub(crate) fn conditions_of(
    var: &VarRef,
    index: Option<Subject>,
    seen: &EventView<'_>,
    params: &[Param],
) -> Option<Conditions> {
    match (&var.index, index) {
        (None, _) | (Some(Arg::Free), _) => Some(Vec::new()),
        (Some(Arg::Param(param)), Some(subject)) => {
            let subject = seen.objects.of_sort(seen.names, subject, &params[*param as usize].sort)?;
            Some(vec![(*param, subject)])
        }
        (Some(Arg::Const(constant)), Some(subject)) => seen.objects.is(subject, constant).then(Vec::new),
        (Some(Arg::Thread(name)), Some(Subject::Thread(thread))) => {
            (seen.objects.thread_name(seen.names, thread) == name).then(Vec::new)
        }
        _ => None,
    }
}

/// Whom an event concerns: which instances of a property step at it.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub(crate) struct Concern {
    /// The event atoms that hold, by number, and for whom.
    pub(crate) held: Vec<(u32, Conditions)>,
    /// For whom a variable that matters was written.
    pub(crate) wrote: Vec<Conditions>,
}

impl Concern {
    /// Finds whom an event that wrote this concerns.
    pub(crate) fn find(&mut self, property: &Property, seen: &EventView<'_>, written: &[(Key, HeldValue)]) {
        self.held.clear();
        self.wrote.clear();
        for (number, (atom, _)) in property.atoms.iter().enumerate() {
            if let Atom::Event(pattern) = atom
                && let Some(conditions) = seen.matches(pattern, &property.params)
            {
                self.held.push((number as u32, conditions));
            }
        }
        for &((number, index), _) in written {
            for var in property.relevant.variables.iter().filter(|var| var.var == number) {
                self.wrote.extend(conditions_of(var, index, seen, &property.params));
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.held.is_empty() && self.wrote.is_empty()
    }

    /// Everybody it concerns.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Conditions> {
        self.held.iter().map(|(_, conditions)| conditions).chain(&self.wrote)
    }
}
