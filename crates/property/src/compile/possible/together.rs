//! Which event atoms one event can make true together, and which variables it can write.

use crate::check::{
    Arg, Atom, CompareOp, Const, EventPattern, Expr, ExprKind, LockPattern, ParamId, Place, Property, Spec, VarId,
    VarRef,
};

/// By atom: the event atoms that never hold with it.
pub(super) fn exclusions(spec: &Spec, property: &Property) -> Vec<u64> {
    let mut distinct = Vec::new();
    if let Some(filter) = &property.filter {
        different(filter, &mut distinct);
    }
    let context = Context { spec, distinct };
    let events: Vec<Option<&EventPattern>> = property
        .atoms
        .iter()
        .take(64)
        .map(|(atom, _)| if let Atom::Event(pattern) = atom { Some(pattern) } else { None })
        .collect();
    let row = |a: &EventPattern| {
        let apart = events.iter().enumerate().filter(|(_, b)| b.is_some_and(|b| !context.together(a, b)));
        apart.fold(0, |mask, (bit, _)| mask | 1u64 << bit)
    };
    events.iter().map(|event| event.map_or(0, row)).collect()
}

/// Whether an event of this pattern can write the variable, or be the entry or exit whose flag it is.
pub(super) fn can_write(pattern: &EventPattern, same: impl Fn(VarId) -> bool) -> bool {
    match pattern {
        // A read-modify-write is a read, too.
        EventPattern::Read(var, _) | EventPattern::Write(var, _) => same(var.var),
        EventPattern::Enter(region, _) | EventPattern::Exit(region, _) => same(*region),
        // The first event of a thread can be any.
        EventPattern::Started(_) => true,
        _ => false,
    }
}

/// Parameters that a filter keeps apart.
fn different(filter: &Expr, out: &mut Vec<(ParamId, ParamId)>) {
    match &filter.kind {
        ExprKind::And(list) => list.iter().for_each(|e| different(e, out)),
        ExprKind::Compare(CompareOp::Ne, a, b) => {
            if let (ExprKind::Param(p), ExprKind::Param(q)) = (&a.kind, &b.kind) {
                out.push((*p, *q));
            }
        }
        _ => {}
    }
}

/// Whether two declared things can be one in the program.
pub(super) fn one_place(a: Option<&Place>, b: Option<&Place>) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return false };
    let (a, b) = (a.recorded(), b.recorded());
    // An indexed one has names that go on where its place ends: `C.v@3`, `a[3]`.
    let begins = |long: &str, short: &str| {
        long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with(['@', '[']))
    };
    begins(&a, &b) || begins(&b, &a)
}

struct Context<'a> {
    spec: &'a Spec,
    distinct: Vec<(ParamId, ParamId)>,
}

impl Context<'_> {
    fn together(&self, a: &EventPattern, b: &EventPattern) -> bool {
        use EventPattern as P;
        match (a, b) {
            (P::Read(v, t) | P::Write(v, t), P::Read(w, u) | P::Write(w, u)) => self.var(v, w) && self.arg(t, u),
            (P::Acquire(l, t), P::Acquire(m, u))
            | (P::Release(l, t), P::Release(m, u))
            | (P::Notify(l, t), P::Notify(m, u)) => self.lock(l, m) && self.arg(t, u),
            // A wait has a condition and a lock, and is about both.
            (P::WaitBegin(_, t), P::WaitBegin(_, u)) | (P::WaitEnd(_, t), P::WaitEnd(_, u)) => self.arg(t, u),
            (P::Fork(t, c), P::Fork(u, d)) | (P::Join(t, c), P::Join(u, d)) => self.arg(t, u) && self.arg(c, d),
            (P::Enter(r, t), P::Enter(s, u)) | (P::Exit(r, t), P::Exit(s, u)) => {
                (r == s || self.variables_meet(*r, *s)) && self.arg(t, u)
            }
            (P::Finished(c), P::Finished(d)) => self.arg(c, d),
            (P::Join(_, c), P::Finished(d)) | (P::Finished(d), P::Join(_, c)) => self.arg(c, d),
            (P::Started(t), other) | (other, P::Started(t)) => thread(other).is_none_or(|u| self.arg(t, u)),
            (P::User(e, args), P::User(f, others)) => {
                let place = |e: u32| self.spec.events.get(e as usize).map(|e| &e.place);
                (e == f || place(*e).zip(place(*f)).is_some_and(|(a, b)| a.recorded() == b.recorded()))
                    && args.iter().zip(others).all(|(a, b)| self.arg(a, b))
            }
            _ => false,
        }
    }

    /// Whether two arguments can be the same.
    fn arg(&self, a: &Arg, b: &Arg) -> bool {
        match (a, b) {
            (Arg::Param(p), Arg::Param(q)) => !self.distinct.contains(&(*p, *q)) && !self.distinct.contains(&(*q, *p)),
            (Arg::Const(Const::Int(a)), Arg::Const(Const::Int(b))) => a == b,
            (Arg::Const(Const::Str(a)), Arg::Const(Const::Str(b))) => a == b,
            (Arg::Thread(a), Arg::Thread(b)) => a == b,
            _ => true,
        }
    }

    fn index(&self, a: Option<&Arg>, b: Option<&Arg>) -> bool {
        a.zip(b).is_none_or(|(a, b)| self.arg(a, b))
    }

    fn var(&self, a: &VarRef, b: &VarRef) -> bool {
        if a.var == b.var { self.index(a.index.as_ref(), b.index.as_ref()) } else { self.variables_meet(a.var, b.var) }
    }

    fn variables_meet(&self, a: VarId, b: VarId) -> bool {
        let place = |v: VarId| self.spec.variables.get(v as usize).and_then(|v| v.place.as_ref());
        one_place(place(a), place(b))
    }

    fn lock(&self, a: &LockPattern, b: &LockPattern) -> bool {
        match (a, b) {
            (LockPattern::Lock(l, i), LockPattern::Lock(m, j)) if l == m => self.index(i.as_ref(), j.as_ref()),
            (LockPattern::Lock(l, _), LockPattern::Lock(m, _)) => {
                let place = |l: u32| self.spec.locks.get(l as usize).map(|l| &l.place);
                one_place(place(*l), place(*m))
            }
            (LockPattern::Arg(a), LockPattern::Arg(b)) => self.arg(a, b),
            _ => true,
        }
    }
}

/// The thread that does it.
fn thread(pattern: &EventPattern) -> Option<&Arg> {
    use EventPattern as P;
    match pattern {
        P::Read(_, t)
        | P::Write(_, t)
        | P::Acquire(_, t)
        | P::Release(_, t)
        | P::WaitBegin(_, t)
        | P::WaitEnd(_, t)
        | P::Notify(_, t)
        | P::Fork(t, _)
        | P::Join(t, _)
        | P::Enter(_, t)
        | P::Exit(_, t)
        | P::Started(t) => Some(t),
        P::Finished(_) | P::User(..) => None,
    }
}
