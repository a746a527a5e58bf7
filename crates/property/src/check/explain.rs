//! Properties in words, for `foretrace spec`.

use super::expr::{Arg, Const, Expr, ExprKind, ParamId, VarRef};
use super::model::{Atom, EventPattern, LockPattern, Logic, Property, Spec};
use super::typed::{Connective, Typed};
use crate::syntax::ast::{EreMode, ListOp, Quantifier, UnOp};
use crate::syntax::{quote, sort_text};
use crate::{Ere, Formula, Guard, Otherwise};

/// What a property says, in words.
pub fn explain(spec: &Spec, property: &Property) -> String {
    let names = Names { spec, property };
    let mut out = String::new();
    for (i, param) in property.params.iter().enumerate() {
        out.push_str(if i == 0 { "for every " } else { " and " });
        out.push_str(&format!("{} : {}", param.name, sort_text(&param.sort)));
    }
    if let Some(filter) = &property.filter {
        out.push_str(&format!(" with {}", names.value(filter, 0)));
    }
    if !out.is_empty() {
        out.push_str(", ");
    }
    out.push_str(&match &property.logic {
        Logic::Past(f) => format!("at every step: {}", names.top(&from_formula(f))),
        Logic::Future(f) => format!("from the first step on: {}", names.top(&from_formula(f))),
        Logic::Mttl { thread, formula } => {
            format!("at every position of thread {}: {}", names.param(*thread), names.top(formula))
        }
        Logic::Ere { mode, ere } => {
            let text = names.ere(ere, 0);
            match mode {
                EreMode::Never => format!("no stretch of the run matches {text}"),
                EreMode::NeverFromStart => format!("no beginning of the run matches {text}"),
                EreMode::Follows => format!("the run follows {text}"),
            }
        }
        Logic::Fsm(_) => names.fsm(),
        Logic::Logic { which, lines, .. } => format!("in the logic {}: {}", quote(which), lines.join(" ")),
    });
    out
}

/// An atom of a property as it would be written.
pub fn atom_text(spec: &Spec, property: &Property, atom: u32) -> String {
    Names { spec, property }.atom(atom)
}

struct Names<'a> {
    spec: &'a Spec,
    property: &'a Property,
}

/// Formulas and mttl formulas are explained alike.
fn from_formula(f: &Formula) -> Typed {
    let un = |op, f: &Formula| Typed::Unary(op, Box::new(from_formula(f)));
    let bin = |op, f: &Formula, g: &Formula| Typed::Binary(op, Box::new(from_formula(f)), Box::new(from_formula(g)));
    match f {
        Formula::Const(c) => Typed::Const(*c),
        Formula::Atom(a) => Typed::Atom(*a),
        Formula::Not(f) => un(UnOp::Not, f),
        Formula::And(f, g) => Typed::List(ListOp::And, flat(ListOp::And, f, g)),
        Formula::Or(f, g) => Typed::List(ListOp::Or, flat(ListOp::Or, f, g)),
        Formula::Implies(f, g) => bin(Connective::Implies, f, g),
        Formula::Iff(f, g) => bin(Connective::Iff, f, g),
        Formula::Prev(f) => un(UnOp::Prev, f),
        Formula::Yesterday(f) => un(UnOp::Yesterday, f),
        Formula::WYesterday(f) => un(UnOp::WYesterday, f),
        Formula::Once(f) => un(UnOp::Once, f),
        Formula::Hist(f) => un(UnOp::Hist, f),
        Formula::Since(f, g) => bin(Connective::Since, f, g),
        Formula::WSince(f, g) => bin(Connective::WSince, f, g),
        Formula::Interval(f, g) => bin(Connective::Interval, f, g),
        Formula::WInterval(f, g) => bin(Connective::WInterval, f, g),
        Formula::Start(f) => un(UnOp::Start, f),
        Formula::End(f) => un(UnOp::End, f),
        Formula::Always(f) => un(UnOp::Always, f),
        Formula::Eventually(f) => un(UnOp::Eventually, f),
        Formula::Next(f) => un(UnOp::Next, f),
        Formula::WNext(f) => un(UnOp::WNext, f),
        Formula::Until(f, g) => bin(Connective::Until, f, g),
        Formula::WUntil(f, g) => bin(Connective::WUntil, f, g),
        Formula::Releases(f, g) => bin(Connective::Releases, f, g),
    }
}

fn flat(op: ListOp, f: &Formula, g: &Formula) -> Vec<Typed> {
    let mut list = Vec::new();
    for side in [f, g] {
        match from_formula(side) {
            Typed::List(inner, items) if inner == op => list.extend(items),
            other => list.push(other),
        }
    }
    list
}

impl Names<'_> {
    fn param(&self, id: ParamId) -> String {
        let params = self.property.params.iter().map(|p| &p.name);
        params.chain(&self.property.quantified).nth(id as usize).cloned().unwrap_or_default()
    }

    fn arg(&self, arg: &Arg) -> String {
        match arg {
            Arg::Free => "_".to_owned(),
            Arg::Param(id) => self.param(*id),
            Arg::Const(c) => constant(c),
            Arg::Thread(name) => name.clone(),
        }
    }

    fn var(&self, var: &VarRef) -> String {
        let name = self.spec.variables.get(var.var as usize).map_or("?", |v| v.name.as_str());
        match &var.index {
            None | Some(Arg::Free) => name.to_owned(),
            Some(index) => format!("{name}[{}]", self.arg(index)),
        }
    }

    /// A value; 0: may be a condition, 1: a side of a comparison or sum, 2: a side of a product.
    fn value(&self, e: &Expr, level: u8) -> String {
        let (own, text) = match &e.kind {
            ExprKind::Const(c) => (3, constant(c)),
            ExprKind::Var(v) => (3, self.var(v)),
            ExprKind::Param(p) => (3, self.param(*p)),
            ExprKind::Thread(name) => (3, name.clone()),
            ExprKind::Neg(e) => (2, format!("-{}", self.value(e, 3))),
            ExprKind::Arith(op, a, b) => {
                use super::expr::ArithOp;
                let own = if matches!(op, ArithOp::Add | ArithOp::Sub) { 1 } else { 2 };
                (own, format!("{} {} {}", self.value(a, own), op.text(), self.value(b, own + 1)))
            }
            ExprKind::Compare(op, a, b) => (0, format!("{} {} {}", self.value(a, 1), op.text(), self.value(b, 1))),
            ExprKind::Not(e) => (0, format!("not {}", self.value(e, 1))),
            ExprKind::And(list) => (0, self.values(list, " and ")),
            ExprKind::Or(list) => (0, self.values(list, " or ")),
            ExprKind::At(thread, e) => (3, format!("@{}({})", self.param(*thread), self.value(e, 0))),
        };
        if own < level { format!("({text})") } else { text }
    }

    fn values(&self, list: &[Expr], separator: &str) -> String {
        list.iter()
            .map(|e| self.value(e, u8::from(!matches!(e.kind, ExprKind::Compare(..)))))
            .collect::<Vec<_>>()
            .join(separator)
    }

    fn lock(&self, lock: &LockPattern) -> String {
        match lock {
            LockPattern::Arg(arg) => self.arg(arg),
            LockPattern::Lock(l, index) => {
                let name = self.spec.locks.get(*l as usize).map_or("?", |l| l.name.as_str());
                match index {
                    None | Some(Arg::Free) => name.to_owned(),
                    Some(index) => format!("{name}[{}]", self.arg(index)),
                }
            }
        }
    }

    fn event(&self, pattern: &EventPattern) -> String {
        use EventPattern as P;
        let (name, first, thread) = match pattern {
            P::Read(v, t) => ("read", self.var(v), t),
            P::Write(v, t) => ("write", self.var(v), t),
            P::Acquire(l, t) => ("acquire", self.lock(l), t),
            P::Release(l, t) => ("release", self.lock(l), t),
            P::WaitBegin(l, t) => ("wait_begin", self.lock(l), t),
            P::WaitEnd(l, t) => ("wait_end", self.lock(l), t),
            P::Notify(l, t) => ("notify", self.lock(l), t),
            P::Enter(r, t) => ("enter", self.var(&VarRef { var: *r, index: None }), t),
            P::Exit(r, t) => ("exit", self.var(&VarRef { var: *r, index: None }), t),
            P::Fork(a, b) => return format!("fork({}, {})", self.arg(a), self.arg(b)),
            P::Join(a, b) => return format!("join({}, {})", self.arg(a), self.arg(b)),
            P::Started(t) => return format!("started({})", self.arg(t)),
            P::Finished(t) => return format!("finished({})", self.arg(t)),
            P::User(e, args) => {
                let name = self.spec.events.get(*e as usize).map_or("?", |e| e.name.as_str());
                if args.iter().all(|a| *a == Arg::Free) {
                    return name.to_owned();
                }
                let args: Vec<String> = args.iter().map(|a| self.arg(a)).collect();
                return format!("{name}({})", args.join(", "));
            }
        };
        match thread {
            Arg::Free => format!("{name}({first})"),
            thread => format!("{name}({first}, {})", self.arg(thread)),
        }
    }

    fn atom(&self, atom: u32) -> String {
        match self.property.atoms.get(atom as usize) {
            Some((Atom::State(e) | Atom::Instance(e), _)) => self.value(e, 0),
            Some((Atom::Event(p), _)) => self.event(p),
            None => "?".to_owned(),
        }
    }

    fn is_event(&self, f: &Typed) -> bool {
        matches!(f, Typed::Atom(a) if matches!(self.property.atoms.get(*a as usize), Some((Atom::Event(_), _))))
    }

    /// `held`, or `happened` for an event.
    fn held(&self, f: &Typed) -> &'static str {
        if self.is_event(f) { "happened" } else { "held" }
    }

    /// The formula of a property: an implication there speaks of every step.
    fn top(&self, f: &Typed) -> String {
        match f {
            Typed::Binary(Connective::Implies, a, b) => {
                format!("whenever {}, then {}", self.clause(a), self.clause(b))
            }
            Typed::List(ListOp::And, list) if list.len() > 1 => {
                let parts: Vec<String> = list.iter().map(|f| self.top(f)).collect();
                parts.join("; and ")
            }
            Typed::Unary(UnOp::Always, f) => format!("always: {}", self.top(f)),
            _ => self.clause(f),
        }
    }

    /// In parentheses if it is more than a few words.
    fn part(&self, f: &Typed) -> String {
        match f {
            Typed::Const(_) | Typed::Atom(_) => self.clause(f),
            Typed::Unary(UnOp::Not, inner) if matches!(**inner, Typed::Atom(_)) => self.clause(f),
            _ => format!("({})", self.clause(f)),
        }
    }

    /// What a formula says, as a clause.
    fn clause(&self, f: &Typed) -> String {
        match f {
            Typed::Const(true) => "true".to_owned(),
            Typed::Const(false) => "false".to_owned(),
            Typed::Atom(a) => self.atom(*a),
            Typed::Unary(op, f) => self.unary(*op, f),
            Typed::Binary(op, f, g) => self.binary(*op, f, g),
            Typed::List(op, list) => {
                let word = if *op == ListOp::And { " and " } else { " or " };
                list.iter().map(|f| self.part(f)).collect::<Vec<_>>().join(word)
            }
            Typed::At(thread, f) => format!("at the last known position of {}, {}", self.param(*thread), self.part(f)),
            Typed::Quant(quantifier, var, filter, f) => {
                let var = self.param(*var);
                let filter = filter.as_ref().map(|e| format!(" with {}", self.value(e, 0))).unwrap_or_default();
                match quantifier {
                    Quantifier::Exists => format!("there is a thread {var}{filter} for which {}", self.part(f)),
                    Quantifier::Forall => format!("for every thread {var}{filter}, {}", self.part(f)),
                }
            }
        }
    }

    fn unary(&self, op: UnOp, f: &Typed) -> String {
        let (part, held) = (self.part(f), self.held(f));
        match op {
            UnOp::Not => format!("not {part}"),
            UnOp::Neg => format!("-{part}"),
            // An event is false at step 0, so for it there is nothing to say.
            UnOp::Prev if self.is_event(f) => format!("{part} {held} at the previous step"),
            UnOp::Prev => format!("{part} {held} at the previous step (at the first step: now)"),
            UnOp::Yesterday => format!("there is a previous step, and {part} {held} there"),
            UnOp::WYesterday => format!("{part} {held} at the previous step, if there is one"),
            UnOp::Once => format!("{part} {held} at some step so far"),
            UnOp::Hist => format!("{part} {held} at every step so far"),
            UnOp::Start => format!("{part} becomes true"),
            UnOp::End => format!("{part} becomes false"),
            UnOp::Always => format!("from here on always {part}"),
            UnOp::Eventually => format!("now or later {part}"),
            UnOp::Next => format!("at the next step {part}"),
            UnOp::WNext => format!("at the next step, if there is one, {part}"),
        }
    }

    fn binary(&self, op: Connective, f: &Typed, g: &Typed) -> String {
        let (a, b) = (self.part(f), self.part(g));
        let (a_held, b_held) = (self.held(f), self.held(g));
        match op {
            Connective::Iff => format!("{a} exactly if {b}"),
            Connective::Implies => format!("if {a} then {b}"),
            Connective::Since => format!("{b} {b_held} at some step and {a} at every step after it"),
            Connective::WSince => {
                format!("{a} {a_held} at every step so far, or at every step after one at which {b} {b_held}")
            }
            Connective::Until => format!("{a} at every step until {b}, and that does come"),
            Connective::WUntil => format!("{a} at every step until {b}, or for ever"),
            Connective::Releases => format!("{b} at every step up to and with one at which {a}, or for ever"),
            Connective::Interval => format!("{a} has {a_held} at some step since which {b} never {b_held}"),
            Connective::WInterval => {
                format!("{b} never {b_held} so far, or not since a step at which {a} {a_held}")
            }
        }
    }

    /// Lowest level first: `|`, `&`, juxtaposition, repetition, atoms.
    fn ere(&self, e: &Ere, level: u8) -> String {
        let (own, text) = match e {
            Ere::Empty => (4, "nothing".to_owned()),
            Ere::Eps => (4, "eps".to_owned()),
            Ere::Any => (4, "any".to_owned()),
            Ere::Leaf(Formula::Atom(a)) if self.is_event(&Typed::Atom(*a)) => (4, self.atom(*a)),
            Ere::Leaf(f) => (4, format!("{{ {} }}", self.clause(&from_formula(f)))),
            Ere::Or(a, b) => (0, format!("{} | {}", self.ere(a, 0), self.ere(b, 0))),
            Ere::And(a, b) => (1, format!("{} & {}", self.ere(a, 1), self.ere(b, 1))),
            Ere::Cat(a, b) => (2, format!("{} {}", self.ere(a, 2), self.ere(b, 2))),
            Ere::Not(a) => (4, format!("~{}", self.ere(a, 4))),
            Ere::Star(a) => (3, format!("{}*", self.ere(a, 3))),
            Ere::Plus(a) => (3, format!("{}+", self.ere(a, 3))),
            Ere::Opt(a) => (3, format!("{}?", self.ere(a, 3))),
        };
        if own < level { format!("({text})") } else { text }
    }

    fn fsm(&self) -> String {
        let Logic::Fsm(fsm) = &self.property.logic else { return String::new() };
        let name = |n: usize| fsm.states.get(n).map_or("?", |s| s.name.as_str());
        let mut out = format!("a machine that begins in {} never reaches {}", name(fsm.init), name(fsm.bad));
        for (number, state) in fsm.states.iter().enumerate() {
            if number == fsm.bad {
                continue;
            }
            for (guard, targets) in &state.transitions {
                let targets: Vec<&str> = targets.iter().map(|&t| name(t)).collect();
                let when = match guard {
                    Guard::If(f) => format!("when {}", self.clause(&from_formula(f))),
                    Guard::Else => "otherwise".to_owned(),
                };
                out.push_str(&format!("\n  from {} to {}: {when}", state.name, targets.join(" and ")));
            }
        }
        out.push_str(match fsm.otherwise {
            Some(Otherwise::Stay) => "\n  where no guard holds, it stays",
            Some(Otherwise::Die) => "\n  where no guard holds, the run is good for ever",
            Some(Otherwise::Bad) => "\n  where no guard holds, the run is bad",
            None => "",
        });
        out
    }
}

pub(super) fn constant(c: &Const) -> String {
    match c {
        Const::Bool(b) => b.to_string(),
        Const::Int(n) => n.to_string(),
        Const::Real(r) => format!("{r:?}"),
        Const::Str(s) => quote(s),
    }
}
